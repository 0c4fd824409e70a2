"""Yahoo Finance (port 8102): prices, company pages, macro series and crypto markets, as known on the task's date."""

from mcp_servers.yfinance.server import build_server, warm_up

__all__ = ["build_server", "warm_up"]
