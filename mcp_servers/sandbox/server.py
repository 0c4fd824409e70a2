"""The MCP face of the sandbox."""

from __future__ import annotations

import atexit
from contextlib import nullcontext
from typing import Annotated, Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from mcp_servers import caller, toolset
from mcp_servers.handouts import Handouts
from mcp_servers.sandbox import limits, tiers
from mcp_servers.sandbox.outcome import ErrorClass, Outcome, SandboxUnavailable
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.sessions import Sessions
from mcp_servers.turns import Turns

Code = Annotated[
    str,
    Field(
        description="Python source, at most 64 KiB. Assign the answer to `result`, or let the last line be its value; "
        "what is printed comes back as well. numpy, scipy, pandas, statsmodels, jax and the benchmark's `pricing` "
        "(pricing.black_scholes.price(spot=, strike=, time_to_expiry=, rate=, volatility=, is_call=) and more: "
        "help(pricing.black_scholes)) are installed; there is no network, no disk and no other process, and nothing is "
        "kept between calls outside of a session."
    ),
]
Data = Annotated[Any, Field(description="Any JSON value, at most 4 MiB; the code sees it as `data`")]
Files = Annotated[
    dict[str, str] | None,
    Field(
        description="Texts by plain names, at most 4 MiB; the code opens them: pandas.read_csv('prices.csv'). What a "
        "task gives as its context is there as context.json"
    ),
]
SessionName = Annotated[
    str | None,
    Field(
        description="Name of a notebook of this task: variables, functions, imports and files of its calls are there "
        f"in the next call of the same name. At most {limits.SESSIONS_PER_TASK} a task, 8 MiB each; without it nothing "
        "is kept",
        min_length=1,
        max_length=64,
    ),
]
Timeout = Annotated[float, Field(description="Wall clock limit, seconds, above 0 and at most 10")]


class ExecutionUsage(BaseModel):
    """Measured from outside the sandbox."""

    wall_seconds: float = Field(description="Wall clock, seconds")
    cpu_seconds: float = Field(description=f"Processor time, seconds; at most {limits.CPU_LIMIT_S}")
    peak_bytes: int = Field(description="Peak resident memory, bytes, about 160 MB of which is Python and its packages")


class SessionState(BaseModel):
    """What a session held before the call, and holds for the next one."""

    restored: list[str] = Field(description="Variables that were there")
    kept: list[str] = Field(description="Variables, functions and classes that the next call will find")
    not_kept: dict[str, str] = Field(description="Variables that it will not, and why")
    files: dict[str, int] = Field(description="Files by name, with their sizes in bytes")
    dropped: bool = Field(description="The state before the call was given up: other tasks needed the room")


class Execution(BaseModel):
    """What became of the code."""

    ok: bool = Field(description="The code ran to its end")
    # Any, since the value was checked where it was read: to check it again would hold up the event loop.
    result: Any = Field(description="Value of `result` or of the last line; null when not ok")
    stdout: str = Field(description="At most 64 KiB")
    stderr: str = Field(description="At most 64 KiB, with the traceback when the code failed")
    truncated: bool = Field(description="Whether output was cut off")
    error_class: ErrorClass | None = Field(
        description="null when ok; only sandbox_fault is the sandbox's own failure and may be tried again"
    )
    error: str | None = Field(description="One line; null when ok")
    killed_by: str | None = Field(description="Limit or signal that ended the process; null when it ended by itself")
    usage: ExecutionUsage
    session: SessionState | None = Field(
        default=None, description="null outside of a session, and where the call was killed: then it is as before"
    )
    tier: str = Field(description="Protections in force")


def _execution(outcome: Outcome, tier: str, *, dropped: bool) -> Execution:
    return Execution(
        ok=outcome.ok,
        result=outcome.result,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        truncated=outcome.truncated,
        error_class=outcome.error_class,
        error=outcome.error,
        killed_by=outcome.killed_by,
        usage=ExecutionUsage(
            wall_seconds=outcome.usage.wall_seconds,
            cpu_seconds=outcome.usage.cpu_seconds,
            peak_bytes=outcome.usage.peak_bytes,
        ),
        session=None if outcome.left is None else SessionState(**outcome.left.summary, dropped=dropped),
        tier=tier,
    )


def _started_pool() -> Pool:
    found = tiers.selftest()
    if found.tier is None:
        raise SandboxUnavailable(found.reason)
    pool = Pool(found.tier)
    atexit.register(pool.close)
    return pool


def build_server(*, pool: Pool | None = None, handouts: Handouts | None = None) -> MCPServer:
    """Return the server with its one tool.

    Parameters
    ----------
    pool
        Where calls run; by default a new one of the strongest tier, which lives as long as the process.
    handouts
        Files of tasks, by name under ``files``; none by default.

    Raises
    ------
    SandboxUnavailable
        No tier works on this machine. There is no way to run code without protection.
    """
    runner = pool or _started_pool()
    turns, sessions = Turns(per_task=limits.CALLS_PER_TASK), Sessions()
    told = handouts or Handouts()

    async def execute_python(
        code: Code, data: Data = None, timeout_s: Timeout = 5.0, files: Files = None, session: SessionName = None
    ) -> Execution:
        """Run Python code in a fresh process with numpy, scipy, pandas, statsmodels and pricing; return its result.

        Limits: 5 s of processor time, 512 MB of memory, 64 threads, 64 KiB of output, 1 MiB and 100,000 values of
        result. At most two calls of a task run at a time; others wait. `usage` is in seconds and bytes. For example
        `{"code": "result = sum(data) / len(data)", "data": [1.5, 2, 4]}`.
        """
        call = caller.current()
        grant = call.grant
        known = (told.of(grant) or {}).get("files", {}) | (files or {})
        try:
            kept = None if session is None else sessions.of(grant.owner, session)
            async with turns.turn(), nullcontext() if kept is None else kept.turn:
                dropped, state = kept is not None and kept.dropped, None if kept is None else kept.state or b""
                outcome = await anyio.to_thread.run_sync(
                    lambda: runner.execute(
                        code, data=data, timeout_s=timeout_s, seed=grant.seed, files=known, state=state
                    )
                )
                if kept is not None and outcome.left is not None and outcome.left.state:
                    sessions.keep(kept, outcome.left.state)
        except (ValueError, SandboxUnavailable) as error:
            raise ToolError(str(error)) from error
        call.own_s += outcome.usage.wall_seconds
        return _execution(outcome, runner.tier.name, dropped=dropped)

    return toolset.build(
        "sandbox",
        title="Python Sandbox",
        instructions="Runs short numerical Python programs. Random generators are seeded by the task.",
        tools=(execute_python,),
    )
