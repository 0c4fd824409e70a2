"""The families of the casebook, a file a category."""
