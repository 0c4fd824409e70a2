"""The crypto dataset: tasks are bundles of anonymised episodes under one transform."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import jax
import numpy as np

from backtest.rules import DEFAULT_RULES
from evaluators.contract import Case, Dataset, Given, Json, Section, Session, Task
from evaluators.crypto import real_windows
from evaluators.crypto.instructions import instructions, strategy_question
from evaluators.crypto.options import Options
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.settings import Settings, TransformChoice, parse
from evaluators.crypto.strategy_rules import SCHEMA, answer_format
from evaluators.crypto.strategy_session import StrategySession
from evaluators.crypto.venue import Venue
from evaluators.crypto.windows import (
    KNOWABLE_WARMUP_BARS,
    WARMUP_BARS,
    Episodes,
    Windows,
    episodes,
    knowable,
)
from lake.candles import folder

VERSION = "4"
AS_OF = date(2024, 6, 3)


class Crypto(Dataset):
    """Trading episodes under clean, noisy, manipulated and worst-case markets."""

    name = "crypto"
    section: Section = "crypto_trading"
    version = VERSION

    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw tasks; condition ``i`` modulo the number of transforms, windows of its own for every task."""
        settings = parse(Options.read(options))
        cases = [
            case(settings, source, seed=seed, index=index)
            for index, source in enumerate(_sources(settings, seed, count))
        ]
        return [
            replace(first, afresh=partial(afresh, first.task, settings, seed, index, count))
            for index, first in enumerate(cases)
        ]

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of where the markets come from and of the user's own transform files."""
        settings = parse(Options.read(options))
        source = f"crypto {VERSION}: simulated by backtest.simulators"
        if settings.path is not None:
            source = folder.content_hash(settings.path)
        own = sorted({part for choice in settings.transforms for part in choice.name.split("+") if ".py:" in part})
        files = [hashlib.sha256(Path(part.rsplit(":", 1)[0]).read_bytes()).hexdigest() for part in own]
        return hashlib.sha256("\n".join((source, *files)).encode()).hexdigest()


def _sources(settings: Settings, seed: int, count: int) -> list[Source]:
    source = simulated_sources(settings, seed) if settings.path is None else file_sources(settings, seed, count)
    return [source(index) for index in range(count)]


@dataclass(frozen=True)
class Source:
    """Where the windows of one task come from.

    Attributes
    ----------
    as_of
        A day before which nothing of the windows is known.
    decision_every
        Bars between decisions.
    load
        Makes the windows.
    history
        Makes what is told of the history of a simulated venue; None elsewhere.
    """

    as_of: date
    decision_every: int
    load: Callable[[], Windows]
    history: Callable[[], dict[str, Json]] | None = None


def simulated_sources(settings: Settings, seed: int) -> Callable[[int], Source]:
    """Return the source of each task on fresh simulated markets; those of a strategy share one venue."""

    def source(index: int) -> Source:
        key = jax.random.key(entropy(seed, index)[0])
        name = fingerprint(settings, seed, index)[:12]
        if settings.mode == "strategy":
            place = Venue.of(key)
            load = partial(place.windows, windows=settings.windows, bars=settings.bars, name=name)
            return Source(AS_OF, 1, load, place.history)
        load = partial(knowable, key, windows=settings.windows, bars=settings.bars, name=name)
        return Source(AS_OF, settings.decision_every or 1, load)

    return source


def file_sources(settings: Settings, seed: int, count: int) -> Callable[[int], Source]:
    """Return the source of each task on the candle files of ``settings.path``.

    Raises
    ------
    ValueError
        When the files do not hold enough windows for ``count`` tasks.
    """
    path = settings.path or ""
    decisions = settings.bars // (settings.decision_every or 1)
    every = 1 if settings.mode == "strategy" else settings.decision_every
    places = real_windows.places(path, decisions=decisions, every=every, rules=DEFAULT_RULES)
    bundles = real_windows.bundles(places, windows=settings.windows, seed=seed)
    if len(bundles) < count:
        raise ValueError(
            f"path {path!r} holds {len(places)} windows of {decisions} decisions, enough for {len(bundles)} tasks of "
            f"{settings.windows} windows of one interval that lie apart in time (whatever the symbol, with the "
            f"{WARMUP_BARS} bars shown before each); {count} tasks are asked for"
        )
    bucket = real_windows.longest_window(places, decisions=decisions)

    def source(index: int) -> Source:
        chosen = bundles[index]
        first = min(float(place.stretch.market.time[place.first]) for place in chosen)
        load = partial(real_windows.windows_at, chosen, decisions=decisions, bucket_seconds=bucket)
        return Source(datetime.fromtimestamp(first, UTC).date(), chosen[0].every, load)

    return source


