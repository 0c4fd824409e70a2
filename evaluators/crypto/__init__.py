"""Crypto trading: anonymised episodes under transforms, scored by timing skill."""
