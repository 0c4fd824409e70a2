"""The C++ account against the portable one, bar for bar, and how it is chosen."""

from __future__ import annotations

import inspect
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import transforms
from backtest import account as acc
from backtest import batch, native, population, simulators, strategies, tally
from backtest.episode import Memory, Strategy, rollout
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules

pytestmark = pytest.mark.skipif(not native.available(), reason=f"no C++ account here: {native.status()}")

BARS, LANES = 40, 11


def drawn(seed: int, volatility: float, funding: float) -> tuple[Market, acc.Action]:
    """Return a market and orders ``[bars, lanes]`` that meet every rule: odd sizes, stops on both sides, no volume."""
    rng = np.random.default_rng(seed)
    shape = (BARS, LANES)
    steps = rng.normal(0.0, volatility, shape) + (rng.random(shape) < 0.05) * rng.normal(0.0, 10 * volatility, shape)
    gaps = (rng.random(shape) < 0.3) * rng.normal(0.0, volatility, shape)
    before = np.concatenate([np.zeros((1, LANES)), np.cumsum(steps + gaps, axis=0)[:-1]])
    opens = 100.0 * np.exp(before + gaps)
    closes = opens * np.exp(steps)
    high = np.maximum(opens, closes) * np.exp(np.abs(rng.normal(0.0, volatility, shape)))
    low = np.minimum(opens, closes) * np.exp(-np.abs(rng.normal(0.0, volatility, shape)))
    volume = np.where(rng.random(shape) < 0.05, 0.0, rng.lognormal(5.0, 1.0, shape))
    rate = np.where(np.arange(BARS)[:, None] % 8 == 0, rng.normal(0.0, funding, shape), 0.0)
    market = Market(3600.0 * np.arange(BARS), opens, high, low, closes, volume, rate)
    kind = rng.choice([0, 0, 0, 1, 2, 3, 4, 4, 7, -1], shape).astype(np.int32)
    size = rng.uniform(-3.0, 3.0, shape)
    odd = rng.random(shape) < 0.05
    size[odd] = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, -1.0, 1e-9], odd.sum())
    side = rng.choice([-1.0, 1.0], shape)
    stop = opens * np.exp(side * np.abs(rng.normal(0.0, 2 * volatility, shape)))
    take = opens * np.exp(-side * np.abs(rng.normal(0.0, 2 * volatility, shape)))
    stop[rng.random(shape) < 0.5] = np.nan
    take[rng.random(shape) < 0.5] = np.nan
    take[rng.random(shape) < 0.03] = np.inf
    stop[rng.random(shape) < 0.03] = -5.0
    return market, acc.Action(kind, size, stop, take)


@cache
def portable() -> object:
    def play(market: Market, orders: acc.Action, rules: Rules, account: acc.Account) -> acc.Account:
        turned = Market(market.time, *(field.T for field in market[1:]))
        actions = acc.Action(*(field.T for field in orders))
        return rollout(turned, actions, rules=rules, account=account).account

    return jax.jit(play)


@cache
def compiled() -> object:
    def play(market: Market, orders: acc.Action, rules: Rules, account: acc.Account) -> acc.Account:
        start = tally.start(account)
        after = native.advance(
            native.pack(account, start),
            candles=Market(market.time, *(field.T for field in market[1:])),
            market_return=None,
            **orders._asdict(),
            rules=rules,
        )
        return native.unpack(after, bars=start.bars, initial=account.equity)[0]

    return jax.jit(play)


rules_drawn = st.builds(
    Rules,
    fee_bps=st.sampled_from([0.0, 5.0, 40.0]),
    slippage_bps=st.sampled_from([0.0, 2.0, 100.0]),
    impact_bps=st.sampled_from([0.0, 50.0, 800.0]),
    max_slippage_bps=st.sampled_from([200.0, 1000.0]),
    max_leverage=st.sampled_from([0.5, 3.0, 50.0]),
    maintenance_margin=st.sampled_from([0.0, 0.005, 0.1]),
    liquidation_fee_bps=st.sampled_from([0.0, 50.0]),
    min_notional=st.sampled_from([1e-3, 10.0, 500.0]),
)


