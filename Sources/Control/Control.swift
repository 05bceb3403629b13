// The Control layer.
