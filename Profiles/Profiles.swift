// Built-in profiles.
