"""The six servers: name, port, environment name, module. One row each."""

from __future__ import annotations

from typing import NamedTuple


class ServerSpec(NamedTuple):
    """A row of the catalogue.

    Attributes
    ----------
    name, title
        Key, and the name for people.
    port
        The port that the paper gives it.
    environment_name
        Environment variable in which existing purple agents look for its URL.
    module
        Where its ``build_server`` stands.
    keeps_state
        Whether it keeps accounts: ``build_server`` then takes ``state_dir``.
    dated
        Whether what it serves depends on the simulation date. The others only calculate.
    told
        Whether tasks hand it documents to show (``Session.handouts``): ``build_server`` then takes ``handouts``.
    """

    name: str
    port: int
    environment_name: str
    module: str
    title: str
    keeps_state: bool = False
    dated: bool = True
    told: bool = False


SERVERS: dict[str, ServerSpec] = {
    row.name: row
    for row in (
        ServerSpec("edgar", 8101, "MCP_EDGAR_URL", "mcp_servers.edgar", "SEC EDGAR"),
        ServerSpec("yfinance", 8102, "MCP_YFINANCE_URL", "mcp_servers.yfinance", "Yahoo Finance"),
        ServerSpec("sandbox", 8103, "MCP_SANDBOX_URL", "mcp_servers.sandbox", "Python Sandbox", dated=False, told=True),
        ServerSpec("options", 8104, "MCP_OPTIONS_URL", "mcp_servers.options", "Options Chain"),
        ServerSpec(
            "trading",
            8105,
            "MCP_TRADING_URL",
            "mcp_servers.trading",
            "Trading Simulator",
            keeps_state=True,
            told=True,
        ),
        ServerSpec("risk", 8106, "MCP_RISK_URL", "mcp_servers.risk", "Risk Metrics", dated=False),
    )
}


def spec_of(name: str) -> ServerSpec:
    """Return the row of ``name``; an unknown name raises ``ValueError`` that lists what exists."""
    if name not in SERVERS:
        raise ValueError(f"unknown MCP server {name!r}; available: {', '.join(SERVERS)}")
    return SERVERS[name]
