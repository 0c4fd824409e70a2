"""Agents of known worth, in process: what the score must say about them is known beforehand.

Each is a function ``(session, message body) -> reply text``; it plays by the same text messages as any agent. The
forecasters and the oracle read the future of the traded market from the session, which no agent can.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from backtest.costs import one_way
from evaluators.contract import Json, Score
from evaluators.crypto import knowledge
from evaluators.crypto.equivalent import LEAST_BELIEF
from evaluators.crypto.hindsight import Array, Available, available
from evaluators.crypto.knowledge import banded
from evaluators.crypto.play import START_EQUITY
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.verdict import Conditional

Policy: TypeAlias = Callable[[InteractiveSession, dict[str, Json]], str]

INFORMATION_COEFFICIENTS = (0.0, 0.02, 0.05, 0.10, 0.20, 0.50, 1.0)
"""Of forecasters on candles, where nobody knows how good a forecast can be."""
KNOWABLE_COEFFICIENTS = (0.0, 0.02, 0.05, 0.10, 0.20, 0.35)
"""Of forecasters on simulated markets; nobody who looks back has more than what can be known, some 0.45."""


def play(session: InteractiveSession, policy: Policy) -> Score:
    """Return the score of a policy that plays the whole conversation."""
    body: dict[str, Json] | None = session.opening()
    while body is not None:
        body = session.reply(policy(session, body))
    return session.score()


def fixed(first: dict[str, Json], later: dict[str, Json]) -> Policy:
    """Give one decision to every episode at the first message and another at all others."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        decision = first if body["decision"] == 1 else later
        return json.dumps({"decisions": [{"episode": name, **decision} for name in body["episodes"]]})

    return reply


HOLD: dict[str, Json] = {"action": "HOLD", "size": 0.0}


def flat() -> Policy:
    """Do nothing."""
    return fixed(HOLD, HOLD)


def long() -> Policy:
    """Buy once for all equity, never sell."""
    return fixed({"action": "BUY", "size": 1.0}, HOLD)


def short() -> Policy:
    """Sell once for all equity, never buy back."""
    return fixed({"action": "SELL", "size": 1.0}, HOLD)


def by_funding(sign: float) -> Policy:
    """Take at the first message the side of the shown funding rate's sign (``sign`` -1: the other side), and hold."""

    def side(session: InteractiveSession, index: int) -> float:
        rates = np.asarray(session.episodes.observed.funding_rate)[index, : session.bar + 1]
        paid = np.flatnonzero(rates)
        return sign * float(np.sign(rates[paid[-1]])) if paid.size else 0.0

    return once(side)


def unmirrored(side: float) -> Policy:
    """Take ``side`` in the windows as they are and the other in their mirrors, and hold.

    It reads from the session which is which, as an agent would that had found a tell: with no direction to know, even
    that is worth nothing.
    """
    return once(lambda session, index: -side if session.episodes.mirrored[index] else side)


def once(side: Callable[[InteractiveSession, int], float]) -> Policy:
    """Trade to ``side`` (-1, 0, 1) of each episode at the first message, one times equity, and hold."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        rows = []
        for name in body["episodes"]:
            taken = side(session, session.place[name]) if body["decision"] == 1 else 0.0
            order = {"action": "BUY" if taken > 0.0 else "SELL", "size": abs(taken)} if taken else HOLD
            rows.append({"episode": name, **order})
        return json.dumps({"decisions": rows})

    return reply


def at_random(seed: int) -> Policy:
    """Draw action and size anew for every episode at every message."""
    rng = np.random.default_rng(seed)

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        actions = rng.choice(["BUY", "SELL", "HOLD", "CLOSE"], len(body["episodes"]))
        sizes = rng.uniform(0.01, 1.0, len(body["episodes"]))
        rows = zip(body["episodes"], actions.tolist(), sizes.tolist(), strict=True)
        return json.dumps({"decisions": [{"episode": name, "action": a, "size": s} for name, a, s in rows]})

    return reply


def stop_cheat() -> Policy:
    """Buy with a stop far above the price: a venue that fills stops at their own level would pay for nothing."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        rows = []
        for name, row in body["episodes"].items():
            rows.append({"episode": name, "action": "BUY", "size": 1.0, "stop_loss": 1.5 * float(row[0])})
        return json.dumps({"decisions": rows})

    return reply


