"""Black-Scholes-Merton: textbook tables, limits, identities, derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pricing import black_scholes

OPTION = {
    "spot": 100.0,
    "strike": 110.0,
    "time_to_expiry": 0.7,
    "rate": 0.05,
    "volatility": 0.3,
    "dividend_yield": 0.03,
}
BOTH = np.array([True, False])


def test_prices_of_haugs_examples():
    # Haug, The Complete Guide to Option Pricing Formulas, 2nd ed., pages 3 and 4.
    call = black_scholes.price(spot=60.0, strike=65.0, time_to_expiry=0.25, rate=0.08, volatility=0.30)
    put = black_scholes.price(
        spot=100.0,
        strike=95.0,
        time_to_expiry=0.5,
        rate=0.10,
        volatility=0.20,
        dividend_yield=0.05,
        is_call=False,
    )
    assert (round(float(call), 4), round(float(put), 4)) == (2.1334, 2.4648)


def test_greeks_of_haugs_examples():
    # Haug, chapter 2: delta of futures options, gamma, vega, put theta with dividends, rho.
    deltas = black_scholes.greeks(
        spot=105.0,
        strike=100.0,
        time_to_expiry=0.5,
        rate=0.10,
        volatility=0.36,
        dividend_yield=0.10,
        is_call=BOTH,
    ).delta
    gamma = black_scholes.greeks(spot=55.0, strike=60.0, time_to_expiry=0.75, rate=0.10, volatility=0.30).gamma
    theta = black_scholes.greeks(
        spot=430.0,
        strike=405.0,
        time_to_expiry=1 / 12,
        rate=0.07,
        volatility=0.20,
        dividend_yield=0.05,
        is_call=False,
    ).theta
    rho = black_scholes.greeks(spot=72.0, strike=75.0, time_to_expiry=1.0, rate=0.09, volatility=0.19).rho
    assert np.round(np.asarray(deltas), 4).tolist() == [0.5946, -0.3566]
    assert (round(float(gamma), 4), round(float(theta), 4), round(float(rho), 4)) == (0.0278, -31.1924, 38.7325)


def test_put_theta_includes_the_dividend_term():
    def price(time: float) -> float:
        return float(black_scholes.price(**{**OPTION, "time_to_expiry": time}, is_call=False))

    step = 1e-5
    slope = (price(0.7 + step) - price(0.7 - step)) / (2 * step)
    theta = float(black_scholes.greeks(**OPTION, is_call=False).theta)
    assert theta == pytest.approx(-slope, rel=1e-8)
    without_dividends = float(black_scholes.greeks(**{**OPTION, "dividend_yield": 0.0}, is_call=False).theta)
    assert abs(theta - without_dividends) > 0.5


@pytest.mark.parametrize("is_call", [True, False])
def test_every_greek_is_the_central_difference_of_what_it_differentiates(is_call: bool):
    def at(**changes: float) -> black_scholes.AllGreeks:
        moved = {name: OPTION[name] + changes.get(name, 0.0) for name in OPTION}
        return black_scholes.all_greeks(**moved, is_call=is_call)

    def slope(field: str, variable: str, step: float) -> float:
        up, down = at(**{variable: step}), at(**{variable: -step})
        return float(getattr(up, field) - getattr(down, field)) / (2.0 * step)

    here = at()
    expected = {
        "delta": slope("price", "spot", 1e-3),
        "gamma": slope("delta", "spot", 1e-3),
        "theta": -slope("price", "time_to_expiry", 1e-5),
        "vega": slope("price", "volatility", 1e-5),
        "rho": slope("price", "rate", 1e-5),
        "dividend_rho": slope("price", "dividend_yield", 1e-5),
        "vanna": slope("delta", "volatility", 1e-5),
        "volga": slope("vega", "volatility", 1e-5),
        "charm": -slope("delta", "time_to_expiry", 1e-5),
        "speed": slope("gamma", "spot", 1e-3),
        "dual_delta": slope("price", "strike", 1e-3),
    }
    assert {"price", *expected} == {*here._fields}
    for name, value in expected.items():
        assert float(getattr(here, name)) == pytest.approx(value, rel=1e-7), name


def test_gradients_flow_to_second_order_and_agree_with_the_closed_forms():
    names = tuple(OPTION)

    def price(*values: float) -> jax.Array:
        return black_scholes.price(**dict(zip(names, values, strict=True)), is_call=False)

    values = tuple(OPTION.values())
    gradient = jax.jit(jax.grad(price, argnums=tuple(range(6))))(*values)
    hessian = jax.jit(jax.hessian(price, argnums=(0, 4)))(*values)
    g = black_scholes.all_greeks(**OPTION, is_call=False)
    first = (g.delta, g.dual_delta, -g.theta, g.rho, g.vega, g.dividend_rho)
    np.testing.assert_allclose(gradient, first, rtol=1e-12)
    np.testing.assert_allclose(hessian, [[g.gamma, g.vanna], [g.vanna, g.volga]], rtol=1e-10)


def test_gradient_of_expired_and_of_certain_options_is_finite():
    for changes in ({"time_to_expiry": 0.0}, {"volatility": 0.0}, {"strike": 0.0}):
        slope = jax.grad(lambda spot, c=changes: black_scholes.price(**{**OPTION, **c, "spot": spot}))(120.0)
        assert np.isfinite(slope)


def test_zero_time_gives_intrinsic_value_and_step_delta():
    at_expiry = {**OPTION, "time_to_expiry": 0.0, "spot": np.array([90.0, 110.0, 130.0])}
    assert np.asarray(black_scholes.price(**at_expiry)).tolist() == [0.0, 0.0, 20.0]
    g = black_scholes.greeks(**at_expiry)
    np.testing.assert_allclose(g.delta, [0.0, 0.5, 1.0], rtol=1e-15)
    assert np.asarray(g.gamma).tolist() == [0.0, np.inf, 0.0]


def test_zero_volatility_gives_the_discounted_forward_intrinsic_value():
    price = black_scholes.price(**{**OPTION, "volatility": 0.0, "strike": 90.0}, is_call=BOTH)
    certain = 100.0 * np.exp(-0.03 * 0.7) - 90.0 * np.exp(-0.05 * 0.7)
    np.testing.assert_allclose(price, [certain, 0.0], rtol=1e-14)


def test_zero_strike_call_is_the_prepaid_forward_and_worthless_stock_makes_the_put_cash():
    np.testing.assert_allclose(
        black_scholes.price(**{**OPTION, "strike": 0.0}, is_call=BOTH), [100.0 * np.exp(-0.021), 0.0], rtol=1e-15
    )
    np.testing.assert_allclose(
        black_scholes.price(**{**OPTION, "spot": 0.0}, is_call=BOTH), [0.0, 110.0 * np.exp(-0.035)], rtol=1e-15
    )


@pytest.mark.parametrize("changes", [{"time_to_expiry": 0.0}, {"volatility": 0.0}, {"strike": 0.0}, {"spot": 0.0}])
def test_no_greek_is_undefined_in_a_limit(changes: dict[str, float]):
    for name, value in black_scholes.all_greeks(**{**OPTION, **changes}, is_call=BOTH)._asdict().items():
        assert not np.isnan(value).any(), name


def test_scaling_volatility_by_k_and_time_by_one_over_k_squared_keeps_the_undiscounted_price():
    driftless = {**OPTION, "rate": 0.0, "dividend_yield": 0.0}
    scaled = {**driftless, "volatility": 0.6, "time_to_expiry": 0.7 / 4}
    np.testing.assert_allclose(black_scholes.price(**driftless), black_scholes.price(**scaled), rtol=1e-14)


def test_nan_in_gives_nan_out_and_leaves_its_neighbours_alone():
    price = np.asarray(black_scholes.price(**{**OPTION, "volatility": np.array([0.3, np.nan])}))
    assert np.isfinite(price[0]) and np.isnan(price[1])


@pytest.mark.parametrize(
    ("name", "value"), [("spot", -1.0), ("strike", -1.0), ("time_to_expiry", -0.1), ("volatility", -0.2)]
)
def test_a_negative_argument_is_refused_with_its_name_and_value(name: str, value: float):
    with pytest.raises(ValueError, match=rf"{name} must be finite and >= 0, got .*{value}"):
        black_scholes.price(**{**OPTION, name: value})


def test_shapes_that_do_not_broadcast_are_refused_by_name():
    with pytest.raises(ValueError, match=r"shapes do not broadcast: spot \(3,\)"):
        black_scholes.price(**{**OPTION, "spot": np.ones(3), "strike": np.ones(2)})


def test_calls_and_puts_of_a_whole_grid_come_from_one_broadcast_call():
    price = black_scholes.price(
        **{**OPTION, "strike": np.array([90.0, 100.0, 110.0])[:, None], "is_call": BOTH[None, :]}
    )
    assert price.shape == (3, 2) and price.dtype == jnp.float64


def test_float32_arrays_are_priced_in_float32_to_its_accuracy():
    rng = np.random.default_rng(3)
    count = 2000
    option = {
        "spot": np.float32(100.0) * np.ones(count, np.float32),
        "strike": rng.uniform(60, 160, count).astype(np.float32),
        "time_to_expiry": rng.uniform(0.02, 2, count).astype(np.float32),
        "rate": np.float32(0.04) * np.ones(count, np.float32),
        "volatility": rng.uniform(0.1, 0.8, count).astype(np.float32),
        "dividend_yield": np.float32(0.01) * np.ones(count, np.float32),
    }
    narrow = black_scholes.all_greeks(**option)
    wide = black_scholes.all_greeks(**{name: value.astype(np.float64) for name, value in option.items()})
    assert narrow.price.dtype == jnp.float32
    np.testing.assert_allclose(narrow.price, wide.price, rtol=0, atol=160 * 3e-7)
    visible = np.asarray(wide.price) > 1e-20
    np.testing.assert_allclose(np.asarray(narrow.price)[visible], np.asarray(wide.price)[visible], rtol=3e-4)
    np.testing.assert_allclose(narrow.delta, wide.delta, rtol=0, atol=1e-6)


def test_the_kernel_can_be_traced_batched_and_compiled_by_the_caller():
    def value(spot: jax.Array) -> jax.Array:
        return black_scholes.price(**{**OPTION, "spot": spot})

    spots = jnp.array([90.0, 100.0, 110.0])
    np.testing.assert_allclose(jax.jit(jax.vmap(value))(spots), black_scholes.price(**{**OPTION, "spot": spots}))
