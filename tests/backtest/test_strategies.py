"""Reference strategies: what they do, that they cannot see ahead, and the oracles that can."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import account as acc
from backtest import batch, episode, simulators, strategies
from backtest.market import Market
from backtest.rules import FREE, Rules

BARS = 300


@pytest.fixture(scope="module")
def market() -> Market:
    return simulators.simulate(jax.random.key(3), bars=BARS)


@pytest.fixture(scope="module")
def played() -> Callable[[Market], dict[str, episode.Trajectory]]:
    """Play all reference strategies, in one compilation."""

    @jax.jit
    def play(market: Market) -> dict[str, episode.Trajectory]:
        account = acc.open_account()
        return {
            name: episode.rollout(market, strategies.get(name), rules=Rules(), account=account)
            for name in strategies.STRATEGIES
        }

    return play


def test_changing_the_future_changes_no_past_action(
    market: Market, played: Callable[[Market], dict[str, episode.Trajectory]]
) -> None:
    changed = Market(*(np.array(field) for field in market))
    for field in changed[1:]:
        field[200:] = field[200:][::-1] * 1.5
    before, after = played(market), played(changed)
    for name in strategies.STRATEGIES:
        # The action that meets bar 200 was decided after bar 199.
        for past, same in zip(before[name].actions, after[name].actions, strict=True):
            np.testing.assert_array_equal(past[:201], same[:201], err_msg=name)
        np.testing.assert_array_equal(before[name].equity[:201], after[name].equity[:201], err_msg=name)


def test_every_strategy_trades(market: Market, played: Callable[[Market], dict[str, episode.Trajectory]]) -> None:
    for name, path in played(market).items():
        if name not in ("flat", "carry"):
            assert (np.asarray(path.events) & acc.FILLED).any(), name
        assert np.isfinite(np.asarray(path.equity)).all(), name


def test_carry_takes_the_side_that_is_paid(market: Market) -> None:
    paid = np.where(np.arange(BARS) % 8 == 0, 0.0005, 0.0)
    rich = market._replace(funding_rate=jnp.asarray(paid))
    poor = market._replace(funding_rate=jnp.asarray(-paid))
    assert float(episode.run(rich, strategies.carry()).position[-1]) < 0.0
    assert float(episode.run(poor, strategies.carry()).position[-1]) > 0.0
    assert float(episode.run(poor, strategies.carry()).account.ledger.funding) < 0.0


def test_a_moving_average_cross_follows_a_trend() -> None:
    rise = 100.0 * np.exp(np.concatenate([np.linspace(0, 0.5, 150), np.linspace(0.5, 0.0, 150)]))
    candles = Market(3600.0 * np.arange(300), rise, rise * 1.001, rise * 0.999, rise, np.full(300, 1e6), np.zeros(300))
    played = episode.run(candles, strategies.moving_average_cross(), FREE)
    position = np.asarray(played.position)
    assert (position[5:150] > 0).all()
    assert (position[190:] < 0).all()


def test_volatility_target_reaches_its_volatility() -> None:
    market = simulators.simulate(jax.random.key(9), bars=3000)
    played = episode.run(market, strategies.volatility_target(volatility=0.3, largest=5.0), Rules(max_leverage=5.0))
    returns = np.diff(np.log(np.asarray(played.equity)))[100:]
    assert returns.std() * np.sqrt(8760) == pytest.approx(0.3, rel=0.25)


def test_the_random_walker_differs_between_seeds_and_markets(market: Market) -> None:
    one, other = (episode.run(market, strategies.random_walker(seed=seed)) for seed in (0, 1))
    assert not np.array_equal(one.position, other.position)
    switches = np.mean((np.asarray(one.actions.kind)) == acc.TARGET)
    assert switches == pytest.approx(0.05, abs=0.04)


def test_an_unknown_strategy_or_parameter_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown strategy 'momentun'; there are: .*always_long"):
        strategies.get("momentun")
    with pytest.raises(ValueError, match="bad parameters for strategy 'macd'"):
        strategies.get("macd", speed=3)
    with pytest.raises(ValueError, match="fast must be at least 1 and below slow, got fast=30, slow=20"):
        strategies.get("moving_average_cross", fast=30, slow=20)


def test_equal_parameters_give_the_same_object_so_that_nothing_compiles_twice() -> None:
    assert strategies.moving_average_cross(5, 20) is strategies.moving_average_cross(5, 20)


def test_what_was_asked_for_in_the_warm_up_waits_at_its_end() -> None:
    market = simulators.simulate(jax.random.key(3), bars=60)
    market = market._replace(funding_rate=jnp.zeros(60))
    ratio = float(market.close[-1] / market.open[20])
    held = episode.run(market, strategies.buy_and_hold(), FREE, warmup=20)
    assert float(held.equity[-1]) == pytest.approx(10_000.0 * ratio, rel=1e-12)  # bought at the first bar it may trade
    swept = batch.evaluate(market, [strategies.buy_and_hold()], FREE, warmup=20)
    assert float(swept.total_return[0]) == pytest.approx(ratio - 1.0, rel=1e-12)


def test_a_stop_goes_with_the_order_and_is_filled_at_its_level() -> None:
    closes = np.array([100.0, 100.0, 99.0, 95.0, 101.0])
    opens = np.array([100.0, 100.0, 100.0, 99.0, 95.0])
    high, low = np.maximum(opens, closes), np.minimum(opens, closes)
    market = Market(3600.0 * np.arange(5), opens, high, low, closes, np.full(5, 1e9), np.zeros(5))
    played = episode.run(market, strategies.get("buy_and_hold", stop=0.03), FREE)
    # Decided at a close of 100, bought at an open of 100, stopped at 97 on the way from 99 to 95.
    np.testing.assert_allclose(played.equity, [10_000.0, 10_000.0, 10_000.0, 9_900.0, 9_700.0, 9_700.0], rtol=1e-12)


@pytest.mark.parametrize("stop", [0.0, 1.0, -0.1, float("nan")])
def test_a_stop_that_cannot_be_is_refused(stop: float) -> None:
    with pytest.raises(ValueError, match="stop must be"):
        strategies.get("macd", stop=stop)
