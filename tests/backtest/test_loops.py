"""Accounts and strategies as compiled loops against the portable form, bar for bar, and when which is played."""

from __future__ import annotations

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import export

import native
import transforms
from backtest import account as acc
from backtest import batch, indicators, loops, simulators, strategies, tally
from backtest.episode import Memory, Strategy, rollout
from backtest.loops import writing
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules
from tests.backtest.drawn_rules import rules_drawn

pytestmark = pytest.mark.skipif(native.status() != "native", reason=f"no loops here: {native.status()}")

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
    stop[0] = take[0] = np.nan  # the first order comes out of a warm-up, which hands on no stops without an order
    return market, acc.Action(kind, size, stop, take)


@cache
def portable() -> object:
    def play(market: Market, orders: acc.Action, rules: Rules, account: acc.Account) -> acc.Account:
        turned = Market(market.time, *(field.T for field in market[1:]))
        actions = acc.Action(*(field.T for field in orders))
        return rollout(turned, actions, rules=rules, account=account).account

    return jax.jit(play)


def spoken(bar: Market) -> acc.Action:
    """Read a bar as an order: the feed of a strategy that does as it is told."""
    return acc.Action(bar.open.astype(jnp.int32), bar.high, bar.low, bar.close)


TOLD = Strategy(init=lambda bar: (), decide=lambda memory, bar, account: (memory, spoken(bar)), reads_account=False)


@cache
def compiled(dtype: str = "float64") -> object:
    """Return a call of the loops with given orders: each is what the strategy sees the bar before."""

    def play(market: Market, orders: acc.Action, rules: Rules) -> acc.Account:
        turned = Market(market.time, *(field.T for field in market[1:]))
        first = Market(jnp.zeros(1), *(field.T[:, :1] for field in market[1:]))
        with_one_before = Market(*(jnp.concatenate(pair, axis=-1) for pair in zip(first, turned, strict=True)))
        kind, size, stop, take = (field.T for field in orders)
        rows = (kind.astype(float), size, stop, take)
        feed = [jnp.concatenate([row, jnp.zeros((row.shape[0], 1))], axis=1) for row in rows]
        seen = with_one_before._replace(**dict(zip(("open", "high", "low", "close"), feed, strict=True)))
        account = acc.open_account(shape=(turned.close.shape[0],), dtype=dtype)
        (played,) = batch._play_loops(with_one_before, seen, (TOLD,), rules=rules, account=account, warmup=1)
        return played.account

    return jax.jit(play)


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
    ours = compiled()(market, orders, rules)
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
    ours = compiled()(some, acc.Action(*(field[:, 8:] for field in orders)), rules)
    whole = compiled()(market, orders, rules)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(one, other[8:])


def portable_play(traded: Market, observed: Market, played: list[Strategy], **others: object) -> object:
    settings = {"warmup": 0} | others
    return jax.jit(lambda one, other: batch._play_portable(one, other, tuple(played), **settings))(traded, observed)


def looped_play(traded: Market, observed: Market, played: list[Strategy], **others: object) -> object:
    assert [loops.status(each, others["account"].cash.dtype) for each in played] == ["native"] * len(played)
    return jax.jit(lambda one, other: batch.play(one, other, played, **others))(traded, observed)


def watchful() -> Strategy:
    """Halve what is held after a loss of 1%, and buy back at a new high: it reads its account and the time."""

    def init(bar: Market) -> Memory:
        return bar.close, jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: acc.Account) -> tuple[Memory, acc.Action]:
        highest, since = memory
        behind = account.equity < 0.99 * account.trade_equity
        rises = bar.close > highest
        kind = jnp.where(rises, acc.BUY, jnp.where(behind & (account.position > 0.0), acc.SELL, acc.HOLD))
        late = bar.time - since > 36_000.0
        kind = jnp.where(late & ~rises, acc.CLOSE, kind).astype(jnp.int32)
        size = jnp.where(rises, 0.7, 0.3)
        since = jnp.where(rises, bar.time, since)
        return (jnp.maximum(highest, bar.close), since), acc.Action(kind, size, 0.97 * bar.close, None)

    return Strategy(init, decide)


@pytest.mark.parametrize(("bars", "warmup"), [(67, 0), (131, 7), (20, 20)])
def test_a_sweep_is_the_same_in_loops_and_in_xla(bars: int, warmup: int) -> None:
    keys = jax.random.split(jax.random.key(4), LANES)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=bars))(keys)
    played = [strategies.moving_average_cross(3, 9), with_brackets(), watchful()]
    common = {"rules": DEFAULT_RULES, "account": acc.open_account(shape=(LANES,)), "warmup": warmup}
    quick, plain = (play(markets, markets, played, **common) for play in (looped_play, portable_play))
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
def test_every_reference_strategy_is_that_of_python(bars: int, warmup: int, lanes: int, dtype: str) -> None:
    keys = jax.random.split(jax.random.key(5), lanes)
    traded = jax.vmap(lambda key: simulators.simulate(key, bars=bars))(keys)
    observed = transforms.apply("noisy", jax.random.key(6), traded, severity=0.2).observed

    account = acc.open_account(shape=(lanes,), dtype=dtype)
    common = {"rules": DEFAULT_RULES, "account": account, "warmup": warmup}
    played = list(PLAYED.values())
    quick, plain = (play(traded, observed, played, **common) for play in (looped_play, portable_play))
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


