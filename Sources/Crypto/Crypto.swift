// The Crypto layer.