def case(settings: Settings, source: Source, *, seed: int, index: int) -> Case:
    """Return one task and the way to open a conversation about it."""
    digest = fingerprint(settings, seed, index)[:12]
    strategy, known = settings.mode == "strategy", settings.path is None
    warmup = KNOWABLE_WARMUP_BARS if known else WARMUP_BARS
    told = instructions(rules=DEFAULT_RULES, warmup=warmup, knowable=known, together=settings.batch != 1)
    task = Task(
        task_id=f"crypto-{digest}",
        section=Crypto.section,
        dataset=Crypto.name,
        category="Crypto Trading",
        family=f"crypto-{digest}",
        as_of=source.as_of,
        question=strategy_question(known=known)
        if strategy
        else "Trade the episodes shown to you, one decision an episode and bar.",
        answer_format=answer_format(channels=known) if strategy else told,
        answer_schema=SCHEMA if strategy else None,
        servers=("trading",) if known and not strategy else (),
    )
    check = partial(check_markets, settings, source, seed=seed, index=index)
    if strategy:
        return Case(task, partial(open_strategy, settings, source, task, seed=seed, index=index), check)
    return Case(task, partial(open_session, settings, source, seed=seed, index=index), check)


def afresh(task: Task, settings: Settings, seed: int, index: int, count: int, number: int) -> Case:
    """Return the task with the number ``index`` of ``count`` on the ``number``-th draw of its markets.

    On candle files the draw is another division of the same windows among the tasks.
    """
    other = int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> 1)
    again = case(settings, _sources(settings, other, count)[index], seed=other, index=index)
    return replace(again, task=replace(again.task, task_id=task.task_id, family=task.family))


def markets(
    settings: Settings, source: Source, *, seed: int, index: int
) -> tuple[Windows, list[tuple[TransformChoice, Callable[[], Episodes]]]]:
    """Return the windows of one task, and a way to make its episodes under each of its market conditions."""
    words = entropy(seed, index)
    windows = source.load()
    every = settings.transforms
    chosen = every if settings.mode == "strategy" else (every[index % len(every)],)
    make = partial(episodes, windows, key=jax.random.key(words[1]), seed=words[2:])
    return windows, [(choice, partial(make, choice)) for choice in chosen]


def check_markets(settings: Settings, source: Source, *, seed: int, index: int) -> None:
    """Refuse a task whose markets no account could be kept in, as ``windows.check`` says it."""
    for _, make in markets(settings, source, seed=seed, index=index)[1]:
        make()


def open_strategy(settings: Settings, source: Source, task: Task, *, seed: int, index: int) -> Session:
    """Make the markets on which one declarative strategy is played: the same windows under every condition."""
    windows, played = markets(settings, source, seed=seed, index=index)
    conditions = [(choice.name, choice.severity, make) for choice, make in played]
    sample = None if source.history is None else source.history()
    return StrategySession(task, conditions, families=windows.family, sample=sample)


def open_session(settings: Settings, source: Source, *, seed: int, index: int) -> Session:
    """Make the markets of one task and the conversation about them."""
    windows, [(choice, make)] = markets(settings, source, seed=seed, index=index)
    return InteractiveSession(
        make(),
        families=windows.family,
        decision_every=source.decision_every,
        batch=settings.batch,
        info={"transform": choice.name, "severity": choice.severity, "sources": sorted(set(windows.label))},
    )


def entropy(seed: int, index: int) -> list[int]:
    """Return the random words of one task: market, transform, disguise."""
    return [int(word) for word in np.random.SeedSequence([seed, index]).generate_state(6)]


def fingerprint(settings: Settings, seed: int, index: int) -> str:
    """Return the identity of a task: dataset version, seed, settings and place in the draw."""
    body = {"version": VERSION, "seed": seed, "index": index, "settings": asdict(settings)}
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()


DATASET = Crypto()
