"""The kinds of assignment, by field."""