@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32 - 1),
    rules=rules_drawn,
    volatility=st.sampled_from([0.002, 0.02, 0.1]),
    funding=st.sampled_from([0.0, 1e-4, 0.05]),
)
def test_every_field_of_the_account_is_that_of_the_portable_step(
    seed: int, rules: Rules, volatility: float, funding: float
) -> None:
    market, orders = drawn(seed, volatility, funding)
    account = acc.open_account(shape=(LANES,))
    ours = compiled()(market, orders, rules, account)
    theirs = portable()(market, orders, rules, account)
    scale = 1e-13 * np.maximum(1.0, np.asarray(theirs.ledger.traded_notional)) + 1e-10
    for name in acc.Account._fields[:-1]:
        one, other = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other), err_msg=name)
        assert (np.abs(one - other) <= 1e-10 * np.abs(other) + scale)[~np.isnan(one)].all(), name
    for name, one, other in zip(acc.Ledger._fields, ours.ledger, theirs.ledger, strict=True):
        assert (np.abs(one - other) <= 1e-9 * np.abs(other) + scale).all(), name


def test_a_few_accounts_fit_a_register_that_holds_more() -> None:
    market, orders = drawn(128, 0.1, 0.0)
    rules = Rules(maintenance_margin=0.1, impact_bps=800.0)
    some = Market(market.time, *(field[:, 8:] for field in market[1:]))
    account = acc.open_account(shape=(LANES - 8,))
    ours = compiled()(some, acc.Action(*(field[:, 8:] for field in orders)), rules, account)
    whole = compiled()(market, orders, rules, acc.open_account(shape=(LANES,)))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(one, other[8:])


