"""Risk tools against plain computations and stated reference cases."""

from __future__ import annotations

import itertools
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
SIZED = {"method": "kelly", "capital": 1e6, "price": 50.0, "volatility": 0.2, "expected_return": 0.05}
STOCK = {"option_type": "stock", "quantity": -50, "spot": 100}


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("calculate_var", {"returns": RETURNS, "portfolio_value": 1e308}, "portfolio_value"),
        ("calculate_position_size", SIZED | {"capital": 1e300}, "capital"),
        ("calculate_position_size", SIZED | {"price": 1e300}, "price"),
        ("calculate_position_size", SIZED | {"volatility": 1e-320}, "volatility"),
        ("calculate_portfolio_greeks", {"positions": [STOCK | {"quantity": -1e300}]}, "positions.0.quantity"),
        ("calculate_portfolio_greeks", {"positions": [STOCK | {"spot": 1e300}]}, "positions.0.spot"),
        ("calculate_portfolio_greeks", {"positions": [CALL | {"strike": 1e300}]}, "positions.0.strike"),
    ],
)
def test_a_number_beyond_all_money_is_refused_by_name(
    ask: Ask, tool: str, arguments: dict[str, Any], field: str
) -> None:
    text = ask(SERVER, tool, **arguments)
    assert isinstance(text, str) and field in text.replace("[", ".").replace("]", ""), text
    assert "than or equal to" in text, text


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


TWO = [
    {"option_type": "stock", "quantity": 100, "spot": 50, "underlying": "A"},
    {"option_type": "stock", "quantity": -40, "spot": 80, "underlying": "B"},
]
VOLATILITY = {"A": 0.3, "B": 0.2}


def matrix(rho: float) -> list[list[float]]:
    return [[1.0, rho], [rho, 1.0]]


def test_delta_normal_var_and_its_components_are_the_closed_form(ask: Ask) -> None:
    terms = {"volatility": VOLATILITY, "correlation": matrix(0.5), "confidence": 0.99, "horizon_days": 10}
    answer = ask(SERVER, "calculate_portfolio_var", positions=TWO, method="delta_normal", **terms)
    dollars = [100 * 50 * 0.3, -40 * 80 * 0.2]
    variance = dollars[0] ** 2 + dollars[1] ** 2 + 2 * 0.5 * dollars[0] * dollars[1]
    z = statistics.NormalDist().inv_cdf(0.99)
    scale = z * math.sqrt(10 / 252)
    assert answer["value_at_risk"] == pytest.approx(scale * math.sqrt(variance))
    parts = [d * (d + 0.5 * other) / math.sqrt(variance) * scale for d, other in (dollars, dollars[::-1])]
    assert answer["component"] == pytest.approx(parts)
    assert sum(answer["component"]) == pytest.approx(answer["value_at_risk"])
    assert answer["standalone"] == pytest.approx([scale * abs(d) for d in dollars])


def test_simulated_var_of_shares_agrees_with_it_and_its_parts_add_up(ask: Ask) -> None:
    terms = {"volatility": VOLATILITY, "correlation": matrix(0.5), "confidence": 0.95}
    drawn = ask(SERVER, "calculate_portfolio_var", positions=TWO, **terms)
    closed = ask(SERVER, "calculate_portfolio_var", positions=TWO, method="delta_normal", **terms)
    assert drawn["value_at_risk"] == pytest.approx(closed["value_at_risk"], rel=0.03)
    assert drawn["underlying"] == ["A", "B"]
    assert sum(drawn["component"]) == pytest.approx(drawn["value_at_risk"], rel=1e-6)
    assert drawn["component"] == pytest.approx(closed["component"], abs=0.15 * closed["value_at_risk"])


def test_fat_tails_and_stressed_correlations_lose_more(ask: Ask) -> None:
    long = [TWO[0], TWO[1] | {"quantity": 40}]
    terms = {"volatility": VOLATILITY, "confidence": 0.99}
    plain, fat, together = (
        ask(SERVER, "calculate_portfolio_var", positions=long, **terms, **more)["value_at_risk"]
        for more in ({}, {"degrees_of_freedom": 3}, {"correlation_change": 1.0})
    )
    assert fat > 1.05 * plain and together > 1.1 * plain
    closed = {"volatility": VOLATILITY, "confidence": 0.99, "method": "delta_normal"}
    whole = ask(SERVER, "calculate_portfolio_var", positions=long, **closed, correlation_change=1.0)
    assert whole["value_at_risk"] == pytest.approx(sum(whole["standalone"]))


