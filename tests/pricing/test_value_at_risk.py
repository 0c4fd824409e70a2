"""Value at risk and expected shortfall against closed forms, brute force and simulated coverage."""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist

import jax
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import native
from pricing import black_scholes, risk
from pricing.risk import book as books
from pricing.risk.order_statistics import order_statistics
from pricing.risk.simulation import ReturnModel

NORMAL = NormalDist()
KEY = jax.random.key(3)
ORDER_STATISTICS = jax.jit(order_statistics)


def book(positions: int = 12, seed: int = 0) -> risk.Book:
    rng = np.random.default_rng(seed)
    return risk.Book(
        underlying=rng.integers(0, 3, positions),
        is_option=rng.random(positions) < 0.8,
        is_call=rng.random(positions) < 0.5,
        shares=np.round(rng.normal(0, 3, positions)) * 100.0 + 50.0,
        strike=rng.uniform(80, 120, positions),
        time_to_expiry=rng.uniform(0.02, 1.0, positions),
        volatility=rng.uniform(0.15, 0.5, positions),
    )


def loop_value(of: risk.Book, spot: np.ndarray, rate: float, yield_: float, points: float, years: float) -> np.ndarray:
    """Plain numpy, one position and one scenario at a time, with scipy's normal distribution."""
    total = np.zeros(spot.shape[0])
    for scenario in range(spot.shape[0]):
        for row in range(len(of.shares)):
            s = spot[scenario, of.underlying[row]]
            if not of.is_option[row]:
                total[scenario] += of.shares[row] * s
                continue
            k, sign = of.strike[row], 1.0 if of.is_call[row] else -1.0
            t, v = max(of.time_to_expiry[row] - years, 0.0), of.volatility[row] + points
            if t == 0.0:
                total[scenario] += of.shares[row] * max(sign * (s - k), 0.0)
                continue
            d1 = (math.log(s / k) + (rate - yield_ + v * v / 2) * t) / (v * math.sqrt(t))
            d2 = d1 - v * math.sqrt(t)
            price = sign * (
                s * math.exp(-yield_ * t) * stats.norm.cdf(sign * d1)
                - k * math.exp(-rate * t) * stats.norm.cdf(sign * d2)
            )
            total[scenario] += of.shares[row] * price
    return total


def test_revaluation_of_a_book_agrees_with_a_brute_force_loop():
    spot = 100.0 * np.exp(np.random.default_rng(1).normal(0, 0.1, (25, 3)))
    ours = risk.revalue(book(), spot=spot, rate=0.03, dividend_yield=0.01, volatility_change=0.05, years_passed=0.1)
    np.testing.assert_allclose(ours, loop_value(book(), spot, 0.03, 0.01, 0.05, 0.1), rtol=1e-11)


@pytest.mark.parametrize("loops", ["compiled", "xla"])
def test_revaluation_of_many_scenarios_gives_what_few_give(loops: str, monkeypatch: pytest.MonkeyPatch):
    asked: list[None] = []
    if loops == "xla":
        monkeypatch.setattr(native.fold, "status", lambda: asked.append(None) or "switched off")
        monkeypatch.setattr(books, "_log", books._log.__wrapped__)
        for name in ("revalue_options", "_with_options"):
            # a function of its own, so that nothing traced before is taken for it
            monkeypatch.setattr(books, name, jax.jit(partial(getattr(books, name).__wrapped__)))
    elif native.status() != "native":
        pytest.skip(native.status())
    spot = 100.0 * np.exp(np.random.default_rng(1).normal(0, 0.1, (40_000, 3)))
    spot[5] = 0.0
    spot[6, 1] = np.nan
    common = {"rate": 0.03, "dividend_yield": 0.01, "volatility_change": -0.02, "years_passed": 0.1}
    whole = np.asarray(risk.revalue(book(), spot=spot, **common))
    assert bool(asked) == (loops == "xla")
    some = np.array([0, 5, 16_383, 16_384, 32_767, 32_768, 39_999])
    np.testing.assert_allclose(whole[some], risk.revalue(book(), spot=spot[some], **common), rtol=1e-11)
    np.testing.assert_allclose(whole[:5], loop_value(book(), spot[:5], 0.03, 0.01, -0.02, 0.1), rtol=1e-11)
    assert np.isnan(whole).sum() == 1 and np.isnan(whole[6])
    narrow = risk.revalue(book(), spot=spot.astype(np.float32), **common)
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, whole, rtol=2e-5, atol=2e-6 * np.abs(book().shares).sum() * 100.0)


