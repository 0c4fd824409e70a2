"""American options on a lognormal asset: three methods, one convention of arguments.

``price``, ``greeks`` and ``exercise_boundary`` are spectral collocation (the reference), ``tree_price`` is a
Leisen-Reimer tree (cash dividends, negative rates with two boundaries), ``bjerksund_stensland_price`` a closed formula.
"""

from pricing.american.bjerksund_stensland import bjerksund_stensland_price
from pricing.american.boundary import ACCURATE, FAST, PRECISE, Scheme
from pricing.american.collocation import exercise_boundary, greeks, price
from pricing.american.implied import implied_volatility
from pricing.american.tree import tree_price

__all__ = [
    "ACCURATE",
    "FAST",
    "PRECISE",
    "Scheme",
    "bjerksund_stensland_price",
    "exercise_boundary",
    "greeks",
    "implied_volatility",
    "price",
    "tree_price",
]
