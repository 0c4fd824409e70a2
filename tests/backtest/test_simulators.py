"""The simulator: valid, reproducible, and with the stylised facts of real crypto candles."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from backtest import batch, simulators, strategies
from backtest.episode import Strategy
from backtest.market import Market, check
from backtest.rules import FREE
from backtest.simulators import draws, facts

YEARS3 = 26_280


@pytest.fixture(scope="module")
def long_markets() -> Market:
    keys = jax.random.split(jax.random.key(2026), 6)
    return jax.vmap(lambda key: simulators.simulate(key, bars=YEARS3))(keys)


def one(markets: Market, index: int) -> Market:
    return Market(*(np.asarray(field)[index] for field in markets))


def test_markets_are_valid_and_continuous_but_for_the_jumps(long_markets: Market) -> None:
    check(long_markets)
    gaps = np.log(long_markets.open[:, 1:] / long_markets.close[:, :-1])
    jumped = np.abs(gaps) > 1e-12
    # Shares of time in the regimes are inverse to the rates of leaving them: 40%, 46% and 13%.
    rates, leaving = (np.asarray(getattr(simulators.DEFAULT_PARAMETERS, n)) for n in ("jump_rate", "switch_rate"))
    expected = np.sum(rates / leaving) / np.sum(1.0 / leaving) / 8760
    assert jumped.mean() == pytest.approx(expected, rel=0.1)
    sizes = gaps[jumped]
    error = 0.02 / np.sqrt(sizes.size)
    assert abs(sizes.mean() + 0.002) < 4 * error
    assert sizes.std() == pytest.approx(0.02, rel=0.06)


def test_every_market_shows_the_stylised_facts(long_markets: Market) -> None:
    for index in range(6):
        figures = facts.measure(one(long_markets, index), bar_seconds=3600.0)
        for name, (low, high) in facts.RANGES.items():
            assert low <= getattr(figures, name) <= high, (index, name, getattr(figures, name))


def test_the_measured_figures_lie_in_the_ranges() -> None:
    for source, figures in facts.MEASURED.items():
        for name, (low, high) in facts.RANGES.items():
            value = getattr(figures, name)
            assert np.isnan(value) or low <= value <= high, (source, name)


@pytest.mark.shared_data
def test_the_measured_figures_are_those_of_the_candles(shared_data: Path) -> None:
    candles = pd.read_parquet(shared_data / "crypto/perp/BTCUSDT_1h_perp_2023_2026.parquet")
    rates = pd.read_csv(shared_data / "crypto/sky1241/funding_rate_BTCUSDT.csv.gz", parse_dates=["timestamp"])
    rates = rates.set_index(rates.timestamp.dt.floor("h").dt.tz_localize("UTC")).funding_rate
    columns = [candles[name].to_numpy() for name in ("open", "high", "low", "close", "volume")]
    funding = rates.reindex(candles.index).fillna(0.0).to_numpy()
    figures = facts.measure(Market(np.arange(len(candles)), *columns, funding), bar_seconds=3600.0)
    stated = facts.MEASURED["BTCUSDT perpetual, hourly, 2023-01 to 2026-03"]
    np.testing.assert_allclose(figures, stated, rtol=0.01)


def jumps_inside(markets: Market) -> Market:
    """Return the markets as one would see them whose jumps happened within the bar, at prices one could stop at."""
    before = jnp.concatenate([markets.open[:, :1], markets.close[:, :-1]], axis=1)
    return markets._replace(open=before, high=jnp.maximum(markets.high, before), low=jnp.minimum(markets.low, before))


def test_a_stop_gains_nothing_because_jumps_happen_between_bars() -> None:
    # A fair game: no drift, and E[exp(jump)] = 1. Nothing that leaves and enters it earns anything (optional stopping).
    fair = simulators.DEFAULT_PARAMETERS._replace(drift=(0.0, 0.0, 0.0), jump_mean=-0.0002)
    keys = jax.random.split(jax.random.key(8), 4000)
    markets = jax.jit(jax.vmap(lambda key: simulators.simulate(key, bars=500, parameters=fair)))(keys)
    for stop in (0.01, 0.02, 0.03):
        long = [strategies.get("always_long", stop=stop), strategies.get("always_long")]

        def gain(played: Market, long: list[Strategy] = long) -> tuple[float, float]:
            stopped, held = np.asarray(batch.evaluate(played, long, rules=FREE).total_return)
            return float(np.mean(stopped - held)), float(np.std(stopped - held) / np.sqrt(stopped.size))

        mean, error = gain(markets)
        assert abs(mean) < 3 * error, (stop, mean, error)
        # The test has the power to see it: the same jumps within the bars give a stop 0.5% to 3.7% in 500 bars.
        mean, error = gain(jumps_inside(markets))
        assert mean > 20 * error, (stop, mean, error)


def test_funding_comes_every_eight_hours_by_the_clock(long_markets: Market) -> None:
    market = one(long_markets, 0)
    paid = market.funding_rate != 0.0
    np.testing.assert_array_equal(paid, market.time % 28_800 == 0.0)
    assert (np.abs(market.funding_rate) <= simulators.DEFAULT_PARAMETERS.funding_cap).all()
    sticks = np.mean(market.funding_rate[paid] == simulators.DEFAULT_PARAMETERS.funding_interest)
    assert 0.3 < sticks < 0.9


def test_the_numbers_cut_from_one_word_have_their_distributions_and_are_independent() -> None:
    drawn = draws.draw(jax.random.key(3), 200_000)
    for name in ("price", "variance", "jump", "volume", "premium"):
        assert stats.kstest(np.asarray(getattr(drawn, name)), "norm").pvalue > 1e-3, name
    assert stats.kstest(np.asarray(drawn.event), "uniform").pvalue > 1e-3
    for name in ("above", "below"):
        assert stats.kstest(-np.asarray(getattr(drawn, name)), "expon").pvalue > 1e-3, name
    together = np.corrcoef(np.stack([np.asarray(field) for field in drawn]))
    assert np.abs(together - np.eye(len(drawn))).max() < 5.0 / np.sqrt(200_000)


def test_the_mean_size_of_a_normal_number_is_that_of_the_half_normal_distribution() -> None:
    assert stats.halfnorm.mean() == pytest.approx(draws.MEAN_SIZE, rel=1e-12)
    assert 1.0 / stats.halfnorm.mean() == pytest.approx(draws.PER_SIZE, rel=1e-12)


def test_the_same_key_gives_the_same_market_and_another_key_another() -> None:
    first, again, other = (simulators.simulate(jax.random.key(k), bars=50) for k in (1, 1, 2))
    np.testing.assert_array_equal(first.close, again.close)
    assert not np.array_equal(first.close, other.close)


def test_thousands_of_markets_come_from_one_call() -> None:
    keys = jax.random.split(jax.random.key(0), 3000)
    markets = jax.jit(jax.vmap(lambda key: simulators.simulate(key, bars=50)))(keys)
    assert markets.close.shape == (3000, 50)
    check(markets)
    assert len(np.unique(np.asarray(markets.close[:, -1]))) == 3000


def test_without_jumps_and_with_one_regime_the_variance_is_that_of_heston() -> None:
    plain = simulators.DEFAULT_PARAMETERS._replace(
        drift=(0.0,), variance=(0.36,), jump_rate=(0.0,), switch_rate=(0.0001,), vol_of_vol=0.5, mean_reversion=50.0
    )
    keys = jax.random.split(jax.random.key(5), 400)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=500, parameters=plain))(keys)
    r = np.diff(np.log(np.asarray(markets.close)), axis=1)
    assert np.var(r) * 8760 == pytest.approx(0.36, rel=0.02)
    # E[S_T] = S_0: the drift of the log price is minus half of the variance.
    growth = np.asarray(markets.close)[:, -1] / np.asarray(markets.open)[:, 0]
    error = growth.std() / np.sqrt(len(growth))
    assert abs(growth.mean() - 1.0) < 4 * error


def test_a_bar_of_another_length_keeps_the_annual_figures() -> None:
    keys = jax.random.split(jax.random.key(6), 8)
    days = jax.vmap(lambda key: simulators.simulate(key, bars=1000, bar_seconds=14_400.0))(keys)
    volatility = float(jnp.std(jnp.diff(jnp.log(days.close), axis=1))) * np.sqrt(365 * 6)
    assert 0.4 < volatility < 0.8
    np.testing.assert_array_equal(np.asarray(days.funding_rate) != 0.0, np.asarray(days.time) % 28_800 == 0.0)
