"""The agents that ship with the project, each in a process of its own and spoken to over A2A like a stranger's.

A built-in agent gets an empty environment and an empty home: no key, no seed and no path of the harness. Where we are
root it is another user (:mod:`engine.agent.user`). It ends with the process that started it, even when that one is
killed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from engine import shipped
from engine.agent import process as agent_process
from engine.agent import user as agent_user
from engine.agent.client import A2AAgent, connect
from engine.agent.failure import AgentFailure
from engine.agent.user import AgentUser
from mcp_servers import scratch

LOG = "agent.log"
START_ATTEMPTS = 3
EX_USAGE, EX_UNAVAILABLE = 2, 69
"""Ends of a program that another port would not help."""


class BuiltinAgent(NamedTuple):
    """A row of the list of built-in agents.

    ``inherits`` names the environment variables that it gets from ours because it cannot work without them, and
    ``start_timeout_s`` is how long it may take to come up: a model of one's own is loaded by the first request.
    """

    program: str
    arguments: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()
    start_timeout_s: float = 30.0


BUILTIN_AGENTS: dict[str, BuiltinAgent] = {
    "null": BuiltinAgent("reference", ("--kind", "null")),
    "echo": BuiltinAgent("reference", ("--kind", "echo")),
    "keyword": BuiltinAgent("reference", ("--kind", "keyword")),
    "random": BuiltinAgent("reference", ("--kind", "random")),
    "quant": BuiltinAgent("quant"),
    "learner": BuiltinAgent("learner"),
    "llm": BuiltinAgent(
        "llm",
        inherits=(
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_MODEL",
            "OPENAI_INPUT_PRICE",
            "OPENAI_OUTPUT_PRICE",
        ),
        start_timeout_s=150.0,
    ),
}

GREEN = "green"
"""The evaluator as an A2A agent; served by its program, never started as an agent under test."""


def locate_programs() -> Path:
    """Return the folder of agent programs: beside the packages in a checkout, inside ``engine`` when installed."""
    return shipped.folder("agents")


def lookup(name: str) -> BuiltinAgent:
    """Return the row of ``name`` (with or without ``builtin:``); an unknown name lists what exists."""
    name = name.removeprefix("builtin:")
    if name not in BUILTIN_AGENTS:
        raise ValueError(f"unknown built-in agent {name!r}; available: {', '.join(sorted(BUILTIN_AGENTS))}")
    return BUILTIN_AGENTS[name]


def command(name: str, *, host: str, port: int, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command line, after the interpreter, that serves the agent ``name`` (or ``green``)."""
    row = BuiltinAgent(GREEN) if name == GREEN else lookup(name)
    program = str(locate_programs() / row.program)
    return [program, "--host", host, "--port", str(port), *row.arguments, *arguments]


def user_of(name: str) -> AgentUser:
    """Return the user that the agent ``name`` runs as."""
    return agent_user.choose(locate_programs() / lookup(name).program / "__main__.py")


@asynccontextmanager
async def start(
    name: str,
    *,
    port: int | None = None,
    env: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    apart: bool = True,
) -> AsyncIterator[A2AAgent]:
    """Run the built-in agent ``name`` while the block runs; yield it connected.

    Parameters
    ----------
    name
        A key of :data:`BUILTIN_AGENTS`, with or without ``builtin:``.
    port
        Port to serve on; None takes a free one.
    env
        Environment variables added to the nearly empty environment of the agent.
    arguments
        More flags for the program.
    apart
        Whether it becomes another user where that can be; False for an agent that writes into a folder of ours.

    Raises
    ------
    ValueError
        For an unknown name.
    AgentFailure
        When the agent does not come up in time; the message ends with the last line that it wrote.
    """
    row = lookup(name)
    user = user_of(name).number if apart else None
    with scratch.folder("traderbench-agent-") as home:
        if user is not None:
            os.chown(home, user, user)
        environment = _environment(str(home), row, env or {})
        process, agent = await _bring_up(name, port, environment, arguments, home, user)
        try:
            yield agent
        finally:
            await agent.close()
            await agent_process.stop(process)


async def _bring_up(
    name: str, port: int | None, environment: dict[str, str], arguments: Sequence[str], home: Path, user: int | None
) -> tuple[subprocess.Popen[bytes], A2AAgent]:
    # Between finding a free port and listening on it another process can take it: then the next one is tried.
    for attempt in range(START_ATTEMPTS):
        chosen = port or _free_port()
        process = agent_process.launch(
            ["-I", *command(name, host="127.0.0.1", port=chosen, arguments=arguments)],
            environment=environment,
            folder=home,
            log=home / LOG,
            user=user,
        )
        try:
            return process, await _connect_when_up(process, chosen, home, lookup(name).start_timeout_s)
        except BaseException as error:
            exited = process.poll() not in (None, EX_USAGE, EX_UNAVAILABLE)
            await agent_process.stop(process)
            if not (isinstance(error, AgentFailure) and exited and port is None and attempt + 1 < START_ATTEMPTS):
                raise
    raise AssertionError("the last attempt returns or raises")


def _environment(home: str, row: BuiltinAgent, extra: Mapping[str, str]) -> dict[str, str]:
    kept = ("PATH", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "TZ", *row.inherits)
    base = {key: os.environ[key] for key in kept if key in os.environ}
    return base | {"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "JAX_PLATFORMS": "cpu"} | dict(extra)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _connect_when_up(process: subprocess.Popen[bytes], port: int, home: Path, timeout_s: float) -> A2AAgent:
    deadline = time.monotonic() + timeout_s
    while True:
        if process.poll() is not None:
            raise AgentFailure("unreachable", f"the agent ended at its start: {agent_process.last_line(home / LOG)}")
        try:
            agent = await connect(f"http://127.0.0.1:{port}", timeout_s=max(0.1, deadline - time.monotonic()))
        except AgentFailure as error:
            if time.monotonic() >= deadline:
                raise AgentFailure(
                    "timeout", f"the agent did not come up: {agent_process.last_line(home / LOG) or error}"
                ) from error
            await asyncio.sleep(0.05)
            continue
        if process.poll() is None:
            return agent
        await agent.close()
