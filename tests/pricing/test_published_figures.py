"""Figures printed in the benchmark papers' option bank, right ones reproduced and wrong ones corrected."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pricing import black_scholes, implied_volatility, risk
from pricing.strategy import Leg, analyze


def test_call_and_put_of_the_first_pricing_question():
    price = black_scholes.price(
        spot=175.0,
        strike=180.0,
        time_to_expiry=30 / 365,
        rate=0.05,
        volatility=0.25,
        is_call=np.array([True, False]),
    )
    assert np.round(np.asarray(price), 2) == pytest.approx([3.22, 7.48], abs=1e-9)


def test_theoretical_price_of_the_second_pricing_question_and_the_volatility_its_quote_implies():
    option = {"spot": 450.0, "strike": 460.0, "time_to_expiry": 45 / 365, "rate": 0.0525}
    assert round(float(black_scholes.price(**option, volatility=0.45)), 2) == 25.18
    answer = implied_volatility.solve(price=18.50, **option)
    assert int(answer.status) == implied_volatility.Status.SOLVED
    assert round(float(answer.value), 3) == 0.344


def test_greeks_of_the_tesla_question_per_day_and_per_point():
    g = black_scholes.greeks(spot=245.0, strike=250.0, time_to_expiry=21 / 365, rate=0.05, volatility=0.55)
    printed = (g.delta, g.gamma, g.theta / 365, g.vega / 100)
    assert [round(float(value), 3) for value in printed] == [0.474, 0.012, -0.321, 0.234]


def test_iron_condor_wins_8_loses_12_and_breaks_even_at_4412_and_4588():
    condor = [
        Leg(kind="put", quantity=-1, premium=12.0, strike=4420.0, multiplier=1),
        Leg(kind="put", quantity=1, premium=8.0, strike=4400.0, multiplier=1),
        Leg(kind="call", quantity=-1, premium=11.0, strike=4580.0, multiplier=1),
        Leg(kind="call", quantity=1, premium=7.0, strike=4600.0, multiplier=1),
    ]
    answer = analyze(condor)
    assert (answer.max_profit, answer.max_loss, answer.breakevens) == (8.0, 12.0, (4412.0, 4588.0))


def test_value_at_risk_of_the_microsoft_book_is_2644_because_contracts_hold_100_shares():
    exposure = 380.0 * (100 + 5 * 100 * 0.48 - 3 * 100 * 0.35)
    assert exposure == pytest.approx(89_300.0)
    value = risk.normal_value_at_risk(standard_deviation=0.018 * exposure, confidence=0.95)
    # 2,644.17 is made with the quantile rounded to 1.645.
    assert value == pytest.approx(2644.17 * 1.6448536269514722 / 1.645, abs=0.01)


def test_profit_attribution_of_the_google_question_leaves_40_cents_unexplained():
    split = risk.attribution(
        total=7.20 - 5.50,
        spot_change=4.0,
        volatility_change=2.0,
        time_passed=3.0,
        delta=0.45,
        gamma=0.03,
        theta=-0.08,
        vega=0.15,
    )
    parts = (split.delta, split.gamma, split.theta, split.vega, split.unexplained)
    assert parts == pytest.approx((1.8, 0.24, -0.24, 0.3, -0.4))


@pytest.mark.shared_data
def test_101_published_vectors_of_prices_and_greeks(shared_data: Path):
    table = json.loads((shared_data / "options" / "py_vollib_test_data.json").read_text())
    rows = np.array(table["data"], float)
    column = {name: rows[:, index] for index, name in enumerate(table["columns"])}
    option = {
        "spot": column["S"],
        "strike": column["K"],
        "time_to_expiry": column["t"],
        "rate": column["R"],
        "volatility": column["v"],
    }
    for side, is_call, price in (("C", True, "bs_call"), ("P", False, "bs_put")):
        g = black_scholes.all_greeks(**option, is_call=is_call)
        ours = {price: g.price, f"{side}D": g.delta, f"{side}G": g.gamma, f"{side}T": g.theta, f"{side}R": g.rho}
        for name, value in ours.items():
            np.testing.assert_allclose(value, column[name], rtol=1e-5, atol=1e-9, err_msg=name)
