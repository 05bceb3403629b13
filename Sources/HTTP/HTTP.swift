// The HTTP layer.
