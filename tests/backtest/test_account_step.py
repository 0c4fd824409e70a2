"""The account step against a simulator written apart from it: plain Python floats, branches, no arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtest import account as acc
from backtest import episode
from backtest.market import Market, bar_at
from backtest.rules import FREE, Rules
from tests.backtest.drawn_rules import rules_drawn

NAN = math.nan


@dataclass
class PlainAccount:
    """Balance-and-entry book-keeping, as a futures venue prints it: the engine's cash is another quantity."""

    balance: float
    size: float = 0.0
    entry: float = 0.0
    stop: float | None = None
    take: float | None = None
    start_of_trade: float = 0.0
    profits: list[float] = field(default_factory=list)
    refusals: int = 0
    liquidations: int = 0
    funding: float = 0.0
    costs: float = 0.0
    notional: float = 0.0

    def equity_at(self, price: float) -> float:
        return self.balance + self.size * (price - self.entry)


def plain_slip(quantity: float, volume: float, rules: Rules) -> float:
    if quantity == 0.0:
        return 0.0
    if volume == 0.0:
        return rules.max_slippage_bps / 1e4
    impact = rules.impact_bps / 1e4 * math.sqrt(abs(quantity) / volume)
    return min(rules.slippage_bps / 1e4 + impact, rules.max_slippage_bps / 1e4)


def plain_trade(a: PlainAccount, quantity: float, price: float, volume: float, rules: Rules) -> None:
    """Realise profit on what is closed, average the entry of what is opened."""
    slip = plain_slip(quantity, volume, rules)
    paid = price * (1 + slip) if quantity > 0 else price * (1 - slip)
    fee = abs(quantity) * paid * rules.fee_bps / 1e4
    a.costs += abs(quantity) * abs(paid - price) + fee
    a.notional += abs(quantity) * paid
    if a.size * quantity >= 0:
        total = a.size + quantity
        a.entry = (a.size * a.entry + quantity * paid) / total
        a.size = total
        a.balance -= fee
        return
    closing = min(abs(quantity), abs(a.size)) * (1 if a.size > 0 else -1)
    a.balance += closing * (paid - a.entry) - fee
    rest = a.size + quantity
    if abs(quantity) > abs(a.size):
        a.entry = paid
    a.size = rest
    if rest == 0.0:
        a.entry = 0.0


def plain_close_all(a: PlainAccount, price: float, volume: float, rules: Rules, liquidation: bool) -> None:
    size = a.size
    plain_trade(a, -size, price, volume, rules)
    if liquidation:
        slip = plain_slip(size, volume, rules)
        paid = price * (1 - slip) if size > 0 else price * (1 + slip)
        penalty = abs(size) * paid * rules.liquidation_fee_bps / 1e4
        a.balance -= penalty
        a.costs += penalty
        a.liquidations += 1
    a.balance = max(a.balance, 0.0)
    a.profits.append(a.balance - a.start_of_trade)
    a.size, a.entry, a.stop, a.take = 0.0, 0.0, None, None


def plain_goal(a: PlainAccount, kind: int, size: float, price: float, rules: Rules) -> float | None:
    """Return the notional that the order leads to, or None when nothing is to be done."""
    held = a.size * price
    equity = max(a.equity_at(price), 0.0)
    cap = rules.max_leverage * equity
    if kind == acc.HOLD:
        return None
    if kind == acc.CLOSE:
        goal = 0.0
    elif kind in (acc.BUY, acc.SELL):
        if not math.isfinite(size) or size <= 0:
            a.refusals += 1
            return None
        if kind == acc.BUY:
            goal = min(held + size * equity, max(cap, held))
        else:
            goal = max(held - size * equity, min(-cap, held))
    elif kind == acc.TARGET:
        if not math.isfinite(size):
            a.refusals += 1
            return None
        goal = max(-cap, min(cap, size * equity))
    else:
        a.refusals += 1
        return None
    if abs(goal) < rules.min_notional:
        goal = 0.0
    if goal != 0.0 and abs(goal - held) < rules.min_notional:
        return None
    return None if goal == held else goal


