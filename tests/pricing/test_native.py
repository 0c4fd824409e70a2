"""The C loops and the jitted kernels give the same answers, and each serves where it should."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from pricing import black_scholes
from pricing.native import batch, loading

_SPEC = importlib.util.spec_from_file_location(
    "black_scholes_oracle", Path(__file__).with_name("test_black_scholes_accuracy.py")
)
oracle = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = oracle
_SPEC.loader.exec_module(oracle)

COUNT = 5000


@pytest.fixture
def compiled() -> None:
    if loading.load() is None:
        pytest.skip("no C compiler on this machine")


def jitted(options: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    named = {name: value for name, value in options.items() if name != "is_call"}
    answer = black_scholes._price_and_greeks_compiled(*black_scholes._arguments(named, options["is_call"]))
    return {"price": np.asarray(answer[0]), **{k: np.asarray(v) for k, v in answer[1]._asdict().items()}}


def native(options: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    value, greeks = black_scholes.price_and_greeks(**options)
    return {"price": np.asarray(value), **{k: np.asarray(v) for k, v in greeks._asdict().items()}}


@pytest.mark.parametrize("grid", oracle.GRIDS)
def test_the_c_loop_is_as_right_as_the_jitted_kernel(compiled: None, grid: str):
    options = oracle.draw(grid, COUNT, seed=21)
    ours = native(options)
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


def test_the_c_loop_has_the_same_limits_and_the_same_missing_values(compiled: None):
    options = oracle.draw("typical", COUNT, seed=22)
    rng = np.random.default_rng(23)
    for name in ("spot", "strike", "time_to_expiry", "volatility"):
        options[name][rng.random(COUNT) < 0.2] = 0.0
        options[name][rng.random(COUNT) < 0.02] = np.nan
    level = rng.random(COUNT) < 0.1
    options["strike"][level] = options["spot"][level]
    options["rate"][level] = options["dividend_yield"][level]
    ours, other = native(options), jitted(options)
    for name in ours:
        np.testing.assert_allclose(ours[name], other[name], rtol=2e-12, atol=1e-13, err_msg=name)


def test_scalars_shapes_and_single_results_go_through(compiled: None):
    strike = np.linspace(50.0, 150.0, COUNT).reshape(50, 100)
    chain = {"spot": 100.0, "strike": strike, "time_to_expiry": 0.5, "rate": 0.03, "volatility": 0.2}
    price = black_scholes.price(**chain, is_call=False)
    delta = black_scholes.greeks(**chain, is_call=False).delta
    assert price.shape == (50, 100) and isinstance(price, jax.Array)
    both = native({**chain, "is_call": False})
    np.testing.assert_array_equal(price, both["price"])
    np.testing.assert_array_equal(delta, both["delta"])
    one = black_scholes.price(**{**chain, "strike": strike[3, 4]}, is_call=False)
    np.testing.assert_allclose(price[3, 4], one, rtol=1e-14)


def test_an_impossible_value_in_a_large_batch_is_named(compiled: None):
    strike = np.linspace(50.0, 150.0, COUNT)
    strike[1234] = -7.0
    with pytest.raises(ValueError, match=r"strike must be finite and >= 0, got .*-7"):
        black_scholes.price(spot=100.0, strike=strike, time_to_expiry=0.5, rate=0.03, volatility=0.2)


def test_small_float32_and_traced_batches_stay_with_the_jitted_kernel():
    column = np.full(COUNT, 100.0)
    assert batch.run("black_scholes_price", [column[:100]] * 6, True, [np.float64]) is None
    assert batch.run("black_scholes_price", [column.astype(np.float32)] * 6, True, [np.float64]) is None
    traced = jax.jit(
        lambda spot: black_scholes.price(spot=spot, strike=100.0, time_to_expiry=1.0, rate=0.0, volatility=0.2)
    )
    np.testing.assert_allclose(traced(column)[0], 7.965567455405804, rtol=1e-13)


def test_without_a_compiler_or_switched_off_the_jitted_kernel_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    chain = {
        "spot": 100.0,
        "strike": np.linspace(50.0, 150.0, COUNT),
        "time_to_expiry": 0.5,
        "rate": 0.03,
        "volatility": 0.2,
    }
    with_loops = np.asarray(black_scholes.price(**chain))
    for change in ({"TRADERBENCH_NATIVE": "0"}, {"PATH": str(tmp_path)}):
        loading.load.cache_clear()
        with monkeypatch.context() as patch:
            for name, value in change.items():
                patch.setenv(name, value)
            assert loading.load() is None
            np.testing.assert_allclose(black_scholes.price(**chain), with_loops, rtol=1e-12)
    loading.load.cache_clear()


def test_a_compiler_that_fails_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    broken = tmp_path / "bin" / "cc"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    loading.load.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(broken.parent))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert loading.load() is None
    loading.load.cache_clear()
