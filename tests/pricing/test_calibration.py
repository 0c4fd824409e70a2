"""Calibration of Heston's model: it finds the parameters that made the chain."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from pricing import calibration, heston, implied_volatility

STRIKES, TIMES = (a.ravel() for a in np.meshgrid(np.linspace(75.0, 130.0, 8), [0.1, 0.5, 1.5], indexing="ij"))
MARKET = {"spot": 100.0, "strike": STRIKES, "time_to_expiry": TIMES, "rate": 0.02, "dividend_yield": 0.01}
TRUE = heston.Parameters(0.05, 1.8, 0.07, 0.6, -0.65)


def _volatilities(parameters: heston.Parameters) -> np.ndarray:
    is_call = STRIKES > 100.0
    price = heston.price(**MARKET, parameters=parameters, is_call=is_call)
    return np.asarray(implied_volatility.solve(price=price, **MARKET, is_call=is_call).value)


@pytest.mark.parametrize("start", [None, heston.Parameters(0.2, 4.0, 0.02, 1.0, 0.2)])
def test_calibration_recovers_the_parameters_from_any_sensible_start(start: heston.Parameters | None) -> None:
    fit = calibration.fit_heston(**MARKET, volatility=_volatilities(TRUE), start=start)
    np.testing.assert_allclose([float(v) for v in fit.parameters], TRUE, rtol=1e-5)
    assert float(np.abs(fit.volatility_error).max()) < 1e-8
    assert float(fit.feller_ratio) == pytest.approx(2 * 1.8 * 0.07 / 0.36, rel=1e-4)


def test_noisy_quotes_end_at_an_optimum_with_errors_of_the_noise() -> None:
    noise = 0.002 * np.random.default_rng(3).standard_normal(STRIKES.size)
    fit = calibration.fit_heston(**MARKET, volatility=_volatilities(TRUE) + noise)
    assert float(fit.steepness) < 1e-7
    assert 0.001 < float(np.sqrt(np.mean(fit.volatility_error**2))) < 0.0025


def test_the_gradient_of_the_squared_error_agrees_with_slopes() -> None:
    market = {**MARKET, "strike": STRIKES[:6], "time_to_expiry": TIMES[:6]}
    target = np.asarray(heston.price(**market, parameters=TRUE))

    def error(xi: float) -> jax.Array:
        return ((heston.price(**market, parameters=TRUE._replace(vol_of_vol=xi)) - target) ** 2).sum()

    slope = (float(error(0.7 + 1e-5)) - float(error(0.7 - 1e-5))) / 2e-5
    assert float(jax.jit(jax.grad(error))(0.7)) == pytest.approx(slope, rel=1e-6)


def test_bad_quotes_are_named() -> None:
    with pytest.raises(ValueError, match="volatility"):
        calibration.fit_heston(**MARKET, volatility=np.where(STRIKES > 100.0, 0.2, -0.2))
    with pytest.raises(ValueError, match="five quotes"):
        calibration.fit_heston(spot=100.0, strike=[90.0, 110.0], time_to_expiry=1.0, rate=0.0, volatility=0.2)
