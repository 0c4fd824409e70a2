"""Quoted option chains: files of a data vendor, the last snapshot of a ticker, its fitted surface and its history."""
