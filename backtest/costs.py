"""What a fill costs: half spread, square-root impact, fee. Nothing else knows the formulas."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from backtest.rules import Rules
from pricing.inputs import require
from pricing.signature import labelled

BPS = 1e-4


@labelled
def slippage(*, quantity: jax.Array, volume: jax.Array, rules: Rules) -> jax.Array:
    """Return slippage of an order as a fraction of the price.

    ``min(slippage + impact * sqrt(|quantity| / volume), band)``: the square-root law of market impact (Almgren et al.
    2005, "Direct estimation of equity market impact"; Donier and Bonart 2015 find the exponent 0.5 for bitcoin).
    In a bar without volume the whole price band is paid.

    Parameters
    ----------
    quantity
        Traded amount of base currency, signed or not, shape ``[...]``.
    volume
        Volume of the bar in base currency, >= 0, shape ``[...]``.

    Raises
    ------
    ValueError
        When a number known before tracing is NaN, infinite or out of its range.
    """
    require("quantity", quantity, missing=False)
    require("volume", volume, at_least=0.0, missing=False)
    unbounded = rules.slippage_bps * BPS + rules.impact_bps * BPS * jnp.sqrt(jnp.abs(quantity) / volume)
    band = rules.max_slippage_bps * BPS
    # Without volume the participation is infinite or, times an impact of 0, undefined: neither is below the band.
    return jnp.where(unbounded < band, unbounded, band)


@labelled
def fee(*, notional: jax.Array, rules: Rules, extra_fee_bps: ArrayLike = 0.0) -> jax.Array:
    """Return the fee of a fill, quote currency (>= 0).

    Parameters
    ----------
    notional
        At the fill price, quote currency, >= 0, shape ``[...]``.
    extra_fee_bps
        Fee on top of the rules' fee, basis points.
    """
    return notional * ((rules.fee_bps + extra_fee_bps) * BPS)


@labelled
def unit_cost(*, fill_price: jax.Array, price: jax.Array, rules: Rules) -> jax.Array:
    """Return what each unit of a fill costs, slippage and fee, quote currency: to divide the costs of a fill.

    Parameters
    ----------
    fill_price, price
        After and before slippage, quote currency, shape ``[...]``.
    """
    return jnp.abs(fill_price - price) + fee(notional=fill_price, rules=rules)


@labelled
def one_way(*, quantity: jax.Array, volume: jax.Array, rules: Rules) -> jax.Array:
    """Return what a trade costs as a fraction of its notional before slippage: slippage, impact and fee.

    To decide whether a trade is worth while; what it does cost is :func:`fill`. ``quantity=0, volume=1`` is a trade too
    small to move the price. Arguments as of :func:`slippage`.
    """
    return slippage(quantity=quantity, volume=volume, rules=rules) + fee(notional=jnp.ones(()), rules=rules)


@labelled
def fill(
    *, quantity: jax.Array, price: jax.Array, volume: jax.Array, rules: Rules, extra_fee_bps: ArrayLike = 0.0
) -> tuple[jax.Array, jax.Array]:
    """Return the fill price of an order and its fee.

    Parameters
    ----------
    quantity
        Base currency, > 0 buys, < 0 sells, shape ``[...]``.
    price
        Price before slippage, quote currency.
    extra_fee_bps
        Fee on top of the rules' fee, basis points.

    Returns
    -------
    fill_price, fee
        Quote currency per unit; quote currency (>= 0).
    """
    require("price", price, above=0.0, missing=False)
    slip = slippage(quantity=quantity, volume=volume, rules=rules)
    fill_price = price * (1.0 + jnp.sign(quantity) * slip)
    return fill_price, fee(notional=jnp.abs(quantity) * fill_price, rules=rules, extra_fee_bps=extra_fee_bps)
