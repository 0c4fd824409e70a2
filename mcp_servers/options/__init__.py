"""Options Chain (port 8104): listed chains, quoted or simulated, their fitted surface, models, strategies."""

from mcp_servers.options.server import build_server, warm_up, warm_up_lake, warm_up_later

__all__ = ["build_server", "warm_up", "warm_up_lake", "warm_up_later"]
