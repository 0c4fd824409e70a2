"""The wire: what an agent is shown of an episode, and how its decisions are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import numpy as np

from backtest import indicators
from backtest.account import BUY, CLOSE, HOLD, SELL, TARGET
from backtest.market import Market
from evaluators.answers.typed_json import Refusal, parse_json_object
from evaluators.contract import Json
from evaluators.crypto.hindsight import Array
from evaluators.crypto.windows import of

ACTIONS = {"HOLD": HOLD, "BUY": BUY, "SELL": SELL, "CLOSE": CLOSE}
MAX_SIZE = 100.0
"""A size above this multiple of equity is no order but an error; up to it the venue cuts to its leverage cap."""

Indicators: TypeAlias = dict[str, Array]


@dataclass(frozen=True)
class Decision:
    """One order, checked.

    Attributes
    ----------
    kind
        As in ``backtest.account``.
    size
        Multiple of equity: of the order, for TARGET of the position that it leads to, signed.
    stop_loss, take_profit
        Prices, NaN when not given.
    fault
        Why the reply was no valid decision and counts as HOLD; empty when it was one.
    """

    kind: int = HOLD
    size: float = 0.0
    stop_loss: float = math.nan
    take_profit: float = math.nan
    fault: str = ""


@jax.jit
def _indicators(market: Market) -> dict[str, Any]:
    macd = indicators.over(indicators.macd(), market)
    bands = indicators.over(indicators.bollinger(20), market)
    return {
        "ema_20": indicators.over(indicators.ema(20), market),
        "ema_50": indicators.over(indicators.ema(50), market),
        "rsi": indicators.over(indicators.rsi(14), market),
        "macd": macd.line,
        "macd_signal": macd.signal,
        "atr": indicators.over(indicators.atr(14), market),
        "bollinger_upper": bands.upper,
        "bollinger_lower": bands.lower,
    }


def observed_indicators(observed: Market) -> Indicators:
    """Return the indicators shown to agents, each ``[episodes, bars]``, computed from the observed bars."""
    return {name: np.asarray(value) for name, value in _indicators(of(observed)).items()}


class Asked(NamedTuple):
    """What a reply asks to be told before it decides.

    Attributes
    ----------
    what
        ``history``, the bars before the first decision, or ``account``, positions and equity.
    episodes
        Of which, each once.
    """

    what: Literal["history", "account"]
    episodes: list[str]


def request(text: str, episodes: list[str]) -> Asked | None:
    """Return what a reply asks for; None where it asks for nothing.

    ``{"history": "all"}`` or ``{"history": [episode, ...]}``, the same with ``account``; a reply that decides something
    asks for nothing.
    """
    document = parse_json_object(text)
    if isinstance(document, Refusal) or not {"decisions", "exposures", "action"}.isdisjoint(document):
        return None
    kinds: tuple[Literal["history", "account"], ...] = ("history", "account")
    for what in kinds:
        wanted = document.get(what)
        if wanted == "all":
            return Asked(what, episodes)
        if isinstance(wanted, list) and wanted and all(name in episodes for name in wanted):
            return Asked(what, list(dict.fromkeys(wanted)))
    return None


def knows_one_episode_alone(text: str) -> bool:
    """Return whether a reply to a message of several episodes is the published decision on one."""
    document = parse_json_object(text)
    if isinstance(document, Refusal) or not {"decisions", "exposures"}.isdisjoint(document):
        return False
    return isinstance(document.get("action"), str)


def state(
    observed: Market,
    values: Indicators,
    *,
    episode: int,
    bar: int,
    symbol: str,
    account: Mapping[str, Json],
    metrics: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the published state of one episode after ``bar``; ``metrics`` stand beside the funding rate."""
    now = datetime.fromtimestamp(float(observed.time[episode, bar]), UTC)
    last_funding = observed.funding_rate[episode, : bar + 1]
    paid = np.flatnonzero(last_funding)
    return {
        "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "symbol": symbol,
        "ohlcv": {
            name: rounded(getattr(observed, name)[episode, bar]) for name in ("open", "high", "low", "close", "volume")
        },
        "indicators": {name: rounded(value[episode, bar]) for name, value in values.items()},
        "market_metrics": {"funding_rate": rounded(float(last_funding[paid[-1]])) if paid.size else 0.0, **metrics},
        "account": dict(account),
    }


