"""What happens to a market before an agent sees it: key, market -> observed, traded, events."""