@pytest.mark.parametrize(("bars", "warmup"), [(67, 0), (131, 7), (20, 20)])
def test_a_sweep_is_the_same_with_and_without_it(bars: int, warmup: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = jax.random.split(jax.random.key(4), LANES)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=bars))(keys)
    played = [strategies.moving_average_cross(3, 9), with_brackets()]

    def sweep(market: Market) -> tuple[batch.Outcome, ...]:
        account = acc.open_account(shape=(LANES,))
        return batch.play(market, market, played, rules=DEFAULT_RULES, account=account, warmup=warmup)

    quick = jax.jit(sweep)(markets)
    monkeypatch.setattr(native, "available", lambda: False)
    plain = jax.jit(lambda market: sweep(market))(markets)
    for one, other in zip(jax.tree.leaves(quick), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


PLAYED = {name: strategies.get(name) for name in strategies.STRATEGIES} | {
    "short windows": strategies.get("donchian_breakout", window=1, exposure=-0.7),
    "a stop": strategies.get("moving_average_cross", fast=3, slow=9, stop=0.02, exposure=2.5),
    "a stop that moves": strategies.get("always_short", stop=0.01),
    "quick divergence": strategies.get("rsi_divergence", window=5, lookback=10),
    "more than allowed": strategies.get("buy_and_hold", exposure=7.0),
    "quick target": strategies.get("volatility_target", window=20, volatility=0.8, band=0.02),
    "quick carry": strategies.get("carry", window=9, threshold=0.01),
    "restless": strategies.get("random_walker", seed=3, switch_rate=0.5, exposure=2.0),
}


@pytest.mark.parametrize(
    ("bars", "warmup", "lanes", "dtype"), [(400, 0, 11, "float64"), (333, 70, 16, "float32"), (64, 64, 3, "float64")]
)
def test_every_reference_strategy_is_that_of_python(
    bars: int, warmup: int, lanes: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = jax.random.split(jax.random.key(5), lanes)
    traded = jax.vmap(lambda key: simulators.simulate(key, bars=bars))(keys)
    observed = transforms.apply("noisy", jax.random.key(6), traded, severity=0.2).observed

    def sweep(traded: Market, observed: Market) -> tuple[batch.Outcome, ...]:
        account = acc.open_account(shape=(lanes,), dtype=dtype)
        return batch.play(traded, observed, list(PLAYED.values()), rules=DEFAULT_RULES, account=account, warmup=warmup)

    quick = jax.jit(sweep)(traded, observed)
    monkeypatch.setattr(native, "available", lambda: False)
    plain = jax.jit(lambda one, other: sweep(one, other))(traded, observed)
    for name, ours, theirs in zip(PLAYED, quick, plain, strict=True):
        if dtype == "float32":
            apart = np.abs(np.asarray(ours.account.equity) - np.asarray(theirs.account.equity))
            assert np.median(apart) < 1e-3 * 10_000.0, name
            continue
        for field in acc.Account._fields[:-1]:
            one, other = getattr(ours.account, field), getattr(theirs.account, field)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-7, err_msg=f"{name}: {field}")
        for field, one, other in zip(acc.Ledger._fields, ours.account.ledger, theirs.account.ledger, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-6, err_msg=f"{name}: {field}")
        for field, one, other in zip(tally.Tally._fields, ours.tally, theirs.tally, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12, err_msg=f"{name}: {field}")
    if warmup < bars:
        traders = [
            name for name, each in zip(PLAYED, plain, strict=True) if np.any(each.account.ledger.traded_notional)
        ]
        assert set(PLAYED) - set(traders) <= {"flat", "carry"}  # the others really were compared


def test_a_feed_that_differs_in_one_field_alone_is_seen_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = jax.random.split(jax.random.key(7), LANES)
    traded = jax.vmap(lambda key: simulators.simulate(key, bars=200))(keys)
    observed = traded._replace(high=traded.high * 1.002)  # closes and all else are the very same arrays
    played = [strategies.donchian_breakout(10), strategies.macd()]
    quick = batch.evaluate(traded, played, observed=observed)
    batch._evaluate.clear_cache()
    monkeypatch.setattr(native, "available", lambda: False)
    plain = batch.evaluate(traded, played, observed=observed)
    batch._evaluate.clear_cache()
    np.testing.assert_allclose(quick.log_growth, plain.log_growth, rtol=1e-9, atol=1e-12)
    unchanged = batch.evaluate(traded, played)
    assert not np.allclose(unchanged.log_growth[0], plain.log_growth[0])  # the field matters
    np.testing.assert_allclose(unchanged.log_growth[1], plain.log_growth[1], rtol=1e-9)
    batch._evaluate.clear_cache()


def with_brackets() -> Strategy:
    """Buy every tenth bar with a stop and a target, so that chunks pass stops on to each other."""

    def decide(count: Memory, bar: Market, account: acc.Account) -> tuple[Memory, acc.Action]:
        kind = jnp.where(count % 10 == 0, acc.BUY, acc.HOLD).astype(jnp.int32)
        order = acc.Action(kind, jnp.full_like(bar.close, 0.5), 0.99 * bar.close, 1.01 * bar.close)
        return count + 1, order

    return Strategy(init=lambda bar: jnp.zeros(bar.close.shape, jnp.int32), decide=decide, reads_account=False)


def test_the_population_is_the_same_with_and_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    market = simulators.simulate(jax.random.key(8), bars=128)
    targets = population.no_skill_targets(jax.random.key(9), policies=37, bars=128, largest=2.0)
    quick = jax.jit(lambda m, t: inspect.unwrap(population.play_targets)(m, t))(market, targets)
    monkeypatch.setattr(native, "available", lambda: False)
    plain = jax.jit(lambda m, t: inspect.unwrap(population.play_targets)(m, t, DEFAULT_RULES))(market, targets)
    for name, one, other in zip(plain._fields, quick, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=name)


def test_float32_accounts_are_within_their_stated_error() -> None:
    market, orders = drawn(5, 0.01, 1e-4)
    single = compiled()(market, orders, DEFAULT_RULES, acc.open_account(shape=(LANES,), dtype=jnp.float32))
    double = compiled()(market, orders, DEFAULT_RULES, acc.open_account(shape=(LANES,)))
    assert single.cash.dtype == jnp.float32
    np.testing.assert_allclose(np.median(np.abs(single.equity / double.equity - 1.0)), 0.0, atol=1e-4)


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADERBENCH_NATIVE", "0")
    assert native.status() == "switched off by TRADERBENCH_NATIVE=0"
    assert not native.available()


def test_a_compiler_that_fails_is_a_reason_not_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(native, "FLAGS", ("-no-such-flag",))
    assert native._load.__wrapped__().startswith("it could not be built:")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert native._load.__wrapped__() == "there is no no-such-compiler"
