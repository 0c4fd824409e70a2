"""Options on forwards, lognormal and normal."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from pricing import bachelier, black76

BOTH = np.array([True, False])


def test_haugs_futures_option_is_worth_1_7011_on_both_sides():
    # Haug, Option Pricing Formulas, 2nd ed., page 5.
    price = black76.price(forward=19.0, strike=19.0, time_to_expiry=0.75, rate=0.10, volatility=0.28, is_call=BOTH)
    assert np.round(np.asarray(price), 4).tolist() == [1.7011, 1.7011]


@pytest.mark.parametrize("model", [black76, bachelier])
def test_greeks_with_the_forward_held_fixed_are_central_differences(model):
    option = {
        "forward": 95.0,
        "strike": 100.0,
        "time_to_expiry": 0.6,
        "rate": 0.04,
        "volatility": 0.25 if model is black76 else 22.0,
    }
    for is_call in (True, False):
        g = model.greeks(**option, is_call=is_call)

        def slope(variable: str, step: float, is_call: bool = is_call) -> float:
            up, down = (
                model.price(**{**option, variable: option[variable] + sign * step}, is_call=is_call)
                for sign in (1.0, -1.0)
            )
            return float(up - down) / (2.0 * step)

        assert float(g.delta) == pytest.approx(slope("forward", 1e-3), rel=1e-8)
        assert float(g.theta) == pytest.approx(-slope("time_to_expiry", 1e-5), rel=1e-8)
        assert float(g.vega) == pytest.approx(slope("volatility", 1e-5), rel=1e-7)
        assert float(g.rho) == pytest.approx(slope("rate", 1e-5), rel=1e-8)
        up, down = (model.greeks(**{**option, "forward": 95.0 + s}, is_call=is_call).delta for s in (1e-3, -1e-3))
        assert float(g.gamma) == pytest.approx(float(up - down) / 2e-3, rel=1e-7)


def test_bachelier_prices_keep_their_digits_thirty_deviations_out_of_the_money():
    rng = np.random.default_rng(5)
    for _ in range(40):
        forward, strike = rng.normal(0, 50, 2)
        time, deviations = rng.uniform(0.01, 3), rng.uniform(0.1, 35)
        volatility = abs(forward - strike) / (deviations * np.sqrt(time))
        is_call = bool(forward < strike)
        with mp.workdps(320):
            sd = mp.mpf(volatility) * mp.sqrt(mp.mpf(time))
            gap = (mp.mpf(forward) - mp.mpf(strike)) * (1 if is_call else -1)
            d = gap / sd
            exact = gap * mp.erfc(-d / mp.sqrt(2)) / 2 + sd * mp.exp(-d * d / 2) / mp.sqrt(2 * mp.pi)
            exact *= mp.exp(-mp.mpf("0.03") * mp.mpf(time))
        ours = bachelier.price(
            forward=forward,
            strike=strike,
            time_to_expiry=time,
            rate=0.03,
            volatility=volatility,
            is_call=is_call,
        )
        assert float(ours) == pytest.approx(float(exact), rel=2e-12)


def test_bachelier_put_call_parity_and_negative_forwards():
    call, put = bachelier.price(forward=-2.0, strike=-3.5, time_to_expiry=1.5, rate=0.02, volatility=4.0, is_call=BOTH)
    assert float(call - put) == pytest.approx(np.exp(-0.03) * 1.5, rel=1e-14)


def test_a_black76_call_is_a_bachelier_call_when_volatility_is_small():
    lognormal = black76.price(forward=100.0, strike=100.0, time_to_expiry=1.0, rate=0.0, volatility=1e-3)
    normal = bachelier.price(forward=100.0, strike=100.0, time_to_expiry=1.0, rate=0.0, volatility=0.1)
    assert float(lognormal) == pytest.approx(float(normal), rel=1e-6)
