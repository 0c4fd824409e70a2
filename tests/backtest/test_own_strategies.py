"""Strategies of a user's own file: which they are, and what is said about those that are none."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from backtest import loops, simulators, strategies
from backtest.batch import evaluate
from backtest.strategies import own

MINE = '''
from dataclasses import dataclass

import jax.numpy as jnp

from backtest import indicators, strategies
from backtest.account import target
from backtest.episode import Strategy
from backtest.strategies.orders import when_changed


@dataclass
class Setting:
    exposure: float


def make(fast: int = 12, slow: int = 26) -> Strategy:
    """Written out here as strategies.moving_average_cross is there."""
    if fast >= slow:
        raise ValueError(f"fast must be below slow, got {fast} and {slow}")
    quick, lazy = indicators.ema(fast), indicators.ema(slow)

    def init(bar):
        return quick.init(bar), lazy.init(bar), jnp.zeros_like(bar.close)

    def decide(memory, bar, account):
        fast_memory, fast_value = quick.update(memory[0], bar)
        slow_memory, slow_value = lazy.update(memory[1], bar)
        side = jnp.sign(fast_value - slow_value)
        return (fast_memory, slow_memory, side), when_changed(side, memory[2], 1.0)

    return Strategy(init, decide, reads_account=False)


fixed = make(5, 9)
number = 7


def needs(window):
    return make(slow=window)


def wrong():
    return {"fast": 12}


def deciding(decide):
    return lambda: Strategy(lambda bar: jnp.zeros_like(bar.close), decide, reads_account=False)


@deciding
def branches(memory, bar, account):
    return memory, target(jnp.where(True, 1.0, 0.0) if bar.close > bar.open else 0.0)


@deciding
def no_order(memory, bar, account):
    return memory, bar.close


@deciding
def only_order(memory, bar, account):
    return target(jnp.ones_like(bar.close))


@deciding
def turns(memory, bar, account):
    return jnp.int32(1), target(jnp.ones_like(bar.close))


@deciding
def scalar(memory, bar, account):
    return memory, target(jnp.ones(()))


@deciding
def crowd(memory, bar, account):
    return memory, target(jnp.sign(bar.close - jnp.mean(bar.close)))


@deciding
def sorts(memory, bar, account):
    pair = jnp.sort(jnp.stack([bar.close, bar.open]), axis=0)
    return memory, target((pair[1] - pair[0]) / pair[1])
'''


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return str(path)


def test_an_own_strategy_plays_as_the_same_one_built_in_does_and_in_the_same_loop(mine: str) -> None:
    written = strategies.get(f"{mine}:make", fast=7, slow=20)
    built_in = strategies.get("moving_average_cross", fast=7, slow=20)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=300))(jax.random.split(jax.random.key(3), 8))
    result = evaluate(markets, [written, built_in])
    np.testing.assert_array_equal(result.log_growth[0], result.log_growth[1])
    assert float(np.ptp(result.log_growth[0])) > 0.0
    assert loops.status(written) == loops.status(built_in)


def test_equal_parameters_give_the_same_strategy_and_an_edited_file_another(mine: str) -> None:
    first = strategies.get(f"{mine}:make", fast=7)
    assert strategies.get(f"{mine}:make", fast=7) is first
    assert strategies.get(f"{mine}:make", fast=8) is not first
    with pytest.raises(ValueError, match=r"window must be a whole number, got 7\.0$"):
        strategies.get(f"{mine}:make", fast=7.0)
    Path(mine).write_text(MINE + "\n# edited\n")
    assert strategies.get(f"{mine}:make", fast=7) is not first
    assert isinstance(strategies.get(f"{mine}:fixed"), strategies.Strategy)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "mkae",
            {},
            r"no 'mkae' in the file \(did you mean 'make'\?\); it declares Setting, make, fixed, needs, wrong",
        ),
        ("make", {"fats": 3}, r"it has no 'fats' \(did you mean 'fast'\?\); it takes fast, slow$"),
        ("make", {"stop": 0.1}, r"it has no 'stop' \(did you mean 'slow'\?\); it takes fast, slow$"),
        ("make", {"fast": 50}, r"mine.py:make' fails: ValueError: fast must be below slow, got 50 and 26$"),
        ("needs", {}, "it needs window$"),
        ("fixed", {"fast": 3}, "it is a Strategy, not a factory, and takes none$"),
        ("number", {}, "is a int; a backtest.episode.Strategy or its factory is wanted$"),
        ("wrong", {}, "gives a dict, not a backtest.episode.Strategy$"),
    ],
)
def test_what_is_wrong_with_a_name_or_its_parameters_is_one_line(
    mine: str, name: str, parameters: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        strategies.get(f"{mine}:{name}", **parameters)
    assert "\n" not in str(error.value) and "mine.py" in str(error.value)


def test_a_file_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"strategy file '.*none\.py' does not exist \(working directory: '"):
        strategies.get(f"{tmp_path}/none.py:make")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ValueError, match=r"broken\.py' fails on import: ZeroDivisionError: division by zero$"):
        strategies.get(f"{tmp_path}/broken.py:make")
    (tmp_path / "latin.py").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"latin\.py' cannot be read"):
        strategies.get(f"{tmp_path}/latin.py:make")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "branches",
            r"decide cannot be traced by jax: .*truth value.* \(a choice between values is jnp\.where, not if\)$",
        ),
        ("no_order", r"decide must return \(memory, backtest\.account\.Action\)$"),
        ("only_order", r"decide must return \(memory, backtest\.account\.Action\)$"),
        ("turns", r"the memory must stay as init made it, float64\[3\]; decide makes it int32\[\]$"),
        ("scalar", r"for bars \[3\] the order's kind must be int32\[3\], got int32\[\]$"),
        ("crowd", r"depends on the markets beside it \(.*\); init and decide get a batch"),
    ],
)
def test_a_strategy_that_cannot_be_played_is_refused_before_a_market_is(mine: str, name: str, message: str) -> None:
    strategy = strategies.get(f"{mine}:{name}")
    with pytest.raises(ValueError, match=message) as error:
        own.check("mine", strategy)
    assert "\n" not in str(error.value)


def test_a_strategy_that_only_xla_can_play_passes(mine: str) -> None:
    own.check("mine", strategies.get(f"{mine}:sorts"))
    own.check("mine", strategies.get(f"{mine}:make"), dtype="float32")
