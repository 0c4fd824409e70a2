"""Serve the Python sandbox alone: ``python -m mcp_servers.sandbox``."""

from mcp_servers.caller import standalone_grant
from mcp_servers.host import serve

serve(["sandbox"], grant=standalone_grant())
