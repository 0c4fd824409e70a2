"""A task has so many calls at work on a server, all tasks so many of a heavy tool; the others wait in their order."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from typing import Any

import anyio
import jax
import numpy as np
import pytest
from mcp import Client

from mcp_servers import caller, risk, toolset
from mcp_servers.access import Grant
from mcp_servers.turns import HEAVY_CALLS, HEAVY_CALLS_PER_TASK, Turns
from pricing.risk import simulation


def grant(task: str) -> Grant:
    return Grant("run", task, date(2020, 1, 2), 0)


class Watch:
    """Counts how many blocks are open, of each task and of all."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.order: list[str] = []
        self.most: dict[str, int] = {}

    async def work(self, turns: Turns, name: str, went: list[caller.Call]) -> None:
        task = name[0]
        with caller.acting_as(grant(task)) as call:
            went.append(call)
            async with turns.turn():
                self.open.append(task)
                self.order.append(name)
                for key, count in ((task, self.open.count(task)), ("all", len(self.open))):
                    self.most[key] = max(self.most.get(key, 0), count)
                await anyio.sleep(0.02)
                self.open.remove(task)


def play(turns: Turns, names: list[str]) -> tuple[Watch, list[caller.Call]]:
    watch, went = Watch(), []

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(watch.work, turns, name, went)

    anyio.run(run)
    return watch, went


def test_calls_of_a_task_work_so_many_at_a_time_and_in_their_order() -> None:
    watch, _ = play(Turns(per_task=2), ["a1", "a2", "a3", "a4", "b1", "a5"])
    assert watch.most == {"a": 2, "b": 1, "all": 3}
    assert [name for name in watch.order if name[0] == "a"] == ["a1", "a2", "a3", "a4", "a5"]


def test_all_tasks_together_have_so_many() -> None:
    watch, _ = play(Turns(per_task=1, in_all=2), ["a1", "b1", "c1", "d1", "a2"])
    assert watch.most == {"a": 1, "b": 1, "c": 1, "d": 1, "all": 2}
    assert watch.order == ["a1", "b1", "c1", "d1", "a2"]


def test_waiting_for_ones_own_calls_is_the_agents_time_and_waiting_for_others_is_not() -> None:
    _, (first, second, other) = play(Turns(per_task=1, in_all=1), ["a1", "a2", "b1"])
    assert first.own_s < 0.02 <= second.own_s
    assert other.own_s < 0.02


def test_a_call_that_fails_gives_its_turn_back() -> None:
    turns = Turns(per_task=1, in_all=1)

    async def fail() -> None:
        async with turns.turn():
            raise ValueError

    for _ in range(3):
        with pytest.raises(ValueError):
            anyio.run(fail)


def test_heavy_tools_take_turns() -> None:
    running: list[int] = []
    most: list[int] = []

    async def heavy() -> int:
        """Work."""
        running.append(1)
        most.append(len(running))
        await anyio.sleep(0.02)
        running.pop()
        return 1

    server = toolset.build("t", title="T", instructions="", tools=(heavy,), heavy=("heavy",))

    async def ask(task: str) -> None:
        with caller.acting_as(grant(task)):
            async with Client(server) as client:
                assert not (await client.call_tool("heavy", {})).is_error

    async def run(tasks: list[str]) -> int:
        most.clear()
        async with anyio.create_task_group() as group:
            for task in tasks:
                group.start_soon(ask, task)
        return max(most)

    assert anyio.run(run, ["a"] * 4) == HEAVY_CALLS_PER_TASK
    assert anyio.run(run, list("abcdef")) == HEAVY_CALLS


def test_the_value_at_risk_of_a_portfolio_is_a_heavy_tool() -> None:
    heavy: Any = {tool.name for tool in risk.build_server()._tool_manager.list_tools() if tool._turns is not None}
    assert heavy == {"calculate_portfolio_var"}


@pytest.mark.parametrize(
    "model", [simulation.Gaussian(), simulation.StudentT(4.0), simulation.Jumps(2.0, -0.05, 0.1)], ids=str
)
def test_profits_in_parts_are_those_of_the_whole_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, model: simulation.ReturnModel
) -> None:
    rng = np.random.default_rng(0)
    names, positions = 12, 30
    book = simulation.Book(
        underlying=rng.integers(0, names, positions),
        is_option=rng.random(positions) < 0.7,
        is_call=rng.random(positions) < 0.5,
        shares=100.0 * rng.normal(size=positions),
        strike=rng.uniform(80, 120, positions),
        time_to_expiry=rng.uniform(0.01, 2, positions),
        volatility=rng.uniform(0.1, 0.5, positions),
    )
    correlation = np.where(np.eye(names, dtype=bool), 1.0, 0.3)
    market = {"volatility": rng.uniform(0.1, 0.5, names), "correlation": correlation, "model": model}
    spot, key = rng.uniform(90, 110, names), jax.random.key(3)

    def profits() -> np.ndarray:
        return simulation.simulated_profits(key, book, spot=spot, scenarios=2_000, rate=0.02, **market)

    whole = profits()
    monkeypatch.setattr(simulation, "_BLOCK_NUMBERS", names * 304)
    assert np.array_equal(profits(), whole)
    returns = simulation.simulate_log_returns(key, years=1 / 252, scenarios=2_000, **market)
    growth = np.exp(np.asarray(returns))
    # another exponential: numpy's, of the returns that were handed out
    np.testing.assert_allclose(simulation._profits(book, spot, growth, 1 / 252, 0.02, 0.0), whole, atol=1e-8)


LARGEST = """
import resource
import subprocess
import sys
from datetime import date
from mcp_servers import caller
from mcp_servers.risk import server as risk

def estimate(number):
    one = risk.Position(option_type="call", quantity=1, spot=100, strike=100, time_to_expiry=0.5, volatility=0.2)
    book = [one.model_copy(update={"underlying": str(i), "strike": 80 + 0.1 * i}) for i in range(number)]
    with caller.acting_as(caller.standalone_grant(date(2020, 1, 2))):
        risk.calculate_portfolio_var(book, {str(i): 0.2 for i in range(number)})
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(estimate(1), estimate(500))
"""


def test_the_largest_call_of_the_heavy_tool_takes_less_than_165_mib() -> None:
    # 500 names times 20,000 scenarios are 76 MiB a copy: 115 MiB in blocks, 215 in one piece
    done = subprocess.run([sys.executable, "-c", LARGEST], stdout=subprocess.PIPE, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert (large - small) / 1024 < 165
