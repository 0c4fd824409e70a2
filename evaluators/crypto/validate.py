"""Whether the crypto score measures skill: agents of known worth play windows of any candle files.

``traderbench validate crypto --data FOLDER --json`` prints what :func:`validate_crypto` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

WINDOWS = 96
DECISIONS = 28
TASK_WINDOWS, TASK_DECISIONS = 48, 12
"""Of a task on simulated markets, as by default."""
MOST_CURVES = 8
"""Conversations whose markets tell what a forecaster would have scored there."""
BACK = 6
"""Bars that the trend follower and his opposite look back."""
LEAST_WINDOWS = 12
RANDOM_DECISIONS = 20_000


class Row(NamedTuple):
    """What one policy showed on one group of windows."""

    samples: Any
    families: tuple[str, ...]
    equivalent: Callable[[float, float], Any]
    paper_product: float
    as_published: float


def validate_crypto(
    data: str | Path | None = None,
    *,
    windows: int = WINDOWS,
    repeats: int | None = None,
    seed: int = 0,
    learner: Callable[[], Callable[[Mapping[str, Any]], str]] | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, dict[str, float]]:
    """Return what the crypto score says about agents of known worth.

    Parameters
    ----------
    data
        Folder or file of candles, any symbol and interval; None takes simulated markets.
    windows
        Windows to draw at most, spread over the intervals that the files hold; each is played with its mirror image.
    repeats
        How often policies that draw random numbers are played, each time with other numbers; None: as often as makes
        some 20,000 decisions.
    seed
        Of the choice of windows and of the random policies.
    learner
        Makes an agent that replies to message bodies, to be played on simulated markets beside the others: one that
        fits on what it is shown. It is no part of this package, because it may know nothing of it.
    progress
        Called with the name of each policy before it plays.

    Returns
    -------
    dict
        ``{policy: {"skill", "se", "equivalent_ic", "equivalent_ic_low", "equivalent_ic_high", "paper_product",
        "as_published"}}``; skill and its standard error (clustered by time) in points, not cut at 0; the information
        coefficient of a forecaster who would score the same, with its 95% interval.

    Raises
    ------
    ValueError
        When the folder holds no candles, or too few for one window.
    """
    openers = sessions(data, windows=windows, seed=seed)
    if repeats is None:
        asked = sum(session.count * session.decisions for session in (opener() for opener in openers))
        repeats = max(1, round(RANDOM_DECISIONS / asked))
    results: dict[str, dict[str, float]] = {}
    for name, make, times in policies(repeats, seed, knowable=data is None, learner=learner):
        if progress is not None:
            progress(name)
        rows = [played(opener, make, repeat) for opener in openers for repeat in range(times)]
        results[name] = pooled(rows)
    return results


def policies(
    repeats: int,
    seed: int,
    *,
    knowable: bool,
    learner: Callable[[], Callable[[Mapping[str, Any]], str]] | None = None,
) -> list[tuple[str, Callable[[Any, int], Any], int]]:
    """Return name, maker ``(session, repeat) -> policy`` and number of repeats of every policy."""
    from evaluators.crypto import policies as crypto

    rows: list[tuple[str, Callable[[Any, int], Any], int]] = [
        ("flat", lambda session, repeat: crypto.flat(), 1),
        ("long", lambda session, repeat: crypto.long(), 1),
        ("short", lambda session, repeat: crypto.short(), 1),
        ("funding", lambda session, repeat: crypto.by_funding(1.0), 1),
        ("funding_opposite", lambda session, repeat: crypto.by_funding(-1.0), 1),
        ("unmirrored_long", lambda session, repeat: crypto.unmirrored(1.0), 1),
        ("unmirrored_short", lambda session, repeat: crypto.unmirrored(-1.0), 1),
        ("random", lambda session, repeat: crypto.at_random(seed + 1000 * repeat + 1), repeats),
        ("replay", lambda session, repeat: crypto.replay(session), 1),
        ("stop_cheat", lambda session, repeat: crypto.stop_cheat(), 1),
        ("trend", lambda session, repeat: crypto.moved(BACK, sign=1.0), 1),
        ("reversal", lambda session, repeat: crypto.moved(BACK, sign=-1.0), 1),
        ("half", lambda session, repeat: crypto.half(session, seed=seed + 1000 * repeat + 3), repeats),
        ("oracle", lambda session, repeat: crypto.oracle(), 1),
    ]
    if knowable:
        rows.append(("informed", lambda session, repeat: crypto.oracle(), 1))
        rows.append(("hindsight", lambda session, repeat: crypto.hindsight(session), 1))
        if learner is not None:
            rows.append(("learner", lambda session, repeat: crypto.spoken_to(learner()), 1))
    for rho in crypto.KNOWABLE_COEFFICIENTS if knowable else crypto.INFORMATION_COEFFICIENTS:

        def make(session: Any, repeat: int, rho: float = rho) -> Any:
            return crypto.forecaster(session, information_coefficient=rho, seed=seed + 1000 * repeat + 2)

        rows.append((f"ic_{rho:.2f}", make, repeats))
    return rows


def sessions(data: str | Path | None, *, windows: int, seed: int) -> list[Callable[[], Any]]:
    """Return a way to open a conversation for each group of windows that fit together."""
    import jax

    from backtest.rules import DEFAULT_RULES
    from evaluators.crypto import real_windows
    from evaluators.crypto.session import InteractiveSession
    from evaluators.crypto.settings import TransformChoice
    from evaluators.crypto.windows import Windows, episodes, knowable

    key = jax.random.key(seed)

    def opener(found: Windows, every: int) -> Callable[[], Any]:
        played = episodes(found, TransformChoice("baseline"), key=key, seed=[seed])
        info = {"transform": "baseline"}
        return lambda: InteractiveSession(played, families=found.family, decision_every=every, batch=None, info=info)

    if data is None:
        tasks = [TASK_WINDOWS] * max(1, windows // TASK_WINDOWS) if windows > TASK_WINDOWS else [windows]
        keys = jax.random.split(key, len(tasks))
        return [
            opener(knowable(each, windows=count, bars=TASK_DECISIONS, name=f"task{place}"), 1)
            for place, (each, count) in enumerate(zip(keys, tasks, strict=True))
        ]
    decisions, found = DECISIONS, None
    while found is None:
        try:
            found = real_windows.places(str(data), decisions=decisions, every=None, rules=DEFAULT_RULES)
        except ValueError:
            if decisions <= DECISIONS // 4:
                raise
        if (found is None or len(found) < LEAST_WINDOWS) and decisions > DECISIONS // 4:
            decisions, found = decisions // 2, None
    bucket = real_windows.longest_window(found, decisions=decisions)
    chosen = shares(real_windows.grouped(found), windows, seed)
    return [
        opener(real_windows.windows_at(group, decisions=decisions, bucket_seconds=bucket), group[0].every)
        for group in chosen
    ]


def shares(groups: dict[tuple[float, int], list[Any]], windows: int, seed: int) -> list[list[Any]]:
    """Return up to ``windows`` places drawn from the groups, smaller groups whole, the rest in equal shares.

    A group of one window is left out: the scale of a window comes from the others.
    """
    rng = np.random.default_rng([seed, 2])
    left, chosen = windows, []
    ordered = sorted(groups.values(), key=len)
    for number, group in enumerate(ordered):
        take = min(len(group), left // (len(ordered) - number))
        if take >= 2:
            picked = np.sort(rng.permutation(len(group))[:take])
            chosen.append([group[index] for index in picked])
            left -= take
    return chosen


def played(opener: Callable[[], Any], make: Callable[[Any, int], Any], repeat: int) -> Row:
    """Return what a policy shows in one conversation."""
    from evaluators.crypto.policies import play

    session = opener()
    score = play(session, make(session, repeat))
    details = score.details
    samples = np.array([sample["value"] for sample in details["samples"]])
    return Row(samples, session.families, session.verdict.equivalent, details["paper_product"], details["as_published"])


def pooled(rows: Sequence[Row]) -> dict[str, float]:
    """Return the measures over all windows of all conversations."""
    from evaluators.crypto.skill import error_of_mean

    samples = np.concatenate([row.samples for row in rows])
    families = [family for row in rows for family in row.families]
    weights = [len(row.families) for row in rows]
    skill, se = float(samples.mean()), error_of_mean(samples, families)
    found = [each for row in rows[:MOST_CURVES] if (each := row.equivalent(skill, se)) is not None]
    value, low, high = (float(end) for end in np.mean(found, axis=0)) if found else (0.0, 0.0, 0.0)
    return {
        "skill": min(skill, 100.0),
        "se": se,
        "equivalent_ic": value,
        "equivalent_ic_low": low,
        "equivalent_ic_high": high,
        "paper_product": float(np.average([row.paper_product for row in rows], weights=weights)),
        "as_published": float(np.average([row.as_published for row in rows], weights=weights)),
    }
