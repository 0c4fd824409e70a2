from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

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


@cache
def compiled(name: str) -> Callable[..., transforms.Transformed]:
    """One compilation a transform serves every test: small searches for those that search."""
    quick = {"steps": 3, "restarts": 2} if name.startswith("worst") else {}
    return jax.jit(lambda key, market, severity: transforms.apply(name, key, market, severity=severity, **quick))


@pytest.mark.parametrize("name", NAMES)
def test_every_transform_keeps_the_contract(name: str) -> None:
    run, declared = compiled(name), registry.get(name)
    observed, traded, events = run(KEY, MARKET, 1.0)
    assert_valid(observed)
    assert_valid(traded)
    assert events.kind.shape == events.size.shape == (BARS,)
    assert declared.summary.endswith(".")

    again = run(KEY, MARKET, 1.0)
    assert_same(observed, again.observed, rtol=0.0)
    assert_same(traded, again.traded, rtol=0.0)

    calm = run(KEY, MARKET, 0.0)
    assert_same(calm.observed, MARKET)
    assert_same(calm.traded, MARKET)
    assert not calm.events.kind.any()

    changed = any(not np.array_equal(one, two) for one, two in zip(observed, MARKET, strict=True))
    assert changed == (name != "baseline")
    if declared.channel == "observed":
        assert_same(traded, MARKET, rtol=0.0)
    else:
        assert_same(observed, traded, rtol=0.0)


@pytest.mark.parametrize("name", [name for name in NAMES if registry.get(name).looks_ahead is not None])
def test_no_transform_lets_the_future_into_the_past_beyond_what_it_declares(name: str) -> None:
    ahead_bars, run = registry.get(name).looks_ahead or 0, compiled(name)
    other = random_walk(99)
    for cut in (1, 20, 48, 75):
        ahead = cut + ahead_bars
        mixed = Market(*(jnp.concatenate([f[:ahead], g[ahead:]]) for f, g in zip(MARKET, other, strict=True)))
        mixed = mixed._replace(time=MARKET.time)
        before, after = run(KEY, MARKET, 1.0), run(KEY, mixed, 1.0)
        for one, two in zip(before.observed, after.observed, strict=True):
            np.testing.assert_allclose(one[:cut], two[:cut], rtol=1e-12)


@pytest.mark.parametrize("name", ["noisy", "adversarial", "flash_crash", "bootstrap_blocks"])
def test_a_batch_gives_each_market_what_it_gets_alone_with_its_part_of_the_key(name: str) -> None:
    markets = [random_walk(seed) for seed in (1, 2)]
    batch = jax.tree.map(lambda *fields: jnp.stack(fields), *markets)
    together = transforms.apply(name, KEY, batch)
    for row, key in enumerate(jax.random.split(KEY, 2)):
        alone = compiled(name)(key, markets[row], 1.0)
        assert_same(alone.observed, jax.tree.map(lambda field, row=row: field[row], together.observed), rtol=1e-9)
        assert_same(alone.traded, jax.tree.map(lambda field, row=row: field[row], together.traded), rtol=1e-9)


@pytest.mark.parametrize("severity", [-1.0, math.nan, math.inf])
def test_a_severity_that_makes_no_sense_is_refused_with_its_value(severity: float) -> None:
    with pytest.raises(ValueError, match="severity must be one finite number"):
        transforms.apply("noisy", KEY, MARKET, severity=severity)


def test_an_unknown_transform_or_parameter_is_refused_and_the_message_lists_what_exists() -> None:
    with pytest.raises(ValueError, match=r"unknown transform 'nosiy'.*noisy"):
        transforms.apply("nosiy", KEY, MARKET)
    with pytest.raises(ValueError, match=r"no parameter 'sigma'.*price_sigma"):
        transforms.apply("noisy", KEY, MARKET, sigma=0.1)
