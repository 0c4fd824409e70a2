"""From a wanted side to an order."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.account import HOLD, TARGET, Action, target


def when_changed(wanted: jax.Array, before: jax.Array, exposure: float) -> Action:
    """Return an order to ``wanted * exposure`` where ``wanted`` differs from ``before``, else a hold.

    Trading on changes only lets profits run and saves the costs of small corrections.
    """
    order = target(wanted * exposure)
    return order._replace(kind=jnp.where(wanted == before, HOLD, TARGET).astype(jnp.int32))
