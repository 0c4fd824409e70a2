"""Elementwise functions as compiled loops: equal to jax's own, the same in every call, refused where they cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import export, lax

import native
from native import library
from native.emit import NotElementwise
from native.kernel import _compiled

pytestmark = pytest.mark.skipif(native.status() != "native", reason=f"no loops here: {native.status()}")

FUNCTIONS: dict[str, Callable[..., object]] = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, -x, x * y + 3.0, 2.0 - x * y),
    "comparisons": lambda x, y: (x > y, x <= 0.5, (x == y) | ~(y >= 1.0), (x != y) & (x < 2.0)),
    "choices": lambda x, y: (jnp.where(x > y, x, 0.25), jnp.clip(x, -1.0, y), jnp.maximum(x, y), jnp.minimum(x, 1.0)),
    "functions": lambda x, y: (jnp.sqrt(jnp.abs(x)), jnp.exp(x), jnp.log(jnp.abs(y)), jnp.sign(x), jnp.round(x)),
    "library": lambda x, y: (jnp.tanh(x), jnp.log1p(jnp.abs(y)), jnp.floor(x), jnp.sin(x), jnp.abs(x) ** y, x % 1.5),
    "whole numbers": lambda x, y: (x.astype(jnp.int32) * 3, (x > y).astype(jnp.int32), x.astype(jnp.int32) % 4),
    "bits": lambda x, y: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32) ^ jnp.uint32(40503), jnp.float32
    ),
    "a rare branch": lambda x, y: native.where_any(x > 2.5, lambda y: jnp.where(x > 2.5, jnp.exp(y), y), y),
    "a tree": lambda x, y: {"sum": x + y, "pair": (x, jnp.isnan(y)), "one": jnp.float64(7.0)},
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 700.0, -700.0, 1e-300, 0.5, 1.5, 2.5]


def close(one: object, other: object, dtype: type) -> None:
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert left.dtype == right.dtype
        tolerance = 4e-15 if dtype is np.float64 else 2e-6
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_loop_computes_what_jax_computes(name: str, dtype: type) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 2, 500), np.repeat(SPECIAL, len(SPECIAL))]).astype(dtype)
    y = np.concatenate([rng.normal(0, 2, 500), np.tile(SPECIAL, len(SPECIAL))]).astype(dtype)
    if name in ("whole numbers", "bits"):
        x = np.nan_to_num(np.clip(x, -1e6, 1e6)).astype(dtype)
    function = FUNCTIONS[name]
    close(jax.jit(native.kernel(function))(x, y), jax.jit(function)(x, y), dtype)


def mixture(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.exp(-x * x) * y + jnp.log(1.0 + y * y), jnp.where(x > y, x * y, x / (1.0 + y * y))


MIXTURE = native.kernel(mixture)


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 70), rows=st.integers(1, 3), seed=st.integers(0, 1000))
def test_every_shape_gives_the_same_bits(count: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, (2, rows, count))
    whole = MIXTURE(x, y)
    for row in range(rows):
        for one, other in zip(MIXTURE(x[row], y[row]), whole, strict=True):
            np.testing.assert_array_equal(one, other[row])
    for one, other in zip(jax.vmap(MIXTURE)(x, y), whole, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(jax.jit(MIXTURE)(x, 0.5), MIXTURE(x, np.full_like(x, 0.5)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_number_a_row_is_mapped_beside_arrays() -> None:
    x, y = jnp.linspace(-1.0, 1.0, 21), jnp.asarray([0.1, 0.2, 0.3])
    both = jax.vmap(lambda one: MIXTURE(x, one))(y)
    twice = jax.vmap(lambda one: jax.vmap(lambda two: MIXTURE(x * two, one))(jnp.ones(2)))(y)
    for row, number in enumerate(y):
        for mapped, inner, alone in zip(both, twice, MIXTURE(x, number), strict=True):
            np.testing.assert_array_equal(mapped[row], alone)
            np.testing.assert_array_equal(inner[row, 1], alone)


def test_many_elements_are_shared_among_threads() -> None:
    x = np.random.default_rng(2).normal(0, 1, 100_003)
    for one, other in zip(MIXTURE(x, 0.3), jax.jit(mixture)(x, 0.3), strict=True):
        np.testing.assert_allclose(one, other, rtol=4e-15)
    np.testing.assert_array_equal(MIXTURE(x, 0.3)[0][50_000:50_010], MIXTURE(x[50_000:50_010], 0.3)[0])


def test_derivatives_are_those_of_the_function() -> None:
    def total(function: Callable[..., object], x: jax.Array) -> jax.Array:
        first, second = function(x, x * 0.5)
        return (first * second).sum()

    x = jnp.linspace(-1.0, 2.0, 9)
    for derivative in (jax.grad, jax.hessian, jax.jacfwd):
        np.testing.assert_allclose(
            derivative(lambda x: total(MIXTURE, x))(x), derivative(lambda x: total(mixture, x))(x), rtol=1e-13
        )


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_elsewhere_the_function_itself_is_lowered(platform: str) -> None:
    shape = jax.ShapeDtypeStruct((8,), jnp.float64)
    lowered = export.export(jax.jit(MIXTURE), platforms=[platform])(shape, shape)
    assert "traderbench" not in lowered.mlir_module() and "exponential" in lowered.mlir_module()


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: jnp.cumsum(x), "there is no loop for cumsum"),
        (lambda x: x.sum(), "there is no loop for reduce_sum"),
        (lambda x: jnp.stack([x, x]), "shape"),
        (lambda x: x + jnp.arange(8.0), "iota|a constant array"),
        (lambda x: x.astype(jnp.int8), "gives int8"),
    ],
)
def test_what_is_not_elementwise_is_named(function: Callable[..., object], why: str) -> None:
    with pytest.raises(NotElementwise, match=why):
        _compiled(function, ("float64",))


def test_a_ring_in_a_loop_is_nothing_for_a_kernel() -> None:
    from native.windows import mean_of, push, ring

    with pytest.raises((NotElementwise, AttributeError)):
        _compiled(lambda x: mean_of(push(ring(x, 3), x)), ("float64",))


def run(code: str, **environment: str) -> str:
    root = Path(library.FOLDER).parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_switched_off_or_without_a_compiler_the_function_is_computed_as_it_is(tmp_path: Path) -> None:
    code = (
        "import native, pricing; from pricing import black_scholes as b; print(native.status());"
        "print(float(b.price(spot=100.0, strike=100.0, time_to_expiry=1.0, rate=0.0, volatility=0.2)))"
    )
    here = run(code)
    assert here.splitlines()[0] == "native"
    off = run(code, TRADERBENCH_NATIVE="0").splitlines()
    bare = run(code, CXX="no-such-compiler").splitlines()
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\ncase $1 in --version) echo 1;; *) echo 'x.cc:1: error: no'; exit 1;; esac\n")
    broken.chmod(0o755)
    failing = run(code, CXX=str(broken), XDG_CACHE_HOME=str(tmp_path)).splitlines()
    assert off[0] == "switched off by TRADERBENCH_NATIVE=0"
    assert bare[0] == "there is no no-such-compiler"
    assert failing[0].startswith("it could not be built:")
    for printed in (off, bare, failing):
        assert float(printed[1]) == pytest.approx(float(here.splitlines()[1]), rel=1e-14)
