"""What must hold for every European price, whatever the arguments."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing import black_scholes

numbers = st.fixed_dictionaries(
    {
        "spot": st.floats(0.01, 1e4),
        "strike": st.floats(0.01, 1e4),
        "time_to_expiry": st.floats(0.0, 30.0),
        "rate": st.floats(-0.05, 0.2),
        "volatility": st.floats(0.0, 3.0),
        "dividend_yield": st.floats(-0.05, 0.2),
    }
)
BOTH = np.array([True, False])


def legs(option: dict[str, float]) -> tuple[float, float]:
    shares = option["spot"] * np.exp(-option["dividend_yield"] * option["time_to_expiry"])
    return shares, option["strike"] * np.exp(-option["rate"] * option["time_to_expiry"])


@given(numbers)
@settings(max_examples=200)
def test_put_call_parity(option: dict[str, float]):
    call, put = np.asarray(black_scholes.price(**option, is_call=BOTH))
    shares, cash = legs(option)
    assert abs((call - put) - (shares - cash)) <= 1e-15 * max(shares, cash) * 4


@given(numbers)
@settings(max_examples=200)
def test_prices_lie_between_intrinsic_value_and_the_asset(option: dict[str, float]):
    call, put = np.asarray(black_scholes.price(**option, is_call=BOTH))
    shares, cash = legs(option)
    slack = 1e-15 * max(shares, cash)
    assert max(shares - cash, 0.0) - slack <= call <= shares + slack
    assert max(cash - shares, 0.0) - slack <= put <= cash + slack


@given(numbers)
@settings(max_examples=100)
def test_calls_fall_and_are_convex_in_strike_and_rise_with_volatility(option: dict[str, float]):
    ladder = {**option, "strike": option["strike"] * np.linspace(0.8, 1.2, 9)}
    calls = np.asarray(black_scholes.price(**ladder))
    slack = 4e-15 * max(*legs(option))
    assert (np.diff(calls) <= slack).all()
    assert (np.diff(calls, 2) >= -4 * slack).all()
    rising = np.asarray(black_scholes.price(**{**option, "volatility": option["volatility"] + np.linspace(0, 1, 9)}))
    assert (np.diff(rising) >= -slack).all()


@given(numbers)
@settings(max_examples=100)
def test_a_call_is_a_put_with_shares_and_cash_exchanged(option: dict[str, float]):
    mirrored = {
        **option,
        "spot": option["strike"],
        "strike": option["spot"],
        "rate": option["dividend_yield"],
        "dividend_yield": option["rate"],
    }
    call = float(black_scholes.price(**option))
    put = float(black_scholes.price(**mirrored, is_call=False))
    np.testing.assert_allclose(call, put, rtol=2e-12, atol=1e-15 * max(*legs(option)))


@given(numbers, st.floats(0.1, 10.0))
@settings(max_examples=100)
def test_prices_scale_with_the_currency(option: dict[str, float], factor: float):
    scaled = {**option, "spot": option["spot"] * factor, "strike": option["strike"] * factor}
    np.testing.assert_allclose(
        black_scholes.price(**scaled),
        factor * black_scholes.price(**option),
        rtol=1e-12,
        atol=4e-15 * factor * max(*legs(option)),
    )
