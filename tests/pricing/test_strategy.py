"""Multi-leg positions: reward, risk, breakevens, probability, Greeks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing import black_scholes
from pricing.risk import Move, explain
from pricing.strategy import Leg, TerminalDistribution, analyze

MARKET = {"spot": 100.0, "time_to_expiry": 0.25, "rate": 0.04, "dividend_yield": 0.01, "volatility": 0.3}


def call(strike: float, premium: float, quantity: float = 1.0, **more: float) -> Leg:
    return Leg(kind="call", quantity=quantity, premium=premium, strike=strike, multiplier=1, **more)


def put(strike: float, premium: float, quantity: float = 1.0, **more: float) -> Leg:
    return Leg(kind="put", quantity=quantity, premium=premium, strike=strike, multiplier=1, **more)


def stock(premium: float, quantity: float = 1.0) -> Leg:
    return Leg(kind="stock", quantity=quantity, premium=premium)


def test_published_bull_call_spread_and_put_spread_per_contract():
    spread = analyze(
        [
            Leg(kind="call", quantity=1, premium=4.3, strike=185.0),
            Leg(kind="call", quantity=-1, premium=2.0, strike=190.0),
        ]
    )
    assert (spread.max_profit, spread.max_loss, spread.breakevens) == (270.0, 230.0, (187.3,))
    credit = analyze(
        [
            Leg(kind="put", quantity=-1, premium=4.0, strike=370.0),
            Leg(kind="put", quantity=1, premium=1.5, strike=360.0),
        ]
    )
    assert (credit.max_loss, credit.cost) == (750.0, -250.0)


def test_a_long_straddle_breaks_even_its_premium_away_on_both_sides_and_wins_without_bound():
    answer = analyze([call(180.0, 7.2), put(180.0, 6.8)])
    assert answer.breakevens == (166.0, 194.0)
    assert answer.profit_is_unbounded and answer.max_loss == 14.0


def test_a_naked_call_loses_without_bound_and_a_naked_put_at_most_its_strike():
    short_call, short_put = analyze([call(100.0, 3.0, -1)]), analyze([put(100.0, 3.0, -1)])
    assert short_call.loss_is_unbounded and short_call.max_profit == 3.0
    assert (short_put.max_loss, short_put.breakevens) == (97.0, (97.0,))


def test_covered_call_and_collar_count_the_stock_at_its_purchase_price():
    covered = analyze([stock(100.0, 100), Leg(kind="call", quantity=-1, premium=2.0, strike=105.0)])
    assert (covered.max_profit, covered.max_loss, covered.breakevens) == (700.0, 9_800.0, (98.0,))
    collar = analyze([stock(100.0), put(95.0, 2.0), call(105.0, 2.0, -1)])
    assert (collar.max_profit, collar.max_loss, collar.breakevens) == (5.0, 5.0, (100.0,))


def test_an_arbitrage_has_a_negative_maximal_loss():
    assert analyze([call(100.0, 1.0), call(105.0, 3.0, -1)]).max_loss == -2.0


def test_a_profit_that_touches_zero_on_a_stretch_reports_its_two_ends():
    assert analyze([call(100.0, 2.0), call(105.0, 2.0, -1)]).breakevens == (0.0, 100.0)


leg_lists = st.lists(
    st.builds(
        Leg,
        kind=st.sampled_from(["call", "put"]),
        quantity=st.sampled_from([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]),
        premium=st.integers(0, 2000).map(lambda cents: cents / 100),
        strike=st.integers(50, 150).map(float),
        multiplier=st.just(1.0),
    ),
    min_size=1,
    max_size=5,
)


@given(leg_lists)
@settings(max_examples=150)
def test_extremes_and_breakevens_agree_with_a_brute_force_grid(legs: list[Leg]):
    answer = analyze(legs)
    prices = np.unique(np.concatenate([np.arange(0.0, 400.0, 0.25), [leg.strike for leg in legs]]))
    profit = sum(
        leg.shares * (np.maximum(prices - leg.strike if leg.kind == "call" else leg.strike - prices, 0.0) - leg.premium)
        for leg in legs
    )
    slope = sum(leg.shares for leg in legs if leg.kind == "call")
    assert answer.max_profit == (math.inf if slope > 0 else pytest.approx(profit.max(), abs=1e-9))
    assert answer.max_loss == (math.inf if slope < 0 else pytest.approx(-profit.min(), abs=1e-9))
    for crossing in np.flatnonzero(profit[:-1] * profit[1:] < -1e-12):
        assert any(prices[crossing] <= price <= prices[crossing + 1] for price in answer.breakevens)


def test_probability_of_profit_of_a_long_call_is_the_lognormal_tail_beyond_breakeven():
    premium = float(black_scholes.price(strike=100.0, **MARKET))
    answer = analyze([call(100.0, premium)], **MARKET)
    deviation = 0.3 * math.sqrt(0.25)
    d2 = (math.log(100.0 / (100.0 + premium)) + 0.03 * 0.25) / deviation - deviation / 2
    assert answer.probability_of_profit == pytest.approx(0.5 * math.erfc(-d2 / math.sqrt(2)), rel=1e-12)


def test_probability_and_expected_profit_agree_with_simulation():
    legs = [put(95.0, 2.5, -1), put(90.0, 1.2), call(105.0, 3.0, -1), call(110.0, 1.6)]
    answer = analyze(legs, **MARKET)
    draws = np.random.default_rng(1).standard_normal(400_000)
    prices = 100.0 * np.exp((0.03 - 0.045) * 0.25 + 0.15 * draws)
    profit = sum(
        leg.shares * (np.maximum(prices - leg.strike if leg.kind == "call" else leg.strike - prices, 0.0) - leg.premium)
        for leg in legs
    )
    assert answer.probability_of_profit == pytest.approx((profit > 0).mean(), abs=4e-3)
    assert answer.expected_profit == pytest.approx(profit.mean(), abs=5 * profit.std() / math.sqrt(draws.size))


def test_probability_under_a_smile_is_the_slope_of_put_prices_in_strike():
    def smile(strike: float) -> float:
        return 0.3 - 0.25 * math.log(strike / 100.0) + 0.4 * math.log(strike / 100.0) ** 2

    law = TerminalDistribution(
        **{**{k: v for k, v in MARKET.items() if k != "time_to_expiry"}, "time": 0.25, "volatility": smile}
    )

    def put_price(strike: float) -> float:
        return float(black_scholes.price(**{**MARKET, "volatility": smile(strike)}, strike=strike, is_call=False))

    for strike in (80.0, 100.0, 120.0):
        slope = (put_price(strike + 0.01) - put_price(strike - 0.01)) / 0.02 * math.exp(0.04 * 0.25)
        assert law.probability_below(strike) == pytest.approx(slope, rel=1e-6)
    flat = analyze([put(65.0, 0.1)], **MARKET).probability_of_profit
    skewed = analyze([put(65.0, 0.1)], **{**MARKET, "volatility": smile}).probability_of_profit
    assert skewed > flat * 1.05


def test_position_greeks_are_sums_over_legs_with_multipliers():
    legs = [
        Leg(kind="call", quantity=2, premium=5.0, strike=100.0),
        Leg(kind="put", quantity=-1, premium=4.0, strike=95.0),
        stock(100.0, 30),
    ]
    greeks = analyze(legs, **MARKET).greeks
    one = black_scholes.greeks(strike=np.array([100.0, 95.0]), is_call=np.array([True, False]), **MARKET)
    assert greeks.delta == pytest.approx(200 * float(one.delta[0]) - 100 * float(one.delta[1]) + 30)
    assert greeks.vega == pytest.approx(200 * float(one.vega[0]) - 100 * float(one.vega[1]))


def test_a_calendar_is_judged_at_the_first_expiry_with_the_later_leg_alive():
    near, far = {"time_to_expiry": 0.1, "volatility": 0.3}, {"time_to_expiry": 0.4, "volatility": 0.28}
    answer = analyze([call(100.0, 3.8, -1, **near), call(100.0, 7.2, **far)], spot=100.0, rate=0.03)
    prices = np.linspace(40.0, 250.0, 42_001)
    alive = np.asarray(
        black_scholes.price(spot=prices, strike=100.0, time_to_expiry=0.4 - 0.1, rate=0.03, volatility=0.28)
    )
    profit = alive - np.maximum(prices - 100.0, 0.0) - 3.4
    assert answer.max_profit == pytest.approx(profit.max(), abs=1e-6)
    assert answer.max_loss == pytest.approx(3.4, abs=1e-9)
    crossings = prices[:-1][np.sign(profit[:-1]) != np.sign(profit[1:])]
    assert answer.breakevens == pytest.approx(crossings.tolist(), abs=0.006)
    assert 0.3 < answer.probability_of_profit < 0.7


def test_a_short_calendar_loses_at_the_strike_and_has_the_mirrored_profit():
    near, far = {"time_to_expiry": 0.1, "volatility": 0.3}, {"time_to_expiry": 0.4, "volatility": 0.28}
    long = analyze([call(100.0, 3.8, -1, **near), call(100.0, 7.2, **far)], rate=0.03)
    short = analyze([call(100.0, 3.8, **near), call(100.0, 7.2, -1, **far)], rate=0.03)
    assert short.max_profit == pytest.approx(long.max_loss) and short.max_loss == pytest.approx(long.max_profit)


def test_legs_with_different_expiries_need_a_volatility():
    with pytest.raises(ValueError, match="volatility of the 100 call is needed"):
        analyze([call(100.0, 3.8, -1, time_to_expiry=0.1), call(100.0, 7.2, time_to_expiry=0.4)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "future"}, "kind must be"),
        ({"quantity": 0.0}, "quantity must be finite and not 0, got 0.0"),
        ({"premium": -1.0}, "premium must be finite and >= 0"),
        ({"strike": None}, "strike of a call must be finite and > 0, got None"),
        ({"multiplier": 0.0}, "multiplier must be finite and > 0, got 0.0"),
    ],
)
def test_an_impossible_leg_is_refused_by_field_and_value(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        Leg(**{"kind": "call", "quantity": 1.0, "premium": 1.0, "strike": 100.0, **change})


def test_attribution_of_a_small_move_leaves_little_unexplained_and_its_total_is_a_revaluation():
    legs = [call(100.0, 5.0, 10, time_to_expiry=0.5, volatility=0.25), stock(100.0, -5)]
    move = Move(spot=1.0, volatility=0.005, rate=0.001, years=1 / 365)
    split = explain(legs, move, spot=100.0, rate=0.03)
    start, end = (
        10 * float(black_scholes.price(strike=100.0, spot=s, time_to_expiry=t, rate=r, volatility=v)) - 5 * s
        for s, t, r, v in ((100.0, 0.5, 0.03, 0.25), (101.0, 0.5 - 1 / 365, 0.031, 0.255))
    )
    assert split.total == pytest.approx(end - start, rel=1e-10)
    assert abs(split.unexplained) < 2e-3 * abs(split.total)
    assert split.explained + split.unexplained == pytest.approx(split.total)


@pytest.mark.shared_data
def test_every_strategy_question_of_the_published_bank_is_reproduced(shared_data: Path):
    bank = json.loads((shared_data / "agentbusters" / "options_questions.json").read_text())["questions"]
    condor = next(question for question in bank if question["question_id"] == "strategy_001")["ground_truth"]
    legs = [
        Leg(
            kind=leg["type"],
            quantity=1 if leg["action"] == "buy" else -1,
            premium=leg["price"],
            strike=leg["strike"],
            multiplier=1,
        )
        for leg in condor["legs"]
    ]
    answer = analyze(legs)
    assert answer.structure.name == "iron condor"
    assert (answer.max_profit, answer.max_loss) == (condor["max_profit"], condor["max_loss"])
    assert answer.breakevens == (condor["breakeven_lower"], condor["breakeven_upper"])
