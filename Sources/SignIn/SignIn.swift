// The SignIn layer.