def moved(back: int, *, sign: float) -> Policy:
    """Take the side of the move of the last ``back`` bars (``sign`` -1: the other side), anew at every message."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        close = np.log(np.asarray(session.episodes.observed.close))
        sides = sign * np.sign(close[:, session.bar] - close[:, session.bar - back])
        return json.dumps({"exposures": {name: float(sides[session.place[name]]) for name in session.names}})

    return reply


def follow(sides: Array) -> Policy:
    """Trade to the given sides ``[decisions, episodes]`` (-1, 0, 1), one times equity."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        now = sides[session.decision]
        return json.dumps({"exposures": {name: float(now[session.place[name]]) for name in body["episodes"]}})

    return reply


def oracle() -> Policy:
    """Play the oracle of the session: the informed policy, or on candles the best path known in hindsight."""
    return lambda session, body: session.oracle()


def spoken_to(agent: Callable[[Mapping[str, Json]], str]) -> Policy:
    """Play an agent that is told the messages alone."""
    return lambda session, body: agent(body)


def half(session: InteractiveSession, *, seed: int) -> Policy:
    """Play the oracle in one of each two windows, drawn, and nothing in the others.

    Where it is known what each window offers, the two are alike in that: half of the knowledge, not half of the luck.
    """
    rng, window = np.random.default_rng(seed), session.episodes.window
    order = rng.permutation(int(window.max()) + 1)
    if isinstance(session.verdict, Conditional):
        order = np.argsort(knowledge.net(session.verdict.best, window))
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    knows = np.zeros(len(order), bool)
    knows[np.take_along_axis(pairs, rng.integers(0, 2, (len(pairs), 1)), axis=1)] = True
    return follow(session.verdict.sides * knows[window])


def hindsight(session: InteractiveSession) -> Policy:
    """Play what was the best path of positions, as if the future were known; elsewhere than on candles no oracle."""
    return follow(offered(session).sides)


def replay(session: InteractiveSession) -> Policy:
    """Play in every episode what would have been best in another one: everything was remembered, of the wrong market.

    The other episode is the one of the window before, in its own direction: what an agent saw in an earlier task.
    """
    window, mirrored = session.episodes.window, session.episodes.mirrored
    count = int(window.max()) + 1
    seen = {int(window[index]): index for index in np.flatnonzero(~mirrored)}
    source = [seen[(int(each) - 1) % count] for each in window]
    return follow(session.verdict.sides[:, source])


def offered(session: InteractiveSession) -> Available:
    """Return what the markets of a session offered to hindsight."""
    return available(session.traded, decision_every=session.every, rules=session.rules, equity=START_EQUITY)


def forecaster(session: InteractiveSession, *, information_coefficient: float, seed: int) -> Policy:
    """Trade on forecasts of the next return that correlate with it by ``information_coefficient``.

    The forecast is ``rho z + sqrt(1 - rho^2) e`` with ``e`` standard normal (Grinold and Kahn, Active Portfolio
    Management). On candles ``z`` is the coming return in units of its root mean square over the episode. On simulated
    markets nobody can know the return, and it is what can be known, in its own units: the correlation with the return
    is by so much smaller, and ``rho`` is by so much larger.
    """
    returns = offered(session).returns
    spread = np.sqrt(np.mean(returns**2, axis=0))
    z, share = returns / np.where(spread > 0.0, spread, 1.0), information_coefficient
    if session.episodes.known is not None:
        known = session.episodes.known
        mean, deviation = (field[:, session.warmup :: session.every].T for field in (known.mean, known.deviation))
        z = np.where(deviation > 0.0, mean / np.where(deviation > 0.0, deviation, 1.0), 0.0)
        size = float(np.sqrt(np.mean(z**2)))
        if information_coefficient > size:
            raise ValueError(
                f"information_coefficient must be at most {size:.3f}, what can be known here, got "
                f"{information_coefficient}"
            )
        z, share, spread = z / size, information_coefficient / size, deviation
    noise = np.random.default_rng(seed).standard_normal(returns.shape)
    forecast = share * z + math.sqrt(1.0 - share**2) * noise
    cost = float(one_way(quantity=jnp.zeros(()), volume=jnp.ones(()), rules=session.rules))
    expected = max(information_coefficient, LEAST_BELIEF) * spread * forecast
    return follow(banded(expected, np.full(returns.shape, cost)))
