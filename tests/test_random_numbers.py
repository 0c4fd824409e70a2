"""The ends of every generator: the words that come once in millions of draws, made to come always."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import random as extension
from scipy import stats

import transforms
from backtest import simulators
from backtest.market import problems
from backtest.simulators import draws
from pricing.simulation.draws import Draws, uniforms
from transforms import registry

WORDS = (
    0,
    1,
    2**64 - 1,
    2**64 - 2,
    2**63,
    2**63 - 1,
    2**32 - 1,
    (2**32 - 1) << 32,
    2**24 - 1,
    (2**24 - 1) << 24,
    (2**16 - 1) << 48,
)
"""Zero, one, all ones, and the lowest, middle and top numbers of each of the parts that words are cut into."""


def bits(key: Any, width: int, shape: tuple[int, ...]) -> jax.Array:
    """Return the word of the key for ever; where fewer bits are asked for, its upper ones."""
    word = key.astype(jnp.uint64)
    whole = (word[0] << jnp.uint64(32)) | word[1]
    return jnp.broadcast_to((whole >> jnp.uint64(64 - width)).astype(f"uint{width}"), shape)


CONSTANT = extension.define_prng_impl(
    key_shape=(2,),
    seed=lambda seed: jnp.zeros((2,), jnp.uint32),
    split=lambda key, shape: jnp.broadcast_to(key, (*shape, 2)),
    random_bits=bits,
    fold_in=lambda key, data: key,
    name="one word for ever",
    tag="one word",
)


def always(word: int) -> jax.Array:
    return jax.random.wrap_key_data(jnp.asarray([word >> 32, word & 0xFFFFFFFF], jnp.uint32), impl=CONSTANT)


def test_every_normal_number_of_24_bits_is_finite_and_has_its_negative() -> None:
    every = np.asarray(draws.normal(jnp.arange(2**24, dtype=jnp.uint64), place=0, bits=24))
    assert np.isfinite(every).all()
    np.testing.assert_array_equal(every, -every[::-1])
    assert (np.diff(every) >= 0.0).all()
    places = np.array([0, 1, 1000, 2**22, 2**23 - 1])
    np.testing.assert_allclose(every[places], stats.norm.ppf((places + 0.5) / 2**24), rtol=1e-5)
    assert every.astype(np.float64).std() == pytest.approx(1.0, abs=1e-5)


def test_every_number_of_16_bits_lies_strictly_within_its_range() -> None:
    words = jnp.arange(2**16, dtype=jnp.uint64)
    uniform = np.asarray(draws.uniform(words, place=0, bits=16))
    np.testing.assert_array_equal(uniform, (np.arange(2**16) + 0.5) / 2**16)
    normal = np.asarray(draws.normal(words, place=0, bits=16))
    assert np.isfinite(normal).all() and np.isfinite(np.log(uniform)).all()
    np.testing.assert_array_equal(normal, -normal[::-1])


@pytest.mark.parametrize("bits", [1, 8, 16, 23, 24])
def test_the_lowest_and_the_top_word_of_each_width_are_finite_and_no_width_rounds(bits: int) -> None:
    ends = jnp.asarray([0, 2**bits - 1], jnp.uint64) << jnp.uint64(7)
    low, high = np.asarray(draws.normal(ends, place=7, bits=bits))
    assert np.isfinite(low) and low == -high
    if bits == 24:
        with pytest.raises(ValueError, match=r"bits must be between 1 and 23, .* got 24"):
            draws.uniform(ends, place=7, bits=bits)
        return
    low, high = np.asarray(draws.uniform(ends, place=7, bits=bits))
    assert 0.0 < low == 1.0 - high < 1.0


def test_a_share_of_32_bits_is_never_1() -> None:
    words = jnp.asarray([0, 1, 2**31, 2**32 - 257, 2**32 - 128, 2**32 - 2, 2**32 - 1], jnp.uint64)
    shares = np.asarray(draws.share(words))
    assert shares[0] == 0.0 and shares[1] == np.float32(2.0**-32) and shares[2] == 0.5
    assert (shares < 1.0).all() and (np.diff(shares) >= 0.0).all()


@pytest.mark.parametrize("word", WORDS)
def test_no_word_makes_a_simulated_market_that_is_not_finite(word: int) -> None:
    for field in draws.draw(always(word), 8):
        assert np.isfinite(np.asarray(field)).all()
    assert problems(simulators.simulate(always(word), bars=12)) == []


@pytest.mark.parametrize("name", sorted(registry.TRANSFORMS))
def test_no_word_makes_a_transformed_market_that_is_not_finite(name: str) -> None:
    market = simulators.simulate(jax.random.key(1), bars=96)
    quick = {"steps": 1, "restarts": 1} if name.startswith("worst") else {}
    run = jax.jit(lambda key: transforms.apply(name, key, market, **quick))
    for word in WORDS:
        changed = run(always(word))
        for field in (*changed.observed, *changed.traded):
            assert np.isfinite(np.asarray(field)).all(), hex(word)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", list(Draws))
def test_uniform_numbers_of_the_pricing_simulations_lie_strictly_between_0_and_1(word: int, kind: Draws) -> None:
    numbers = np.asarray(uniforms(always(word), dimensions=3, paths=8, draws=kind))
    assert (numbers > 0.0).all() and (numbers < 1.0).all()
    assert np.isfinite(stats.norm.ppf(numbers)).all()
