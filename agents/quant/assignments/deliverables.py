"""Hand in a table and a memo in the form that an assignment describes.

The form is read from the text (file names, columns, heading lines, labels, conclusion rule); the content comes from a
desk that knows the calculation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from assignments.conclusion import verdict

Cell: TypeAlias = str | int | float


@dataclass(frozen=True)
class Work:
    """What a desk worked out.

    Attributes
    ----------
    columns
        Column name -> cells; more columns than are asked for do no harm.
    figures
        Label -> figure, money and numbers in full units, shares as fractions; those that only the rule of the
        conclusion names belong to them.
    """

    columns: Mapping[str, Sequence[Cell]]
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Form:
    """What is to be handed in, as the assignment describes it."""

    table_name: str
    columns: tuple[tuple[str, int | None], ...]
    memo_name: str
    heading: tuple[str, ...]
    subject: str
    sections: tuple[str, ...]
    labels: tuple[str, ...]
    rules: tuple[str, ...] = field(default=())


def read_form(text: str) -> Form | None:
    """Return the form of an assignment with one CSV table and one memo; None when it describes none."""
    table, memo = re.search(r"`([\w-]+\.csv)`:(.*)", text), re.search(r"`([\w-]+\.md)`:(.*)", text)
    if table is None or memo is None:
        return None
    columns = []
    for name, words in re.findall(r"`(\w+)` (is [^`;]*)", table.group(2)):
        decimals = re.search(r"\((\d+) decimals\)", words)
        columns.append((name, int(decimals.group(1)) if decimals else None))
    listed = re.search(r"for each of: (.+?)\. The conclusion", memo.group(2))
    labels = [re.sub(r"\s*\(.*", "", part) for part in _split_outside_parentheses(listed.group(1) if listed else "")]
    subject = re.search(r"naming ([^)]+)\)", memo.group(2))
    rules = re.search(r"The conclusion states .*?: (.+)", memo.group(2))
    return Form(
        table_name=table.group(1),
        columns=tuple(columns),
        memo_name=memo.group(1),
        heading=tuple(re.findall(r"`((?:To|From|Date): [^`]+)`", memo.group(2))),
        subject=subject.group(1) if subject else "",
        sections=tuple(re.findall(r"`## ([^`]+)`", memo.group(2))),
        labels=tuple(label.strip() for label in labels if label.strip()),
        rules=tuple(re.split(r",\s*else\s*", rules.group(1).rstrip(". "))) if rules else (),
    )


def _split_outside_parentheses(text: str) -> list[str]:
    return re.split(r";\s*(?![^()]*\))", text)


def hand_in(form: Form, work: Work, context: Mapping[str, Any]) -> str | None:
    """Return both files as one reply; None when the table needs a column that was not worked out."""
    if any(name not in work.columns for name, _ in form.columns):
        return None
    files = [
        {"name": form.table_name, "content": _table(form, work)},
        {"name": form.memo_name, "content": _memo(form, work, context)},
    ]
    return json.dumps({"deliverables": files})


def _table(form: Form, work: Work) -> str:
    lines = [",".join(name for name, _ in form.columns)]
    rows = zip(*(work.columns[name] for name, _ in form.columns), strict=True)
    for row in rows:
        cells = zip(row, (decimals for _, decimals in form.columns), strict=True)
        lines.append(",".join(_cell(value, decimals) for value, decimals in cells))
    return "\n".join(lines) + "\n"


def _cell(value: Cell, decimals: int | None) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.{decimals}f}" if decimals is not None else f"{value:.6f}".rstrip("0").rstrip(".")


def _memo(form: Form, work: Work, context: Mapping[str, Any]) -> str:
    bodies = {
        "summary": f"This memo reports on {form.subject}. The table that comes with it holds the whole calculation, "
        "line by line; the key figures below are taken from that table and from the inputs of the assignment.",
        "key figures": "\n".join(
            f"- {label}: {_figure(work.figures[label])}" for label in form.labels if label in work.figures
        ),
        "assumptions": "The inputs of the assignment were taken as given, and its conventions for rounding, dates and "
        "signs were applied throughout. Nothing that became known after the date of this memo was used.",
        "conclusion": f"{verdict(form.rules, work.figures, context)}. This follows from the rule of the assignment.",
    }
    parts = [f"## {name}\n{bodies.get(name.lower(), '')}" for name in form.sections]
    return "\n".join([*form.heading, f"Subject: {form.subject}", "", "\n\n".join(parts), ""])


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.6f}" if abs(value) < 100 else f"{value:.2f}"
