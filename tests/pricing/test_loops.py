"""The compiled loops and the jitted kernels give the same answers, and every call is the same function."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import native
from pricing import black_scholes

_SPEC = importlib.util.spec_from_file_location(
    "black_scholes_oracle", Path(__file__).with_name("test_black_scholes_accuracy.py")
)
oracle = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = oracle
_SPEC.loader.exec_module(oracle)

COUNT = 5000


@pytest.fixture
def compiled() -> None:
    if native.status() != "native":
        pytest.skip(native.status())


def jitted(options: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    order = ("spot", "strike", "time_to_expiry", "rate", "volatility", "dividend_yield", "is_call")
    answer = jax.jit(black_scholes._price_and_greeks)(*(options[name] for name in order))
    return {"price": np.asarray(answer[0]), **{k: np.asarray(v) for k, v in answer[1]._asdict().items()}}


def looped(options: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    value, greeks = black_scholes.price_and_greeks(**options)
    return {"price": np.asarray(value), **{k: np.asarray(v) for k, v in greeks._asdict().items()}}


@pytest.mark.parametrize("grid", oracle.GRIDS)
def test_the_loop_is_as_right_as_the_jitted_kernel(compiled: None, grid: str):
    options = oracle.draw(grid, COUNT, seed=21)
    ours = looped(options)
    worst_price, worst = 0.0, dict.fromkeys(ours, 0.0)
    for index in range(0, COUNT, 50):
        option = {name: values[index] for name, values in options.items()}
        value, scale = oracle.exact(option)
        error = abs(ours["price"][index] - value["price"])
        worst_price = max(worst_price, float(error / max(option["spot"], option["strike"])))
        for name in ours:
            if abs(value[name]) > 1e-290:
                worst[name] = max(worst[name], float(abs(ours[name][index] - value[name]) / scale[name]))
    assert worst_price <= 5e-16
    assert max(worst.values()) <= 1e-12, worst
    other = jitted(options)
    for name in ("delta", "gamma", "vega", "rho"):
        visible = np.abs(other[name]) > 1e-290
        np.testing.assert_allclose(ours[name][visible], other[name][visible], rtol=2e-12, err_msg=name)


def test_the_loop_has_the_same_limits_and_the_same_missing_values(compiled: None):
    options = oracle.draw("typical", COUNT, seed=22)
    rng = np.random.default_rng(23)
    for name in ("spot", "strike", "time_to_expiry", "volatility"):
        options[name][rng.random(COUNT) < 0.2] = 0.0
        options[name][rng.random(COUNT) < 0.02] = np.nan
    level = rng.random(COUNT) < 0.1
    options["strike"][level] = options["spot"][level]
    options["rate"][level] = options["dividend_yield"][level]
    ours, other = looped(options), jitted(options)
    for name in ours:
        np.testing.assert_allclose(ours[name], other[name], rtol=2e-12, atol=1e-13, err_msg=name)


def test_scalars_shapes_and_single_results_go_through(compiled: None):
    strike = np.linspace(50.0, 150.0, COUNT).reshape(50, 100)
    chain = {"spot": 100.0, "strike": strike, "time_to_expiry": 0.5, "rate": 0.03, "volatility": 0.2}
    price = black_scholes.price(**chain, is_call=False)
    delta = black_scholes.greeks(**chain, is_call=False).delta
    assert price.shape == (50, 100) and isinstance(price, jax.Array)
    both = looped({**chain, "is_call": False})
    np.testing.assert_array_equal(price, both["price"])
    np.testing.assert_array_equal(delta, both["delta"])
    one = black_scholes.price(**{**chain, "strike": strike[3, 4]}, is_call=False)
    np.testing.assert_allclose(price[3, 4], one, rtol=1e-14)


def test_an_impossible_value_in_a_large_batch_is_named(compiled: None):
    strike = np.linspace(50.0, 150.0, COUNT)
    strike[1234] = -7.0
    with pytest.raises(ValueError, match=r"strike must be finite and >= 0, got .*-7"):
        black_scholes.price(spot=100.0, strike=strike, time_to_expiry=0.5, rate=0.03, volatility=0.2)


def test_a_traced_a_mapped_a_small_and_a_large_call_give_the_same_bits(compiled: None):
    options = oracle.draw("typical", COUNT, seed=24)
    spot, strike = options.pop("spot"), options.pop("strike")

    def price(spot: jax.Array, strike: jax.Array, options: dict[str, jax.Array]) -> jax.Array:
        return black_scholes.price(spot=spot, strike=strike, **options)

    eager = np.asarray(price(spot, strike, options))
    np.testing.assert_array_equal(jax.jit(price)(spot, strike, options), eager)
    np.testing.assert_array_equal(jax.vmap(price)(spot, strike, options), eager)
    alone = [float(price(spot[i], strike[i], {name: column[i] for name, column in options.items()})) for i in range(5)]
    np.testing.assert_array_equal(alone, eager[:5])
    first = {name: column[0] for name, column in options.items()}
    rows = jax.vmap(lambda one: price(one, strike, first))(spot[:3])
    np.testing.assert_array_equal(rows[1], price(spot[1], strike, first))


def test_float32_is_priced_in_float32_by_the_same_loop(compiled: None):
    options = oracle.draw("typical", COUNT, seed=25)
    narrow = {name: column.astype(np.float32) if column.dtype == float else column for name, column in options.items()}
    wide = {name: column.astype(float) if column.dtype == np.float32 else column for name, column in narrow.items()}
    price = black_scholes.price(**narrow)
    assert price.dtype == np.float32
    np.testing.assert_allclose(price, black_scholes.price(**wide), atol=3e-7 * np.max(options["spot"]))


def test_a_number_that_float32_cannot_hold_is_named():
    with pytest.raises(ValueError, match="too large for float32"):
        black_scholes.price(
            spot=np.full(3, 100.0, np.float32), strike=1e300, time_to_expiry=1.0, rate=0.0, volatility=0.2
        )
