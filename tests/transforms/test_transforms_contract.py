from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import transforms
from backtest.market import Market
from transforms import registry

BARS = 96
NAMES = sorted(registry.TRANSFORMS)


def random_walk(seed: int, bars: int = BARS) -> Market:
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 0.006, (bars, 12))
    path = 100.0 * np.exp(np.cumsum(steps.ravel())).reshape(bars, 12)
    open_ = np.concatenate([[100.0], path[:-1, -1]])
    funding = np.where(np.arange(bars) % 8 == 0, rng.normal(1e-4, 1e-4, bars), 0.0)
    return Market(
        time=jnp.asarray(1_600_000_000.0 + 3600.0 * np.arange(bars)),
        open=jnp.asarray(open_),
        high=jnp.asarray(np.maximum(path.max(axis=1), open_)),
        low=jnp.asarray(np.minimum(path.min(axis=1), open_)),
        close=jnp.asarray(path[:, -1]),
        volume=jnp.asarray(rng.lognormal(3.0, 0.5, bars)),
        funding_rate=jnp.asarray(funding),
    )


MARKET = random_walk(1)
KEY = jax.random.key(7)


def assert_valid(market: Market) -> None:
    for field in market:
        assert np.isfinite(np.asarray(field)).all()
    assert (np.diff(market.time) > 0).all()
    assert (np.asarray(market.low) > 0).all()
    assert (np.asarray(market.volume) >= 0).all()
    slack = 1 + 1e-12
    assert (market.low <= jnp.minimum(market.open, market.close) * slack).all()
    assert (market.high * slack >= jnp.maximum(market.open, market.close)).all()


def assert_same(first: Market, second: Market, *, rtol: float = 1e-12) -> None:
    for name, one, two in zip(Market._fields, first, second, strict=True):
        np.testing.assert_allclose(one, two, rtol=rtol, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_every_transform_gives_valid_candles_is_deterministic_by_key_and_runs_under_jit_and_vmap(name: str) -> None:
    run = jax.jit(lambda key, market, severity: transforms.apply(name, key, market, severity=severity))
    observed, traded, events = run(KEY, MARKET, 1.0)
    again = run(KEY, MARKET, 1.0)
    assert_valid(observed)
    assert_valid(traded)
    assert events.kind.shape == events.size.shape == (BARS,)
    assert_same(observed, again.observed, rtol=0.0)
    assert_same(traded, again.traded, rtol=0.0)

    keys = jax.random.split(KEY, 3)
    batch = jax.tree.map(lambda *fields: jnp.stack(fields), *[random_walk(seed) for seed in (1, 2, 3)])
    batched = transforms.apply(name, KEY, batch)
    for row in range(3):
        alone = run(keys[row], random_walk(row + 1), 1.0)
        assert_same(alone.observed, jax.tree.map(lambda field, row=row: field[row], batched.observed), rtol=1e-9)
        assert_same(alone.traded, jax.tree.map(lambda field, row=row: field[row], batched.traded), rtol=1e-9)

    calm = run(KEY, MARKET, 0.0)
    assert_same(calm.observed, MARKET)
    assert_same(calm.traded, MARKET)
    assert not calm.events.kind.any()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "baseline"])
def test_every_transform_changes_something_says_where_and_touches_only_its_channel(name: str) -> None:
    declared = registry.get(name)
    observed, traded, _ = transforms.apply(name, KEY, MARKET)
    assert any(not np.array_equal(one, two) for one, two in zip(observed, MARKET, strict=True))
    if declared.channel == "observed":
        assert_same(traded, MARKET, rtol=0.0)
    else:
        assert_same(observed, traded, rtol=0.0)
    assert declared.summary.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_no_transform_lets_the_future_into_the_past_beyond_what_it_declares(name: str) -> None:
    declared = registry.get(name)
    if declared.looks_ahead is None:
        pytest.skip("declares that a bar may depend on the whole market")
    for cut in (1, 20, 48, 75):
        other = random_walk(99)
        ahead = cut + declared.looks_ahead
        mixed = Market(*(jnp.concatenate([f[:ahead], g[ahead:]]) for f, g in zip(MARKET, other, strict=True)))
        mixed = mixed._replace(time=MARKET.time)
        before = transforms.apply(name, KEY, MARKET)
        after = transforms.apply(name, KEY, mixed)
        for one, two in zip(before.observed, after.observed, strict=True):
            np.testing.assert_allclose(one[:cut], two[:cut], rtol=1e-12)


@pytest.mark.parametrize("severity", [-1.0, math.nan, math.inf])
def test_a_severity_that_makes_no_sense_is_refused_with_its_value(severity: float) -> None:
    with pytest.raises(ValueError, match="severity must be one finite number"):
        transforms.apply("noisy", KEY, MARKET, severity=severity)


def test_an_unknown_transform_or_parameter_is_refused_and_the_message_lists_what_exists() -> None:
    with pytest.raises(ValueError, match=r"unknown transform 'nosiy'.*noisy"):
        transforms.apply("nosiy", KEY, MARKET)
    with pytest.raises(ValueError, match=r"no parameter 'sigma'.*price_sigma"):
        transforms.apply("noisy", KEY, MARKET, sigma=0.1)
