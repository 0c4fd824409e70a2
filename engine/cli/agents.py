"""``traderbench agent NAME`` and ``traderbench mcp list | serve``."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import options

if TYPE_CHECKING:
    from lake.sample import Lake

HOST = "127.0.0.1"
ALL = "all"
LIVE = "edgar"
"""The server that has live data."""


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    agent = options.command(
        commands,
        "agent",
        agent_command,
        help="serve one of the agents that ship with the project over A2A",
        example="traderbench agent quant --port 9110",
    )
    agent.add_argument("name", metavar="NAME", help="green, quant, learner, llm, null, echo, keyword or random")
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
        help="serve tool servers alone, locked to a date; with --stdio to a client that starts them by command",
        example="traderbench mcp serve all --stdio --as-of 2013-03-01",
    )
    serve.add_argument(
        "name", metavar="NAME", help="edgar, yfinance, sandbox, options, trading or risk; all: every one"
    )
    serve.add_argument(
        "--stdio",
        action="store_true",
        help="speak MCP over standard input and output, as desktop clients want it, and open no port",
    )
    serve.add_argument("--host", help=f"address to listen on (default: {HOST})")
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
        "--seed",
        type=options.seed,
        default=0,
        metavar="N",
        help="seed of random draws: Monte Carlo, generators in the sandbox (default: %(default)s)",
    )
    serve.add_argument(
        "--live",
        type=Path,
        metavar="FOLDER",
        help="edgar only: serve live figures from the SEC, kept in this folder (needs TRADERBENCH_SEC_CONTACT)",
    )
    serve.add_argument(
        "--config", metavar="CONFIG", help="serve the data that the section lake of this benchmark variant names"
    )


def agent_command(arguments: argparse.Namespace) -> int:
    """Replace this process by the agent's program."""
    import os
    import sys

    from engine.agent import builtin as builtin_agents
    from engine.errors import ConfigError
    from lake.vocabulary import did_you_mean

    names = (builtin_agents.GREEN, *builtin_agents.BUILTIN_AGENTS)
    if arguments.name not in names:
        raise ConfigError(
            f"unknown agent {arguments.name!r}{did_you_mean(arguments.name, names)}; available: {', '.join(names)}"
        )
    port = arguments.port or (9109 if arguments.name == builtin_agents.GREEN else 9110)
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
    """Serve one server or all, until stopped."""
    from engine.errors import ConfigError, ServiceUnavailable
    from mcp_servers import addresses
    from mcp_servers.setting import ServerStartError

    names = _servers(arguments)
    try:
        for name in arguments.allowed_host:
            addresses.checked(name)
    except ValueError as error:
        raise ConfigError(f"--allowed-host: {error}") from error
    try:
        _serve(arguments, names)
    except ServerStartError as error:
        raise ServiceUnavailable(str(error)) from error
    return 0


def _servers(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the servers that are asked for; refuse options that say nothing about them."""
    from engine.errors import ConfigError
    from lake.vocabulary import did_you_mean
    from mcp_servers.catalog import SERVERS

    names = (*SERVERS, ALL)
    if arguments.name not in names:
        raise ConfigError(
            f"unknown server {arguments.name!r}{did_you_mean(arguments.name, names)}; available: {', '.join(names)}"
        )
    if arguments.name == ALL and arguments.port is not None:
        raise ConfigError(f"--port is for one server; {ALL} serves each on its own port, 8101 to 8106")
    given = {"--host": arguments.host, "--port": arguments.port, "--allowed-host": arguments.allowed_host}
    useless = [option for option, value in given.items() if value not in (None, [])]
    if arguments.stdio and useless:
        raise ConfigError(f"--stdio opens no port: leave out {', '.join(useless)}")
    if arguments.live is not None and arguments.name not in (LIVE, ALL):
        raise ConfigError(f"--live: the {arguments.name} server has no live data; {LIVE} has")
    if arguments.live is not None and arguments.config is not None:
        raise ConfigError("--live and --config both say where the figures come from; give one of them")
    return tuple(SERVERS) if arguments.name == ALL else (arguments.name,)


def _lakes(live: Path | None, config_file: str | None) -> dict[str, Lake]:
    from engine.errors import ConfigError
    from mcp_servers import host

    if config_file is not None:
        from engine import config
        from lake import providers
        from mcp_servers.catalog import SERVERS

        try:
            lake = providers.open_lake(config.load(config_file).lake.settings())
        except ValueError as error:
            raise ConfigError(f"{config_file}: lake: {error}") from error
        return {name: lake for name, spec in SERVERS.items() if spec.dated}
    try:
        return {} if live is None else {LIVE: host.live_lake(live)}
    except ValueError as error:
        raise ConfigError(f"--live: {error}") from error


def _serve(arguments: argparse.Namespace, names: tuple[str, ...]) -> None:
    from mcp_servers import caller, host, stdio

    grant = caller.standalone_grant(arguments.as_of or date.today(), seed=arguments.seed)
    lakes = _lakes(arguments.live, arguments.config)
    if arguments.stdio:
        stdio.serve(names, grant=grant, lakes=lakes)
    host.serve(
        names,
        grant=grant,
        host=arguments.host or HOST,
        port=arguments.port,
        lakes=lakes,
        allowed_hosts=tuple(arguments.allowed_host),
    )
