"""The declared strategy that says a structure: what somebody would answer who knew what a venue was drawn with.

Written in the language of ``strategy_rules`` alone, one writer for each structure. A writer makes the indicators, of
which ``signal`` is the structure's, at the bar's close; here they get lag, sign, and the edge from which on a change of
sides pays, which is the nearer the further bars have moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from backtest.simulators import MENU, Traits
from backtest.simulators.channels import LEADER_VOLATILITY, PREMIUM_NOISE, PREMIUM_PERSISTENCE
from backtest.simulators.draws import PER_SIZE
from backtest.simulators.knowable import LEAST_COEFFICIENT, MOST_COEFFICIENT
from backtest.simulators.structures import STRUCTURES
from backtest.simulators.structures.broken_level import FAR, STALE
from backtest.simulators.structures.hidden_regime import SWITCH
from backtest.simulators.structures.hour_of_day import RHYTHM
from backtest.simulators.structures.product import PAIRS
from backtest.simulators.structures.two_lags import APART
from evaluators.contract import Json
from evaluators.crypto.columns import UNITS

Document: TypeAlias = dict[str, Json]
Writer: TypeAlias = Callable[[int, float], dict[str, Document]]
"""``(variant, lean) -> indicators``; the lean is the most by which a bar's direction leans."""

PER_DEVIATION = (8.0 / math.pi) ** 0.5
"""Mean range of a Brownian path over its deviation (Feller 1951)."""
RANGE_WINDOW = 3
"""Of the exponential mean of ranges that tells best how far the next bar will move."""
COST = 6.5
"""Of a trade of one times equity, basis points."""
HOURS_A_YEAR = 8760.0
FIRM = 1.5
ERF = 1.692
"""1.5 times the slope of the error function at 0."""


def strategy(traits: Traits) -> Document:
    """Return the strategy of who knows ``traits``, fields ``[]``."""
    name = MENU[int(traits.kind)]
    structure = STRUCTURES[name]
    lean = (LEAST_COEFFICIENT + MOST_COEFFICIENT) / 2.0 * PER_SIZE / structure.spread
    indicators = WRITERS[name](int(traits.choice), lean)
    told, back = "signal", int(traits.lag) - 1
    if back:
        indicators["earlier"] = {"type": "lag", "of": "signal", "bars": back}
        told = "earlier"
    indicators["usual"] = {"type": "mean", "of": "range", "window": RANGE_WINDOW}
    indicators["forecast"] = {"type": "product", "of": told, "by": "usual"}
    edge = round(COST * PER_DEVIATION * PER_SIZE / lean, 2)
    high, low = ([{"left": "forecast", "op": op, "right": side * edge}] for op, side in ((">", 1.0), ("<", -1.0)))
    # Which hidden state is which, a belief learns by itself.
    up = float(traits.sign) > 0.0 or name == "hidden_regime"
    return {
        "indicators": indicators,
        "enter_long": high if up else low,
        "enter_short": low if up else high,
        "exit_long": [],
        "exit_short": [],
        "size": 1.0,
        "rebalance": True,
    }


def _channel(name: str) -> Writer:
    def write(choice: int, lean: float) -> dict[str, Document]:
        return {"signal": {"type": "clip", "of": name, "scale": FIRM / UNITS[name]}}

    return write


def _leader(choice: int, lean: float) -> dict[str, Document]:
    hourly = UNITS["leader"] * LEADER_VOLATILITY / HOURS_A_YEAR**0.5
    return {"signal": {"type": "clip", "of": "leader", "scale": ERF * 0.5**0.5 / hourly}}


def _premium(choice: int, lean: float) -> dict[str, Document]:
    return {
        "before": {"type": "lag", "of": "premium", "bars": 1},
        "new": {"type": "sum", "of": "premium", "plus": "before", "weight": -PREMIUM_PERSISTENCE},
        "signal": {"type": "clip", "of": "new", "scale": FIRM / (UNITS["premium"] * PREMIUM_NOISE)},
    }


def _lagged_return(choice: int, lean: float) -> dict[str, Document]:
    return {"surprise": {"type": "surprise"}, "signal": {"type": "clip", "of": "surprise", "scale": ERF}}


def _two_lags(choice: int, lean: float) -> dict[str, Document]:
    return {
        "surprise": {"type": "surprise"},
        "now": {"type": "clip", "of": "surprise", "scale": ERF},
        "older": {"type": "lag", "of": "now", "bars": choice % APART + 2},
        "both": {"type": "sum", "of": "now", "plus": "older", "weight": 1.0 if choice < APART else -1.0},
        "signal": {"type": "clip", "of": "both"},
    }


def _volatility_surprise(choice: int, lean: float) -> dict[str, Document]:
    return {
        "surprise": {"type": "surprise"},
        "side": {"type": "sign", "of": "move"},
        "way": {"type": "sign", "of": "surprise"},
        "size": {"type": "product", "of": "surprise", "by": "way"},
        "more": {"type": "sum", "of": "size", "plus": -0.6},
        "large": {"type": "clip", "of": "more", "scale": 2.0},
        "signal": {"type": "product", "of": "side", "by": "large"},
    }


def _broken_level(choice: int, lean: float) -> dict[str, Document]:
    return {
        "beyond": {"type": "beyond", "window": 3},
        "far": {"type": "clip", "of": "beyond", "scale": 1.0 / FAR},
        "before": {"type": "lag", "of": "far", "bars": 1},
        "fresh": {"type": "sum", "of": "far", "plus": "before", "weight": -STALE},
        "signal": {"type": "clip", "of": "fresh", "scale": FIRM},
    }


def _hour_of_day(choice: int, lean: float) -> dict[str, Document]:
    marks = [1.0 if RHYTHM[(hour + choice) % len(RHYTHM)] == "+" else -1.0 for hour in range(len(RHYTHM))]
    return {"signal": {"type": "hours", "values": marks}}


def _hidden_regime(choice: int, lean: float) -> dict[str, Document]:
    return {
        "side": {"type": "sign", "of": "flow"},
        "follows": {"type": "agreement", "of": "flow", "strength": lean, "switching": SWITCH},
        "signal": {"type": "product", "of": "follows", "by": "side"},
    }


def _announcement(choice: int, lean: float) -> dict[str, Document]:
    return {"signal": {"type": "sign", "of": "news"}}


def _product(choice: int, lean: float) -> dict[str, Document]:
    one, other = ("move" if name == "side" else name for name in PAIRS[choice])
    return {
        "both": {"type": "product", "of": one, "by": other},
        "signal": {"type": "sign", "of": "both"},
    }


WRITERS: Mapping[str, Writer] = {
    "lagged_return": _lagged_return,
    "two_lags": _two_lags,
    "order_flow": _channel("flow"),
    "book_imbalance": _channel("book"),
    "funding_surprise": _premium,
    "leader": _leader,
    "hour_of_day": _hour_of_day,
    "broken_level": _broken_level,
    "volatility_surprise": _volatility_surprise,
    "hidden_regime": _hidden_regime,
    "announcement": _announcement,
    "product": _product,
}
