"""Merton's series against a mixture of QuantLib 1.44's Black formula, its own remainder bound and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import QuantLib as ql

from pricing import black_scholes, merton
from pricing.bates import Jumps

STRIKES = np.array([70.0, 85.0, 100.0, 115.0, 130.0, 150.0])
MARKET = {
    "spot": 100.0,
    "strike": STRIKES,
    "time_to_expiry": 1.0,
    "rate": 0.03,
    "dividend_yield": 0.01,
    "volatility": 0.2,
    "is_call": np.arange(STRIKES.size) % 2 == 0,
}


def _mixture(jumps: Jumps) -> np.ndarray:
    """Prices given the number of jumps (QuantLib's Black formula), weighted in the original measure: a plain loop."""
    factor = math.exp(jumps.mean_log_jump + 0.5 * jumps.log_jump_deviation**2)
    values = []
    for strike, is_call in zip(STRIKES, MARKET["is_call"], strict=True):
        total, weight = 0.0, math.exp(-jumps.intensity)
        for count in range(80):
            forward = 100.0 * math.exp(0.03 - 0.01 - jumps.intensity * (factor - 1.0)) * factor**count
            deviation = math.sqrt(0.04 + count * jumps.log_jump_deviation**2)
            kind = ql.Option.Call if is_call else ql.Option.Put
            total += weight * ql.blackFormula(kind, float(strike), forward, deviation, math.exp(-0.03))
            weight *= jumps.intensity / (count + 1.0)
        values.append(total)
    return np.array(values)


@pytest.mark.parametrize("jumps", [Jumps(0.5, -0.1, 0.15), Jumps(5.0, 0.02, 0.05)])
def test_series_agrees_with_a_mixture_of_quantlibs_black_prices(jumps: Jumps) -> None:
    np.testing.assert_allclose(merton.price(**MARKET, jumps=jumps), _mixture(jumps), rtol=0, atol=1e-11)


def test_remainder_bounds_what_is_missing_and_is_not_wasteful() -> None:
    jumps = Jumps(5.0, -0.05, 0.1)
    exact = np.asarray(merton.price(**MARKET, jumps=jumps))
    for terms in (6, 12):
        part = merton.series(**MARKET, jumps=jumps, terms=terms)
        missing = exact - np.asarray(part.price)
        assert np.all(missing > 0.0)
        assert np.all(missing <= np.asarray(part.remainder))
        assert np.all(np.asarray(part.remainder) < 100.0)


def test_without_jumps_it_is_the_lognormal_price() -> None:
    ours = merton.price(**MARKET, jumps=Jumps(0.0, -0.1, 0.2))
    np.testing.assert_allclose(ours, black_scholes.price(**MARKET), rtol=1e-14)


def test_call_less_put_is_forward_less_strike() -> None:
    jumps = Jumps(2.0, -0.1, 0.2)
    both = [np.asarray(merton.price(**{**MARKET, "is_call": flag}, jumps=jumps)) for flag in (True, False)]
    parity = 100.0 * np.exp(-0.01) - STRIKES * np.exp(-0.03)
    np.testing.assert_allclose(both[0] - both[1], parity, rtol=0, atol=1e-11)


def test_impossible_jumps_are_named() -> None:
    with pytest.raises(ValueError, match="intensity"):
        merton.price(**MARKET, jumps=Jumps(-1.0, 0.0, 0.1))
