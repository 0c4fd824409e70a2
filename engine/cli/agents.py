"""``traderbench agent NAME`` and ``traderbench mcp list | serve``."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from engine.cli import options

GREEN = "green"


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    agent = options.command(
        commands,
        "agent",
        agent_command,
        help="serve one of the agents that ship with the project over A2A",
        example="traderbench agent quant --port 9110",
    )
    agent.add_argument("name", metavar="NAME", help="green, quant, llm, null, echo, keyword or random")
    agent.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    agent.add_argument("--port", type=int, help="port (default: 9109 for green, 9110 for the others)")
    agent.add_argument("rest", nargs=argparse.REMAINDER, help="flags of the program itself")

    mcp = options.group(commands, "mcp", help="the six MCP tool servers", example="traderbench mcp list")
    actions = mcp.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = options.command(
        actions, "list", list_command, help="list the servers, ports and tools", example="traderbench mcp list"
    )
    options.add_json(listing, "the servers")
    serve = options.command(
        actions,
        "serve",
        serve_command,
        help="serve one tool server alone, locked to a date",
        example="traderbench mcp serve options --as-of 2013-03-01",
    )
    serve.add_argument("name", metavar="NAME", help="edgar, yfinance, sandbox, options, trading or risk")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that requests may address it by, besides localhost and IP addresses; may be repeated",
    )
    serve.add_argument("--port", type=int, help="port (default: the server's own, 8101 to 8106)")
    serve.add_argument(
        "--as-of",
        type=options.day,
        default=None,
        metavar="YYYY-MM-DD",
        help="serve nothing known later (default: today)",
    )
    serve.add_argument(
        "--live",
        type=Path,
        metavar="FOLDER",
        help="edgar only: serve live figures from the SEC, kept in this folder (needs TRADERBENCH_SEC_CONTACT)",
    )


def agent_command(arguments: argparse.Namespace) -> int:
    """Replace this process by the agent's program."""
    import os
    import sys

    from engine import builtin_agents
    from engine.config import nearest
    from engine.errors import ConfigError

    names = (GREEN, *builtin_agents.BUILTIN_AGENTS)
    if arguments.name not in names:
        raise ConfigError(
            f"unknown agent {arguments.name!r}{nearest(arguments.name, names)}; available: {', '.join(names)}"
        )
    port = arguments.port or (9109 if arguments.name == GREEN else 9110)
    command = builtin_agents.command(arguments.name, host=arguments.host, port=port, arguments=arguments.rest)
    os.execv(sys.executable, [sys.executable, *command])


def list_command(arguments: argparse.Namespace) -> int:
    """List the servers."""
    from mcp_servers import host

    rows = host.describe_servers()
    if arguments.json:
        options.print_json(rows)
    else:
        for row in rows:
            tools = ", ".join(row["tools"]) if row["unavailable"] is None else f"not available: {row['unavailable']}"
            print(f"{row['name']:<10} {row['port']}  {row['title']:<18} {tools}")
    return 0


def serve_command(arguments: argparse.Namespace) -> int:
    """Serve one server until it is stopped."""
    from engine.config import nearest
    from engine.errors import ConfigError, ServiceUnavailable
    from mcp_servers import addresses, host
    from mcp_servers.catalog import SERVERS
    from mcp_servers.setting import ServerStartError

    if arguments.name not in SERVERS:
        raise ConfigError(
            f"unknown server {arguments.name!r}{nearest(arguments.name, SERVERS)}; available: {', '.join(SERVERS)}"
        )
    try:
        for name in arguments.allowed_host:
            addresses.checked(name)
    except ValueError as error:
        raise ConfigError(f"--allowed-host: {error}") from error
    try:
        host.serve(
            arguments.name,
            host=arguments.host,
            port=arguments.port or SERVERS[arguments.name].port,
            as_of=arguments.as_of or date.today(),
            live_folder=arguments.live,
            allowed_hosts=tuple(arguments.allowed_host),
        )
    except ServerStartError as error:
        raise ServiceUnavailable(str(error)) from error
    except ValueError as error:
        raise ConfigError(f"--live: {error}") from error
    return 0
