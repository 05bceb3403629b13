// The Encoding layer.