def rounded(value: float) -> float:
    """Return the value with seven significant digits, what a feed would show."""
    return float(f"{value:.7g}")


def read_decisions(text: str, episodes: list[str]) -> tuple[dict[str, Mapping[str, Json]], dict[str, str]]:
    """Split a reply into one object an episode.

    Parameters
    ----------
    text
        The reply: ``{"exposures": {episode: number}}`` or a list of as many numbers in the order asked,
        ``{"decisions": [{"episode": ..., "action": ...}]}``, or both for different episodes.
    episodes
        Ids asked about; when there is one, the reply may be the decision itself.

    Returns
    -------
    found, faults
        The decision of each episode that has exactly one, and why the others have none.
    """
    document = parse_json_object(text)
    if isinstance(document, Refusal):
        return {}, dict.fromkeys(episodes, f"unreadable reply: {document.reason}")
    if len(episodes) == 1 and "decisions" not in document and "exposures" not in document:
        return {episodes[0]: document}, {}
    rows, exposures = document.get("decisions", []), document.get("exposures", {})
    if isinstance(exposures, list):
        if len(exposures) != len(episodes):
            why = f"'exposures' must hold {len(episodes)} numbers, one an episode, got {len(exposures)}"
            return {}, dict.fromkeys(episodes, why)
        exposures = dict(zip(episodes, exposures, strict=True))
    if not isinstance(rows, list) or not isinstance(exposures, dict) or not (rows or exposures):
        return {}, dict.fromkeys(episodes, "the reply has neither 'exposures' nor a list under 'decisions'")
    rows = rows + [{"episode": name, "exposure": value} for name, value in exposures.items()]
    found: dict[str, Mapping[str, Json]] = {}
    faults: dict[str, str] = {}
    for row in rows:
        name = row.get("episode") if isinstance(row, dict) else None
        if not isinstance(name, str) or name not in episodes:
            continue
        if name in found:
            faults[name] = "two decisions for one episode"
        found[name] = row
    for name in episodes:
        if name in faults:
            found.pop(name)
        elif name not in found:
            faults[name] = "no decision for this episode"
    return found, faults


def read_decision(row: Mapping[str, Json], *, close: float, exposure: float) -> Decision:
    """Return the checked order; whatever is wrong with it makes it a HOLD with a reason.

    Parameters
    ----------
    row
        The agent's object.
    close
        Last observed close, by which the sides of stops are judged.
    exposure
        Signed notional over equity before the order.
    """
    if "exposure" in row and "action" not in row:
        target = number(row["exposure"])
        if target is None or abs(target) > MAX_SIZE:
            return Decision(fault=f"an exposure must be a number from -{MAX_SIZE:g} to {MAX_SIZE:g}")
        return Decision(TARGET, target)
    action = row.get("action")
    name = action.strip().upper() if isinstance(action, str) else None
    if name not in ACTIONS:
        return Decision(fault="unknown action")
    kind, size = ACTIONS[name], 0.0
    if kind in (BUY, SELL):
        given = number(row.get("size"))
        if given is None or not 0.0 < given <= MAX_SIZE:
            return Decision(fault=f"size must be a number above 0 and at most {MAX_SIZE:g}")
        size = given
    if kind == CLOSE:
        return Decision(kind)
    after = exposure + size * {BUY: 1.0, SELL: -1.0, HOLD: 0.0}[kind]
    prices: dict[str, float] = {}
    for field, losing_side in (("stop_loss", -1.0), ("take_profit", 1.0)):
        level = row.get(field)
        if level is None:
            prices[field] = math.nan
            continue
        price = number(level)
        if price is None or price <= 0.0:
            return Decision(fault=f"{field} must be a price above 0 or null")
        if after == 0.0 or (price - close) * losing_side * after <= 0.0:
            return Decision(fault=f"{field} is on the wrong side of the price")
        prices[field] = price
    return Decision(kind, size, prices["stop_loss"], prices["take_profit"])


def number(value: Json) -> float | None:
    """Return a finite number, also when it is written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None