def test_historical_var_of_a_portfolio_is_the_quantile_of_its_days(ask: Ask) -> None:
    other = [0.5 * value + 0.002 for value in RETURNS]
    answer = ask(
        SERVER,
        "calculate_portfolio_var",
        positions=TWO,
        method="historical",
        returns={"A": RETURNS, "B": other},
        confidence=0.9,
    )
    losses = sorted(-(5_000 * a - 3_200 * b) for a, b in zip(RETURNS, other, strict=True))
    assert answer["observations"] == 10
    assert answer["value_at_risk"] == pytest.approx(losses[8] + 0.1 * (losses[9] - losses[8]))
    assert answer["expected_shortfall"] == pytest.approx(losses[9])
    two_days = ask(
        SERVER,
        "calculate_portfolio_var",
        positions=TWO[:1],
        method="historical",
        returns={"A": RETURNS},
        confidence=0.9,
        horizon_days=2,
    )
    compounded = sorted(-5_000 * ((1 + a) * (1 + b) - 1) for a, b in itertools.pairwise(RETURNS))
    assert two_days["observations"] == 9
    assert two_days["value_at_risk"] == pytest.approx(compounded[7] + 0.2 * (compounded[8] - compounded[7]))


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({}, "method monte_carlo needs volatility of each underlying"),
        ({"volatility": {"A": 0.3}}, "volatility must be given for each underlying; missing: ['B']"),
        ({"volatility": VOLATILITY, "returns": {"A": [0.1]}}, "returns is not for method monte_carlo"),
        ({"method": "historical", "returns": {"A": [0.1, 0.2], "B": [0.1]}}, "of the same days for every underlying"),
        ({"volatility": VOLATILITY, "correlation": [[1.0, 0.5]]}, "correlation must have 2 rows of 2 numbers"),
        ({"volatility": VOLATILITY, "correlation": [[1.0, 0.5], [0.4, 1.0]]}, "symmetric with 1 on its diagonal"),
    ],
)
def test_a_portfolio_var_that_lacks_something_says_what(ask: Ask, terms: dict[str, Any], message: str) -> None:
    assert message in ask(SERVER, "calculate_portfolio_var", positions=TWO, **terms)


def test_a_matrix_that_is_no_correlation_is_refused(ask: Ask) -> None:
    three = [*TWO, {"option_type": "stock", "quantity": 1, "spot": 10, "underlying": "C"}]
    impossible = [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]
    text = ask(
        SERVER, "calculate_portfolio_var", positions=three, volatility=VOLATILITY | {"C": 0.1}, correlation=impossible
    )
    assert "positive semidefinite; its smallest eigenvalue is -0.8" in text


def test_cornish_fisher_is_the_normal_quantile_moved_by_skewness_and_kurtosis(ask: Ask) -> None:
    from scipy import stats

    answer = ask(SERVER, "calculate_var", returns=RETURNS * 5, method="cornish_fisher", confidence=0.95)
    sample = RETURNS * 5
    z, s, k = statistics.NormalDist().inv_cdf(0.05), stats.skew(sample), stats.kurtosis(sample)
    moved = z + (z * z - 1) * s / 6 + (z**3 - 3 * z) * k / 24 - (2 * z**3 - 5 * z) * s * s / 36
    assert answer["value_at_risk"] == pytest.approx(-statistics.mean(sample) - statistics.stdev(sample) * moved)
    assert answer["expected_shortfall"] is None


def test_forecasts_are_tested_by_kupiec_and_christoffersen(ask: Ask) -> None:
    from scipy import stats

    profits = [-2.0 if day in (10, 11, 12, 60, 61, 90) else 1.0 for day in range(100)]
    answer = ask(SERVER, "backtest_value_at_risk", profit_and_loss=profits, value_at_risk=[1.5], confidence=0.99)
    assert (answer["exceedances"], answer["exceeded_on"]) == (6, [10, 11, 12, 60, 61, 90])
    assert answer["expected_exceedances"] == pytest.approx(1.0)
    likelihood = -2 * (94 * math.log(0.99 / 0.94) + 6 * math.log(0.01 / 0.06))
    assert answer["kupiec_statistic"] == pytest.approx(likelihood)
    assert answer["kupiec_p_value"] == pytest.approx(stats.chi2.sf(likelihood, 1))
    both = answer["kupiec_statistic"] + answer["independence_statistic"]
    assert answer["christoffersen_statistic"] == pytest.approx(both)
    assert answer["christoffersen_p_value"] == pytest.approx(stats.chi2.sf(both, 2))
    assert answer["independence_p_value"] < 0.05
    text = ask(SERVER, "backtest_value_at_risk", profit_and_loss=profits, value_at_risk=[1.5, 2.0])
    assert "value_at_risk must have one value or 100, one for each day, got 2" in text