def plain_order(a: PlainAccount, goal: float, bar: dict[str, float], rules: Rules) -> None:
    price, volume = bar["open"], bar["volume"]
    new = 0.0 if goal == 0.0 else goal / price
    quantity = new - a.size
    equity = a.equity_at(price)
    slip = plain_slip(quantity, volume, rules)
    paid = price * (1 + slip) if quantity > 0 else price * (1 - slip)
    per_unit = abs(paid - price) + paid * rules.fee_bps / 1e4
    ends = a.size != 0.0 and (new == 0.0 or a.size * new < 0)
    starts = new != 0.0 and (a.size == 0.0 or a.size * new < 0)
    if ends:
        after = max(equity - abs(a.size) * per_unit, 0.0)
        a.profits.append(after - a.start_of_trade)
        equity = after
    if starts:
        a.start_of_trade = equity
        a.stop = a.take = None
    plain_trade(a, quantity, price, volume, rules)
    a.size = new
    if new == 0.0:
        a.balance = max(a.balance, 0.0)
        a.stop = a.take = None


def plain_stops(a: PlainAccount, stop: float, take: float, price: float) -> None:
    if not math.isnan(stop):
        if (a.size > 0 and 0 < stop < price) or (a.size < 0 and price < stop < math.inf):
            a.stop = stop
        else:
            a.refusals += 1
    if not math.isnan(take):
        if (a.size > 0 and price < take < math.inf) or (a.size < 0 and 0 < take < price):
            a.take = take
        else:
            a.refusals += 1


def plain_exits(a: PlainAccount, bar: dict[str, float], rules: Rules) -> None:
    if a.size == 0.0:
        return
    m, price = rules.maintenance_margin, bar["open"]
    # Solve balance + size (x - entry) = m |size| x for the price x at which the margin breaks.
    breaks = (a.size * a.entry - a.balance) / (a.size - m * abs(a.size))
    if a.size > 0:
        stopped = a.stop is not None and a.stop > breaks
        level = a.stop if stopped else breaks
        if bar["low"] <= level:
            plain_close_all(a, min(level, price), bar["volume"], rules, not stopped)
        elif a.take is not None and bar["high"] >= a.take:
            plain_close_all(a, a.take, bar["volume"], rules, False)
    else:
        stopped = a.stop is not None and a.stop < breaks
        level = a.stop if stopped else breaks
        if bar["high"] >= level:
            plain_close_all(a, max(level, price), bar["volume"], rules, not stopped)
        elif a.take is not None and bar["low"] <= a.take:
            plain_close_all(a, a.take, bar["volume"], rules, False)


def plain_bar(a: PlainAccount, order: tuple[int, float, float, float], bar: dict[str, float], rules: Rules) -> float:
    kind, size, stop, take = order
    paid = a.size * bar["open"] * bar["funding_rate"]
    a.balance -= paid
    a.funding += paid
    margin = rules.maintenance_margin * abs(a.size) * bar["open"]
    if a.size != 0.0 and a.equity_at(bar["open"]) <= margin:
        plain_close_all(a, bar["open"], bar["volume"], rules, True)
    else:
        goal = plain_goal(a, kind, size, bar["open"], rules)
        if goal is not None:
            plain_order(a, goal, bar, rules)
        plain_stops(a, stop, take, bar["open"])
        plain_exits(a, bar, rules)
    return max(a.equity_at(bar["close"]), 0.0)


BARS = 60


@lru_cache(maxsize=1)
def compiled_run() -> object:
    return jax.jit(
        lambda market, actions, account, rules: episode.rollout(market, actions, rules=rules, account=account)
    )