def test_a_feed_that_differs_in_one_field_alone_is_seen_as_it_is() -> None:
    keys = jax.random.split(jax.random.key(7), LANES)
    traded = jax.vmap(lambda key: simulators.simulate(key, bars=200))(keys)
    observed = traded._replace(high=traded.high * 1.002)  # closes and all else are the very same arrays
    played = [strategies.donchian_breakout(10), strategies.macd()]
    common = {"rules": DEFAULT_RULES, "account": acc.open_account(shape=(LANES,))}
    quick, plain = (play(traded, observed, played, **common) for play in (looped_play, portable_play))
    unchanged = looped_play(traded, traded, played, **common)
    for one, other in zip(quick, plain, strict=True):
        np.testing.assert_allclose(one.account.equity, other.account.equity, rtol=1e-9)
    assert not np.allclose(unchanged[0].account.equity, plain[0].account.equity)  # the field matters
    np.testing.assert_allclose(unchanged[1].account.equity, plain[1].account.equity, rtol=1e-9)


def with_brackets() -> Strategy:
    """Buy every tenth bar with a stop and a target, so that chunks pass stops on to each other."""

    def decide(count: Memory, bar: Market, account: acc.Account) -> tuple[Memory, acc.Action]:
        kind = jnp.where(count % 10 == 0, acc.BUY, acc.HOLD).astype(jnp.int32)
        order = acc.Action(kind, jnp.full_like(bar.close, 0.5), 0.99 * bar.close, 1.01 * bar.close)
        return count + 1, order

    return Strategy(init=lambda bar: jnp.zeros(bar.close.shape, jnp.int32), decide=decide, reads_account=False)


def test_float32_accounts_are_within_their_stated_error() -> None:
    market, orders = drawn(5, 0.01, 1e-4)
    single = compiled("float32")(market, orders, DEFAULT_RULES)
    double = compiled()(market, orders, DEFAULT_RULES)
    assert single.cash.dtype == jnp.float32
    np.testing.assert_allclose(np.median(np.abs(single.equity / double.equity - 1.0)), 0.0, atol=1e-4)


def sorted_closes() -> Strategy:
    """Look at the median of the last closes: sorting is nothing that a loop of lanes can do."""

    def decide(memory: Memory, bar: Market, account: acc.Account) -> tuple[Memory, acc.Action]:
        memory = jnp.concatenate([memory[1:], bar.close[None]])
        return memory, acc.target(jnp.sign(bar.close - jnp.sort(memory, axis=0)[2]))

    return Strategy(lambda bar: jnp.stack([bar.close] * 5), decide, reads_account=False)


def test_what_cannot_be_a_loop_is_played_by_xla_beside_what_can() -> None:
    odd = sorted_closes()
    assert loops.status(odd).startswith("slice gives an array") or "shape" in loops.status(odd)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=70))(jax.random.split(jax.random.key(1), 3))
    common = {"rules": DEFAULT_RULES, "account": acc.open_account(shape=(3,))}
    mixed = jax.jit(lambda m: batch.play(m, m, [strategies.macd(), odd, strategies.flat()], **common))(markets)
    alone = portable_play(markets, markets, [strategies.macd(), odd, strategies.flat()], **common)
    for one, other in zip(mixed, alone, strict=True):
        np.testing.assert_allclose(one.account.equity, other.account.equity, rtol=1e-9)


def test_a_ring_that_is_read_before_it_is_pushed_is_no_loop_but_right() -> None:
    average = indicators.sma(5)

    def decide(memory: Memory, bar: Market, account: acc.Account) -> tuple[Memory, acc.Action]:
        after, mean = average.update(memory, bar)
        _, old = average.update(memory, bar._replace(close=2.0 * bar.close))  # another push of the ring of before
        return after, acc.target(jnp.where(mean < old, 1.0, 0.0))

    played = Strategy(average.init, decide, reads_account=False)
    assert loops.status(played) == "a ring is used in another way than pushed, read and kept"


def test_strategies_that_differ_in_numbers_alone_share_their_loop() -> None:
    one, other = (writing.strategy(strategies.rsi_reversal(14, low, 77.0), "float64") for low in (23.0, 31.0))
    assert one.source == other.source and one.numbers != other.numbers
    narrow, wide = (writing.strategy(strategies.donchian_breakout(window), "float64") for window in (9, 10))
    assert narrow.source != wide.source  # a window is an array of that length


def test_two_fields_of_the_account_that_change_places_do_not_go_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written from the records themselves: whatever their order, each field comes back as itself."""
    account = acc.open_account(shape=(3,))
    marked = jax.tree.map(lambda field: field, account)._replace(cash=jnp.asarray([1.0, 2.0, 3.0]))
    rows, tree = writing.rows(marked, tally.start(marked))
    back, _ = writing.unrows(jnp.stack([row.astype(float) for row in rows]), rows, tree)
    for name, one, other in zip(acc.Account._fields, back, marked, strict=True):
        for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(left, right, err_msg=name)
            assert left.dtype == right.dtype


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_a_sweep_lowers_for_an_accelerator_without_loops(platform: str) -> None:
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=70))(jax.random.split(jax.random.key(1), 3))
    played = partial(
        batch.play, strategies=[strategies.macd()], rules=DEFAULT_RULES, account=acc.open_account(shape=(3,))
    )
    lowered = export.export(jax.jit(lambda one: played(one, one)), platforms=[platform])(markets)
    assert "traderbench" not in lowered.mlir_module()
    here = export.export(
        jax.jit(lambda one: played(one, one)),
        platforms=["cpu"],
        disabled_checks=[export.DisabledSafetyCheck.custom_call("traderbench_episode_float64")],
    )(markets)
    assert "traderbench_episode_float64" in here.mlir_module()
