"""Lanes in parts on eight devices: the same bits as on one. Devices are forced in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from native.spread import spread

ROOT = Path(__file__).resolve().parents[2]


def on_eight_devices(code: str) -> str:
    """Run code with eight devices; return what it prints."""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CHAIN = """
import jax, numpy as np
from native import status
from native.spread import spread
from pricing import black_scholes, implied_volatility

devices = jax.local_devices()
assert len(devices) == 8
price_and_greeks = spread(black_scholes.price_and_greeks, devices=devices)
solve = spread(lambda price, chain: implied_volatility.solve(price=price, **chain), devices=devices)
for options in (1000, 1003, 5):
    rng = np.random.default_rng(options)
    strike, calls = rng.uniform(50.0, 150.0, options), rng.random(options) < 0.5
    chain = dict(spot=rng.uniform(90.0, 110.0, options), strike=strike, time_to_expiry=0.5, rate=0.03, is_call=calls)
    volatility = rng.uniform(0.1, 0.6, options)
    alone = black_scholes.price_and_greeks(**chain, volatility=volatility)
    parts = price_and_greeks(**chain, volatility=volatility)
    found = solve(alone[0], chain)
    for one, other in zip(jax.tree.leaves(alone), jax.tree.leaves(parts), strict=True):
        assert one.shape == other.shape == (options,)
        np.testing.assert_array_equal(one, other)
    for one, other in zip(implied_volatility.solve(price=alone[0], **chain), found, strict=True):
        np.testing.assert_array_equal(one, other)
    if options == 1000:
        assert {len(leaf.sharding.device_set) for leaf in jax.tree.leaves(parts)} == {8}
        program = price_and_greeks.lower(**chain, volatility=volatility).compile().as_text()
        print(status(), "all-gather" in program, "traderbench_elementwise" in program)
"""


def test_a_chain_on_eight_devices_is_that_of_one_bit_for_bit() -> None:
    status, gathers, looped = on_eight_devices(CHAIN).split()[-3:]
    assert gathers == "False"  # no device sees another's lanes
    assert looped == str(status == "native")  # and each still has the compiled loop


MARKETS = """
import jax, numpy as np
from backtest import batch, simulators, strategies
from native.spread import spread

def markets(keys):
    return jax.vmap(lambda key: simulators.simulate(key, bars=90))(keys)

played = [strategies.macd(), strategies.get("grid"), strategies.get("random_walker")]
keys = jax.random.split(jax.random.key(1), 19)
alone = jax.jit(markets)(keys)
parts = spread(markets, devices=jax.local_devices())(keys)
for one, other in zip(alone, parts, strict=True):
    np.testing.assert_array_equal(one, other)
observed = alone._replace(high=1.001 * alone.high)
for seen in (None, observed):
    here = batch.evaluate(alone, played, observed=seen, warmup=9)
    there = batch.evaluate(alone, played, observed=seen, warmup=9, devices=jax.local_devices())
    for one, other in zip(jax.tree.leaves(here), jax.tree.leaves(there), strict=True):
        assert other.shape == (3, 19)
        np.testing.assert_array_equal(one, other)
print("equal")
"""


def test_simulated_markets_and_backtests_on_eight_devices_are_those_of_one_bit_for_bit() -> None:
    assert on_eight_devices(MARKETS).split() == ["equal"]


def test_one_device_gets_the_function_itself() -> None:
    assert spread(jnp.sin, devices=jax.local_devices()[:1]) is jnp.sin


def test_arrays_of_different_lanes_are_refused() -> None:
    two = [jax.local_devices()[0]] * 2
    with pytest.raises(ValueError, match=r"lanes must be of one number .* got \[3, 4\]"):
        spread(jnp.add, devices=two)(jnp.ones(3), jnp.ones(4))
    with pytest.raises(ValueError, match=r"got \[\]"):
        spread(jnp.add, devices=two)(1.0, 2.0)
