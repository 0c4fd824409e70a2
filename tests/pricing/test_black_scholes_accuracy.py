"""Prices and Greeks against mpmath at 50 digits, on random and extreme grids."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from pricing import black_scholes

GRIDS = ("typical", "wide", "thirty_seven_deviations", "at_the_money")


def draw(grid: str, count: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    spot = 100.0 * np.exp(rng.normal(0.0, 1.0, count))
    time, volatility = 10.0 ** rng.uniform(-8, 2, count), 10.0 ** rng.uniform(-4, 1, count)
    rate, dividend_yield = rng.uniform(-0.02, 0.12, count), rng.uniform(0.0, 0.08, count)
    if grid == "typical":
        time, volatility = rng.uniform(0.01, 2.0, count), rng.uniform(0.05, 1.0, count)
        log_ratio = rng.normal(0.0, 0.3, count)
    elif grid == "wide":
        log_ratio = np.log(10.0) * rng.uniform(-4.0, 4.0, count)
    else:
        width = rng.uniform(-37, 37, count) if grid == "thirty_seven_deviations" else rng.normal(0, 0.1, count)
        log_ratio = np.clip((rate - dividend_yield) * time + width * volatility * np.sqrt(time), -9.2, 9.2)
    return {
        "spot": spot,
        "strike": spot * np.exp(log_ratio),
        "time_to_expiry": time,
        "rate": rate,
        "volatility": volatility,
        "dividend_yield": dividend_yield,
        "is_call": rng.random(count) < 0.5,
    }


def exact(option: dict[str, float]) -> tuple[dict[str, mp.mpf], dict[str, mp.mpf]]:
    """Values by the textbook formulas, and the scale on which each is measured (sum of absolute terms)."""
    with mp.workdps(700 if option["volatility"] < 1e-2 else 350):
        s, k, t, r, v, q = (
            mp.mpf(float(option[name]))
            for name in ("spot", "strike", "time_to_expiry", "rate", "volatility", "dividend_yield")
        )
        w = 1 if option["is_call"] else -1
        sd = v * mp.sqrt(t)
        x = (mp.log(s / k) + (r - q) * t) / sd
        d1, d2 = x + sd / 2, x - sd / 2
        shares, cash = s * mp.exp(-q * t), k * mp.exp(-r * t)
        a, b = shares * mp.erfc(-w * d1 / mp.sqrt(2)) / 2, cash * mp.erfc(-w * d2 / mp.sqrt(2)) / 2
        n = shares * mp.exp(-d1 * d1 / 2) / mp.sqrt(2 * mp.pi)
        size = abs(x) + sd / 2
        decay, carry = n * v / (2 * mp.sqrt(t)), n / s * (r - q) / sd
        gamma = n / (s * s * sd)
        value = {
            "price": w * (a - b),
            "delta": w * a / s,
            "gamma": gamma,
            "theta": -decay - w * r * b + w * q * a,
            "vega": n * mp.sqrt(t),
            "rho": w * t * b,
            "dividend_rho": -w * t * a,
            "vanna": -n / s * d2 / v,
            "volga": n * mp.sqrt(t) * d1 * d2 / v,
            "charm": w * q * a / s - carry + n / s * d2 / (2 * t),
            "speed": -gamma / s * (1 + d1 / sd),
            "dual_delta": -w * b / k,
        }
        scale = {name: abs(number) for name, number in value.items()}
        scale["theta"] = decay + abs(r) * b + abs(q) * a
        scale["vanna"] = n / s * size / v
        scale["volga"] = n * mp.sqrt(t) * size**2 / v
        scale["charm"] = abs(q) * a / s + abs(carry) + n / s * size / (2 * t)
        scale["speed"] = gamma / s * (1 + size / sd)
        return value, scale


@pytest.mark.parametrize("grid", GRIDS)
def test_prices_and_greeks_are_right_to_1e_12_relative_and_5e_16_of_the_larger_of_spot_and_strike(grid: str):
    count = 250
    options = draw(grid, count, seed=7)
    ours = {name: np.asarray(value) for name, value in black_scholes.all_greeks(**options)._asdict().items()}
    worst_price, worst = 0.0, dict.fromkeys(ours, 0.0)
    for index in range(count):
        option = {name: values[index] for name, values in options.items()}
        value, scale = exact(option)
        error = abs(mp.mpf(float(ours["price"][index])) - value["price"])
        worst_price = max(worst_price, float(error / max(option["spot"], option["strike"])))
        for name in ours:
            if abs(value[name]) > mp.mpf("1e-290"):
                relative = abs(mp.mpf(float(ours[name][index])) - value[name]) / scale[name]
                worst[name] = max(worst[name], float(relative))
    assert worst_price <= 5e-16
    assert max(worst.values()) <= 1e-12, worst


def test_far_tail_is_not_rounded_away_where_textbook_code_gives_zero():
    option = {"spot": 100.0, "strike": 250.0, "time_to_expiry": 0.01, "rate": 0.0, "volatility": 0.25}
    value, _ = exact({**option, "dividend_yield": 0.0, "is_call": True})
    assert 1e-295 < float(value["price"]) < 1e-280
    assert float(black_scholes.price(**option)) == pytest.approx(float(value["price"]), rel=1e-12)