def random_market(rng: np.random.Generator, volatility: float, funding: float) -> Market:
    steps = rng.normal(0.0, volatility, BARS) + (rng.random(BARS) < 0.05) * rng.normal(0.0, 10 * volatility, BARS)
    gaps = (rng.random(BARS) < 0.3) * rng.normal(0.0, volatility, BARS)
    log_open = np.log(100.0) + np.cumsum(gaps) + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    open_, close = np.exp(log_open), np.exp(log_open + steps)
    high = np.maximum(open_, close) * np.exp(np.abs(rng.normal(0.0, volatility, BARS)))
    low = np.minimum(open_, close) * np.exp(-np.abs(rng.normal(0.0, volatility, BARS)))
    volume = np.where(rng.random(BARS) < 0.05, 0.0, rng.lognormal(5.0, 1.0, BARS))
    rate = np.where(np.arange(BARS) % 8 == 0, rng.normal(0.0, funding, BARS).clip(-0.5, 0.5), 0.0)
    return Market(3600.0 * np.arange(BARS), open_, high, low, close, volume, rate)


def random_actions(rng: np.random.Generator, market: Market, leverage: float, spread: float) -> acc.Action:
    kinds = rng.choice([0, 0, 0, 1, 2, 3, 4, 4, 7], BARS).astype(np.int32)
    sizes = rng.uniform(-1.5, 1.5, BARS) * leverage
    odd = rng.random(BARS) < 0.05
    sizes[odd] = rng.choice([NAN, math.inf, -math.inf, 1e308, 0.0, -1.0, 1e-9], odd.sum())
    flips = rng.choice([-1, 1], BARS)
    stop = market.open * np.exp(flips * np.abs(rng.normal(0.0, spread, BARS)))
    take = market.open * np.exp(-flips * np.abs(rng.normal(0.0, spread, BARS)))
    stop[rng.random(BARS) < 0.5] = NAN
    take[rng.random(BARS) < 0.5] = NAN
    stop[rng.random(BARS) < 0.03] = -5.0
    take[rng.random(BARS) < 0.03] = math.inf
    return acc.Action(kinds, sizes, stop, take)


# A minimum notional above 0 keeps the rounding of a ruined account (1e-12 of quote currency) from being traded.


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    rules=rules_drawn,
    volatility=st.sampled_from([0.002, 0.02, 0.1]),
    funding=st.sampled_from([0.0, 1e-4, 0.05]),
)
def test_step_agrees_with_a_plain_python_loop(seed: int, rules: Rules, volatility: float, funding: float) -> None:
    rng = np.random.default_rng(seed)
    market = random_market(rng, volatility, funding)
    actions = random_actions(rng, market, min(rules.max_leverage, 10.0), 2 * volatility)
    played = compiled_run()(market, actions, acc.open_account(), rules)
    plain = PlainAccount(balance=10_000.0)
    equity = []
    for i in range(BARS):
        bar = {name: float(values[i]) for name, values in zip(Market._fields, market, strict=True)}
        equity.append(plain_bar(plain, tuple(v[i].item() for v in actions), bar, rules))
    # Relative to the money that was moved: an account ruined by 50 times leverage keeps the rounding of its notional.
    scale = max(1.0, plain.notional) * 1e-13 + 1e-10
    np.testing.assert_allclose(played.equity[1:], equity, rtol=1e-10, atol=scale)
    ledger = played.account.ledger
    assert int(ledger.trades) == len(plain.profits)
    assert int(ledger.refusals) == plain.refusals
    assert int(ledger.liquidations) == plain.liquidations
    np.testing.assert_allclose(ledger.gross_profit, sum(p for p in plain.profits if p > 0), rtol=1e-9, atol=scale)
    np.testing.assert_allclose(ledger.gross_loss, -sum(p for p in plain.profits if p <= 0), rtol=1e-9, atol=scale)
    np.testing.assert_allclose(ledger.funding, plain.funding, rtol=1e-9, atol=scale)
    np.testing.assert_allclose(ledger.costs, plain.costs, rtol=1e-9, atol=scale)
    np.testing.assert_allclose(ledger.traded_notional, plain.notional, rtol=1e-9, atol=scale)
    assert np.isfinite(np.asarray(played.equity)).all()
    assert (np.asarray(played.equity) >= 0.0).all()


