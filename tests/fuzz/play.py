"""Plays: right arguments, the same in other forms, some missing, some wrong; counts what came of them."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import pandas as pd

from tests.fuzz import wrong
from tests.fuzz.case import Case, Random

RIGHT, CLEAR, SILENT, UNCLEAR = "right number", "clear error", "silent wrong number", "unclear error"


@dataclass
class Tally:
    """Outcomes by function, and the first examples of what must not be."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, name: str, outcome: str, why: Callable[[], str]) -> None:
        self.outcomes.setdefault(name, Counter())[outcome] += 1
        if outcome in (SILENT, UNCLEAR):
            self.faults.append(f"{outcome}: {name}: {why()}")

    def total(self, outcome: str | None = None) -> int:
        return sum(sum(c.values()) if outcome is None else c[outcome] for c in self.outcomes.values())


def play(cases: list[Case], calls: int, *, seed: int, short: bool = False) -> Tally:
    """Make ``calls`` calls, spread over the cases by weight, every case at least once."""
    rng = np.random.default_rng(seed)
    tally = Tally()
    weights = np.array([case.weight for case in cases])
    order = np.concatenate(
        [np.arange(len(cases)), rng.choice(len(cases), max(calls - len(cases), 0), p=weights / weights.sum())]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in order[:calls]:
            _once(cases[each], rng, tally, short)
    return tally


def _once(case: Case, rng: Random, tally: Tally, short: bool) -> None:
    arguments = case.make(rng)
    seen = tally.outcomes.get(case.name, Counter())
    chance = rng.random() * (0.3 if case.dear and seen[RIGHT] > 2 else 1.0)
    if short and case.dear:
        _expect_error(case, arguments, rng, tally)
    elif not seen or 0.45 < chance < 0.65 or not arguments:
        _expect_right(case, arguments, arguments, tally, "as they are")
    elif chance >= 0.85:
        forms = {name: wrong.other_form(rng, name, value) for name, value in arguments.items()}
        _expect_right(case, arguments, forms, tally, "in other forms")
    elif chance >= 0.75:
        _expect_right(case, arguments, wrong.under_labels(arguments, rng), tally, "as Series")
    elif chance >= 0.65:
        _expect_missing(case, arguments, rng, tally)
    else:
        _expect_error(case, arguments, rng, tally)


def _expect_right(case: Case, right: dict[str, Any], given: dict[str, Any], tally: Tally, how: str) -> None:
    try:
        answer = case.function(**given)
        fine = bool(case.check(right, _plain(answer)))
        if fine and how == "as Series":
            fine = _labels_kept(case, given, answer)
    except Exception as error:
        said = f"right arguments gave {type(error).__name__}: {str(error)[:300]}"
        tally.add(case.name, UNCLEAR, lambda: f"{how}: {_shown(given)}: {said}")
        return
    tally.add(case.name, RIGHT if fine else SILENT, lambda: f"{how}: {_shown(given)} -> {_brief(answer)}")


def _expect_missing(case: Case, arguments: dict[str, Any], rng: Random, tally: Tally) -> None:
    """NaN in one value of one array: NaN there in every result, the rest as before; or a clear error."""
    names = [n for n, v in arguments.items() if isinstance(v, np.ndarray) and v.dtype == np.float64 and v.size]
    if not names:
        _expect_error(case, arguments, rng, tally)
        return
    name = names[rng.integers(len(names))]
    holed = arguments[name].copy()
    place = int(rng.integers(holed.size))
    holed.flat[place] = np.nan

    def shown() -> str:
        return f"NaN at {place} of {name}: {_shown(arguments)}"

    try:
        answer = case.function(**{**arguments, name: holed})
    except Exception as error:
        _judge_error(case, name, error, tally, shown)
        return
    leaves = [leaf for leaf in map(np.asarray, _leaves(_plain(answer))) if leaf.dtype.kind == "f"]
    elementwise = holed.ndim == 1 and leaves and all(leaf.shape == holed.shape for leaf in leaves)
    missing = (
        all(np.isnan(leaf[place]) for leaf in leaves) if elementwise else any(np.isnan(leaf).any() for leaf in leaves)
    )
    right = missing or case.name in SEEN_AS_UNKNOWN
    tally.add(case.name, RIGHT if right else SILENT, lambda: f"{shown()} -> {_brief(answer)}")


SEEN_AS_UNKNOWN = {
    "pricing.surface.history.iv_rank",
    "pricing.surface.history.iv_percentile",
    "pricing.chain.build",
    "backtest.metrics.path.total_return",
    "backtest.metrics.path.log_growth",
    "backtest.metrics.path.annual_return",
    "backtest.metrics.path.turnover",
    "backtest.account.action",
    "backtest.account.hold",
}
"""Where the docstring gives NaN a meaning (left out, unknown, hold), or only the ends of a path are read."""


def _expect_error(case: Case, arguments: dict[str, Any], rng: Random, tally: Tally) -> None:
    name = list(arguments)[rng.integers(len(arguments))]
    annotation = str(inspect.signature(case.function).parameters[name].annotation)
    beside = case.name not in APART and any(
        isinstance(v, np.ndarray) and v.size > 1 for n, v in arguments.items() if n != name
    )
    value = wrong.wrong_for(rng, name, arguments[name], annotation=annotation, beside=beside)
    if isinstance(arguments[name], np.ndarray) and rng.random() < 0.15 and arguments[name].shape == (3,):
        others = {
            n: pd.Series(v) for n, v in arguments.items() if isinstance(v, np.ndarray) and v.shape == (3,) and n != name
        }
        if others:
            arguments = {**arguments, **others}
            value = pd.Series(arguments[name], index=[2, 1, 0])

    def shown() -> str:
        return f"{name} = {_brief(value)}"

    try:
        answer = case.function(**{**arguments, name: value})
    except Exception as error:
        _judge_error(case, name, error, tally, shown)
        return
    tally.add(case.name, SILENT, lambda: f"{shown()} -> {_brief(answer)}")


def _judge_error(case: Case, name: str, error: Exception, tally: Tally, shown: Callable[[], str]) -> None:
    clear = (
        isinstance(error, ValueError)
        and (name.split("_")[0] in str(error) or "unknown" in str(error))
        and len(str(error)) < 400
    )
    said = f"{type(error).__name__}: {str(error)[:200]}"
    tally.add(case.name, CLEAR if clear else UNCLEAR, lambda: f"{shown()}: {said}")


def _leaves(answer: Any) -> list[Any]:
    found: list[Any] = []
    for leaf in jax.tree.leaves(answer):
        inner = vars(leaf).values() if dataclasses.is_dataclass(leaf) else None
        found += [leaf] if inner is None else [each for part in inner for each in _leaves(part)]
    return found


def _plain(answer: Any) -> Any:
    if isinstance(answer, pd.Series):
        return answer.to_numpy()
    if isinstance(answer, tuple):
        parts = [_plain(part) for part in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else tuple(parts)
    return answer


def _labels_kept(case: Case, given: dict[str, Any], answer: Any) -> bool:
    series = next((value for value in given.values() if isinstance(value, pd.Series)), None)
    first = answer[0] if isinstance(answer, tuple) and answer else answer
    if series is None or np.shape(first) != series.shape or isinstance(first, pd.Series):
        return (
            series is None
            or not isinstance(first, pd.Series)
            or first.index.equals(series.index)
            or len(first) < len(series)
        )
    return case.name in WITHOUT_LABELS


APART: set[str] = set()
"""Functions whose arrays have axes of their own."""

WITHOUT_LABELS: set[str] = {
    "backtest.account.action",
    "backtest.account.hold",
    "backtest.account.target",
}


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_brief(value)}" for name, value in arguments.items())


def _brief(value: Any) -> str:
    return " ".join(repr(value).split())[:120]
