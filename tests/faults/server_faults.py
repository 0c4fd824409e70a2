"""Faults of the tool servers, the sandbox and Ray's workers: all of them ours, so none may cost the agent a point."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tests.faults import descendants
from tests.faults.row import Fault
from tests.faults.scene import BOUND_S, Scene, ended_by

AFTER = 2
"""Commits after which the fault comes, when tasks are under way."""
Find = Callable[[int], list[int]]


def struck(
    find: Find, number: signal.Signals, *, backend: str | None = None, after: int = AFTER
) -> Callable[[Scene], str]:
    """Send a signal to the processes that ``find`` names, as soon as there are any, in mid-run; let the run end."""

    def inject(scene: Scene) -> str:
        command = scene.start(execution={"backend": backend or scene.backend})
        assert scene.after_commits(command, after), "the run ended before its fault"
        command.wait_until(lambda: bool(find(command.pid)), timeout_s=BOUND_S)
        found = find(command.pid)
        assert descendants.strike(found, number) == len(found) > 0, "no process to strike"
        return scene.finished(command)

    return inject


def nursery(pid: int) -> list[int]:
    """Return the process that the sandbox's others are forked from."""
    return descendants.sandboxes(pid)[:1]


def zygote(pid: int) -> list[int]:
    """Return the first process that the nursery has forked."""
    return descendants.sandboxes(pid)[1:2]


def one_worker(pid: int) -> list[int]:
    """Return a Ray worker that plays a task at this moment."""
    return [each for each in descendants.ray_workers(pid) if ".execute" in descendants.command(each)][:1]


def ray_driver_killed(scene: Scene) -> str:
    """Kill the harness of a run in Ray, then resume."""
    command = scene.start(execution={"backend": "ray"})
    assert scene.after_commits(command, AFTER), "the run ended before its fault"
    command.send(signal.SIGKILL)
    status = scene.end(command).status
    return f"{ended_by(status)}, then {scene.finished(scene.resume())}"


def trading_killed_in_mid_call(scene: Scene) -> str:
    """Kill the trading server again and again while orders arrive; every order trades once."""
    from tests.mcp_servers import test_kill_in_mid_call as orders

    orders.test_orders_survive_kills_and_each_trades_once()
    return "every order once"


FAULTS = (
    Fault("server-killed", "equal", struck(descendants.tool_servers, signal.SIGKILL)),
    Fault("server-hung", "equal", struck(descendants.tool_servers, signal.SIGSTOP)),
    Fault("server-killed-in-mid-trade", "every order once", trading_killed_in_mid_call),
    Fault("sandbox-nursery-killed", "equal", struck(nursery, signal.SIGKILL)),
    Fault("sandbox-zygote-killed", "equal", struck(zygote, signal.SIGKILL)),
    Fault("ray-server-killed", "equal", struck(descendants.tool_servers, signal.SIGKILL, backend="ray")),
    Fault("ray-worker-killed", "equal", struck(one_worker, signal.SIGKILL, backend="ray", after=0)),
    Fault("ray-driver-killed", "killed by SIGKILL, then equal", ray_driver_killed),
)