def test_replaying_an_interactive_episode_gives_the_same_account() -> None:
    rng = np.random.default_rng(3)
    market = random_market(rng, 0.02, 1e-4)
    actions = random_actions(rng, market, 2.0, 0.04)
    rules = Rules()
    scanned = episode.run(market, actions, rules)
    state = acc.open_account()
    for i in range(BARS):
        one = acc.Action(*(field[i] for field in actions))
        state = episode.step_bar(state, one, bar_at(market, i), rules=rules)
        np.testing.assert_allclose(state.equity, scanned.equity[i + 1], rtol=1e-12)
        assert int(state.events) == int(scanned.events[i])
    for ours, theirs in zip(jax.tree.leaves(state), jax.tree.leaves(scanned.account), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-9)


def test_holding_earns_the_price_ratio() -> None:
    market = random_market(np.random.default_rng(5), 0.01, 0.0)
    kinds = np.zeros(BARS, np.int32)
    kinds[0] = acc.TARGET
    actions = acc.Action(kinds, np.ones(BARS), np.full(BARS, NAN), np.full(BARS, NAN))
    played = episode.run(market, actions, FREE)
    np.testing.assert_allclose(played.equity[1:] / 10_000.0, market.close / market.open[0], rtol=1e-12)


def test_holding_after_a_fee_earns_the_price_ratio_minus_the_fee() -> None:
    market = random_market(np.random.default_rng(6), 0.01, 0.0)
    kinds = np.zeros(BARS, np.int32)
    kinds[0] = acc.TARGET
    actions = acc.Action(kinds, np.ones(BARS), np.full(BARS, NAN), np.full(BARS, NAN))
    played = episode.run(market, actions, FREE._replace(fee_bps=7.0))
    np.testing.assert_allclose(played.equity[1:] / 10_000.0, market.close / market.open[0] - 7e-4, rtol=1e-12)


def test_a_flat_account_keeps_its_equity_exactly() -> None:
    market = random_market(np.random.default_rng(7), 0.1, 0.05)
    actions = acc.Action(np.zeros(BARS, np.int32), *(np.full(BARS, NAN) for _ in range(3)))
    assert (np.asarray(episode.run(market, actions).equity) == 10_000.0).all()


def one_bar(open_: float, high: float, low: float, close: float, *, funding_rate: float = 0.0) -> Market:
    return Market(*(np.float64(v) for v in (0.0, open_, high, low, close, 1e9, funding_rate)))


def play(actions: list[acc.Action], bars: list[Market], rules: Rules = FREE) -> acc.Account:
    state = acc.open_account(equity=1000.0)
    for each, bar in zip(actions, bars, strict=True):
        state = episode.step_bar(state, each, bar, rules=rules)
    return state


def test_a_stop_and_a_take_profit_in_one_bar_take_the_stop() -> None:
    wide = one_bar(100.0, 120.0, 80.0, 110.0)
    state = play([acc.action(acc.BUY, 1.0, stop_loss=90.0, take_profit=115.0)], [wide])
    assert float(state.equity) == pytest.approx(900.0, abs=1e-9)
    assert int(state.events) == acc.FILLED | acc.STOPPED


def test_a_stop_that_is_gapped_over_fills_at_the_open() -> None:
    calm, gap = one_bar(100.0, 101.0, 99.0, 100.0), one_bar(70.0, 75.0, 65.0, 72.0)
    state = play([acc.action(acc.BUY, 1.0, stop_loss=90.0), acc.action(acc.HOLD)], [calm, gap])
    assert float(state.equity) == pytest.approx(700.0, abs=1e-9)


def test_a_take_profit_is_never_better_than_its_level() -> None:
    calm, gap = one_bar(100.0, 101.0, 99.0, 100.0), one_bar(150.0, 155.0, 145.0, 152.0)
    state = play([acc.action(acc.BUY, 1.0, take_profit=110.0), acc.action(acc.HOLD)], [calm, gap])
    assert float(state.equity) == pytest.approx(1100.0, abs=1e-9)


