"""The Python sandbox (port 8103): runs an agent's code in a locked process, or refuses where it cannot lock one.

See README.md in this folder for the threat model, the tiers and the traps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from mcp_servers.handouts import Handouts
    from mcp_servers.sandbox.pool import Pool
    from mcp_servers.sandbox.tiers import SelfTest

__all__ = ["build_server", "selftest", "tier"]


def selftest() -> SelfTest:
    """Return which tier works on this machine and what was tried; looked for once in a process, in about 0.1 s."""
    from mcp_servers.sandbox import tiers

    return tiers.selftest()


def tier() -> str | None:
    """Return the name of the tier that protects calls here, for example ``namespaces+landlock+seccomp``, or None."""
    found = selftest().tier
    return None if found is None else found.name


def build_server(*, pool: Pool | None = None, handouts: Handouts | None = None) -> MCPServer:
    """Return the MCP server; see :func:`mcp_servers.sandbox.server.build_server`."""
    from mcp_servers.sandbox import server

    return server.build_server(pool=pool, handouts=handouts)