def test_a_move_is_one_number_or_one_for_each_scenario_with_the_same_bits():
    if native.status() != "native":
        pytest.skip(native.status())
    scenarios, options = 5_000, book()._replace(is_option=np.ones(12, bool))
    spot = 100.0 * np.exp(np.random.default_rng(2).normal(0, 0.1, (scenarios, 3)))
    moves = {"rate": 0.03, "dividend_yield": 0.01, "volatility_change": -0.02, "years_passed": 0.1, "skew_change": -0.1}
    whole = np.asarray(risk.revalue(options, spot=spot, **moves))
    for name, move in moves.items():
        np.testing.assert_array_equal(
            risk.revalue(options, spot=spot, **moves | {name: np.full(scenarios, move)}), whole, err_msg=name
        )
    for some in (slice(1), slice(4_995, None), slice(7, 1_031)):
        np.testing.assert_array_equal(risk.revalue(options, spot=spot[some], **moves), whole[some])
    np.testing.assert_array_equal(risk.revalue(options, spot=spot[3], **moves), whole[3])


def exact_value(spot: float, strike: float, time: float, volatility: float, rate: float, is_call: bool) -> mp.mpf:
    s, k, t, v, r = map(mp.mpf, (spot, strike, time, volatility, rate))
    sign, width = 1 if is_call else -1, v * mp.sqrt(t)
    d1 = (mp.log(s / k) + r * t) / width + width / 2
    return sign * (s * mp.ncdf(sign * d1) - k * mp.exp(-r * t) * mp.ncdf(sign * (d1 - width)))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-15), (np.float32, 1e-6)])
def test_an_option_is_revalued_to_the_accuracy_that_is_promised(dtype: type, tolerance: float):
    rng, count = np.random.default_rng(7), 300
    strike, time, volatility = (rng.uniform(*range_, count) for range_ in ((60, 160), (0.01, 2.0), (0.05, 0.9)))
    strike, time, volatility = (column.astype(dtype).astype(float) for column in (strike, time, volatility))
    rate, is_call = float(dtype(0.03)), rng.random(count) < 0.5
    spot = rng.uniform(80, 120, 5).astype(dtype)
    worst = 0.0
    for row in range(count):
        one = risk.Book([0], [True], [is_call[row]], [1.0], [strike[row]], [time[row]], [volatility[row]])
        found = np.asarray(risk.revalue(one, spot=spot[:, None], rate=rate))
        assert found.dtype == dtype
        with mp.workdps(30):
            for price, value in zip(spot, found, strict=True):
                exact = exact_value(float(price), strike[row], time[row], volatility[row], rate, bool(is_call[row]))
                worst = max(worst, float(abs(exact - float(value)) / float(price)))
    assert worst < tolerance


def test_revaluation_at_zero_spot_and_at_expiry_is_exercise_value():
    position = risk.Book([0, 0], [True, True], [True, False], [1.0, 1.0], [100.0, 90.0], [0.0, 0.5], [0.2, 0.2])
    value = np.asarray(risk.revalue(position, spot=np.array([[100.0], [0.0], [130.0]]), rate=0.02))
    put = black_scholes.price(
        spot=np.array([100.0, 0.0, 130.0]),
        strike=90.0,
        time_to_expiry=0.5,
        rate=0.02,
        volatility=0.2,
        is_call=False,
    )
    np.testing.assert_allclose(value, np.asarray(put) + np.array([0.0, 0.0, 30.0]), rtol=1e-12)


def test_sample_value_at_risk_is_numpys_quantile_and_a_sure_gain_is_negative():
    sample = np.random.default_rng(4).normal(0.2, 1.0, 1001)
    for confidence in (0.9, 0.95, 0.99):
        assert risk.value_at_risk(sample, confidence=confidence).value == pytest.approx(
            np.quantile(-sample, confidence), rel=1e-14
        )
    assert risk.value_at_risk(np.linspace(5.0, 6.0, 100)).value < -5.0


def test_expected_shortfall_is_the_mean_of_the_worst_outcomes_and_counts_a_part_of_the_edge():
    sample = -np.arange(1.0, 101.0)
    assert risk.expected_shortfall(sample, confidence=0.95).value == pytest.approx(98.0)
    assert risk.expected_shortfall(sample, confidence=0.975).value == pytest.approx((100 + 99 + 0.5 * 98) / 2.5)
    tiny = risk.expected_shortfall(sample[:10], confidence=0.99)
    assert tiny.value == 10.0 and math.isnan(tiny.standard_error)


