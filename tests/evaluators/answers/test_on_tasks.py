"""Rules V2 and V3 on drawn tasks: each gold in a dozen forms and more scores 100, each way of spoiling it scores 0."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from evaluators.answers.expected import ExpectedNumber, ExpectedOrder, ExpectedToken
from evaluators.bizfinbench import dataset as bizfinbench
from evaluators.bizfinbench.public_answers import ExpectedSet
from evaluators.contract import Case, SingleTurn
from evaluators.fundamentals import dataset as fundamentals

Stated = ExpectedNumber | ExpectedOrder | ExpectedToken | ExpectedSet
WORK = "Step 1: I looked up 1,234.5 and 987.\nStep 2: the ratio is 1.2508.\nStep 3: combined.\n"
CASES = [
    *fundamentals.DATASET.draw(seed=77, count=75, options={}),
    *bizfinbench.DATASET.draw(seed=77, count=40, options={"languages": ["en", "cn"]}),
]


def expected_of(case: Case) -> Stated:
    session = case.open()
    assert isinstance(session, SingleTurn)
    expected = session.judge.__self__
    assert isinstance(expected, Stated)
    return expected


def numerals(expected: ExpectedNumber, value: float) -> list[str]:
    """Return the value alone, in the spellings that its kind allows."""
    sign, size = "-" if value < 0 else "", abs(value)
    if expected.kind == "percent":
        points = f"{100 * size:.4f}"
        spellings = [f"{sign}{points}%", f"{sign}{points} percent", f"{value:.6f}", f"{sign}{10_000 * size:.2f} bp"]
        return [*spellings, f"({points}%)", f"(-{points}%)"] if value < 0 else [*spellings, f"+{points}%"]
    if expected.kind == "currency":
        spellings = [f"{sign}${size:,.4f}", f"{sign}{size:.4f}", f"USD {sign}{size:,.4f}", f"{sign}{size:,.4f} dollars"]
        if size > 1e7:
            spellings += [
                f"{sign}${size / 1e6:,.4f}M",
                f"{sign}{size / 1e9:.6f} billion",
                f"{sign}${size / 1e6:.3f} million",
            ]
        return [*spellings, f"(${size:,.4f})", f"$({size:,.4f})"] if value < 0 else spellings
    spellings = [f"{value:.6f}", f"{value:.5f}", f"{sign}{size:.6e}"]
    spellings += [f"{value:.6f} {expected.unit}"] if expected.unit else [f"{value:.6f}x"]
    return [*spellings, f"({size:.6f})"] if value < 0 else spellings


def wrapped(bare: str) -> list[str]:
    """Return a bare answer in the forms that replies take."""
    boxed = bare.replace("$", r"\$").replace("%", r"\%").replace(",", "{,}")
    return [
        bare,
        f"The answer is {bare}.",
        f"Final answer: {bare}",
        f"{WORK}Final answer: {bare}",
        f"{WORK}**Final answer:** {bare}",
        f"{WORK}## Final answer\n{bare}",
        f"{WORK}Therefore, the final answer is {bare}.",
        json.dumps({"answer": bare}),
        json.dumps({"reasoning": WORK, "answer": bare}),
        f"{WORK}```json\n{json.dumps({'final_answer': bare})}\n```",
        rf"{WORK}\boxed{{{boxed}}}",
        rf"Final answer: $\boxed{{{boxed}}}$",
    ]


def honest(expected: Stated) -> Iterator[str]:
    if isinstance(expected, ExpectedNumber):
        spellings = numerals(expected, expected.gold)
        yield json.dumps({"answer": expected.gold})
    elif isinstance(expected, ExpectedOrder):
        text = list(map(str, expected.gold))
        spellings = [",".join(text), "-".join(text), ", ".join(text), " -> ".join(text), f"[{', '.join(text)}]"]
        yield f"Q4: {spellings[0]}"
        yield json.dumps({"answer": expected.gold})
    elif isinstance(expected, ExpectedSet):
        text = list(map(str, sorted(expected.gold)))
        spellings = [", ".join(text), ",".join(reversed(text)), f"[{', '.join(text)}]"]
        yield json.dumps({"answer": sorted(expected.gold)})
    else:
        spellings = [expected.gold]
    for spelling in spellings:
        yield from wrapped(spelling)


def spoiled(expected: Stated) -> Iterator[str]:
    gold = expected.gold_text().removeprefix("Final answer: ")
    other = "999.9%" if isinstance(expected, ExpectedNumber) and expected.kind == "percent" else "999.9"
    if isinstance(expected, ExpectedOrder):
        other = ",".join(map(str, reversed(expected.gold)))
    if isinstance(expected, ExpectedSet):
        other = str([*sorted(expected.gold), 99])
    if isinstance(expected, ExpectedToken):
        other = "2001-01-01" if expected.what == "date" else "0000000000-01-000001"
    yield f"It is not {gold}"
    yield f"Final answer: not {gold}"
    yield f"Final answer: {gold} or {other}"
    yield f"Final answer: either {gold} or something else"
    yield f"Final answer: {gold}, {other}"
    yield f"{WORK}It could be {gold}.\nFinal answer: {other}"
    yield f"{gold} is often quoted, but\nFinal answer: {other}"
    yield f"Final answer: {gold}\nFinal answer: {other}"
    yield f"Final answer: {gold}\nWait, that is wrong; it is {other}."
    yield json.dumps({"answer": gold, "final_answer": other})
    yield json.dumps({"answer": other, "note": gold})
    if isinstance(expected, ExpectedNumber):
        yield from spoiled_number(expected)


def spoiled_number(expected: ExpectedNumber) -> Iterator[str]:
    floor = expected.tolerance.absolute
    if abs(expected.gold) > floor:
        yield f"Final answer: {numerals(expected, -expected.gold)[0]}"
    for factor in (1e-3, 0.1, 10, 100, 1000):
        if abs(factor * expected.gold - expected.gold) > floor + abs(expected.gold) * expected.tolerance.relative:
            yield f"Final answer: {numerals(expected, factor * expected.gold)[0]}"
    size = f"{abs(expected.gold):.6f}"
    units = {"percent": ["$", "€"], "currency": ["€", "£"], "number": ["$", "€"]}[expected.kind]
    yield from (f"Final answer: {unit}{size}" for unit in units)
    yield f"Final answer: {size}%" if expected.kind != "percent" else f"Final answer: {size} shares"
    yield f"Final answer: more than {expected.written()}"
    yield f"Final answer: between {expected.written()} and {numerals(expected, 2 * expected.gold)[0]}"


def value(case: Case, reply: str) -> float:
    session = case.open()
    session.reply(reply)
    return session.score().value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.task.task_id)
def test_a_gold_scores_100_in_every_form_and_0_once_spoiled(case: Case) -> None:
    expected = expected_of(case)
    forms = list(honest(expected))
    assert len(forms) >= 12
    for reply in forms:
        assert value(case, reply) == 100.0, reply
    for reply in spoiled(expected):
        assert value(case, reply) == 0.0, reply
