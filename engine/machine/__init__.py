"""The machine that a command runs on: signals, Ray, jax's cache, and what works here."""
