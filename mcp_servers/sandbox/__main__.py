"""Serve the Python sandbox alone: ``python -m mcp_servers.sandbox``."""

from mcp_servers.host import serve

serve("sandbox")
