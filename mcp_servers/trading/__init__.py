"""Trading Simulator (port 8105): one paper account a task, on past and simulated prices."""

from mcp_servers.trading.server import build_server, warm_up

__all__ = ["build_server", "warm_up"]
