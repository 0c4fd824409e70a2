"""Stress tests, backtests of value at risk, ratios and drawdowns."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pricing import black_scholes, risk
from pricing.strategy import Leg

LEGS = [
    Leg(kind="call", quantity=-2, premium=5.0, strike=105.0, time_to_expiry=0.25, volatility=0.25),
    Leg(kind="put", quantity=3, premium=4.0, strike=95.0, time_to_expiry=0.25, volatility=0.28),
    Leg(kind="stock", quantity=150, premium=98.0),
]
BOOK = risk.Book(
    underlying=np.zeros(3, int),
    is_option=np.array([True, True, False]),
    is_call=np.array([True, False, False]),
    shares=np.array([-200.0, 300.0, 150.0]),
    strike=np.array([105.0, 95.0, np.nan]),
    time_to_expiry=np.array([0.25, 0.25, np.nan]),
    volatility=np.array([0.25, 0.28, np.nan]),
)


def value(spot: float, points: float = 0.0, rate: float = 0.03, days: float = 0.0, skew: float = 0.0) -> float:
    total = 150.0 * spot
    for leg in LEGS[:2]:
        price = black_scholes.price(
            spot=spot,
            strike=leg.strike,
            time_to_expiry=0.25 - days / 365,
            rate=rate,
            volatility=leg.volatility + points + skew * math.log(leg.strike / spot),
            is_call=leg.kind == "call",
        )
        total += leg.shares * float(price)
    return total


def test_named_scenarios_are_full_revaluations():
    outcomes = {
        outcome.scenario.name: outcome.profit_and_loss for outcome in risk.stress(BOOK, spot=[100.0], rate=0.03)
    }
    now = value(100.0)
    assert outcomes["spot -20%"] == pytest.approx(value(80.0) - now)
    assert outcomes["volatility +10 points"] == pytest.approx(value(100.0, points=0.10) - now)
    assert outcomes["rate +100 bp"] == pytest.approx(value(100.0, rate=0.04) - now)
    assert outcomes["one week passes"] == pytest.approx(value(100.0, days=7) - now)
    assert outcomes["skew: puts dearer"] == pytest.approx(value(100.0, skew=-0.20) - now)
    assert outcomes["crash: spot -20%, volatility +25 points"] == pytest.approx(value(80.0, points=0.25) - now)


def test_scenarios_need_their_own_names_and_a_possible_fall():
    book = BOOK
    twice = [risk.Scenario(name="a"), risk.Scenario(name="a")]
    with pytest.raises(ValueError, match="unique names, got 'a' twice"):
        risk.stress(book, spot=[100.0], scenarios=twice)
    with pytest.raises(ValueError, match="spot_change of 'doom' must be >= -1"):
        risk.stress(book, spot=[100.0], scenarios=[risk.Scenario(name="doom", spot_change=-1.5)])
    with pytest.raises(
        ValueError, match="spot_change of 'apart' must be one number or have 1, one for each underlying, got 2"
    ):
        risk.stress(book, spot=[100.0], scenarios=[risk.Scenario(name="apart", spot_change=(-0.1, 0.1))])


def test_a_scenario_may_move_each_underlying_by_itself():
    two = risk.Book(
        *(np.concatenate([column, column]) for column in BOOK._replace(underlying=np.array([0, 0, 0])))
    )._replace(underlying=np.array([0, 0, 0, 1, 1, 1]))
    apart = risk.Scenario(name="apart", spot_change=(-0.1, 0.2))
    (outcome,) = risk.stress(two, spot=[100.0, 100.0], rate=0.03, scenarios=[apart])
    assert outcome.profit_and_loss == pytest.approx(value(90.0) + value(120.0) - 2 * value(100.0))


@pytest.mark.shared_data
def test_historical_scenarios_carry_the_moves_of_the_vix(shared_data: Path):
    with (shared_data / "rates" / "vix-daily.csv").open() as file:
        closes = {row["DATE"]: float(row["CLOSE"]) for row in csv.DictReader(file)}
    days = sorted(closes)
    checked = 0
    for scenario in risk.HISTORICAL_SCENARIOS:
        day = scenario.name[:10]
        if day in closes:
            before = days[days.index(day) - 1]
            assert scenario.volatility_change == pytest.approx((closes[day] - closes[before]) / 100, abs=6e-5), day
            checked += 1
    assert checked == 4


def test_kupiec_reproduces_his_likelihood_ratio():
    # Jorion, Value at Risk, 3rd ed., section 6.2: 20 exceptions in 252 days at 95%: LR = 3.91.
    flags = np.zeros(252, bool)
    flags[:20] = True
    answer = risk.kupiec(flags, confidence=0.95)
    assert answer.statistic == pytest.approx(3.91, abs=0.005)
    assert answer.p_value == pytest.approx(stats.chi2.sf(answer.statistic, 1), rel=1e-12)


def test_kupiec_accepts_no_exceedance_at_all_as_data():
    answer = risk.kupiec(np.zeros(100, bool), confidence=0.95)
    assert answer.statistic == pytest.approx(-200 * math.log(0.95))


def test_clustered_exceedances_fail_independence_and_scattered_ones_pass():
    clustered, scattered = np.zeros(500, bool), np.zeros(500, bool)
    clustered[100:125] = True
    scattered[::20] = True
    assert risk.christoffersen_independence(clustered).p_value < 1e-6
    assert risk.christoffersen_independence(scattered).p_value > 0.1
    joint = risk.christoffersen(clustered, confidence=0.95)
    assert joint.p_value == pytest.approx(stats.chi2.sf(joint.statistic, 2), rel=1e-12)


def test_coverage_tests_reject_a_right_forecast_five_times_in_a_hundred():
    rng = np.random.default_rng(2)
    forecast = risk.normal_value_at_risk(standard_deviation=1.0, confidence=0.95)
    rejected = np.mean(
        [
            risk.kupiec(risk.exceedances(rng.standard_normal(1000), forecast), confidence=0.95).p_value < 0.05
            for _ in range(1000)
        ]
    )
    assert rejected == pytest.approx(0.05, abs=0.025)


def test_sharpe_and_sortino_by_hand():
    returns = [0.02, -0.01, 0.03, -0.02, 0.01]
    mean, deviation = 0.006, math.sqrt(sum((r - 0.006) ** 2 for r in returns) / 4)
    downside = math.sqrt((0.01**2 + 0.02**2) / 5)
    assert risk.sharpe_ratio(returns, periods_per_year=252) == pytest.approx(mean / deviation * math.sqrt(252))
    assert risk.sortino_ratio(returns, periods_per_year=252) == pytest.approx(mean / downside * math.sqrt(252))


def test_downside_deviation_counts_winning_periods_too():
    one_loss = [0.01] * 9 + [-0.01]
    losers_only = 0.01
    over_all = 0.01 / math.sqrt(10)
    ratio = risk.sortino_ratio(one_loss, periods_per_year=1)
    assert ratio == pytest.approx(0.008 / over_all) and ratio != pytest.approx(0.008 / losers_only)


def test_ratios_without_risk_are_infinite_or_undefined_never_a_number():
    assert math.isnan(risk.sharpe_ratio([0.01, 0.01, 0.01], periods_per_year=252))
    assert risk.sortino_ratio([0.01, 0.02], periods_per_year=252) == math.inf
    assert math.isnan(risk.sortino_ratio([0.0, 0.0], periods_per_year=252))


def test_drawdown_is_measured_from_the_highest_equity_so_far():
    assert risk.drawdown([100.0, 120.0, 90.0, 130.0, 117.0]).max() == pytest.approx(0.25)
    np.testing.assert_allclose(risk.drawdown([100.0, 120.0, 90.0]), [0.0, 0.0, 0.25])
    assert risk.drawdown([1.0, 0.0]).max() == 1.0
