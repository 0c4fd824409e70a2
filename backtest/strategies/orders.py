"""From a wanted side to an order."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.account import HOLD, TARGET, Account, Action, target


def when_changed(wanted: jax.Array, before: jax.Array, exposure: float) -> Action:
    """Return an order to ``wanted * exposure`` where ``wanted`` differs from ``before``, else a hold.

    Trading on changes only lets profits run and saves the costs of small corrections.
    """
    order = target(wanted * exposure)
    return order._replace(kind=jnp.where(wanted == before, HOLD, TARGET).astype(jnp.int32))


def when_far(wanted: jax.Array, account: Account, close: jax.Array, band: float) -> Action:
    """Return an order to the exposure ``wanted`` where the account is further than ``band`` from it, else a hold.

    NaN holds.
    """
    inverse = jnp.where(account.equity > 0.0, 1.0 / account.equity, 0.0)
    far = jnp.abs(wanted - account.position * close * inverse) > band
    order = target(jnp.where(far, wanted, 0.0))
    return order._replace(kind=jnp.where(far, TARGET, HOLD).astype(jnp.int32))
