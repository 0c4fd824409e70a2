"""Backtests over transforms, seeds, windows, strategies and severities: planned, computed in shards, stored, tested."""
