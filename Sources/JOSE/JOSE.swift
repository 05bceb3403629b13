// The JOSE layer.
