"""Implied volatility: round trips, statuses, gradients."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import native
from pricing import black_scholes, implied_volatility
from pricing.implied_volatility import Status

OPTION = {"spot": 100.0, "strike": 110.0, "time_to_expiry": 0.7, "rate": 0.05, "dividend_yield": 0.03}


def draw(grid: str, count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    spot = 100.0 * np.exp(rng.normal(0.0, 1.0, count))
    time, volatility = 10.0 ** rng.uniform(-8, 2, count), 10.0 ** rng.uniform(-4, 1, count)
    rate, dividend_yield = rng.uniform(-0.02, 0.12, count), rng.uniform(0.0, 0.08, count)
    if grid == "typical":
        time, volatility = rng.uniform(0.01, 2.0, count), rng.uniform(0.05, 1.0, count)
        log_ratio = rng.normal(0.0, 0.3, count)
    elif grid == "wide":
        log_ratio = np.log(10.0) * rng.uniform(-4.0, 4.0, count)
    else:
        width = rng.uniform(-37, 37, count) if grid == "tail" else rng.normal(0, 0.01, count)
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


@pytest.mark.parametrize("loops", ["compiled", "xla"])
@pytest.mark.parametrize("grid", ["typical", "wide", "tail", "at_the_money"])
def test_round_trip_is_right_to_what_the_price_carries(grid: str, loops: str, monkeypatch: pytest.MonkeyPatch):
    if loops == "xla":
        monkeypatch.setattr(implied_volatility, "_solve_compiled", jax.jit(implied_volatility._looked_at))
    elif native.status() != "native":
        pytest.skip(native.status())
    options = draw(grid, 40_000)
    volatility = options.pop("volatility")
    g = black_scholes.all_greeks(**options, volatility=volatility)
    price, vega = np.asarray(g.price), np.asarray(g.vega)
    answer = implied_volatility.solve(price=price, **options)
    value, status = np.asarray(answer.value), np.asarray(answer.status)

    shares = options["spot"] * np.exp(-options["dividend_yield"] * options["time_to_expiry"])
    cash = options["strike"] * np.exp(-options["rate"] * options["time_to_expiry"])
    in_the_money = np.where(options["is_call"], shares > cash, shares < cash)
    rounding = np.finfo(float).eps * np.where(in_the_money, np.maximum(shares, cash), price)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = rounding / (vega * volatility)
        error = np.abs(value / volatility - 1.0)

    solved = (status == Status.SOLVED) & (price > 1e-290)
    assert solved.sum() > 3_000
    assert (error[solved] <= 1e-13 + 30.0 * condition[solved]).all()
    well = solved & (condition < 2.3e-16)
    assert error[well].max() <= 1e-13
    loose = status == Status.ILL_CONDITIONED
    assert (condition[loose] > 1e-7).all()
    given_up = (status == Status.NO_TIME_VALUE) | (status == Status.ABOVE_BOUND)
    assert (condition[given_up & (price > 1e-290)] > 1e-3).all()
    assert not (status == Status.BELOW_INTRINSIC).any() and not (status == Status.UNDEFINED).any()


def test_prices_outside_the_bounds_have_a_status_and_no_number():
    shares, cash = 100.0 * np.exp(-0.021), 110.0 * np.exp(-0.035)
    answer = implied_volatility.solve(
        price=np.array([-0.01, shares, shares + 1.0, cash - shares - 0.01, cash, np.nan]),
        is_call=np.array([True, True, True, False, False, True]),
        **OPTION,
    )
    assert np.asarray(answer.status).tolist() == [
        Status.BELOW_INTRINSIC,
        Status.ABOVE_BOUND,
        Status.ABOVE_BOUND,
        Status.BELOW_INTRINSIC,
        Status.ABOVE_BOUND,
        Status.UNDEFINED,
    ]
    assert np.isnan(answer.value).all()


def test_a_price_without_time_value_answers_zero_and_says_so():
    worthless = implied_volatility.solve(price=0.0, **OPTION)
    intrinsic = float(black_scholes.price(**OPTION, volatility=0.0, is_call=False))
    exercised = implied_volatility.solve(price=intrinsic, **OPTION, is_call=False)
    for answer in (worthless, exercised):
        assert int(answer.status) == Status.NO_TIME_VALUE
        assert float(answer.value) == 0.0


@pytest.mark.parametrize("name", ["spot", "strike", "time_to_expiry"])
def test_an_expired_or_empty_option_has_no_volatility(name: str):
    answer = implied_volatility.solve(price=1.0, **{**OPTION, name: 0.0})
    assert int(answer.status) == Status.UNDEFINED


def test_an_at_the_money_forward_price_inverts_exactly():
    option = {"spot": 100.0, "strike": 100.0, "time_to_expiry": 1.0, "rate": 0.0}
    for volatility in (1e-6, 0.01, 0.2, 3.0):
        price = black_scholes.price(**option, volatility=volatility)
        assert float(implied_volatility.solve(price=price, **option).value) == pytest.approx(volatility, rel=1e-13)


def test_gradients_follow_the_implicit_function_theorem():
    price = float(black_scholes.price(**OPTION, volatility=0.3))
    names = tuple(OPTION)

    def volatility(price: float, *values: float) -> jax.Array:
        return implied_volatility.solve(price=price, **dict(zip(names, values, strict=True))).value

    values = (price, *OPTION.values())
    gradient = jax.grad(volatility, argnums=tuple(range(6)))(*values)
    for index, slope in enumerate(gradient):
        step = 1e-5 * values[index]
        up, down = (
            float(volatility(*values[:index], values[index] + sign * step, *values[index + 1 :]))
            for sign in (1.0, -1.0)
        )
        assert float(slope) == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_float32_quotes_are_inverted_in_float32():
    option = {name: np.float32(value) for name, value in OPTION.items()}
    price = np.asarray(black_scholes.price(**OPTION, volatility=np.array([0.1, 0.3, 0.8])), np.float32)
    answer = implied_volatility.solve(price=price, **option)
    assert answer.value.dtype == np.float32
    np.testing.assert_allclose(answer.value, [0.1, 0.3, 0.8], rtol=2e-5)


def test_the_loop_answers_bounds_limits_and_missing_values_like_the_jitted_kernel(monkeypatch: pytest.MonkeyPatch):
    if native.status() != "native":
        pytest.skip(native.status())
    options = draw("typical", 6_000)
    volatility = options.pop("volatility")
    rng = np.random.default_rng(12)
    price = np.asarray(black_scholes.price(**options, volatility=volatility)) * rng.choice(
        [0.0, 0.3, 1.0, 100.0], 6_000
    )
    for name in ("spot", "strike", "time_to_expiry"):
        options[name][rng.random(6_000) < 0.05] = 0.0
        options[name][rng.random(6_000) < 0.02] = np.nan
    compiled = implied_volatility.solve(price=price, **options)
    monkeypatch.setattr(implied_volatility, "_solve_compiled", jax.jit(implied_volatility._looked_at))
    jitted = implied_volatility.solve(price=price, **options)
    assert set(np.asarray(compiled.status).tolist()) >= {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(compiled.status, jitted.status)
    sure = np.asarray(compiled.status) != Status.ILL_CONDITIONED
    np.testing.assert_allclose(np.asarray(compiled.value)[sure], np.asarray(jitted.value)[sure], rtol=1e-6)
