"""The published words are understood as what they mean; values in another unit are not taken for ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from mcp_servers import edgar, options, risk, trading, yfinance

Ask = Callable[..., Any]
OPTIONS, RISK = options.build_server(), risk.build_server()
AS_OF = date(2012, 9, 19)
RETURNS = [0.012, -0.021, 0.004, 0.009, -0.013, 0.001, -0.034, 0.027, 0.006, -0.008]
CALL = {"option_type": "call", "strike": 100, "premium": 8.0}


def test_a_quote_asked_for_by_date_is_of_that_day(ask: Ask) -> None:
    server = yfinance.build_server()
    for name in ("date", "on"):
        assert ask(server, "get_quote", as_of=AS_OF, ticker="AAPL", **{name: "2012-09-11"})["date"] == "2012-09-11"


def test_a_confidence_level_is_the_confidence(ask: Ask) -> None:
    answer = ask(RISK, "calculate_var", returns=RETURNS, confidence_level=0.99)
    assert answer["confidence"] == 0.99
    assert answer == ask(RISK, "calculate_var", returns=RETURNS, confidence=0.99)
    text = ask(RISK, "calculate_var", returns=RETURNS, confidence_level=0.99, confidence=0.95)
    assert text == "calculate_var: 'confidence_level' and 'confidence' are the same; give one of them"


@pytest.mark.parametrize("quantity", [2, -2])
def test_a_leg_that_is_sold_is_short(ask: Ask, quantity: int) -> None:
    answer = ask(OPTIONS, "analyze_strategy", legs=[CALL | {"action": "sell", "quantity": quantity}])
    assert answer["structure"] == "short call" and answer["net_cost"] == -1600.0


def test_a_leg_that_is_bought_is_long_and_may_not_have_a_negative_quantity(ask: Ask) -> None:
    assert ask(OPTIONS, "analyze_strategy", legs=[CALL | {"action": "BUY", "quantity": 1}])["structure"] == "long call"
    text = ask(OPTIONS, "analyze_strategy", legs=[CALL | {"action": "buy", "quantity": -1}])
    assert text == (
        "analyze_strategy: legs[0]: action 'buy' contradicts the negative quantity -1, which is sold; give one of them"
    )


@pytest.mark.parametrize("action", ["hold", "", 1, True, ["sell"]])
def test_an_action_that_is_neither_is_refused(ask: Ask, action: Any) -> None:
    text = ask(OPTIONS, "analyze_strategy", legs=[CALL | {"action": action, "quantity": 1}])
    assert text.startswith("analyze_strategy: legs[0]: action must be 'buy' or 'sell', got ")


def test_an_action_needs_a_quantity(ask: Ask) -> None:
    text = ask(OPTIONS, "analyze_strategy", legs=[CALL | {"action": "sell"}])
    assert text == "analyze_strategy: quantity in legs[0] must be a number beside action 'sell', got None"


def test_the_condor_of_the_published_bank_is_understood_in_its_own_words(ask: Ask) -> None:
    # strategy_001: 8 credit, 12 at risk, breakevens 4412 and 4588, a hundred shares a contract.
    rows = [("sell", 4420, "put", 12), ("buy", 4400, "put", 8), ("sell", 4580, "call", 11), ("buy", 4600, "call", 7)]
    legs = [{"action": a, "strike": k, "type": t, "price": p, "contracts": 1} for a, k, t, p in rows]
    answer = ask(OPTIONS, "analyze_strategy", legs=legs, spot_price=4500)
    assert (answer["structure"], answer["max_profit"], answer["max_loss"]) == ("iron condor", 800.0, 1200.0)
    assert answer["breakevens"] == [4412.0, 4588.0]


def test_a_price_is_the_same_in_the_published_words_and_in_ours(ask: Ask) -> None:
    ours = {"spot": 100.0, "strike": 105.0, "rate": 0.03, "volatility": 0.25, "time_to_expiry": 73 / 365}
    theirs = {"spot_price": 100.0, "strike_price": 105.0, "risk_free_rate": 0.03, "volatility": 0.25}
    first = ask(OPTIONS, "calculate_option_price", **ours, option_type="put")
    second = ask(OPTIONS, "calculate_option_price", **theirs, days_to_expiry=73, option_type="put")
    assert first["price"] == pytest.approx(second["price"], rel=1e-12)


def test_greeks_a_day_and_a_point_are_understood_in_their_units(ask: Ask) -> None:
    named = {"theta_per_day": -2.0, "vega_per_point": 3.0, "rho_per_point": 0.5}
    shocks = {"volatility_change": 0.02, "rate_change": 0.01}
    parts = ask(
        RISK, "attribute_profit_and_loss", total=1.0, spot_change=0.0, delta=0.0, **named, **shocks, days_passed=5
    )
    assert [parts[name] for name in ("theta", "vega", "rho")] == pytest.approx([-10.0, 6.0, 0.5])
    yearly = {"theta": -730.0, "years_passed": 5 / 365}
    again = ask(RISK, "attribute_profit_and_loss", total=1.0, spot_change=0.0, delta=0.0, **yearly)
    assert again["theta"] == pytest.approx(-10.0)


def test_an_order_with_an_action_is_an_order_on_that_side(ask: Ask) -> None:
    server = trading.build_server()
    ask(server, "open_account", as_of=AS_OF, starting_cash=10_000)
    order = {"client_order_id": "a", "symbol": "AAPL", "action": "sell", "quantity": 1, "type": "market"}
    answer = ask(server, "place_order", as_of=AS_OF, **order)
    assert (answer["side"], answer["ticker"], answer["order_type"]) == ("sell", "AAPL", "market")


def test_a_statement_is_found_by_its_published_name(ask: Ask) -> None:
    terms = {"ticker": "AAPL", "statement_type": "income", "fiscal_year": 2011}
    assert ask(edgar.build_server(), "get_financial_statement", as_of=AS_OF, **terms)["statement"] == "income"


TERMS = {"spot": 100.0, "strike": 105.0, "rate": 0.03, "volatility": 0.25, "option_type": "call"}
POSITION = {"option_type": "call", "quantity": 1, "spot": 100, "strike": 100, "volatility": 0.2}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("calculate_option_price", TERMS | {"time_to_expiry": 30}, "time_to_expiry: "),
        ("calculate_option_price", TERMS | {"days_to_expiry": 0.25}, "days_to_expiry is in days"),
        ("calculate_option_price", TERMS | {"days_to_expiry": "30"}, "days_to_expiry must be a number"),
        ("calculate_option_price", TERMS | {"days_to_expiry": 30, "time_to_expiry": 0.1}, "are the same"),
        ("calculate_option_price", TERMS | {"days_to_expiry": 30, "volatility": 25}, "volatility: "),
        ("calculate_option_price", TERMS | {"days_to_expiry": 30, "rate": 3}, "rate: "),
        ("calculate_option_price", TERMS | {"days_to_expiry": 30, "rate": True}, "rate must be a number, got true"),
        ("calculate_var", {"returns": RETURNS, "confidence": 95}, "confidence: Input should be less than 1, got 95"),
        ("calculate_var", {"returns": RETURNS, "confidence": 0.05}, "confidence: "),
        ("calculate_var", {"returns": [100 * value for value in RETURNS]}, "returns[1]: "),
        ("calculate_sharpe_ratio", {"returns": RETURNS, "risk_free_rate": 4.5}, "risk_free_rate: "),
        (
            "calculate_portfolio_greeks",
            {"positions": [POSITION | {"time_to_expiry": 30}]},
            "positions[0].time_to_expiry",
        ),
        (
            "run_stress_test",
            {
                "portfolio": {"positions": [POSITION | {"days_to_expiry": 30}]},
                "scenarios": [{"name": "fall", "spot_change": -20}],
            },
            "scenarios[0].spot_change: ",
        ),
        (
            "calculate_portfolio_var",
            {
                "positions": [POSITION | {"days_to_expiry": 30, "underlying": "X"}],
                "volatility": {"X": 0.2, "Y": 0.2},
            },
            "volatility names underlyings that no position has: ['Y']",
        ),
    ],
)
def test_a_value_in_another_unit_is_refused_and_named(ask: Ask, tool: str, arguments: Any, said: str) -> None:
    server = OPTIONS if tool == "calculate_option_price" else RISK
    text = ask(server, tool, **arguments)
    assert isinstance(text, str) and said in text and "\n" not in text


def test_positions_take_days_as_well_as_years(ask: Ask) -> None:
    by_days = ask(RISK, "calculate_portfolio_greeks", positions=[POSITION | {"days_to_expiry": 73}])
    by_years = ask(RISK, "calculate_portfolio_greeks", positions=[POSITION | {"time_to_expiry": 0.2}])
    assert math.isclose(by_days["value"], by_years["value"], rel_tol=1e-12)
