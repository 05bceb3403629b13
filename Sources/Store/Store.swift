// The Store layer.
