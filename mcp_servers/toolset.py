"""From plain typed functions to an MCP server."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from importlib import metadata
from typing import Any, NamedTuple, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import PrivateAttr, ValidationError

from lake.point_in_time import ProviderUnavailable, UnknownKey
from mcp_servers import arguments as reading
from mcp_servers import messages
from mcp_servers.turns import HEAVY_CALLS, HEAVY_CALLS_PER_TASK, Turns

P = ParamSpec("P")
R = TypeVar("R")


class Effect(NamedTuple):
    """What a tool does that changes something, for clients that ask their user first.

    Attributes
    ----------
    destructive
        What it changes cannot be taken back; otherwise it only adds.
    idempotent
        The same call once more changes nothing more.
    """

    destructive: bool
    idempotent: bool


READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def _annotations(effect: Effect | None) -> ToolAnnotations:
    if effect is None:
        return READS
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=effect.destructive,
        idempotent_hint=effect.idempotent,
        open_world_hint=False,
    )


class StrictTool(Tool):
    """A tool that refuses what its published schema does not have, and says in one line what was wrong."""

    _turns: Turns | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, function: Callable[..., Any], *, effect: Effect | None, turns: Turns | None = None) -> Tool:
        """Return the tool that ``function`` is; without ``effect`` it only reads; with ``turns`` its calls wait."""
        plain = function if inspect.iscoroutinefunction(function) else readable_errors(function)
        tool = cls.from_function(plain, annotations=_annotations(effect), description=inspect.getdoc(function))
        tool.parameters = reading.published(tool.parameters)
        assert isinstance(tool, cls)
        tool._turns = turns
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Read the arguments, then call the function; see the class that this one extends."""
        try:
            given = reading.read(self.name, self.parameters, self.fn_metadata.pre_parse_json(arguments))
        except ValueError as error:
            raise ToolError(str(error)) from error
        try:
            async with self._turns.turn() if self._turns else nullcontext():
                return await super().run(given, context, convert_result=convert_result)
        except ToolError as error:
            if isinstance(error, UnexpectedToolError) or not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(reading.problems(self.name, error.__cause__)) from error


def readable_errors(tool: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that say what was wrong with the input into messages that the agent gets to read."""

    @functools.wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except (ValueError, UnknownKey, ProviderUnavailable) as error:
            raise ToolError(str(error)) from error

    return answer


class ToolServer(MCPServer[Any]):
    """An MCP server whose tools can be offered by another one too.

    Attributes
    ----------
    tools
        What it offers, in order.
    """

    def __init__(self, name: str, *, title: str, instructions: str, tools: Sequence[Tool]) -> None:
        # The framework would otherwise choose a handler whose every traceback takes 0.1 s.
        messages.write_plainly()
        super().__init__(
            name,
            title=title,
            instructions=instructions,
            version=metadata.version("traderbench"),
            log_level="WARNING",
            tools=list(tools),
        )
        self.tools = tuple(tools)


def build(
    name: str,
    *,
    title: str,
    instructions: str,
    tools: Sequence[Callable[..., Any]],
    changing: Mapping[str, Effect] | None = None,
    heavy: Collection[str] = (),
) -> ToolServer:
    """Return a server that offers ``tools``: name, docstring and annotations of each become its description.

    A tool raises ``ValueError`` (or the lake's ``UnknownKey``) with a message that the agent can act on; one that is
    asynchronous raises ``ToolError`` itself. Arguments are read by :mod:`mcp_servers.arguments`. ``changing`` names the
    tools that change something, and how; the others are published as read-only. ``heavy`` names those of which few may
    work at a time.
    """
    effects = changing or {}
    return ToolServer(
        name,
        title=title,
        instructions=instructions,
        tools=[
            StrictTool.of(
                tool,
                effect=effects.get(tool.__name__),
                turns=Turns(per_task=HEAVY_CALLS_PER_TASK, in_all=HEAVY_CALLS) if tool.__name__ in heavy else None,
            )
            for tool in tools
        ],
    )


def together(servers: Sequence[ToolServer], *, name: str, title: str) -> ToolServer:
    """Return one server with the tools of all ``servers``, under their own names; ``ValueError`` where two are equal.

    Clients put the server's name before a tool's, so that the tools of ``servers`` need no prefix of their own.
    """
    tools = [tool for server in servers for tool in server.tools]
    twice = [tool for tool, count in Counter(tool.name for tool in tools).items() if count > 1]
    if twice:
        raise ValueError(f"two servers have a tool of this name: {', '.join(twice)}; rename one of them")
    instructions = "\n".join(f"{server.title}: {server.instructions}" for server in servers)
    return ToolServer(name, title=title, instructions=instructions, tools=tools)
