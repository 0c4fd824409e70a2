"""Heston and Bates against QuantLib 1.44's analytic engines, their lognormal limits, and arbitrage."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import QuantLib as ql
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pricing import bates, black_scholes, heston, merton

STRIKES = np.array([60.0, 80.0, 95.0, 100.0, 105.0, 120.0, 160.0])
DAYS = np.array([14, 91, 365, 1825])
SETS = (
    (0.04, 2.0, 0.04, 0.3, -0.7),
    (0.09, 1.0, 0.04, 0.7, -0.9),
    (0.01, 0.5, 0.09, 0.4, 0.3),
    (0.04, 4.0, 0.25, 0.1, 0.0),
)
JUMPS = (0.5, -0.1, 0.15)


def _quantlib(parameters: tuple[float, ...], jumps: tuple[float, ...] | None) -> np.ndarray:
    today = ql.Date(1, 1, 2020)
    ql.Settings.instance().evaluationDate = today
    rate, income = (
        ql.YieldTermStructureHandle(ql.FlatForward(today, value, ql.Actual365Fixed())) for value in (0.03, 0.01)
    )
    spot = ql.QuoteHandle(ql.SimpleQuote(100.0))
    if jumps is None:
        engine = ql.AnalyticHestonEngine(
            ql.HestonModel(ql.HestonProcess(rate, income, spot, *parameters)), 1e-12, 100000
        )
    else:
        engine = ql.BatesEngine(ql.BatesModel(ql.BatesProcess(rate, income, spot, *parameters, *jumps)), 1e-12, 100000)
    values = np.empty((DAYS.size, STRIKES.size))
    for i, days in enumerate(DAYS):
        for j, strike in enumerate(STRIKES):
            kind = ql.Option.Call if j % 2 else ql.Option.Put
            option = ql.VanillaOption(
                ql.PlainVanillaPayoff(kind, float(strike)), ql.EuropeanExercise(today + int(days))
            )
            option.setPricingEngine(engine)
            values[i, j] = option.NPV()
    return values


def _market(**changes: object) -> dict[str, object]:
    market = {
        "spot": 100.0,
        "strike": np.tile(STRIKES, (DAYS.size, 1)),
        "time_to_expiry": np.tile(DAYS[:, None] / 365.0, (1, STRIKES.size)),
        "rate": 0.03,
        "dividend_yield": 0.01,
        "is_call": np.tile(np.arange(STRIKES.size) % 2 == 1, (DAYS.size, 1)),
    }
    return {**market, **changes}


@pytest.mark.parametrize("parameters", SETS)
def test_heston_agrees_with_quantlib(parameters: tuple[float, ...]) -> None:
    ours = heston.price(**_market(), parameters=heston.Parameters(*parameters))
    np.testing.assert_allclose(ours, _quantlib(parameters, None), rtol=0, atol=1e-9)


@pytest.mark.parametrize("parameters", SETS[:2])
def test_bates_agrees_with_quantlib(parameters: tuple[float, ...]) -> None:
    ours = bates.price(**_market(), parameters=heston.Parameters(*parameters), jumps=bates.Jumps(*JUMPS))
    np.testing.assert_allclose(ours, _quantlib(parameters, JUMPS), rtol=0, atol=1e-9)


@pytest.mark.parametrize("vol_of_vol", [0.0, 1e-7])
def test_without_volatility_of_variance_heston_is_lognormal(vol_of_vol: float) -> None:
    ours = heston.price(**_market(), parameters=heston.Parameters(0.04, 2.0, 0.04, vol_of_vol, -0.5))
    np.testing.assert_allclose(ours, black_scholes.price(**_market(), volatility=0.2), rtol=0, atol=1e-6)


def test_without_volatility_of_variance_bates_is_mertons_model() -> None:
    flat = heston.Parameters(0.04, 2.0, 0.04, 0.0, 0.0)
    ours = bates.price(**_market(), parameters=flat, jumps=bates.Jumps(*JUMPS))
    series = merton.price(**_market(), volatility=0.2, jumps=bates.Jumps(*JUMPS))
    np.testing.assert_allclose(ours, series, rtol=0, atol=1e-10)


@settings(max_examples=25)
@example(initial=0.01, kappa=0.375, theta=0.0703125, xi=0.796875, rho=-0.75)
@given(
    initial=st.floats(0.01, 0.3),
    kappa=st.floats(0.3, 5.0),
    theta=st.floats(0.01, 0.3),
    xi=st.floats(0.05, 0.8),
    rho=st.floats(-0.9, 0.5),
)
def test_prices_obey_bounds_and_are_convex_in_strike(
    initial: float, kappa: float, theta: float, xi: float, rho: float
) -> None:
    strikes = np.tile(np.linspace(70.0, 130.0, STRIKES.size), (DAYS.size, 1))
    parameters = heston.Parameters(initial, kappa, theta, xi, rho)
    calls = np.asarray(heston.price(**_market(strike=strikes, is_call=True), parameters=parameters))
    years = DAYS[:, None] / 365.0
    lower = 100.0 * np.exp(-0.01 * years) - strikes * np.exp(-0.03 * years)
    error = 1e-10 * 100.0  # of the spot, as the docstring of price says
    assert np.all(calls >= np.maximum(lower, 0.0) - error)
    assert np.all(np.diff(calls, axis=1) <= error)
    assert np.all(np.diff(calls, 2, axis=1) >= -4.0 * error)


def test_gradients_in_the_parameters_are_slopes() -> None:
    def value(*parameters: float) -> jax.Array:
        return heston.price(**_market(), parameters=heston.Parameters(*parameters)).sum()

    slopes = jax.jit(jax.grad(value, argnums=(0, 1, 2, 3, 4)))(*SETS[0])
    for i, slope in enumerate(slopes):
        up, down = list(SETS[0]), list(SETS[0])
        up[i], down[i] = up[i] + 1e-5, down[i] - 1e-5
        assert float(slope) == pytest.approx(float(value(*up) - value(*down)) / 2e-5, rel=1e-6, abs=1e-6)


def test_expired_options_are_worth_their_exercise() -> None:
    value = heston.price(spot=100.0, strike=90.0, time_to_expiry=0.0, rate=0.03, parameters=heston.Parameters(*SETS[0]))
    assert float(value) == 10.0


def test_impossible_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="correlation"):
        heston.price(**_market(), parameters=heston.Parameters(0.04, 2.0, 0.04, 0.3, -1.1))
    with pytest.raises(ValueError, match="long_run_variance"):
        heston.price(**_market(), parameters=heston.Parameters(0.04, 2.0, -0.04, 0.3, -0.1))
