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
from evaluators.crypto.hindsight import Array
from evaluators.crypto.session import InteractiveSession, oracle_order

Policy: TypeAlias = Callable[[InteractiveSession, dict[str, Json]], str]

INFORMATION_COEFFICIENTS = (0.0, 0.02, 0.05, 0.10, 0.20, 0.50, 1.0)
LEAST_BELIEF = 0.10
"""Every forecaster trusts its forecasts at least as if their information coefficient were this, so that all trade."""


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
        return json.dumps({"decisions": [{"episode": row["episode"], **decision} for row in body["episodes"]]})

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
    return once(lambda session, row: sign * float(np.sign(row["state"]["market_metrics"]["funding_rate"])))


def unmirrored(side: float) -> Policy:
    """Take ``side`` in the windows as they are and the other in their mirrors, and hold.

    It reads from the session which is which, as an agent would that had found a tell: with no direction to know, even
    that is worth nothing.
    """
    return once(lambda session, row: -side if session.episodes.mirrored[session.place[row["episode"]]] else side)


def once(side: Callable[[InteractiveSession, Mapping[str, Json]], float]) -> Policy:
    """Trade to ``side`` (-1, 0, 1) of each row at the first message, one times equity, and hold."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        rows = []
        for row in body["episodes"]:
            taken = side(session, row) if body["decision"] == 1 else 0.0
            order = {"action": "BUY" if taken > 0.0 else "SELL", "size": abs(taken)} if taken else HOLD
            rows.append({"episode": row["episode"], **order})
        return json.dumps({"decisions": rows})

    return reply


def at_random(seed: int) -> Policy:
    """Draw action and size anew for every episode at every message."""
    rng = np.random.default_rng(seed)

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        actions = rng.choice(["BUY", "SELL", "HOLD", "CLOSE"], len(body["episodes"]))
        sizes = rng.uniform(0.01, 1.0, len(body["episodes"]))
        rows = zip(body["episodes"], actions.tolist(), sizes.tolist(), strict=True)
        return json.dumps({"decisions": [{"episode": row["episode"], "action": a, "size": s} for row, a, s in rows]})

    return reply


def stop_cheat() -> Policy:
    """Buy with a stop far above the price: a venue that fills stops at their own level would pay for nothing."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        rows = []
        for row in body["episodes"]:
            close = float(row["state"]["ohlcv"]["close"])
            rows.append({"episode": row["episode"], "action": "BUY", "size": 1.0, "stop_loss": 1.5 * close})
        return json.dumps({"decisions": rows})

    return reply


def follow(sides: Array) -> Policy:
    """Trade to the given sides ``[decisions, episodes]`` (-1, 0, 1), one times equity."""

    def reply(session: InteractiveSession, body: dict[str, Json]) -> str:
        t = session.decision
        before = sides[t - 1] if t else np.zeros(sides.shape[1])
        exposures = session.exposures()
        rows = []
        for row in body["episodes"]:
            index = session.place[row["episode"]]
            order = oracle_order(float(sides[t, index]), float(before[index]), exposures[index])
            rows.append({"episode": row["episode"], **order})
        return json.dumps({"decisions": rows})

    return reply


def oracle() -> Policy:
    """Play the hindsight oracle of the session."""
    return lambda session, body: session.oracle()


def replay(session: InteractiveSession) -> Policy:
    """Play in every episode what would have been best in another one: everything was remembered, of the wrong market.

    The other episode is the one of the window before, in its own direction: what an agent saw in an earlier task.
    """
    window, mirrored = session.episodes.window, session.episodes.mirrored
    count = int(window.max()) + 1
    seen = {int(window[index]): index for index in np.flatnonzero(~mirrored)}
    source = [seen[(int(each) - 1) % count] for each in window]
    return follow(session.available.sides[:, source])


def forecaster(session: InteractiveSession, *, information_coefficient: float, seed: int) -> Policy:
    """Trade on forecasts of the next return that correlate with it by ``information_coefficient``.

    The forecast is ``rho z + sqrt(1 - rho^2) e``, ``z`` the coming return in units of its root mean square over the
    episode and ``e`` standard normal (Grinold and Kahn, Active Portfolio Management). It takes the side whose expected
    gain after the cost of changing is largest.
    """
    returns = session.available.returns
    noise = np.random.default_rng(seed).standard_normal(returns.shape)
    spread = np.sqrt(np.mean(returns**2, axis=0))
    rho = information_coefficient
    score = rho * returns / np.where(spread > 0.0, spread, 1.0) + math.sqrt(1.0 - rho**2) * noise
    expected = max(rho, LEAST_BELIEF) * spread * score
    cost = float(one_way(quantity=jnp.zeros(()), volume=jnp.ones(()), rules=session.rules))
    options = np.array([-1.0, 0.0, 1.0])
    sides = np.zeros(returns.shape)
    held = np.zeros(returns.shape[1])
    for t in range(returns.shape[0]):
        worth = options[:, None] * expected[t] - cost * np.abs(options[:, None] - held)
        held = options[worth.argmax(axis=0)]
        sides[t] = held
    return follow(sides)
