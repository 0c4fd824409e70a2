"""Tasks of declared strategies on simulated venues, and what is declared there without and with knowledge."""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from backtest.simulators import MENU, STRUCTURES, Traits, public
from backtest.simulators.channels import Channels
from evaluators.contract import Score
from evaluators.crypto import dataset
from evaluators.crypto.columns import BASIS, UNITS
from evaluators.crypto.options import Options
from evaluators.crypto.settings import parse
from evaluators.crypto.strategy_session import StrategySession
from evaluators.crypto.venue import Venue
from evaluators.crypto.venue_strategy import strategy

ALWAYS = [{"left": 1, "op": ">", "right": 0}]
LONG: dict[str, Any] = {
    "indicators": {},
    "enter_long": ALWAYS,
    "exit_long": [],
    "enter_short": [],
    "exit_short": [],
    "size": 1.0,
}
SHORT = LONG | {"enter_long": [], "enter_short": ALWAYS, "rebalance": True}
"""Kept at its size: a short that is left alone grows with the price, and so fades or follows earlier returns."""


def traits_of(name: str, *, sign: float, lag: int | None = None, choice: int | None = None) -> Traits:
    """Return what a venue is drawn with, by default with the longest lag and the last variant."""
    structure = STRUCTURES[name]
    return Traits(
        jnp.int32(MENU.index(name)),
        jnp.int32(structure.lags[-1] if lag is None else lag),
        jnp.int32(structure.choices - 1 if choice is None else choice),
        jnp.float32(sign),
        jnp.float32(0.45),
    )


def on_venue(traits: Traits, *, seed: int = 1, **options: Any) -> StrategySession:
    """Return the conversation about a venue drawn with ``traits``."""
    settings = parse(Options(**({"mode": "strategy", "transforms": ["baseline"]} | options)))
    place = Venue(jax.random.key(seed), traits)
    load = partial(place.windows, windows=settings.windows, bars=settings.bars, name="venue")
    source = dataset.Source(dataset.AS_OF, 1, load, place.history)
    task = dataset.case(settings, source, seed=seed, index=0).task
    session = dataset.open_strategy(settings, source, task, seed=seed, index=0)
    assert isinstance(session, StrategySession)
    return session


def declared(session: StrategySession, document: dict[str, Any] | str) -> Score:
    """Return what a strategy scores."""
    session.reply(document if isinstance(document, str) else json.dumps(document))
    score = session.score()
    assert "fault" not in score.details, score.reason
    return score


def turned(document: dict[str, Any]) -> dict[str, Any]:
    """Return a strategy that takes the other side."""
    return document | {"enter_long": document["enter_short"], "enter_short": document["enter_long"]}


def at_random(seed: int) -> dict[str, Any]:
    """Return a strategy of drawn series, lags, formulas and levels."""
    rng = np.random.default_rng(seed)
    one, other = rng.choice(["flow", "book", "premium", "leader", "news", "move"], 2, replace=False).tolist()
    mixed = str(rng.choice(["product", "sum"]))
    indicators: dict[str, Any] = {
        "late": {"type": "lag", "of": one, "bars": int(rng.integers(1, 9))},
        "mixed": {"type": mixed, "of": "late", {"product": "by", "sum": "plus"}[mixed]: other},
        "side": {"type": "sign", "of": "mixed"},
        "smooth": {"type": "mean", "of": "side", "window": int(rng.integers(1, 12))},
    }
    level = float(rng.uniform(0.0, 0.3))
    up, down = [{"left": "smooth", "op": ">", "right": level}], [{"left": "smooth", "op": "<", "right": -level}]
    made = LONG | {"indicators": indicators, "enter_long": up, "enter_short": down}
    return turned(made) if rng.random() < 0.5 else made


def fitted(opening: dict[str, Any]) -> dict[str, Any]:
    """Return the strategy that explains the sample best, of every kind, lag and variant that the public menu has.

    Told the message alone. Kinds are read as ``public.read`` reads them, which whoever has the repository can.
    """
    sample = opening["context"]["history"]
    told = {name: np.array(values, float) for name, values in sample.items() if name != "first_hour"}
    move, gap = told["move"] / BASIS, told["gap"] / BASIS
    close = np.exp(np.cumsum(move + gap))
    channels = Channels(**{name: jnp.asarray(told[name] / UNITS[name]) for name in Channels._fields})
    time = 3600.0 * (sample["first_hour"] + np.arange(len(move)))
    leans = np.asarray(_leans(close / np.exp(move), close, time, channels, menu_entries()))
    agreement = (leans * np.sign(move)).mean(axis=1) / np.maximum(leans.std(axis=1), 1e-9)
    best = int(np.abs(agreement).argmax())
    found = Traits(*(field[best] for field in menu_entries()))
    return strategy(found._replace(sign=jnp.float32(np.sign(agreement[best]))))


@lru_cache(maxsize=1)
def menu_entries() -> Traits:
    """Return every structure with every lag and variant, fields ``[entries]``."""
    rows = [
        traits_of(name, sign=1.0, lag=lag, choice=choice)
        for name, each in STRUCTURES.items()
        for lag in each.lags
        for choice in range(each.choices)
    ]
    return Traits(*(jnp.stack(field) for field in zip(*rows, strict=True)))


@jax.jit
def _leans(open_: Any, close: Any, time: Any, channels: Channels, entries: Traits) -> jax.Array:
    def one(traits: Traits) -> jax.Array:
        return public.read(open_, close, time, channels, traits, menu=MENU, bar_seconds=3600.0)

    leans: jax.Array = jax.vmap(one)(entries)
    return leans