def test_standard_errors_are_the_spread_over_repeated_samples():
    rng = np.random.default_rng(5)
    for measure in (risk.value_at_risk, risk.expected_shortfall):
        answers = [measure(rng.standard_normal(4000), confidence=0.95) for _ in range(300)]
        spread = np.std([answer.value for answer in answers])
        stated = np.mean([answer.standard_error for answer in answers])
        assert stated == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_simulated_estimates_cover_the_true_value_as_often_as_their_standard_errors_say(confidence: float):
    rng = np.random.default_rng(6)
    truth = risk.normal_value_at_risk(standard_deviation=1.0, confidence=confidence)
    tail = risk.normal_expected_shortfall(standard_deviation=1.0, confidence=confidence)
    hits = np.zeros(2)
    for _ in range(400):
        sample = rng.standard_normal(3000)
        for index, (measure, value) in enumerate(((risk.value_at_risk, truth), (risk.expected_shortfall, tail))):
            answer = measure(sample, confidence=confidence)
            hits[index] += abs(answer.value - value) <= 1.96 * answer.standard_error
    assert (np.abs(hits / 400 - 0.95) < 0.045).all(), hits / 400


def test_normal_closed_forms_agree_with_scipy_integrals():
    for confidence in (0.9, 0.975, 0.99):
        value = risk.normal_value_at_risk(standard_deviation=2.0, mean=0.1, confidence=confidence, horizon=10)
        law = stats.norm(-1.0, 2.0 * math.sqrt(10))
        assert value == pytest.approx(law.ppf(confidence), rel=1e-12)
        shortfall = risk.normal_expected_shortfall(standard_deviation=2.0, mean=0.1, confidence=confidence, horizon=10)
        assert shortfall == pytest.approx(law.expect(lb=value) / (1 - confidence), rel=1e-6)


def test_cornish_fisher_is_normal_without_higher_moments_and_near_a_skewed_law_with_them():
    plain = risk.cornish_fisher_value_at_risk(standard_deviation=1.0, skewness=0.0, excess_kurtosis=0.0)
    assert plain == pytest.approx(NORMAL.inv_cdf(0.95))
    law = stats.gamma(30.0)
    mean, variance, skewness, kurtosis = (float(x) for x in law.stats("mvsk"))
    value = risk.cornish_fisher_value_at_risk(
        standard_deviation=math.sqrt(variance), mean=mean, skewness=skewness, excess_kurtosis=kurtosis, confidence=0.99
    )
    assert value == pytest.approx(-law.ppf(0.01), rel=2e-3)
    with pytest.raises(ValueError, match="outside the domain"):
        risk.cornish_fisher_value_at_risk(standard_deviation=1.0, skewness=4.0, excess_kurtosis=0.0)


def test_delta_normal_components_add_up_and_marginals_are_derivatives():
    exposure = np.array([100.0, -50.0, 30.0])
    deviation = np.array([0.02, 0.03, 0.01])
    correlation = np.array([[1.0, 0.4, 0.1], [0.4, 1.0, -0.2], [0.1, -0.2, 1.0]])
    covariance = np.outer(deviation, deviation) * correlation
    answer = risk.delta_normal_value_at_risk(exposure=exposure, covariance=covariance, horizon=4.0)
    assert answer.component.sum() == pytest.approx(answer.value)
    assert answer.value <= answer.standalone.sum()
    for index in range(3):
        bump = np.zeros(3)
        bump[index] = 1e-4
        up, down = (
            risk.delta_normal_value_at_risk(exposure=exposure + sign * bump, covariance=covariance, horizon=4.0).value
            for sign in (1.0, -1.0)
        )
        assert answer.marginal[index] == pytest.approx((up - down) / 2e-4, rel=1e-6)


def test_simulated_value_at_risk_of_stock_is_the_lognormal_closed_form():
    stock = risk.Book([0], [False], [False], [10.0], [np.nan], [np.nan], [np.nan])
    profit = risk.simulated_profits(
        KEY, stock, spot=[50.0], volatility=[0.4], correlation=[[1.0]], horizon_days=10, scenarios=200_000
    )
    years = 10 / 252
    worst = 500.0 * math.exp(-0.08 * years - 0.4 * math.sqrt(years) * NORMAL.inv_cdf(0.99))
    answer = risk.value_at_risk(profit, confidence=0.99)
    assert answer.value == pytest.approx(500.0 - worst, abs=4 * answer.standard_error)
    assert answer.standard_error < 0.02 * answer.value


