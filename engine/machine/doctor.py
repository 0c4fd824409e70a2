"""What works on this machine: Python, packages, ports, Ray, data, sandbox, the agent's card, a stored run."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

State = Literal["ok", "warning", "error"]
MINIMUM_PYTHON = (3, 11)


class Check(NamedTuple):
    """One finding: what was looked at, how it is, and what it means or what to do."""

    name: str
    state: State
    text: str


def diagnose(*, agent: str | None = None, store: Path | None = None) -> list[Check]:
    """Return every finding; ``agent`` and ``store`` add a look at an agent's card and at a run folder."""
    checks = [
        _python(),
        _packages(),
        *_ports(),
        _ray(),
        _data(),
        _sandbox(),
        _agent_user(),
        _devices(),
        _native(),
        _browser(),
    ]
    if agent is not None:
        checks.append(asyncio.run(_agent(agent)))
    if store is not None:
        checks.append(_store(store))
    return checks


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MINIMUM_PYTHON:
        return Check("python", "error", f"{version}; at least 3.11 is needed")
    return Check("python", "ok", version)


def _packages() -> Check:
    names = ("jax", "numpy", "pandas", "ray", "ccxt", "yfinance", "openai", "a2a-sdk", "mcp", "PyYAML")
    missing = [name for name in names if not _version(name)]
    if missing:
        return Check("packages", "error", f"missing: {', '.join(missing)}; run: make setup")
    return Check("packages", "ok", ", ".join(f"{name} {_version(name)}" for name in names))


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _ports() -> list[Check]:
    from mcp_servers.catalog import SERVERS

    return [_port(spec.name, spec.port) for spec in SERVERS.values()]


def _port(name: str, port: int) -> Check:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return Check(f"port {port}", "warning", f"in use; {name} needs it unless the run says --ports auto")
    return Check(f"port {port}", "ok", f"free for {name}")


def _ray() -> Check:
    if importlib.util.find_spec("ray") is None:
        return Check("ray", "error", "not installed; --backend serial works without it")
    shared_memory = os.statvfs("/dev/shm")
    free_mib = shared_memory.f_bavail * shared_memory.f_frsize // 2**20
    if free_mib < 256:
        return Check("ray", "warning", f"{free_mib} MiB free in /dev/shm; Ray wants some hundred")
    return Check("ray", "ok", f"installed, {free_mib} MiB free in /dev/shm")


def _data() -> Check:
    from lake import sample

    try:
        return Check("data", "ok", f"embedded lake, sha256 {sample.data_hash()[:16]}")
    except Exception as error:
        return Check("data", "error", f"the embedded lake cannot be read: {error}")


def _sandbox() -> Check:
    from mcp_servers import sandbox

    tier = sandbox.tier()
    if tier is None:
        reason = sandbox.selftest().reason
        return Check("sandbox", "warning", f"refused here: {reason}; tasks that need it have no score")
    return Check("sandbox", "ok", tier)


def _agent_user() -> Check:
    """Say whether an agent that we start could read the run's folder."""
    from engine.agent import builtin as builtin_agents

    user = builtin_agents.user_of("quant")
    hint = "" if user.is_apart else "; they can read what you can, so let a stranger's agent run elsewhere"
    return Check("agent user", "warning" if os.geteuid() == 0 and not user.is_apart else "ok", user.text + hint)


def _devices() -> Check:
    from engine import devices

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # a look takes nobody's memory
    found = devices.counted(devices.available())
    return Check("devices", "ok", f"{found}; --device takes cpu unless it is told another")


def _native() -> Check:
    """Say whether the compiled loops serve; without them the same results come from the jitted kernels, slower."""
    import native

    why = native.status()
    found = "compiled" if why == "native" else f"jitted kernels serve instead ({why})"
    return Check("native loops", "ok", found)


def _browser() -> Check:
    import shutil

    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    return Check("browser", "ok", found or "none; only the tests of the report need one")


async def _agent(address: str) -> Check:
    from engine.agent import token as agent_token
    from engine.agent.client import AgentFailure, connect
    from engine.errors import ConfigError

    try:
        agent = await connect(address, token=agent_token.given())
    except (AgentFailure, ConfigError) as error:
        return Check("agent", "error", f"{address}: {error}")
    try:
        return Check("agent", "ok", f"{agent.name}, A2A {agent.version}, card sha256 {agent.digest[:16]}")
    finally:
        await agent.close()


def _store(folder: Path) -> Check:
    from engine.errors import TraderBenchError
    from engine.storage.store import Store

    try:
        with Store.open(folder, read_only=True) as store:
            problems = store.check()
            finished, total = len(store.finished()), len(store.manifest()["tasks"])
            logged = store.is_logged
    except TraderBenchError as error:
        return Check("store", "error", str(error))
    if problems:
        return Check("store", "error", "; ".join(problems))
    found = f"{folder}: {finished} of {total} tasks finished, every hash right"
    if not logged:
        return Check(
            "store",
            "warning",
            f"{found}; the run began before commits were logged: lost ones and a changed manifest go unnoticed",
        )
    return Check("store", "ok", found)


def worst(checks: list[Check]) -> State:
    """Return the worst state found."""
    order: Callable[[State], int] = ("ok", "warning", "error").index
    return max((check.state for check in checks), key=order)
