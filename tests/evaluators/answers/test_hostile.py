"""Replies of the longest length, made to be slow to read: every reader takes them in a fraction of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

import pytest

from evaluators.answers import parse_date, parse_json_object, parse_number, parse_sequence
from evaluators.answers.statement import MAX_CHARS
from evaluators.bizfinbench.public_answers import ExpectedDocument, ExpectedSet, ExpectedText, PublicNumber
from evaluators.professional.deliverables import read_deliverables
from evaluators.professional.memo import Figure, Memo

SECONDS = 1.5
"""Processor time, not wall time: a busy machine makes no reply slow. Quadratic readers took from 2 s to minutes."""


def filled(unit: str, before: str = "", after: str = "") -> str:
    return before + unit * ((MAX_CHARS - len(before) - len(after)) // len(unit)) + after


HOSTILE = {
    "escaped quotes in a string that is never closed": filled('\\"', '{"'),
    "strings never closed": filled('{"\\n', "x "),
    "deep brackets": filled("[", '{"a":'),
    "fences never closed": filled("```json\n{"),
    "boxes never closed": filled("\\boxed{"),
    "twenty boxes around everything": filled("x", "\\boxed{" * 20, "}" * 20),
    "twenty boxes before everything": filled("-", "\\boxed{" * 20),
    "empty lines": filled("\n"),
    "empty lines of quotes": filled("\n >"),
    "numbers between commas": filled("1,"),
    "headings": filled("#"),
    "labels": filled("Final answer: "),
    "blanks": filled(" ", "Final answer: 1", "x"),
    "twenty labels before everything": filled("1- ", "Final answer: 1\n" * 20),
    "twenty labels of one line": filled("x", "final answer: " * 20),
    "twenty labels at the end of a line": filled("x", "", " final answer: 1" * 20),
    "twenty long statements": ("Final answer: " + "1" + " " * 1900 + "x 1\n") * 20,
    "tags never closed": filled("<answer>"),
    "tags never closed and no number": filled("<answer>\n"),
    "words of a revision": filled("edit should be ", "Final answer: 1\n"),
    "plain labels after a final answer": filled("answer: 1 ", "Final answer: 1\n"),
    "boxes never closed after one": filled("\\boxed{", "\\boxed{1}"),
    "many tags": filled("<answer>1</answer>"),
    "announcements": filled("final answer is below\n"),
    "twenty tables": ("Final answer:\n" + "|1|\n" * 2000) * 20,
    "a statement of open parentheses": "Final answer: " + "(1" * 990,
    "a statement of calculations": "Final answer: 1 " + "1/1 " * 480 + " x",
    "a statement of notes": "Final answer: " + "(in " * 490,
    "twenty statements of dates": ("Final answer: 1" + "12 March " * 210 + "x\n") * 20,
    "clauses before twenty labels": filled(", x is as y", "", " final answer: 1" * 20),
    "clauses in twenty statements": ("Final answer: " + "and x is " * 200 + "1\n") * 20,
    "figures in no scale": filled("figures in ", "Final answer: 1\n"),
    "many figures in no scale": filled(".figures a", "Final answer: 1\n"),
    "losses of nothing": ("Final answer: " + "loss to a number of " * 90 + "1\n") * 20,
    "many objects": filled('{"answer": "1"} '),
}

READERS: dict[str, Callable[[str], object]] = {
    "object": parse_json_object,
    "number": lambda text: parse_number(text, kind="any"),
    "order": parse_sequence,
    "date": parse_date,
    "files": read_deliverables,
    "public number": PublicNumber(5.0, percent=True).grade,
    "public set": ExpectedSet(frozenset({1})).grade,
    "public text": ExpectedText("a").grade,
    "public object": ExpectedDocument({"a": 1}).grade,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the least of up to three tries: what shares the processor's caches can only add to it."""
    least = SECONDS + 1.0
    for _ in range(3):
        began = time.process_time()
        read(text)
        least = min(least, time.process_time() - began)
        if least <= SECONDS:
            break
    return least


@pytest.mark.campaign
@pytest.mark.parametrize("reader", READERS)
def test_no_reply_is_slow_to_read(reader: str) -> None:
    slow = {name: taken for name, text in HOSTILE.items() if (taken := seconds(READERS[reader], text)) > SECONDS}
    assert slow == {}


def test_no_memo_is_slow_to_mark() -> None:
    memo = Memo(
        recipient="the desk", subject="a bond", written_on=date(2024, 1, 2), figures=(Figure("Price", 1.0, "number"),),
        verdicts=("Buy", "Sell"), verdict="Buy", verdict_rule="", summary="", finding="",
    )  # fmt: skip
    for content in ("## a" + " " * 90_000 + "x", "[" * 90_000, "- a" * 30_000, "## Key figures\nPrice" + " " * 90_000):
        assert seconds(memo.marks, content) < SECONDS
