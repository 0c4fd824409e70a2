"""Risk tools against plain computations and stated reference cases."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest

from mcp_servers import options, risk
from pricing.risk import SCENARIOS

SERVER = risk.build_server()
Ask = Callable[..., Any]

RETURNS = [0.012, -0.021, 0.004, 0.009, -0.013, 0.001, -0.034, 0.027, 0.006, -0.008]
CALL = {"option_type": "call", "quantity": 2, "spot": 100, "strike": 105, "time_to_expiry": 0.5, "volatility": 0.3}
STOCK = {"option_type": "stock", "quantity": -50, "spot": 100}


def test_portfolio_greeks_are_sums_over_contracts_of_100_shares(ask: Ask) -> None:
    one = ask(
        options.build_server(), "calculate_option_price", rate=0.04, **{k: CALL[k] for k in CALL if k != "quantity"}
    )
    book = ask(SERVER, "calculate_portfolio_greeks", positions=[CALL, STOCK], rate=0.04)
    for greek in ("gamma", "theta", "vega", "rho"):
        assert book[greek] == pytest.approx(200 * one[greek])
        assert book[f"position_{greek}"] == [pytest.approx(200 * one[greek]), 0.0]
    assert book["delta"] == pytest.approx(200 * one["delta"] - 50)
    assert book["dollar_delta"] == pytest.approx(100 * book["delta"])
    assert book["value"] == pytest.approx(200 * one["price"] - 5_000)


def test_var_of_a_dollar_delta_of_89300_at_a_daily_volatility_of_1_8_percent_is_2644(ask: Ask) -> None:
    # scoring.md section 5: the published bank printed 1,165.65 for this book.
    half = 0.018 / math.sqrt(2)
    answer = ask(
        SERVER, "calculate_var", returns=[half, -half], method="parametric", confidence=0.95, portfolio_value=89_300
    )
    assert answer["value_at_risk"] == pytest.approx(2644.17, abs=0.5)


def test_historical_var_is_the_quantile_of_the_losses(ask: Ask) -> None:
    answer = ask(SERVER, "calculate_var", returns=RETURNS, confidence=0.9, portfolio_value=1_000)
    losses = sorted(-1000 * value for value in RETURNS)
    assert answer["value_at_risk"] == pytest.approx(losses[8] + 0.1 * (losses[9] - losses[8]))
    assert answer["expected_shortfall"] == pytest.approx(losses[9])


def test_monte_carlo_var_agrees_with_the_closed_form_and_repeats_for_a_seed(ask: Ask) -> None:
    closed = ask(SERVER, "calculate_var", returns=RETURNS, method="parametric", confidence=0.99, horizon_periods=5)
    drawn = ask(SERVER, "calculate_var", returns=RETURNS, method="monte_carlo", confidence=0.99, horizon_periods=5)
    assert drawn["value_at_risk"] == pytest.approx(closed["value_at_risk"], abs=4 * drawn["standard_error"])
    again = ask(SERVER, "calculate_var", returns=RETURNS, method="monte_carlo", confidence=0.99, horizon_periods=5)
    other = ask(
        SERVER, "calculate_var", seed=1, returns=RETURNS, method="monte_carlo", confidence=0.99, horizon_periods=5
    )
    assert drawn == again != other


def test_history_is_not_stretched_to_a_longer_horizon(ask: Ask) -> None:
    assert "historical covers horizon_periods=1" in ask(SERVER, "calculate_var", returns=RETURNS, horizon_periods=10)


def test_a_stress_test_reprices_options_and_shares(ask: Ask) -> None:
    portfolio = {"positions": [CALL, STOCK], "rate": 0.04}
    answer = ask(
        SERVER,
        "run_stress_test",
        portfolio=portfolio,
        scenarios=[{"name": "crash", "spot_change": -0.20}, {"name": "calm 0"}],
    )
    terms = {k: CALL[k] for k in CALL if k != "quantity"} | {"rate": 0.04}
    pricer = options.build_server()
    before = ask(pricer, "calculate_option_price", **terms)["price"]
    after = ask(pricer, "calculate_option_price", **terms | {"spot": 80})["price"]
    expected = 200 * (after - before) + 50 * 20
    assert answer["scenario"] == ["crash", "calm 0"]
    assert answer["profit_and_loss"] == [pytest.approx(expected), pytest.approx(0.0, abs=1e-9)]
    assert answer["worst_scenario"] == ("crash" if expected < 0 else "calm 0")


def test_the_standard_stress_test_has_a_crash(ask: Ask) -> None:
    answer = ask(SERVER, "run_stress_test", portfolio={"positions": [CALL | {"quantity": -3}]})
    assert answer["scenario"] == [scenario.name for scenario in SCENARIOS]
    assert answer["worst_profit_and_loss"] == min(answer["profit_and_loss"]) < 0


def test_sharpe_and_sortino_are_what_they_say(ask: Ask) -> None:
    sharpe = ask(SERVER, "calculate_sharpe_ratio", returns=RETURNS, risk_free_rate=0.0252)
    excess = [value - 0.0001 for value in RETURNS]
    assert sharpe["ratio"] == pytest.approx(statistics.mean(excess) / statistics.stdev(excess) * math.sqrt(252))
    sortino = ask(SERVER, "calculate_sortino_ratio", returns=RETURNS, periods_per_year=12)
    downside = math.sqrt(sum(min(value, 0) ** 2 for value in RETURNS) / len(RETURNS))
    assert sortino["ratio"] == pytest.approx(statistics.mean(RETURNS) / downside * math.sqrt(12))


def test_ratios_without_risk_are_an_error(ask: Ask) -> None:
    assert "the deviation of these returns is 0" in ask(SERVER, "calculate_sharpe_ratio", returns=[0.01] * 7)
    assert "the downside deviation" in ask(SERVER, "calculate_sortino_ratio", returns=[0.01, 0.02])


def test_drawdown_finds_peak_and_trough(ask: Ask) -> None:
    answer = ask(SERVER, "calculate_max_drawdown", returns=[0.1, -0.5, 0.2, -0.5, 3.0])
    assert answer == {"max_drawdown": pytest.approx(0.7), "peak_index": 1, "trough_index": 4}


def test_an_option_without_its_terms_is_named(ask: Ask) -> None:
    broken = {"option_type": "put", "quantity": 1, "spot": 100, "strike": 90, "volatility": 0.2}
    text = ask(SERVER, "calculate_portfolio_greeks", positions=[STOCK, broken])
    assert "positions[1] is a put and needs time_to_expiry" in text


def test_positions_on_one_underlying_must_agree_on_its_price(ask: Ask) -> None:
    positions = [STOCK | {"underlying": "X"}, STOCK | {"underlying": "X", "spot": 101}]
    text = ask(SERVER, "run_stress_test", portfolio={"positions": positions})
    assert "positions on 'X' have different spots: 100.0 and 101.0" in text


def test_portfolio_var_of_shares_is_the_closed_form_and_grows_with_correlation(ask: Ask) -> None:
    pair = [STOCK | {"quantity": 50, "underlying": "X"}, STOCK | {"quantity": 50, "underlying": "Y"}]
    terms = {"positions": pair, "volatility": {"X": 0.2, "Y": 0.2}, "confidence": 0.99}
    alone, together = (ask(SERVER, "calculate_portfolio_var", **terms, correlation=rho) for rho in (0.0, 0.8))
    daily = 5_000 * 0.2 / math.sqrt(252)
    for answer, rho in ((alone, 0.0), (together, 0.8)):
        closed = 2.3263 * daily * math.sqrt(2 + 2 * rho)
        # Lognormal losses are a little smaller than normal ones: half of the squared move.
        assert answer["value_at_risk"] == pytest.approx(closed, rel=0.02, abs=4 * answer["standard_error"])


def test_a_delta_hedged_long_straddle_risks_little_over_a_day(ask: Ask) -> None:
    legs = [CALL | {"underlying": "X", "strike": 100, "quantity": 1}]
    legs += [legs[0] | {"option_type": "put"}]
    answer = ask(SERVER, "calculate_portfolio_var", positions=legs, volatility={"X": 0.3})
    naked = ask(SERVER, "calculate_portfolio_var", positions=legs[:1], volatility={"X": 0.3})
    assert 0 < answer["value_at_risk"] < 0.35 * naked["value_at_risk"]
    text = ask(SERVER, "calculate_portfolio_var", positions=legs, volatility={"Y": 0.3})
    assert "missing: ['X']" in text
    text = ask(SERVER, "calculate_portfolio_var", positions=[CALL], volatility={"": 0.3})
    assert "every position must name its underlying" in text


def test_attribution_adds_up(ask: Ask) -> None:
    answer = ask(
        SERVER,
        "attribute_profit_and_loss",
        total=110.0,
        spot_change=2.0,
        delta=40.0,
        gamma=5.0,
        theta=-365.0,
        vega=300.0,
        volatility_change=0.1,
        days_passed=2,
    )
    assert answer["delta"] == 80 and answer["gamma"] == 10 and answer["theta"] == pytest.approx(-2)
    assert answer["vega"] == pytest.approx(30) and answer["unexplained"] == pytest.approx(-8)


def test_an_attribution_out_of_range_says_so(ask: Ask) -> None:
    error = ask(SERVER, "attribute_profit_and_loss", total=1.0, spot_change=1e308, delta=1e308, gamma=1.0)
    assert "delta, gamma, explained, unexplained is no finite number" in error