@pytest.mark.parametrize("kind", [acc.BUY, acc.SELL])
def test_a_stop_on_the_winning_side_is_refused(kind: int) -> None:
    bar = one_bar(100.0, 110.0, 90.0, 100.0)
    stop = 109.0 if kind == acc.BUY else 91.0
    state = play([acc.action(kind, 1.0, stop_loss=stop)], [bar])
    assert int(state.events) == acc.FILLED | acc.STOP_REFUSED
    assert math.isnan(float(state.stop_loss))
    assert float(state.equity) == pytest.approx(1000.0, abs=1e-9)
    assert int(state.ledger.refusals) == 1


@pytest.mark.parametrize("size", [NAN, math.inf, -math.inf, -1.0, 0.0])
@pytest.mark.parametrize("kind", [acc.BUY, acc.SELL])
def test_a_size_that_is_no_positive_number_is_refused(kind: int, size: float) -> None:
    state = play([acc.action(kind, size)], [one_bar(100.0, 110.0, 90.0, 105.0)])
    assert int(state.events) == acc.ORDER_REFUSED
    assert float(state.equity) == 1000.0
    assert float(state.position) == 0.0


def test_a_huge_finite_size_is_cut_to_the_leverage_cap() -> None:
    rules = FREE._replace(max_leverage=2.0)
    state = play([acc.action(acc.BUY, 1e308)], [one_bar(100.0, 101.0, 99.0, 100.0)], rules)
    assert float(state.position) == pytest.approx(20.0)
    assert int(state.events) == acc.FILLED | acc.ORDER_CUT


def test_funding_is_paid_on_the_position_carried_into_the_bar_only() -> None:
    first, second = (one_bar(100.0, 101.0, 99.0, 100.0, funding_rate=0.01) for _ in range(2))
    state = play([acc.action(acc.BUY, 1.0), acc.action(acc.CLOSE)], [first, second])
    assert float(state.equity) == pytest.approx(990.0, abs=1e-9)
    state = play([acc.action(acc.SELL, 1.0), acc.action(acc.CLOSE)], [first, second])
    assert float(state.equity) == pytest.approx(1010.0, abs=1e-9)


def test_a_long_at_ten_times_leverage_is_liquidated_where_margin_breaks() -> None:
    # 1000 of equity, 100 units at 100: margin breaks at x with 1000 + 100 (x - 100) = 0.05 * 100 x, x = 9000 / 95.
    rules = FREE._replace(max_leverage=10.0, maintenance_margin=0.05)
    state = play([acc.action(acc.BUY, 10.0)], [one_bar(100.0, 101.0, 90.0, 99.0)], rules)
    assert float(state.equity) == pytest.approx(0.05 * 100 * 9000 / 95, rel=1e-12)
    assert int(state.events) == acc.FILLED | acc.LIQUIDATED


def test_equity_is_never_below_zero_after_a_gap() -> None:
    calm, gap = one_bar(100.0, 101.0, 99.0, 100.0), one_bar(150.0, 160.0, 140.0, 150.0)
    rules = FREE._replace(max_leverage=10.0)
    state = play([acc.action(acc.SELL, 5.0), acc.action(acc.BUY, 1.0)], [calm, gap], rules)
    assert float(state.equity) == 0.0
    assert int(state.events) == acc.LIQUIDATED | acc.ORDER_CANCELLED


def test_profits_of_trades_add_up_to_the_change_of_equity() -> None:
    rng = np.random.default_rng(11)
    market = random_market(rng, 0.02, 1e-3)
    actions = random_actions(rng, market, 2.0, 0.04)
    actions.kind[-1] = acc.CLOSE
    played = episode.run(market, actions, Rules(min_notional=0.0))
    ledger = played.account.ledger
    assert float(played.account.position) == 0.0
    np.testing.assert_allclose(ledger.gross_profit - ledger.gross_loss, played.equity[-1] - 10_000.0, atol=1e-8)
