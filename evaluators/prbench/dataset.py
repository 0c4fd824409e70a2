"""The dataset ``prbench``: conversations of experts, rubrics with signed weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from evaluators.contract import Json
from evaluators.judge import Criterion, Points, RubricDataset, RubricItem, signed_share
from evaluators.prbench.options import Options

MAX_TURNS = 10
MAX_WEIGHT = 10
CLASSES = (
    "critically important",
    "important",
    "slightly important",
    "slightly detrimental",
    "detrimental",
    "critically detrimental",
)
COLUMNS = ("task", "field", "topic", "rubric", "prompt_0")
ANSWER_FORMAT = "Answer in plain text or Markdown, complete in one reply: there is no further turn."


def read(path: Path) -> list[RubricItem]:
    """Return the finance tasks of a PRBench parquet file, or of every such file of a folder, each task once."""
    import pandas as pd

    files = sorted(path.rglob("*finance*.parquet")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"path: no *finance*.parquet in {path.name!r}")
    items: dict[str, RubricItem] = {}
    for file in files:
        try:
            table = pd.read_parquet(file)
        except Exception as error:
            raise ValueError(f"path: {file.name} is not a readable parquet file: {error}") from error
        missing = [column for column in COLUMNS if column not in table.columns]
        if missing:
            raise ValueError(f"{file.name}: column {missing[0]!r} is missing; PRBench has {', '.join(COLUMNS)}")
        for record in table.to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            if row["field"] == "Finance":
                items.setdefault(str(row["task"]), _item(row, f"{file.name} task {row['task']}"))
    return list(items.values())


def weight_of(annotations: Mapping[str, Any]) -> int:
    """Return the weight that the criterion's class names, -10 to 10 and never 0.

    An annotation may carry weights of other classes as well, left over from its revision; they do not count.

    Raises
    ------
    ValueError
        An unknown class, no weight of that class, or one that is not a whole number in the range.
    """
    kind = annotations.get("weight_class")
    if kind not in CLASSES:
        raise ValueError(f"weight_class must be one of {', '.join(CLASSES)}, got {kind!r}")
    weight = annotations.get(f"{kind.replace(' ', '_')}_weight")
    if weight is None or weight != int(weight) or not 0 < abs(weight) <= MAX_WEIGHT:
        raise ValueError(f"the weight of class {kind!r} must be a whole number from -10 to 10, not 0, got {weight!r}")
    return int(weight)


def _criterion(entry: Mapping[str, Any]) -> Criterion:
    annotations = entry["annotations"]
    return Criterion(
        str(entry["id"]),
        str(entry["title"]).strip(),
        float(weight_of(annotations)),
        str(annotations["criteria_category"]),
        "required",
    )


def _item(row: Mapping[str, Any], place: str) -> RubricItem:
    try:
        criteria = tuple(_criterion(entry) for entry in row["rubric"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{place}: {error}") from error
    prompts = [row[key] for turn in range(MAX_TURNS) if isinstance(row.get(key := f"prompt_{turn}"), str)]
    return RubricItem(
        name=str(row["task"]),
        category=str(row["topic"]),
        question=prompts[-1].strip(),
        answer_format=ANSWER_FORMAT,
        criteria=criteria,
        context=_context(row, prompts),
        kept={"canary": str(row["canary"])} if isinstance(row.get("canary"), str) else {},
    )


def _context(row: Mapping[str, Any], prompts: Sequence[str]) -> dict[str, Json]:
    """Return the earlier turns and the reference texts of the conversation."""
    context: dict[str, Json] = {}
    if len(prompts) > 1:
        turns: list[Json] = []
        for turn, prompt in enumerate(prompts[:-1]):
            said = row.get(f"response_{turn}")
            turns.append({"role": "user", "content": prompt})
            turns.append({"role": "assistant", "content": said if isinstance(said, str) else ""})
        context["conversation"] = turns
    references = [
        str(text)
        for turn in range(len(prompts))
        if (texts := row.get(f"reference_texts_{turn}")) is not None and not isinstance(texts, float)
        for text in texts
    ]
    if references:
        context["reference_texts"] = references
    return context


def mark(criteria: Sequence[Criterion], met: Mapping[str, bool]) -> Points:
    """Return the clipped share of the signed weights, and the same share within each category of criteria."""
    parts = {}
    for category in dict.fromkeys(criterion.dimension for criterion in criteria):
        mine = [criterion for criterion in criteria if criterion.dimension == category]
        if any(criterion.weight > 0 for criterion in mine):
            parts[category] = 100.0 * signed_share(mine, met)
    return Points(100.0 * signed_share(criteria, met), parts)


DATASET = RubricDataset(
    name="prbench",
    section="knowledge_retrieval",
    version="1.2",
    as_of=date(2025, 11, 30),
    read=read,
    mark=mark,
    pass_mark=75.0,
    options=Options,
)
