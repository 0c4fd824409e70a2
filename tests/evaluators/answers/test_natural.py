"""Natural right sentences are all read; doubtful ones are refused or read as a careful person would; none is misread.

The forms are our own wording (``oracles/natural_answers.json``: what is asked for, the reply, its value; null where no
one answer is stated in the format asked for). Their values were set by reading them, not by running the reader.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from evaluators.answers import (
    Refusal,
    StatedNumber,
    StatedSequence,
    StatedToken,
    parse_accession_number,
    parse_date,
    parse_number,
    parse_sequence,
)

Value: TypeAlias = float | str | list[int] | None
Form: TypeAlias = tuple[str, str, Value]
Read: TypeAlias = StatedNumber | StatedSequence | StatedToken | Refusal

READERS: dict[str, Callable[[str], Read]] = {
    "money": lambda text: parse_number(text, kind="currency"),
    "percent": lambda text: parse_number(text, kind="percent"),
    "ratio": lambda text: parse_number(text, kind="number"),
    "days": lambda text: parse_number(text, kind="number", unit="days"),
    "years": lambda text: parse_number(text, kind="number", unit="years"),
    "shares": lambda text: parse_number(text, kind="number", unit="shares"),
    "order": parse_sequence,
    "accession": parse_accession_number,
    "date": parse_date,
}
FORMS: dict[str, list[Form]] = json.loads(
    (Path(__file__).parents[2] / "oracles" / "natural_answers.json").read_text(encoding="utf-8")
)


def outcome(asked: str, text: str, value: Value) -> str:
    """Return ``right``, ``refused`` or ``misread``."""
    read = READERS[asked](text)
    if isinstance(read, Refusal):
        assert read.reason
        return "refused"
    if isinstance(read, StatedNumber):
        right = isinstance(value, int | float) and read.value == pytest.approx(value, rel=2e-3, abs=1e-12)
    else:
        right = value == (list(read.items) if isinstance(read, StatedSequence) else read.value)
    return "right" if right else "misread"


def also_labelled(forms: list[Form]) -> list[Form]:
    """Return the forms, and those of one unmarked line also as a labelled final answer."""
    marks = ("\n", "answer", "Answer", "ANSWER", "答案")
    bare = [(asked, text, value) for asked, text, value in forms if not any(mark in text for mark in marks)]
    return [*forms, *((asked, f"Final answer: {text}", value) for asked, text, value in bare)]


@pytest.mark.parametrize(("asked", "text", "value"), also_labelled(FORMS["right"]))
def test_a_natural_right_sentence_is_read_as_it_is_meant(asked: str, text: str, value: Value) -> None:
    assert outcome(asked, text, value) == "right", READERS[asked](text)


@pytest.mark.parametrize(("asked", "text", "value"), FORMS["doubtful"])
def test_a_doubtful_sentence_is_refused_and_never_misread(asked: str, text: str, value: Value) -> None:
    assert outcome(asked, text, value) == ("refused" if value is None else "right"), READERS[asked](text)


def test_the_corpora_are_large_and_no_form_of_them_is_misread() -> None:
    assert len(FORMS["right"]) >= 400
    assert len(FORMS["doubtful"]) >= 150
    assert {asked for asked, _, _ in FORMS["right"]} == set(READERS)
    counts = Counter(outcome(*form) for form in (*also_labelled(FORMS["right"]), *FORMS["doubtful"]))
    assert counts["misread"] == 0
