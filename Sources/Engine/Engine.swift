// The Engine layer.
