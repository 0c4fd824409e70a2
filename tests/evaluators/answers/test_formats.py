"""Every template: the question asks for what its answer format says, and the gold in that format scores full."""

from __future__ import annotations

import json
import re

import pytest

from evaluators import registry
from evaluators.answers.expected import ExpectedNumber, ExpectedOrder, ExpectedToken
from evaluators.bizfinbench.public_answers import ExpectedSet
from evaluators.contract import Case, SingleTurn

OPTIONS: dict[str, dict[str, list[str]]] = {
    "fundamentals": {"difficulties": ["easy"]},
    "bizfinbench": {"languages": ["en", "cn"]},
    "synthetic": {"difficulties": ["easy"]},
}
DATASETS = {"fundamentals": 33, "bizfinbench": 120, "synthetic": 44, "options": 15, "professional": 11}
FAMILIES = {"fundamentals": 33, "bizfinbench": 23, "synthetic": 44, "options": 15, "professional": 11}
"""Numbers of templates; drawing this often meets each of them."""


def one_of_each(name: str) -> list[Case]:
    cases = registry.get(name).draw(seed=12, count=DATASETS[name], options=OPTIONS.get(name, {}))
    return list({case.task.family: case for case in cases}.values())


CASES = {name: one_of_each(name) for name in DATASETS}
STATED = [case for name in ("fundamentals", "bizfinbench") for case in CASES[name]]


def session_of(case: Case) -> SingleTurn:
    session = case.open()
    assert isinstance(session, SingleTurn)
    return session


def value(case: Case, reply: str) -> float:
    session = session_of(case)
    session.reply(reply)
    return session.score().value


def asked_in(question: str) -> str:
    """Return ``money``, ``percent`` or ``number`` as the words of a question ask, empty where they leave it open."""
    lines = [line for line in question.splitlines() if line]
    question = next((line for line in reversed(lines) if "?" in line or "？" in line), lines[-1])
    sentence = next(
        (part for part in re.split(r"(?<=\?)\s", question) if part.rstrip().endswith(("?", "？"))), question
    )
    if re.search(
        r"percent|margin|growth rate|return\b|rate of|volatility|drawdown|收益率|毛利率|增长率|百分比|百分之",
        sentence,
        re.I,
    ):
        return "percent" if not re.search(r"ratio of|correlation", sentence) else "number"
    if re.search(r"\bratio\b|correlation|interest cover|multiplier|days of|率|倍数|乘数|天数", sentence, re.I):
        return "number"
    return "money" if re.search(r"dollars|cash flow|net income|revenue|operating income|total", sentence, re.I) else ""


@pytest.mark.parametrize("name", DATASETS)
def test_every_template_is_looked_at(name: str) -> None:
    assert len(CASES[name]) == FAMILIES[name]


@pytest.mark.parametrize("case", STATED, ids=lambda case: case.task.family)
def test_wording_and_format_of_a_number_agree(case: Case) -> None:
    expected, text = session_of(case).judge.__self__, case.task.answer_format
    if not isinstance(expected, ExpectedNumber):
        assert isinstance(expected, ExpectedOrder | ExpectedToken | ExpectedSet)
        return
    said = {"percent": "percentage>", "currency": "amount>", "number": "number>"}[expected.kind]
    assert text.count(said) == 2
    assert ("The amount is in US dollars" in text) == (expected.kind == "currency")
    assert ("no percent sign, no currency" in text) == (expected.kind == "number" and not expected.unit)
    assert (f"The number is in {expected.unit}." in text) == bool(expected.unit)
    asked = asked_in(case.task.question)
    kind = {"currency": "money"}.get(expected.kind, expected.kind)
    assert asked in ("", kind), (asked, case.task.question[-300:])
    if expected.kind != "currency":
        assert not re.search(r"\bhow many dollars\b|in millions\?", case.task.question, re.I)


@pytest.mark.parametrize("case", STATED, ids=lambda case: case.task.family)
def test_a_gold_in_the_placeholder_of_its_own_format_scores_full(case: Case) -> None:
    session = session_of(case)
    bare = session.gold_text.removeprefix("Final answer: ")
    (what,) = set(re.findall(r"<([^<>]+)>", case.task.answer_format))
    for shape in re.findall(r"Final answer: <[^<>]+>|\{\"answer\": <[^<>]+>\}", case.task.answer_format):
        inside = f"<{what}>"
        given = json.dumps(bare) if shape.startswith("{") else bare
        bracketed = json.dumps(f"<{bare}>") if shape.startswith("{") else f"<{bare}>"
        assert value(case, shape.replace(inside, given)) == 100.0
        assert value(case, shape.replace(inside, bracketed)) == 100.0, shape.replace(inside, bracketed)
    assert value(case, case.task.answer_format.splitlines()[1]) == 0.0


@pytest.mark.parametrize("case", CASES["synthetic"], ids=lambda case: case.task.family)
def test_a_synthetic_gold_scores_full_with_the_brackets_and_units_of_its_format(case: Case) -> None:
    session = session_of(case)
    reply = json.loads(session.gold_text)
    assert value(case, session.gold_text) == 100.0

    def dressed(name: str, figure: float | str) -> str:
        """Return a figure with what its description says: dollars, brackets, the unit of a plain number."""
        described = case.task.answer_schema["properties"]["steps"]["properties"].get(
            name, case.task.answer_schema["properties"]["answer"]
        )["description"]
        if isinstance(figure, str):
            return f"<{figure}>"
        unit = re.search(r"a plain number of (\w+)", described)
        dollars = "US dollars" in described
        assert dollars or "plain number" in described
        return (
            f"<${figure:.10g}>".replace("$-", "-$") if dollars else f"{figure:.10g} {unit[1] if unit else ''}".strip()
        )

    reply["answer"] = dressed("answer", reply["answer"])
    reply["steps"] = {name: dressed(name, figure) for name, figure in reply["steps"].items()}
    assert value(case, json.dumps(reply)) == 100.0, reply
    for figure in case.task.answer_schema["properties"]["steps"]["properties"].values():
        if "plain number," in figure["description"]:
            assert not re.search(r"\bshares outstanding|\byears of|one dollar", figure["description"])


@pytest.mark.parametrize("case", [*CASES["options"], *CASES["professional"]], ids=lambda case: case.task.family)
def test_a_gold_deliverable_scores_full_and_its_format_has_no_brackets_to_copy(case: Case) -> None:
    assert value(case, session_of(case).gold_text) == pytest.approx(100.0)
    assert not re.search(r"<[a-z][^<>]*>", case.task.answer_format)