def test_simulated_value_at_risk_of_a_small_horizon_book_is_delta_normal():
    position = risk.Book([0, 1], [True, True], [True, False], [1000.0, 800.0], [100.0, 60.0], [0.8, 0.9], [0.3, 0.4])
    correlation = np.array([[1.0, 0.5], [0.5, 1.0]])
    spot, volatility = np.array([100.0, 60.0]), np.array([0.3, 0.4])
    delta = np.asarray(
        black_scholes.greeks(
            spot=spot,
            strike=[100.0, 60.0],
            time_to_expiry=[0.8, 0.9],
            rate=0.0,
            volatility=volatility,
            is_call=np.array([True, False]),
        ).delta
    )
    days = 0.001
    daily = np.outer(volatility, volatility) * correlation / 252
    closed = risk.delta_normal_value_at_risk(
        exposure=delta * spot * [1000.0, 800.0], covariance=daily, horizon=days
    ).value
    profit = risk.simulated_profits(
        KEY, position, spot=spot, volatility=volatility, correlation=correlation, horizon_days=days, scenarios=100_000
    )
    answer = risk.value_at_risk(profit)
    assert answer.value == pytest.approx(closed, rel=0.02)


@pytest.mark.parametrize("model", [risk.Gaussian(), risk.StudentT(4.5), risk.Jumps(8.0, -0.03, 0.04)], ids=str)
@pytest.mark.parametrize("confidence", [0.9, 0.975, 0.9999])
def test_one_program_from_draw_to_quantile_gives_what_numpy_makes_of_the_profits(model: ReturnModel, confidence: float):
    correlation = np.where(np.eye(3, dtype=bool), 1.0, 0.4)
    market = {"spot": [100.0, 95.0, 105.0], "volatility": [0.2, 0.4, 0.3], "correlation": correlation, "model": model}
    market |= {"horizon_days": 10, "rate": 0.02, "scenarios": 4_000}
    profits = risk.simulated_profits(KEY, book(), **market)
    whole = risk.simulated_risk(KEY, book(), confidence=confidence, **market)
    tolerance = 1e-12 * np.abs(profits).max()
    losses = np.sort(-profits)
    assert whole.value_at_risk.value == pytest.approx(np.quantile(losses, confidence), abs=tolerance)
    np.testing.assert_allclose(
        whole.value_at_risk, risk.value_at_risk(profits, confidence=confidence), rtol=0.0, atol=tolerance
    )
    np.testing.assert_allclose(
        whole.expected_shortfall, risk.expected_shortfall(profits, confidence=confidence), rtol=1e-11, atol=tolerance
    )
    if confidence < 0.99:
        worst = losses[-round(4_000 * (1.0 - confidence)) :]
        assert whole.expected_shortfall.value == pytest.approx(worst.mean(), abs=tolerance)


def test_equal_losses_count_as_often_as_they_occur():
    """A stock that cannot move loses nothing, 1,000 times over."""
    still = risk.Book([0], [False], [False], [10.0], [np.nan], [np.nan], [np.nan])
    found = risk.simulated_risk(KEY, still, spot=[50.0], volatility=[0.0], correlation=[[1.0]], scenarios=1_000)
    assert found == ((0.0, 0.0), (0.0, 0.0))


def test_simulated_prices_without_end_are_one_clear_error():
    stock = risk.Book([0], [False], [False], [10.0], [np.nan], [np.nan], [np.nan])
    endless = {"spot": [50.0], "volatility": [0.2], "correlation": [[1.0]], "drift": 1e6, "scenarios": 1_000}
    for call in (risk.simulated_profits, risk.simulated_risk):
        with pytest.raises(
            ValueError, match="volatility, drift and horizon_days must leave every simulated price finite"
        ):
            call(KEY, stock, **endless)
    with pytest.raises(ValueError, match=r"spot must have shape \(1,\), a price for each volatility, got \(2,\)"):
        risk.simulated_risk(KEY, stock, **endless | {"spot": [1.0, 2.0]})


@settings(max_examples=200)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.data())
def test_order_statistics_are_those_of_the_sorted_values(values: list[float], data: st.DataObject):
    ranks = np.array([data.draw(st.integers(0, len(values) - 1)) for _ in range(3)], np.int32)
    padded = np.array(values + [2e6] * (40 - len(values)))  # one shape compiles once
    found = np.asarray(ORDER_STATISTICS(padded, ranks))
    spread = np.ptp(padded) * 2.0**-63
    np.testing.assert_allclose(found, np.sort(values)[ranks], rtol=0.0, atol=spread)


