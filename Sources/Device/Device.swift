// The Device layer.
