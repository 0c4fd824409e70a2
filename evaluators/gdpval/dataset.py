"""The dataset ``gdpval``: professional tasks of 44 occupations, judged line by line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from evaluators.contract import Json
from evaluators.gdpval import rubric
from evaluators.gdpval.options import Options
from evaluators.judge import RubricDataset, RubricItem

COLUMNS = ("task_id", "occupation", "prompt")
RUBRIC_COLUMNS = ("rubric_pretty", "rubric")
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz")
ANSWER_FORMAT = (
    "Reply with the finished deliverables themselves as text: each under a line `# <file name>`, tables in Markdown or "
    "CSV, a document or a slide as the text it holds in the order of its pages. Only the text of the reply is judged."
)


def read(path: Path) -> list[RubricItem]:
    """Return the tasks of a file, or of a folder; where several files have a task, a row with a rubric goes first."""
    files = sorted(f for f in path.rglob("*") if f.name.endswith(SUFFIXES)) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"path: no file ending in {', '.join(SUFFIXES)} in {path.name!r}")
    tasks: dict[str, dict[str, Any]] = {}
    for file in files:
        for number, row in enumerate(_rows(file), start=1):
            missing = [column for column in COLUMNS if not isinstance(row.get(column), str)]
            if missing:
                raise ValueError(f"{file.name} row {number}: {missing[0]!r} is missing; needs {', '.join(COLUMNS)}")
            known = tasks.setdefault(row["task_id"], {})
            known.update({key: value for key, value in row.items() if known.get(key) is None})
    return [_item(row) for _, row in sorted(tasks.items())]


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        if file.suffix == ".parquet":
            import pandas as pd

            return [{str(k): v for k, v in row.items()} for row in pd.read_parquet(file).to_dict("records")]
        opener = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except Exception as error:
        raise ValueError(f"path: {file.name} is not a readable parquet or JSON lines file: {error}") from error


def _item(row: Mapping[str, Any]) -> RubricItem:
    text = next((row[name] for name in RUBRIC_COLUMNS if isinstance(row.get(name), str) and row[name].strip()), None)
    try:
        criteria = rubric.criteria(text)
    except ValueError as error:
        raise ValueError(f"gdpval task {row['task_id']}: {error}") from error
    return RubricItem(
        name=row["task_id"],
        category=row["occupation"].strip(),
        question=row["prompt"].strip(),
        answer_format=ANSWER_FORMAT,
        criteria=criteria,
        context=_context(row),
    )


def _context(row: Mapping[str, Any]) -> dict[str, Json]:
    """Return the occupation and the addresses of the reference files."""
    context: dict[str, Json] = {"occupation": row["occupation"].strip()}
    if isinstance(row.get("sector"), str):
        context["sector"] = row["sector"].strip()
    for key in ("reference_files", "reference_file_urls"):
        value = row.get(key)
        if value is not None and not isinstance(value, float | str) and len(value):
            context[key] = [str(entry) for entry in value]
    return context


DATASET = RubricDataset(
    name="gdpval",
    section="professional_tasks",
    version="1.1",
    as_of=date(2025, 12, 31),
    source="Get the tasks of openai/gdpval from Hugging Face (parquet or JSON lines) and give the path.",
    read=read,
    mark=rubric.mark,
    pass_mark=75.0,
    options=Options,
)