def test_a_shock_of_one_underlying_moves_the_others_by_their_regression_on_it(ask: Ask) -> None:
    crash = {"name": "A falls", "spot_change": -0.2, "underlying": "A"}
    terms = {"portfolio": {"positions": TWO}, "volatility": VOLATILITY, "correlation": matrix(0.5)}
    answer = ask(
        SERVER, "run_stress_test", scenarios=[crash, crash | {"name": "together", "correlation_change": 1.0}], **terms
    )
    by = [-0.2 * 5_000 + 0.2 * rho * 0.2 / 0.3 * 3_200 for rho in (0.5, 1.0)]
    assert answer["profit_and_loss"] == pytest.approx(by)
    missing = ask(SERVER, "run_stress_test", scenarios=[crash], portfolio={"positions": TWO})
    assert "scenario 'A falls' shocks one underlying and needs volatility of each" in missing
    stranger = ask(SERVER, "run_stress_test", scenarios=[crash | {"underlying": "X"}], **terms)
    assert "no position has underlying 'X': ['A', 'B']" in stranger


def test_days_that_happened_are_a_set_of_scenarios(ask: Ask) -> None:
    answer = ask(SERVER, "run_stress_test", portfolio={"positions": TWO[:1]}, scenario_set="historical")
    assert answer["worst_scenario"] == "1987-10-19 Black Monday"
    assert answer["worst_profit_and_loss"] == pytest.approx(-0.2047 * 5_000)


def test_sizes_follow_their_formulas(ask: Ask) -> None:
    terms = {"capital": 1_000_000, "price": 50, "volatility": 0.25}
    kelly = ask(
        SERVER, "calculate_position_size", method="kelly", expected_return=0.08, rate=0.03, kelly_fraction=0.5, **terms
    )
    assert kelly["weight"] == pytest.approx(0.5 * 0.05 / 0.0625)
    assert (kelly["units"], kelly["whole_units"]) == (pytest.approx(8_000), 8_000)
    target = ask(SERVER, "calculate_position_size", method="volatility_target", target_volatility=0.1, **terms)
    assert target["weight"] == pytest.approx(0.4) and target["volatility_of_capital"] == pytest.approx(0.1)
    budget = ask(
        SERVER,
        "calculate_position_size",
        method="value_at_risk",
        risk_budget=0.02,
        confidence=0.99,
        horizon_days=10,
        **terms,
    )
    assert budget["value_at_risk"] == pytest.approx(20_000)
    deviation = 0.25 * math.sqrt(10 / 252)
    lost = 1 - math.exp(-statistics.NormalDist().inv_cdf(0.99) * deviation - 0.5 * deviation**2)
    assert budget["weight"] == pytest.approx(0.02 / lost, rel=0.02)
    short = ask(SERVER, "calculate_position_size", method="kelly", expected_return=-0.05, **terms)
    assert short["units"] < 0 < short["value_at_risk"]
    text = ask(SERVER, "calculate_position_size", method="kelly", target_volatility=0.1, **terms)
    assert "method kelly needs expected_return, and neither of the two others" in text


def test_a_market_move_is_explained_by_greeks_of_both_orders(ask: Ask) -> None:
    move = {"spot_change": 1.5, "volatility_change": 0.02, "days_passed": 3, "rate": 0.04}
    answer = ask(SERVER, "explain_market_move", positions=[CALL, STOCK], **move)
    pricer = options.build_server()
    terms = {k: CALL[k] for k in CALL if k != "quantity"} | {"rate": 0.04}
    before = ask(pricer, "calculate_option_price", **terms)
    later = {"spot": 101.5, "volatility": 0.32, "time_to_expiry": 0.5 - 3 / 365}
    after = ask(pricer, "calculate_option_price", **terms | later)
    assert answer["total"] == pytest.approx(200 * (after["price"] - before["price"]) - 50 * 1.5)
    assert answer["delta"] == pytest.approx((200 * before["delta"] - 50) * 1.5)
    assert answer["vega"] == pytest.approx(200 * before["vega"] * 0.02)
    assert abs(answer["unexplained"]) < 0.05 * abs(answer["total"] - answer["delta"])
    apart = [CALL | {"underlying": "A"}, STOCK | {"underlying": "B"}]
    assert "must be on one underlying at one spot" in ask(SERVER, "explain_market_move", positions=apart, spot_change=1)
