"""The dataset ``public_csv``: correctness and contradiction criteria, the figures of the former decided by code."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from evaluators.judge import Criterion, Points, RubricDataset, RubricItem, positive_weight, signed_share
from evaluators.public_csv.options import Options

COLUMNS = ("Question", "Answer", "Question Type", "Rubric")
CONTRADICTION_SHARE = 0.5
"""Share of all points that a contradiction of the reference answer costs. It is judged: no more than half."""

ANSWER_FORMAT = (
    "Answer in plain text. State every figure with its unit, its sign and the period or item it belongs to, one fact a "
    "line. What contradicts the filings costs points, so give one answer and no alternatives."
)


def read(path: Path) -> list[RubricItem]:
    """Return the questions of a ``public.csv`` (a file, or a folder that holds it), version 1 or 1.1."""
    file = path / "public.csv" if path.is_dir() else path
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"path: cannot read {file.name}: {error}") from error
    missing = [column for column in COLUMNS if not rows or column not in rows[0]]
    if missing:
        raise ValueError(f"{file.name}: needs a header with {', '.join(COLUMNS)} and a row; {missing[0]!r} is missing")
    return [_item(row, f"{file.name} row {number}") for number, row in enumerate(rows, start=1)]


def parse_rubric(text: str) -> list[dict[str, Any]]:
    """Return the criteria of a rubric cell: strict JSON (version 1.1) or a Python literal (version 1).

    Raises
    ------
    ValueError
        Neither form, or not a list of ``operator`` and ``criteria``.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError(f"the rubric is neither JSON nor a Python literal: {text[:60]!r}") from error
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ValueError(f"the rubric must be a list of objects, got {text[:60]!r}")
    for entry in found:
        if entry.get("operator") not in ("correctness", "contradiction") or not isinstance(entry.get("criteria"), str):
            raise ValueError(f"a criterion needs operator correctness or contradiction and criteria, got {entry!r}")
    return found


def criteria_of(rubric: Sequence[Mapping[str, Any]]) -> tuple[Criterion, ...]:
    """Return one point a correctness criterion; contradictions share a loss of half of all points."""
    facts = [entry["criteria"] for entry in rubric if entry["operator"] == "correctness"]
    golds = [entry["criteria"] for entry in rubric if entry["operator"] == "contradiction"]
    made = [Criterion(f"correctness-{n}", f, 1.0, "correctness", "decisive") for n, f in enumerate(facts, start=1)]
    loss = -CONTRADICTION_SHARE * len(facts) / max(1, len(golds))
    made += [
        Criterion(
            f"contradiction-{n}",
            f"The response states something that cannot be true together with this reference answer: {gold}",
            loss,
            "contradiction",
        )
        for n, gold in enumerate(golds, start=1)
    ]
    positive_weight(made)
    return tuple(made)


def _item(row: Mapping[str, str], place: str) -> RubricItem:
    try:
        criteria = criteria_of(parse_rubric(row["Rubric"] or ""))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return RubricItem(
        name=hashlib.sha256(row["Question"].encode()).hexdigest()[:12],
        category=row["Question Type"].strip(),
        question=row["Question"].strip(),
        answer_format=ANSWER_FORMAT,
        criteria=criteria,
        stated=True,
        gold_text=row["Answer"].strip(),
    )


def mark(criteria: Sequence[Criterion], met: Mapping[str, bool]) -> Points:
    """Return the share of facts stated, less the loss of a contradiction."""
    facts = [criterion for criterion in criteria if criterion.weight > 0]
    faults = [criterion for criterion in criteria if criterion.weight < 0]
    parts = {"correctness": 100.0 * signed_share(facts, met)}
    if faults:
        parts["no contradiction"] = 0.0 if any(met[c.name] for c in faults) or not any(met.values()) else 100.0
    return Points(100.0 * signed_share(criteria, met), parts)


DATASET = RubricDataset(
    name="public_csv",
    section="knowledge_retrieval",
    version="1.2",
    as_of=date(2025, 12, 31),
    read=read,
    mark=mark,
    pass_mark=100.0,
    options=Options,
)