def test_order_statistics_of_a_missing_value_are_missing():
    assert np.isnan(ORDER_STATISTICS(np.array([1.0, np.nan, 2.0]), np.array([0, 1, 2], np.int32))).all()


def test_return_models_have_the_covariance_asked_for_and_fatter_tails_cost_more():
    volatility, correlation = np.array([0.2, 0.4]), np.array([[1.0, 0.6], [0.6, 1.0]])
    common = {"volatility": volatility, "correlation": correlation, "years": 10 / 252, "scenarios": 60_000}
    wanted = np.outer(volatility, volatility) * correlation * 10 / 252
    found = {}
    for model in (risk.Gaussian(), risk.StudentT(4.5), risk.Jumps(8.0, -0.03, 0.04)):
        draws = np.asarray(risk.simulate_log_returns(KEY, model=model, **common))
        found[type(model).__name__] = -np.quantile(draws[:, 0], 0.001)
        if not isinstance(model, risk.Jumps):
            np.testing.assert_allclose(np.cov(draws.T), wanted, rtol=0.1)
        else:
            jump_variance = 8.0 * 10 / 252 * (0.03**2 + 0.04**2)
            assert np.cov(draws.T)[0, 0] == pytest.approx(wanted[0, 0] + jump_variance, rel=0.05)
            assert np.exp(draws[:, 0]).mean() == pytest.approx(1.0, abs=1e-3)
    assert found["Gaussian"] < found["StudentT"] and found["Gaussian"] < found["Jumps"]


def test_a_higher_correlation_raises_the_risk_of_a_long_book_and_a_hedge_lowers_it():
    common = {"spot": [100.0, 100.0], "volatility": [0.3, 0.3], "scenarios": 20_000}
    correlation = np.array([[1.0, 0.3], [0.3, 1.0]])
    long = risk.Book([0, 1], [False] * 2, [False] * 2, [10.0, 10.0], [np.nan] * 2, [np.nan] * 2, [np.nan] * 2)
    calm, tense = (
        risk.value_at_risk(
            risk.simulated_profits(KEY, long, correlation=risk.stressed_correlation(correlation, change), **common)
        ).value
        for change in (0.0, 0.8)
    )
    assert tense > 1.1 * calm
    np.testing.assert_allclose(risk.stressed_correlation(correlation, -1.0), np.eye(2))


def test_historical_profits_replay_todays_book_through_compounded_past_moves():
    returns = np.random.default_rng(8).normal(0, 0.02, (300, 3))
    position, spot = book(), np.array([100.0, 95.0, 105.0])
    profit = risk.historical_profits(position, spot=spot, returns=returns, horizon_days=5, rate=0.03)
    assert profit.shape == (296,)
    moved = spot * np.prod(1.0 + returns[10:15], axis=0)
    expected = loop_value(position, moved[None, :], 0.03, 0.0, 0.0, 5 / 252) - loop_value(
        position, spot[None, :], 0.03, 0.0, 0.0, 0.0
    )
    assert profit[10] == pytest.approx(expected[0], rel=1e-9)


def test_sample_components_add_up_and_find_the_culprit():
    rng = np.random.default_rng(9)
    parts = np.stack([rng.normal(0, 1, 50_000), rng.normal(0, 3, 50_000), np.zeros(50_000)])
    components = risk.component_value_at_risk(parts, confidence=0.95)
    total = risk.value_at_risk(parts.sum(axis=0)).value
    assert components.sum() == pytest.approx(total)
    assert components == pytest.approx([total / 10, 9 * total / 10, 0.0], abs=0.06 * total)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk.value_at_risk([1.0, 2.0], confidence=95), "confidence must lie between 0 and 1"),
        (lambda: risk.value_at_risk([1.0]), "at least 2 outcomes"),
        (lambda: risk.value_at_risk([1.0, np.nan]), "must be finite, got nan at index 1"),
        (lambda: risk.revalue(book(), spot=[100.0]), "underlying must be an index below 1"),
        (lambda: risk.revalue(book(), spot=[-1.0] * 3), "spot must be finite and >= 0"),
        (
            lambda: risk.simulate_log_returns(
                KEY, volatility=[0.2, 0.2], correlation=[[1.0, 2.0], [2.0, 1.0]], years=0.1, scenarios=10
            ),
            "correlation must be positive semidefinite",
        ),
    ],
)
def test_bad_input_is_refused_with_what_would_be_right(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()
