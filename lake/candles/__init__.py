"""Candles and funding rates: read from files or pulled from an exchange, examined, and cut into faultless markets."""
