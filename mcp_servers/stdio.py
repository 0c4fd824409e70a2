"""Tool servers over standard input and output, for clients that start a server by command (``mcp serve --stdio``).

Standard output carries the protocol and nothing else: whatever prints, prints to standard error. No port is opened. The
process ends with its standard input, and at once on a signal.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import anyio
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult

from mcp_servers import caller, ending, host, toolset
from mcp_servers.access import Grant
from mcp_servers.catalog import spec_of
from mcp_servers.setting import ServerStartError
from mcp_servers.toolset import ToolServer
from mcp_servers.warm_up import WarmUp

if TYPE_CHECKING:
    from lake.sample import Lake

Lakes: TypeAlias = "dict[str, Lake]"
ALL_NAME, ALL_TITLE = "traderbench", "TraderBench"


class OneCaller:
    """Runs every tool call under one grant: whoever has started this process; tells look-aheads on standard error."""

    def __init__(self, grant: Grant) -> None:
        self._grant = grant

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one MCP message."""
        with caller.acting_as(self._grant) as call:
            result = await call_next(ctx)
        if call.looked_ahead:
            tool = str((ctx.params or {}).get("name", ""))
            print(f"look-ahead refused: {tool:.60} after {self._grant.as_of}", file=sys.stderr)
        return result


def _offered(names: Sequence[str], lakes: Lakes) -> tuple[list[str], ToolServer]:
    """Return what can run here, and one server with all of its tools; what cannot is told on standard error.

    Raises
    ------
    ServerStartError
        Nothing can run here.
    """
    built: dict[str, ToolServer] = {}
    missing = {}
    for name in names:
        try:
            built[name] = host.build(spec_of(name), lake=lakes.get(name))
        except Exception as error:
            missing[name] = f"the {name} server cannot run here: {error}"
    if not built:
        raise ServerStartError("; ".join(missing.values()))
    for line in missing.values():
        print(line, file=sys.stderr)
    if len(names) == 1:
        return list(built), built[names[0]]
    return list(built), toolset.together(list(built.values()), name=ALL_NAME, title=ALL_TITLE)


def serve(names: Sequence[str], *, grant: Grant, lakes: Lakes | None = None) -> NoReturn:
    """Offer the tools of the servers ``names`` until standard input ends, and end the process then.

    Parameters
    ----------
    names
        Keys of the catalogue. One server keeps its own name; several are one server named ``traderbench``.
    grant
        Date, seed and limit of every call.
    lakes
        Data by server, where it is not the embedded sample.

    Raises
    ------
    ServerStartError
        None of them can run on this machine.
    """
    ending.on_signals()
    with contextlib.redirect_stdout(sys.stderr):
        running, server = _offered(names, lakes or {})
    server.middleware.append(OneCaller(grant))
    told = f"{server.title} MCP server on standard input and output: {len(server.tools)} tools, as of {grant.as_of}"
    print(told, file=sys.stderr)
    WarmUp(running, (lakes or {}).get("options")).start()
    # a client that is gone reads no answers: the end of this process, not an error of it
    with contextlib.suppress(BrokenPipeError):
        anyio.run(partial(_run, server))
    ending.at_once(0)


async def _run(server: ToolServer) -> None:
    try:
        await server.run_stdio_async()
    except* BrokenPipeError as gone:
        raise BrokenPipeError from gone
