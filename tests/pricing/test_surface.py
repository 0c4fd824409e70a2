"""Volatility surfaces: recovered curves, and freedom from arbitrage."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.tree_util import Partial

from pricing import black_scholes, surface
from pricing.surface.svi import svi_density

K = np.linspace(-0.4, 0.3, 25)
TRUE = surface.SVI(*(jnp.asarray(v) for v in (0.01, 0.08, -0.6, 0.02, 0.12)))


def _noisy(level: float, noise: float, seed: int) -> np.ndarray:
    variance = level * np.asarray(surface.svi_total_variance(TRUE, K))
    return variance * (1.0 + noise * np.random.default_rng(seed).standard_normal(K.size))


def test_fit_recovers_a_curve_it_was_given() -> None:
    variance = np.asarray(surface.svi_total_variance(TRUE, K))
    fit = surface.fit_svi(log_moneyness=K, total_variance=variance)
    np.testing.assert_allclose(fit.residual, 0.0, atol=1e-8)
    np.testing.assert_allclose([float(v) for v in fit.curve], [float(v) for v in TRUE], rtol=1e-3, atol=1e-4)


def test_density_is_the_second_derivative_of_black_prices_in_strike() -> None:
    # Breeden and Litzenberger 1978: the density of the asset is the second derivative of the call in strike.
    def call(strike: float) -> float:
        variance = float(surface.svi_total_variance(TRUE, np.log(strike)))
        return float(
            black_scholes.price(spot=1.0, strike=strike, time_to_expiry=1.0, rate=0.0, volatility=np.sqrt(variance))
        )

    for strike in (0.7, 1.0, 1.2):
        step = 1e-3
        second = (call(strike + step) - 2.0 * call(strike) + call(strike - step)) / step**2
        variance = float(surface.svi_total_variance(TRUE, np.log(strike)))
        d2 = -np.log(strike) / np.sqrt(variance) - 0.5 * np.sqrt(variance)
        factor = np.exp(-0.5 * d2 * d2) / np.sqrt(2.0 * np.pi * variance) / strike
        assert second == pytest.approx(factor * float(svi_density(TRUE, np.log(strike))), rel=1e-4)


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), noise=st.floats(0.0, 0.1))
def test_fits_of_noisy_quotes_are_free_of_arbitrage(seed: int, noise: float) -> None:
    near = surface.fit_svi(log_moneyness=K, total_variance=_noisy(1.0, noise, seed), tolerance=0.01)
    far = surface.fit_svi(
        log_moneyness=K, total_variance=_noisy(1.05, noise, seed + 1), tolerance=0.01, earlier=near.curve
    )
    assert float(near.smallest_density) >= 0.0
    assert float(far.smallest_density) >= 0.0
    assert float(far.smallest_calendar_gap) >= 0.0


def test_the_check_finds_gatherals_example_of_butterfly_arbitrage() -> None:
    # Gatheral and Jacquier 2014, example 3.1 (Axel Vogt): raw parameters whose density is negative.
    vogt = surface.SVI(*(jnp.asarray(v) for v in (-0.0410, 0.1331, 0.3060, 0.3586, 0.4153)))
    report = surface.check(lambda k, t: surface.svi_total_variance(vogt, k) * t, [1.0])
    assert report.smallest_density < 0.0
    assert 0.5 < report.at_log_moneyness < 1.2
    assert not report.is_free


def test_the_check_finds_curves_that_cross() -> None:
    report = surface.check(lambda k, t: surface.svi_total_variance(TRUE, k) / t, [1.0, 2.0])
    assert report.smallest_rise < 0.0
    assert not report.is_free


def test_quotes_with_infinite_tolerance_do_not_count() -> None:
    variance = np.asarray(surface.svi_total_variance(TRUE, K)).copy()
    tolerance = np.ones_like(K)
    variance[3], tolerance[3] = 5.0, np.inf
    fit = surface.fit_svi(log_moneyness=K, total_variance=variance, tolerance=tolerance)
    assert np.isnan(fit.residual[3])
    assert np.nanmax(np.abs(fit.residual)) < 1e-8


def _surface() -> surface.Surface:
    curves = [TRUE._replace(a=TRUE.a * t, b=TRUE.b * t) for t in (0.5, 1.0)]
    return surface.Surface.of(time=[0.5, 1.0], forward=[100.0, 102.0], curves=curves)


def test_interpolation_passes_through_the_curves_and_is_free_between_them() -> None:
    s = _surface()
    np.testing.assert_allclose(surface.total_variance(s, K, 1.0), surface.svi_total_variance(TRUE, K), rtol=1e-14)
    halfway = 0.75 * surface.svi_total_variance(TRUE, K)
    np.testing.assert_allclose(surface.total_variance(s, K, 0.75), halfway, rtol=1e-12)
    assert surface.check(lambda k, t: surface.total_variance(s, k, t), np.linspace(0.1, 2.0, 10)).is_free
    np.testing.assert_allclose(surface.volatility(s, 102.0, 1.0), surface.at_the_money_volatility(s, 1.0))


def test_skew_and_risk_reversal_have_the_sign_and_size_of_the_slope() -> None:
    s = _surface()
    up, down = (float(surface.volatility(s, 102.0 * np.exp(e), 1.0)) for e in (1e-5, -1e-5))
    assert float(surface.skew(s, 1.0)) == pytest.approx((up - down) / 2e-5, rel=1e-5)
    strike = float(surface.strike_at_delta(s, -0.25, 1.0))
    volatility = float(surface.volatility(s, strike, 1.0))
    delta = black_scholes.greeks(
        spot=102.0, strike=strike, time_to_expiry=1.0, rate=0.0, volatility=volatility, is_call=False
    ).delta
    assert float(delta) == pytest.approx(-0.25, abs=1e-10)
    assert float(surface.risk_reversal(s, 1.0)) < 0.0


def test_an_ssvi_slice_is_the_raw_curve_of_its_natural_parameters() -> None:
    # Gatheral and Jacquier 2014, lemma 3.1: natural to raw parameters.
    theta, rho, eta, gamma = 0.05, -0.4, 0.8, 0.3
    phi = eta / (theta**gamma * (1.0 + theta) ** (1.0 - gamma))
    width = np.sqrt(1.0 - rho * rho)
    raw = (0.5 * theta * width**2, 0.5 * theta * phi, rho, -rho / phi, width / phi)
    s = surface.SSVI(*(jnp.asarray(v) for v in (np.array([0.5, 1.0]), np.array([0.02, 0.05]), rho, eta, gamma)))
    expected = surface.svi_total_variance(surface.SVI(*(jnp.asarray(v) for v in raw)), K)
    np.testing.assert_allclose(surface.ssvi_total_variance(s, K, np.ones_like(K)), expected, rtol=1e-12)


def test_ssvi_recovers_its_parameters_and_is_free_of_arbitrage() -> None:
    times = np.array([0.1, 0.5, 1.0])
    true = surface.SSVI(*(jnp.asarray(v) for v in (times, 0.04 * times, -0.5, 0.9, 0.4)))
    t, k = (a.ravel() for a in np.meshgrid(times, K, indexing="ij"))
    variance = np.asarray(surface.ssvi_total_variance(true, k, t))
    fit = surface.fit_ssvi(log_moneyness=k, time_to_expiry=t, total_variance=variance)
    np.testing.assert_allclose(surface.ssvi_total_variance(fit, k, t), variance, rtol=1e-5)
    assert float(fit.rho) == pytest.approx(-0.5, abs=1e-3)
    assert surface.check(lambda x, y: surface.ssvi_total_variance(fit, x, y), np.linspace(0.05, 2.0, 9)).is_free


def test_rank_and_percentile_follow_their_definitions() -> None:
    history = [0.2, 0.3, np.nan, 0.4, 0.6]
    assert surface.iv_rank(0.3, history) == pytest.approx(25.0)
    assert surface.iv_percentile(0.35, history) == 50.0
    assert np.isnan(surface.iv_rank(0.2, [0.2, 0.2]))
    with pytest.raises(ValueError, match="history"):
        surface.iv_rank(0.2, [np.nan])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="five quotes"):
        surface.fit_svi(log_moneyness=K[:4], total_variance=K[:4] ** 2 + 0.1)
    with pytest.raises(ValueError, match="total_variance"):
        surface.fit_svi(log_moneyness=K, total_variance=-np.ones_like(K))
    with pytest.raises(ValueError, match="ascending"):
        surface.Surface.of(time=[1.0, 0.5], forward=[1.0, 1.0], curves=[TRUE, TRUE])


def test_room_in_the_density_is_kept_on_the_grid() -> None:
    steep = surface.SVI(*(jnp.asarray(v) for v in (0.002, 0.25, -0.9, 0.0, 0.02)))
    variance = surface.svi_total_variance(steep, K)
    plain, roomy = (surface.fit_svi(log_moneyness=K, total_variance=variance, least_density=d) for d in (0.0, 0.05))
    assert 0.0 <= float(plain.smallest_density) < 0.02 and float(roomy.smallest_density) >= 0.05
    with pytest.raises(ValueError, match=r"least_density must lie between 0 and 0\.5, got -0\.1"):
        surface.fit_svi(log_moneyness=K, total_variance=variance, least_density=-0.1)


def test_a_partial_of_a_surface_is_checked_as_the_function_is() -> None:
    later = TRUE._replace(a=2.0 * TRUE.a, b=2.0 * TRUE.b)
    whole = surface.Surface.of(time=[0.5, 1.0], forward=[100.0, 101.0], curves=[TRUE, later])
    times = np.linspace(0.5, 1.0, 5)
    by_function = surface.check(lambda k, t: surface.total_variance(whole, k, t), times)
    assert surface.check(Partial(surface.total_variance, whole), times) == by_function
