"""Risk Metrics (port 8106): portfolio Greeks, value at risk, sizes, stress tests, ratios of returns."""

from mcp_servers.risk.server import build_server, warm_up

__all__ = ["build_server", "warm_up"]
