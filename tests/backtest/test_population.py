"""The crowd without skill, and what the score reads of it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import episode, population, simulators
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, FREE
from backtest.strategies import from_targets

BARS = 240


@pytest.fixture(scope="module")
def market() -> Market:
    return simulators.simulate(jax.random.key(21), bars=BARS)


@pytest.fixture(scope="module")
def targets() -> jax.Array:
    return population.no_skill_targets(jax.random.key(22), policies=60, bars=BARS)


def test_the_record_is_that_of_the_played_episodes(market: Market, targets: jax.Array) -> None:
    record = population.play_targets(market, targets)
    crowd = Market(*(jnp.broadcast_to(field, (60, BARS)) for field in market))
    played = episode.run(crowd, from_targets(targets), DEFAULT_RULES)
    growth = np.log(np.asarray(played.equity[:, -1]) / 10_000.0)
    exposure = np.asarray(played.exposure).mean(axis=1)
    before = np.append(np.asarray(market.open)[0], np.asarray(market.close)[:-1])
    earned = (np.asarray(market.close) - np.asarray(market.funding_rate) * np.asarray(market.open)) / before - 1.0
    holding = np.log1p(exposure[:, None] * earned[None]).sum(axis=1)
    equity = np.asarray(played.equity)
    active = equity[:, 1:] / equity[:, :-1] - 1.0 - exposure[:, None] * earned[None]
    np.testing.assert_allclose(record.log_growth, growth, atol=1e-10)
    np.testing.assert_allclose(record.mean_exposure, exposure, atol=1e-10)
    np.testing.assert_allclose(record.holding_log_growth, holding, atol=1e-10)
    np.testing.assert_allclose(record.excess, growth - holding, atol=1e-10)
    np.testing.assert_allclose(record.risk, active.std(axis=1) * np.sqrt(BARS), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        record.turnover, played.account.ledger.traded_notional / equity[:, 1:].mean(axis=1), rtol=1e-9
    )


def test_a_constant_exposure_has_no_excess_without_costs(market: Market) -> None:
    constant = jnp.broadcast_to(jnp.array([-1.0, -0.3, 0.0, 0.5, 1.0])[:, None], (5, BARS))
    record = population.play_targets(market, constant, FREE)
    np.testing.assert_allclose(record.excess, 0.0, atol=2e-3)
    np.testing.assert_allclose(record.excess[2], 0.0, atol=0.0)


def test_a_holder_who_would_be_ruined_has_minus_infinite_growth() -> None:
    growth = population.holding_log_growth(jnp.array([1.0, 3.0]), jnp.array([0.1, -0.5]))
    assert float(growth[0]) == pytest.approx(np.log(1.1 * 0.5))
    assert float(growth[1]) == -np.inf


def test_half_of_the_crowd_is_constant_and_none_looks_at_the_market(targets: jax.Array) -> None:
    rows = np.asarray(targets)
    assert np.isnan(rows[30:, 1:]).all()
    np.testing.assert_allclose(rows[30:, 0], np.linspace(-1.0, 1.0, 30))
    assert np.nanmax(np.abs(rows)) <= 1.0
    changes = (~np.isnan(rows[:30])).sum(axis=1)
    assert changes.min() >= 1
    assert changes.max() > 20
