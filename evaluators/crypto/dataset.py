"""The crypto dataset: tasks are bundles of anonymised episodes under one transform."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial

import jax
import numpy as np

from evaluators.contract import Case, Json, Section, Session, Task
from evaluators.crypto import windows as window_source
from evaluators.crypto.session import RULES_TEXT, InteractiveSession
from evaluators.crypto.settings import Settings, TransformChoice, parse

VERSION = "1"
AS_OF = date(2024, 6, 3)


class Crypto:
    """Trading episodes under clean, noisy, manipulated and worst-case markets."""

    name = "crypto"
    section: Section = "crypto_trading"
    version = VERSION

    def draw(self, *, seed: int, count: int, options: Mapping[str, Json]) -> Sequence[Case]:
        """Draw tasks; condition ``i`` modulo the number of transforms, windows of its own for every task."""
        settings = parse(options)
        return [self._case(settings, seed=seed, index=index) for index in range(count)]

    def data_hash(self, options: Mapping[str, Json]) -> str:
        """Return the sha256 of the candle files, or of the simulator's name where markets are simulated."""
        parse(options)
        return hashlib.sha256(f"crypto {VERSION}: simulated by backtest.simulators".encode()).hexdigest()

    def _case(self, settings: Settings, *, seed: int, index: int) -> Case:
        choice = settings.transforms[index % len(settings.transforms)]
        digest = fingerprint(settings, seed, index)
        task = Task(
            task_id=f"crypto-{digest[:12]}",
            section=self.section,
            dataset=self.name,
            category="Crypto Trading",
            family=f"crypto-{digest[:12]}",
            as_of=AS_OF,
            question="Trade the episodes shown to you, one decision an episode and bar.",
            answer_format=RULES_TEXT,
        )
        return Case(task, partial(open_session, settings, choice, seed=seed, index=index, digest=digest))


def open_session(settings: Settings, choice: TransformChoice, *, seed: int, index: int, digest: str) -> Session:
    """Make the markets of one task and the conversation about them."""
    every = settings.decision_every or 1
    entropy = [int(word) for word in np.random.SeedSequence([seed, index]).generate_state(4)]
    market_key, transform_key = jax.random.split(jax.random.key(entropy[0]))
    found = window_source.simulated(
        market_key, windows=settings.windows, bars=window_source.WARMUP_BARS + settings.bars, name=digest[:12]
    )
    episodes = window_source.episodes(found, choice, key=transform_key, seed=entropy[1:])
    return InteractiveSession(
        episodes,
        families=found.family,
        decision_every=every,
        batch=settings.batch,
        info={"transform": choice.name, "severity": choice.severity, "source": found.label[0]},
    )


def fingerprint(settings: Settings, seed: int, index: int) -> str:
    """Return the identity of a task: dataset version, seed, settings and place in the draw."""
    body = {"version": VERSION, "seed": seed, "index": index, "settings": asdict(settings)}
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()


DATASET = Crypto()
