"""Tasks on knowable markets, and agents of known worth that play them by messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from evaluators.contract import Score
from evaluators.crypto import policies
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.policies import HOLD, Policy, fixed
from evaluators.crypto.session import InteractiveSession

Maker = Callable[[InteractiveSession, int], Policy]
AGENTS = Path(__file__).resolve().parents[3] / "agents"


@cache
def market_learner() -> ModuleType:
    """Return the module of the agents' learner, which is in no package."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("market_learner", AGENTS / "market_learner.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def learner(session: InteractiveSession, number: int) -> Policy:
    agent = market_learner().Learner()
    return lambda session, body: json.dumps(agent.reply(body))


def dip(session: InteractiveSession, number: int) -> Policy:
    """Hold one times equity after a fall of more than half a percent, else nothing."""

    def reply(session: InteractiveSession, body: dict[str, Any]) -> str:
        close = np.log(np.asarray(session.episodes.observed.close))
        fell = close[:, session.bar] - close[:, session.bar - 1] < -0.005
        return json.dumps({"exposures": [float(each) for each in fell]})

    return reply


def channel(name: str) -> Maker:
    """Take the side that a channel shows."""

    def make(session: InteractiveSession, number: int) -> Policy:
        def reply(session: InteractiveSession, body: dict[str, Any]) -> str:
            place = body["columns"].index(name)
            return json.dumps({"exposures": [float(np.sign(row[place])) for row in body["episodes"].values()]})

        return reply

    return make


AGENTS_OF_KNOWN_WORTH: dict[str, Maker] = {
    "informed": lambda session, number: policies.oracle(),
    "half": lambda session, number: policies.half(session, seed=number),
    "flat": lambda session, number: policies.flat(),
    "long": lambda session, number: policies.long(),
    "short": lambda session, number: policies.short(),
    "random": lambda session, number: policies.at_random(number),
    "replay": lambda session, number: policies.replay(session),
    "stop_cheat": lambda session, number: policies.stop_cheat(),
    "unmirrored": lambda session, number: policies.unmirrored(1.0),
    "funding": lambda session, number: policies.by_funding(1.0),
    **{f"trend {back}": (lambda session, number, b=back: policies.moved(b, sign=1.0)) for back in (1, 3, 6, 24)},
    **{f"reversal {back}": (lambda session, number, b=back: policies.moved(b, sign=-1.0)) for back in (1, 3, 6, 24)},
    "dip": dip,
    **{name: channel(name) for name in ("flow", "book", "premium", "leader", "news")},
}


def scores(
    agents: Sequence[str | tuple[str, Maker]], *, tasks: int, seed: int, **options: Any
) -> dict[str, list[Score]]:
    """Return the scores of agents, one a task; each agent plays the same tasks."""
    found: dict[str, list[Score]] = {}
    for number, case in enumerate(DATASET.draw(seed=seed, count=tasks, options=options)):
        for agent in agents:
            name, make = (agent, AGENTS_OF_KNOWN_WORTH[agent]) if isinstance(agent, str) else agent
            session = case.open()
            assert isinstance(session, InteractiveSession)
            found.setdefault(name, []).append(policies.play(session, make(session, number)))
    return found


def values(found: list[Score]) -> Any:
    """Return the scores as numbers ``[tasks]``."""
    return np.array([score.value for score in found])


BUY_AND_HOLD = fixed({"action": "BUY", "size": 1.0}, HOLD)
