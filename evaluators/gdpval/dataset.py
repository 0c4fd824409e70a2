"""The dataset ``gdpval``: professional tasks of 44 occupations, judged line by line."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

from evaluators.contract import Json
from evaluators.gdpval import rubric
from evaluators.gdpval.domains import DOMAIN_OF
from evaluators.gdpval.options import Options
from evaluators.judge import RubricDataset, RubricItem
from evaluators.judge.files import Reference

COLUMNS = ("task_id", "occupation", "prompt")
RUBRIC_COLUMNS = ("rubric_pretty", "rubric")
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz")
ANSWER_FORMAT = (
    "Hand in the finished deliverables. As files (xlsx, docx, pptx, pdf, csv, txt, md): one JSON object with the key "
    '"files", a list of objects with "name" and "base64", and what else you have to say under the key "message". As '
    "text: each deliverable under a line `# <file name>`, tables in Markdown or CSV, a document or a slide as the text "
    "it holds in the order of its pages. What a file holds is judged by its text; pictures and layout are not seen."
)
REFERENCES = "reference_files"
"""Also the folder that the hub keeps them in."""


def read(path: Path) -> list[RubricItem]:
    """Return the tasks of a file, or of a folder; where several files have a task, a row with a rubric goes first."""
    found = (f for f in path.rglob("*") if f.name.endswith(SUFFIXES) and REFERENCES not in f.relative_to(path).parts)
    files = sorted(found) if path.is_dir() else [path]
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
    root = path if path.is_dir() else path.parent.parent if path.parent.name == "data" else path.parent
    return [_item(row, root) for _, row in sorted(tasks.items())]


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        if file.suffix == ".parquet":
            import pandas as pd

            table = pd.read_parquet(file).to_dict("records")
            return [{str(k): v for k, v in row.items() if not _is_empty(v)} for row in table]
        opener = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except Exception as error:
        raise ValueError(f"path: {file.name} is not a readable parquet or JSON lines file: {error}") from error


def _is_empty(cell: Any) -> bool:
    """Return whether a cell of a table has no value, which a column of text says by NaN; another file may have one."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _item(row: Mapping[str, Any], root: Path) -> RubricItem:
    text = next((row[name] for name in RUBRIC_COLUMNS if isinstance(row.get(name), str) and row[name].strip()), None)
    try:
        criteria = rubric.criteria(text)
    except ValueError as error:
        raise ValueError(f"gdpval task {row['task_id']}: {error}") from error
    occupation = row["occupation"].strip()
    domain = DOMAIN_OF.get(occupation)
    return RubricItem(
        name=row["task_id"],
        category=occupation,
        question=row["prompt"].strip(),
        answer_format=ANSWER_FORMAT,
        criteria=criteria,
        context=_context(row),
        kinds=(domain,) if domain else (),
        references=_references(row, root),
        deliverables=True,
    )


def _references(row: Mapping[str, Any], root: Path) -> tuple[Reference, ...]:
    """Return the reference files of a task where a pull puts them; a name that leaves the folder is an error."""
    names = _names(row, REFERENCES)
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            raise ValueError(f"gdpval task {row['task_id']}: the reference file {name!r} is no place within the folder")
    return tuple(Reference(PurePosixPath(name).name, root / name) for name in names)


def _names(row: Mapping[str, Any], column: str) -> list[str]:
    value = row.get(column)
    return [] if value is None or isinstance(value, float | str) else [str(entry) for entry in value]


def _context(row: Mapping[str, Any]) -> dict[str, Json]:
    """Return the occupation, its sector, and the names of the reference files."""
    context: dict[str, Json] = {"occupation": row["occupation"].strip()}
    if isinstance(row.get("sector"), str):
        context["sector"] = row["sector"].strip()
    if names := _names(row, REFERENCES):
        context[REFERENCES] = [PurePosixPath(name).name for name in names]
    return context


DATASET = RubricDataset(
    name="gdpval",
    section="professional_tasks",
    version="1.2",
    as_of=date(2025, 12, 31),
    read=read,
    mark=rubric.mark,
    pass_mark=75.0,
    options=Options,
)
