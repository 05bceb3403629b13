// The OAuth layer.
