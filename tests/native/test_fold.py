"""A fold over rows as one compiled loop: equal to jax's scan, the same in every call, within its arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import export

import native
from native import fold

pytestmark = pytest.mark.skipif(native.status() != "native", reason=f"no loops here: {native.status()}")

NUMBERS_IN_A_VECTOR = {np.float64: 8, np.float32: 16}


def blend(state: dict[str, Any], row: Any, picked: jax.Array, lanes: tuple[jax.Array, jax.Array]) -> dict[str, Any]:
    """Add a product with what the row alone decides, and keep the order of the rows visible."""
    weight, kind, above = row
    shift, scale = lanes
    part = jnp.exp(-weight * weight) * picked + jnp.where(kind > 1, shift, scale * weight)
    return {
        "sum": 0.75 * state["sum"] + part,
        "seen": state["seen"] + (part > 0.5).astype(jnp.int32),
        "any": state["any"] | (above & (picked > 1.0)),
    }


BLEND = native.folded(blend)


def drawn(lanes: int, rows: int, *, lines: int = 3, dtype: type = np.float64, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> jax.Array:
        return jnp.asarray(rng.normal(0, 1, shape).astype(dtype))

    state = {"sum": numbers(lanes), "seen": jnp.zeros(lanes, jnp.int32), "any": jnp.zeros(lanes, bool)}
    return {
        "state": state,
        "rows": (numbers(rows), jnp.asarray(rng.integers(0, 3, rows)), jnp.asarray(rng.random(rows) < 0.3)),
        "which": jnp.asarray(rng.integers(0, lines, rows)),
        "lines": numbers(lines, lanes),
        "lanes": (numbers(lanes), jnp.asarray(0.3, dtype)),
    }


def plain(given: dict[str, Any]) -> dict[str, np.ndarray]:
    """Numpy, one row after the other."""
    state = {name: np.asarray(value) for name, value in given["state"].items()}
    shift, scale = map(np.asarray, given["lanes"])
    for weight, kind, above, line in zip(*map(np.asarray, (*given["rows"], given["which"])), strict=True):
        picked = np.asarray(given["lines"])[line]
        part = np.exp(-weight * weight) * picked + (shift if kind > 1 else scale * weight)
        state = {
            "sum": 0.75 * state["sum"] + part,
            "seen": state["seen"] + (part > 0.5),
            "any": state["any"] | (above & (picked > 1.0)),
        }
    return state


def equal(one: Any, other: Any) -> None:
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(left, right)


def head(given: dict[str, Any], lanes: int) -> dict[str, Any]:
    """The same for the first lanes only."""
    first = jax.tree.map(lambda leaf: leaf[..., :lanes] if leaf.ndim else leaf, given)
    return given | {name: first[name] for name in ("state", "lines", "lanes")}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_fold_computes_what_a_loop_over_rows_computes(dtype: type, rows: int) -> None:
    width = NUMBERS_IN_A_VECTOR[dtype]
    for lanes in (1, width - 1, width, width + 1, 3 * width + 5, 1024, 1025, 2100):
        case = drawn(lanes, rows, dtype=dtype, seed=lanes)
        ours, wanted = BLEND(**case), plain(case)
        assert ours["sum"].dtype == dtype and ours["seen"].dtype == np.int32 and ours["any"].dtype == bool
        np.testing.assert_allclose(ours["sum"], wanted["sum"], rtol=0, atol=4e-15 if dtype is np.float64 else 2e-6)
        equal((ours["seen"], ours["any"]), (wanted["seen"], wanted["any"]))


@settings(max_examples=12, deadline=None)
@given(lanes=st.integers(0, 60), rows=st.integers(0, 4), lines=st.integers(1, 3), seed=st.integers(0, 1000))
def test_every_way_to_call_it_gives_the_same_bits(lanes: int, rows: int, lines: int, seed: int) -> None:
    case = drawn(lanes, rows, lines=lines, seed=seed)
    whole = BLEND(**case)
    equal(jax.jit(lambda case: BLEND(**case))(case), whole)
    equal(BLEND(**head(case, lanes // 2)), jax.tree.map(lambda leaf: leaf[: lanes // 2], whole))
    shift, scale = case["lanes"]
    equal(BLEND(**case | {"lanes": (shift, jnp.full(lanes, scale))}), whole)
    half = rows // 2
    first, second = (
        {"rows": tuple(leaf[part] for leaf in case["rows"]), "which": case["which"][part]}
        for part in (slice(half), slice(half, None))
    )
    equal(BLEND(**case | second | {"state": BLEND(**case | first)}), whole)


def test_a_mapped_fold_gives_each_member_what_it_gives_it_alone() -> None:
    cases = [drawn(37, 4, seed=seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *cases)
    for name in ("rows", "which", "lines", "lanes", "state"):
        axes = {other: 0 if other == name else None for other in cases[0]}
        mapped = jax.vmap(lambda case: BLEND(**case), in_axes=(axes,))(cases[0] | {name: stacked[name]})
        for member, case in enumerate(cases):
            alone = BLEND(**cases[0] | {name: case[name]})
            equal(jax.tree.map(lambda leaf, member=member: leaf[member], mapped), alone)
    twice = jax.vmap(jax.vmap(lambda case: BLEND(**case)))(jax.tree.map(lambda leaf: leaf[None], stacked))
    equal(jax.tree.map(lambda leaf: leaf[0, 2], twice), BLEND(**cases[2]))


def test_many_lanes_are_shared_among_threads_and_many_threads_may_call() -> None:
    case = drawn(100_003, 5)
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: BLEND(**case), range(8)))
    for one in several:
        equal(one, several[0])
    np.testing.assert_allclose(several[0]["sum"], plain(case)["sum"], rtol=0, atol=4e-15)
    equal(jax.tree.map(lambda leaf: leaf[:50], several[0]), BLEND(**head(case, 50)))


def test_what_a_row_alone_decides_is_computed_once_a_row() -> None:
    def step(total: jax.Array, row: jax.Array, picked: jax.Array, lanes: jax.Array) -> jax.Array:
        return total + jnp.exp(jnp.maximum(row, lanes)) * jnp.log(picked)

    vector, number = jnp.zeros(8), jnp.zeros(())
    once, loop = fold._split(jax.make_jaxpr(step)(vector, number, vector, number), [False, True, False, True])
    assert "exp" in str(once) and "max" in str(once) and "log" not in str(once)
    assert "log" in str(loop) and "exp" not in str(loop) and len(loop.jaxpr.invars) == 3
    _, varied = fold._split(jax.make_jaxpr(step)(vector, number, vector, vector), [False, True, False, False])
    assert "exp" in str(varied)


def test_a_step_may_ignore_its_rows_and_have_neither_lines_nor_lanes() -> None:
    double = native.folded(lambda state, row, picked, lanes: state * 2.0)
    rows = jnp.zeros(10, jnp.int32)
    np.testing.assert_array_equal(
        double(jnp.arange(3.0), rows=(), which=rows, lines=(), lanes=()), 1024 * np.arange(3.0)
    )


def test_an_index_beyond_the_lines_is_the_nearest_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    case = drawn(9, 4) | {"which": jnp.asarray([-1, 3, 2**40, -(2**40)])}
    near = case | {"which": jnp.asarray([0, 2, 2, 0])}
    equal(BLEND(**case), BLEND(**near))
    compiled = BLEND(**near)
    monkeypatch.setattr(fold, "status", lambda: "switched off")
    equal(BLEND(**case), BLEND(**near))
    np.testing.assert_allclose(BLEND(**case)["sum"], compiled["sum"], rtol=0, atol=4e-15)


def test_derivatives_are_those_of_the_scan() -> None:
    def value(fold_: Any, weights: jax.Array, lines: jax.Array) -> jax.Array:
        total = fold_(jnp.zeros(5), weights, jnp.asarray([0, 1, 0]), lines)
        return (total * total).sum()

    def step(total: jax.Array, row: jax.Array, picked: jax.Array, lanes: Any) -> jax.Array:
        return total + jnp.exp(row * picked)

    ours = native.folded(step)
    weights, lines = jnp.asarray([0.1, 0.5, -0.3]), jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

    def one(start: jax.Array, weights: jax.Array, which: jax.Array, lines: jax.Array) -> jax.Array:
        return ours(start, rows=weights, which=which, lines=lines, lanes=())

    def other(start: jax.Array, weights: jax.Array, which: jax.Array, lines: jax.Array) -> jax.Array:
        return sum((jnp.exp(weights[row] * lines[which[row]]) for row in range(3)), start)

    for derivative in (jax.grad, jax.jacfwd, jax.hessian):
        for place in (0, 1):
            found, wanted = (
                derivative(lambda *given, form=form: value(form, *given), argnums=place)(weights, lines)
                for form in (one, other)
            )
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_elsewhere_the_scan_is_lowered(platform: str) -> None:
    case = drawn(8, 3)
    lowered = export.export(jax.jit(lambda case: BLEND(**case)), platforms=[platform])(case)
    assert "traderbench" not in lowered.mlir_module() and "while" in lowered.mlir_module()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"state": jnp.zeros((2, 8))}, r"state must have shape \[lanes\], got \(2, 8\)"),
        ({"rows": (jnp.zeros(3), jnp.zeros(4), jnp.zeros(3))}, r"rows must have shape \(3,\), got \(4,\)"),
        ({"which": jnp.zeros(3)}, r"which must be whole numbers of shape \[rows\], got float64 of shape \(3,\)"),
        ({"lines": jnp.zeros((2, 7))}, r"lines must have shape \(2, 8\), got \(2, 7\)"),
        ({"lines": jnp.zeros((0, 8))}, "at least one line"),
        ({"lanes": (jnp.zeros(7), 0.3)}, r"lanes must have shape \(8,\) or \(\), got \(7,\)"),
    ],
)
def test_what_does_not_fit_is_named(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        BLEND(**drawn(8, 3) | wrong)


def test_a_state_that_changes_its_type_is_refused() -> None:
    with pytest.raises(TypeError, match="carry"):
        native.folded(lambda state, row, picked, lanes: state > 0.0)(
            jnp.zeros(8), rows=(), which=jnp.zeros(2, jnp.int32), lines=(), lanes=()
        )
