"""Two hidden states: in one the market follows the side of the order flow, in the other it goes against it.

The filter is exact. A bar's direction agrees with what state and flow say with a probability that depends on the state
alone; how far it moves, and all else that is shown, does not. So the belief follows from sides and flow, by Bayes: of
two states -1 and 1 with mean ``b``, evidence that agrees by ``a`` leaves the mean ``(b + a) / (1 + a b)``.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits

SWITCH = 1.0 / 40.0
"""Probability that the state changes from a bar to the next."""


class _Hidden(NamedTuple):
    state: jax.Array
    belief: jax.Array
    flow: jax.Array


def _init() -> _Hidden:
    zero = jnp.zeros((), jnp.float32)
    return _Hidden(zero, zero, zero)


def _step(hidden: _Hidden, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[_Hidden, Signal]:
    evidence = lean * hidden.flow * bar.side
    learnt = (hidden.belief + evidence) / (1.0 + hidden.belief * evidence)
    belief = (1.0 - 2.0 * SWITCH) * learnt
    # At the first bar both states are equally likely; later they change with a probability of SWITCH.
    uniform = 0.5 * (bar.luck + 1.0)
    begun = jnp.where(uniform < 0.5, 1.0, -1.0).astype(jnp.float32)
    state = jnp.where(hidden.state == 0.0, begun, jnp.where(uniform < SWITCH, -hidden.state, hidden.state))
    flow = jnp.sign(bar.flow)
    return _Hidden(state, belief, flow), Signal(known=belief * flow, real=state * flow)


HIDDEN_REGIME = Structure(_init, _step, parity="odd", lags=(1,), choices=1, spread=0.83)
