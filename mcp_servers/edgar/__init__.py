"""SEC EDGAR (port 8101): companies, figures as filed, filings and their texts, as known on the task's date."""

from mcp_servers.edgar.server import build_server, warm_up

__all__ = ["build_server", "warm_up"]
