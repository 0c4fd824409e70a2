"""What every public function does with its arguments: a right number or one clear error, and labels kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pricing import american, bachelier, bates, black76, black_scholes, chain, heston, implied_volatility, merton

OPTION = {"strike": 100.0, "time_to_expiry": 0.5, "rate": 0.03}
HESTON = heston.Parameters(0.04, 2.0, 0.04, 0.3, -0.7)
JUMPS = bates.Jumps(0.5, -0.05, 0.1)
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "black_scholes.price": (black_scholes.price, {**OPTION, "spot": 105.0, "volatility": 0.2}),
    "black_scholes.greeks": (black_scholes.greeks, {**OPTION, "spot": 105.0, "volatility": 0.2}),
    "black76.price": (black76.price, {**OPTION, "forward": 105.0, "volatility": 0.2}),
    "bachelier.price": (bachelier.price, {**OPTION, "forward": 105.0, "volatility": 20.0}),
    "american.price": (american.price, {**OPTION, "spot": 105.0, "volatility": 0.2, "scheme": american.FAST}),
    "american.tree_price": (american.tree_price, {**OPTION, "spot": 105.0, "volatility": 0.2, "steps": 11}),
    "merton.price": (merton.price, {**OPTION, "spot": 105.0, "volatility": 0.2, "jumps": JUMPS}),
    "heston.price": (heston.price, {**OPTION, "spot": 105.0, "parameters": HESTON}),
    "implied_volatility.solve": (implied_volatility.solve, {**OPTION, "spot": 105.0, "price": 9.0}),
}


def _first(answer: Any) -> Any:
    return answer if hasattr(answer, "shape") else answer[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_words_and_zero_and_one_name_the_kind_of_an_option(name: str) -> None:
    function, arguments = FUNCTIONS[name]
    wanted = np.asarray(_first(function(**arguments, is_call=np.array([True, False, True, False]))))
    assert wanted[0] != wanted[1]
    for kinds in (
        ["call", "put", "call", "put"],
        ["C", "p", "CALL", "Put"],
        [1, 0, 1, 0],
        np.array([1.0, 0.0, 1.0, 0.0]),
        pd.Series(["call", "put", "c", "P"]),
        np.array(["call", False, 1, "p"], object),
        jnp.array([1, 0, 1, 0]),
    ):
        np.testing.assert_array_equal(np.asarray(_first(function(**arguments, is_call=kinds))), wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "kind",
    [-1, 2, np.nan, None, "", "calls", "true", 0.5, [1, -1], ["call", None], pd.Series([1.0, np.nan]), b"call", 1j],
    ids=repr,
)
def test_what_is_no_kind_of_option_is_refused(name: str, kind: Any) -> None:
    function, arguments = FUNCTIONS[name]
    with pytest.raises(ValueError, match="is_call must be"):
        function(**arguments, is_call=kind)


def test_a_chain_reads_kinds_as_prices_do() -> None:
    quotes: dict[str, Any] = {"strike": [100.0, 100.0], "time_to_expiry": 0.5, "bid": 1.0, "ask": 1.2}
    assert chain.build(**quotes, is_call=["put", "Call"]).is_call.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"is_call must be .* got -1"):
        chain.build(**quotes, is_call=[1, -1])


def test_traced_kinds_must_be_boolean_as_their_values_cannot_be_read() -> None:
    arguments: dict[str, Any] = {**OPTION, "spot": 105.0, "volatility": 0.2}

    def price(kind: Any) -> Any:
        return black_scholes.price(**arguments, is_call=kind)

    np.testing.assert_allclose(
        jax.jit(price)(np.array([True, False])),
        black_scholes.price(**arguments, is_call=["call", "put"]),
        rtol=1e-13,
    )
    with pytest.raises(ValueError, match="is_call must be boolean in traced code"):
        jax.jit(price)(np.array([1, -1]))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "strike",
    [
        "100",
        None,
        True,
        1j,
        [100.0, None],
        [100.0, "90"],
        [[100.0, 90.0], [80.0]],
        np.array([True, False]),
        np.datetime64("2026-01-01"),
        np.array([100.0], np.float16),
        np.ma.masked_array([100.0, 90.0], [False, True]),
        pd.DataFrame({"strike": [100.0, 90.0]}),
        pd.Series([100.0, None], dtype=object),
        {100.0},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_is_refused_by_name(name: str, strike: Any) -> None:
    function, arguments = FUNCTIONS[name]
    with pytest.raises(ValueError, match=r"^strike must be"):
        function(**{**arguments, "strike": strike})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_series_comes_back_under_its_index(name: str) -> None:
    function, arguments = FUNCTIONS[name]
    strikes = pd.Series([90.0, 100.0, 110.0], index=["c", "a", "b"])
    got, wanted = (function(**{**arguments, "strike": each}) for each in (strikes, strikes.to_numpy()))
    one = _first(got)
    assert isinstance(one, pd.Series) and one.index.tolist() == ["c", "a", "b"]
    np.testing.assert_array_equal(one.to_numpy(), np.asarray(_first(wanted)))


def test_series_with_different_indexes_are_not_paired_by_position() -> None:
    spot = pd.Series([100.0, 200.0], index=["x", "y"])
    strike = pd.Series([200.0, 100.0], index=["y", "x"])
    with pytest.raises(ValueError, match="spot and strike must have the same index in the same order"):
        black_scholes.price(spot=spot, strike=strike, time_to_expiry=0.5, rate=0.0, volatility=0.2)
    aligned = black_scholes.price(
        spot=spot, strike=strike.reindex(spot.index), time_to_expiry=0.5, rate=0.0, volatility=0.2
    )
    assert aligned["x"] == pytest.approx(float(aligned["y"]) / 2.0)


def test_an_array_beside_a_series_has_its_length() -> None:
    spot = pd.Series([100.0, 200.0])
    with pytest.raises(ValueError, match=r"strike must be one number or have the 2 values of the Series spot"):
        black_scholes.price(spot=spot, strike=np.ones((3, 1)), time_to_expiry=0.5, rate=0.0, volatility=0.2)


def test_large_batches_of_words_are_priced_like_booleans() -> None:
    is_call = np.arange(10_000) % 2 == 0
    arguments: dict[str, Any] = {**OPTION, "spot": np.linspace(80.0, 120.0, 10_000), "volatility": 0.2}
    np.testing.assert_array_equal(
        black_scholes.price(**arguments, is_call=np.where(is_call, "call", "PUT")),
        black_scholes.price(**arguments, is_call=is_call),
    )


@pytest.mark.parametrize("strike", [90.0, 100.0, 110.0])
@pytest.mark.parametrize("name", ["black_scholes.price", "black76.price", "bachelier.price"])
def test_a_negative_volatility_that_is_known_too_late_to_be_refused_gives_nan(name: str, strike: float) -> None:
    function, arguments = FUNCTIONS[name]
    traced = jax.jit(lambda volatility: function(**{**arguments, "strike": strike, "volatility": volatility}))
    assert np.isnan(traced(-0.2)) and np.isfinite(traced(0.0)) and np.isfinite(traced(0.2))


@pytest.mark.parametrize("function", [black76.price, black76.greeks])
def test_errors_of_a_forward_name_the_forward(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^forward must be finite and >= 0, got -1\.0$"):
        function(**OPTION, forward=-1.0, volatility=0.2)
    with pytest.raises(
        ValueError, match=r"^shapes do not broadcast: forward \(2,\), strike \(3,\), time_to_expiry \(\)"
    ):
        function(**{**OPTION, "strike": np.ones(3)}, forward=np.ones(2), volatility=0.2)


@pytest.mark.parametrize("name", ["spot", "strike", "rate", "volatility"])
def test_what_is_missing_is_missing_in_every_greek_of_an_american_option(name: str) -> None:
    arguments: dict[str, Any] = {**OPTION, "spot": 105.0, "volatility": 0.2, name: np.nan}
    price, greeks = american.greeks(**arguments, is_call=False, scheme=american.FAST)
    assert np.isnan([price, *greeks]).all()
