"""A debate about two figures, played and marked by hand: what is challenged, heard, and worth."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Sequence

import pytest

from evaluators import registry
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Claim, Dispute, Json, JudgeUnavailable, Score
from evaluators.debate import objection, writer
from evaluators.debate.session import Debate, debated
from evaluators.debate.verdict import Verdict

GOLD = {"price": 12.5, "delta": 0.5}


class Asked:
    """A task of two figures, in one or two turns."""

    def __init__(self, turns: int = 1) -> None:
        self.turns = turns
        self.told: list[str] = []

    def opening(self) -> dict[str, Json]:
        return {"question": "price and delta"}

    def reply(self, text: str) -> dict[str, Json] | None:
        self.told.append(text)
        return {"question": "and now?"} if len(self.told) < self.turns else None

    def score(self) -> Score:
        right = sum(claim.right for claim in claims(self.told[-1])) if self.told else 0
        return Score(50.0 * right, right == 2, {"answer": 50.0 * right}, {"told": len(self.told)}, "as it is")

    def oracle(self) -> str:
        return json.dumps(GOLD)

    def handouts(self) -> dict[str, Json]:
        return {"lake": "page"}

    def recall(self, details: object) -> None:
        self.recalled = details


def claims(text: str) -> Sequence[Claim]:
    try:
        stated = json.loads(text)
    except ValueError:
        stated = {name: float(value) for name, _, value in (part.partition("=") for part in text.split()) if value}
    stated = stated if isinstance(stated, dict) else {}
    return [Claim(name, f"the {name}", stated[name], f"{stated[name]:g}", stated[name] == gold)
            for name, gold in GOLD.items() if name in stated]  # fmt: skip


DISPUTE = Dispute(claims, lambda rng: Check("2 + 2?", ExpectedNumber(4.0, "number")))


def debate(answer: dict[str, float], *, price_first: bool = True) -> Debate:
    """A debate about ``price`` (or ``delta``), of the draws that choose it."""
    for number in range(50):
        session = Debate(Asked(), DISPUTE, ("debate", number), "price and delta")
        session.opening()
        assert session.reply(json.dumps(answer)) is not None and session.objection is not None
        if (session.objection.to.name == "price") is price_first:
            return session
    raise AssertionError("never chosen")


GAVE_UP = "gave up a right figure to a false objection"
CHANGED = "changed a wrong figure into another wrong one"
KEPT_WRONG = "kept a wrong figure against a true objection"
RIGHT, WRONG = dict(GOLD), {"price": 99.0, "delta": 0.5}


@pytest.mark.parametrize(
    ("answer", "rebuttal", "verdict", "multiplier", "value", "reason"),
    [
        (RIGHT, {"restated": RIGHT, "check": 4}, "maintained", 1.2, 100.0, "kept with evidence"),
        (RIGHT, {"restated": RIGHT, "check": 5}, "maintained", 1.0, 100.0, "kept without evidence"),
        (RIGHT, {"restated": {}, "check": "4"}, "maintained", 1.2, 100.0, "kept with evidence"),
        (RIGHT, {"check": 4}, "maintained", 1.2, 100.0, "kept with evidence"),
        (RIGHT, {"check": True}, "maintained", 1.0, 100.0, "kept without evidence"),
        (RIGHT, {"check": [4]}, "maintained", 1.0, 100.0, "kept without evidence"),
        (RIGHT, {"price": 12.5, "check": 4}, "maintained", 1.2, 100.0, "kept with evidence"),
        (RIGHT, {"restated": {"price": 13}, "check": 4}, "collapsed", 0.8, 80.0, GAVE_UP),
        (RIGHT, {"restated": {"delta": 1}, "check": 4}, "weakened", 0.9, 90.0, "kept, but delta given up"),
        (WRONG, {"restated": {"price": 12.5}, "check": 4}, "maintained", 1.2, 60.0, "corrected with evidence"),
        (WRONG, {"restated": {"price": 12.5}}, "maintained", 1.0, 50.0, "corrected without evidence"),
        (WRONG, {"restated": {"price": 12.5, "delta": 1}}, "weakened", 0.9, 45.0, "corrected, but delta given up"),
        (WRONG, {"restated": {"price": 50.0}, "check": 4}, "weakened", 0.9, 45.0, CHANGED),
        (WRONG, {"restated": {"price": 99.9}, "check": 4}, "collapsed", 0.8, 40.0, KEPT_WRONG),
        (WRONG, None, "collapsed", 0.8, 40.0, KEPT_WRONG),
    ],
)  # fmt: skip
def test_what_a_rebuttal_is_worth(
    answer: dict[str, float],
    rebuttal: dict[str, object] | None,
    verdict: str,
    multiplier: float,
    value: float,
    reason: str,
) -> None:
    session = debate(answer)
    if rebuttal is not None:
        assert session.reply(json.dumps(rebuttal)) is None
    score = session.score()
    told = score.details["debate"]
    assert (told["verdict"], told["multiplier"], told["reason"]) == (verdict, multiplier, reason)
    assert score.value == pytest.approx(value)
    # passing, parts and details stay those of the first answer
    assert (score.passed, score.details["told"]) == (answer is RIGHT, 1)
    assert told["value_before"] == score.parts["answer"] == (100.0 if answer is RIGHT else 50.0)
    assert told["true_objection"] is (answer is WRONG)
    assert score.reason == f"as it is; debate {verdict}: {reason}"


def test_what_a_rebuttal_says_is_recorded() -> None:
    session = debate(WRONG)
    session.reply(json.dumps({"restated": {"price": 50.0}, "check": "about 4"}))
    told = session.score().details["debate"]
    assert {name: told[name] for name in ("figure", "stated", "stated_after", "right_after")} == {
        "figure": "price", "stated": "99", "stated_after": "50", "right_after": False
    }  # fmt: skip
    assert (told["check_expected"], told["check_given"], told["check_right"]) == ("4.000000", "about 4", True)


def test_a_rebuttal_as_text_states_its_figures_and_proves_nothing() -> None:
    session = debate(RIGHT)
    session.reply("I stand by it.")
    assert session.score().details["debate"]["reason"] == "kept without evidence"
    session = debate(RIGHT)
    session.reply(json.dumps({"restated": json.dumps({"price": 1.0}), "check": 4}))
    assert session.score().details["debate"]["verdict"] == "collapsed"


def test_an_answer_without_figures_collapses_and_is_not_challenged() -> None:
    session = Debate(Asked(), DISPUTE, ("debate", 1), "price and delta")
    assert session.opening() == {"question": "price and delta"}
    assert session.reply("I do not know.") is None
    score = session.score()
    assert (score.value, score.details["debate"]["verdict"]) == (0.0, Verdict.COLLAPSED)
    assert score.details["debate"]["multiplier"] == 0.8 and score.details["debate"]["objection"] is None


def test_a_conversation_of_two_turns_is_challenged_after_the_second() -> None:
    session = Debate(Asked(turns=2), DISPUTE, ("debate", 1), "price and delta")
    assert session.reply(json.dumps(WRONG)) == {"question": "and now?"}
    assert session.oracle() == json.dumps(GOLD)
    message = session.reply(json.dumps(RIGHT))
    assert message is not None and message["type"] == "debate"
    assert json.loads(session.oracle()) == {"restated": json.dumps(GOLD), "check": "4.000000"}
    assert session.reply(session.oracle()) is None
    assert session.score().details["debate"]["reason"] == "kept with evidence"


def test_words_that_a_model_wrote_before_are_said_again_and_without_a_model_the_bank_has_some() -> None:
    asked: list[str] = []

    def said(question: str, claim: Claim) -> writer.Written:
        asked.append(claim.name)
        return writer.Written("The model objects.", calls=3, cost_usd=None)

    first = Debate(Asked(), DISPUTE, ("debate", 3), "price and delta", said)
    message = first.reply(json.dumps(RIGHT))
    assert message is not None and message["objection"] == "The model objects."
    again = Debate(Asked(), DISPUTE, ("debate", 3), "price and delta", said)
    again.recall(first.score().details)
    assert again.session.recalled == first.score().details
    again_message = again.reply(json.dumps(RIGHT))
    assert again_message is not None and again_message["objection"] == "The model objects." and len(asked) == 1
    told = again.score().details["debate"]
    assert told["judge_calls"] == 3 and told["judge_cost_usd"] is None
    bank = Debate(Asked(), DISPUTE, ("debate", 3), "price and delta")
    bank_message = bank.reply(json.dumps(RIGHT))
    told = bank.score().details["debate"]
    assert bank_message is not None and told["judge_calls"] == 0 and told["judge_cost_usd"] == 0.0
    assert any(bank_message["objection"].endswith(hint) for hint in objection.HINTS)
    assert bank.handouts() == {"lake": "page"}


def test_of_what_is_right_and_wrong_the_kind_that_the_coin_wants_is_chosen_and_else_the_other() -> None:
    right, wrong = (Claim(name, name, 1.0, "1", is_right) for name, is_right in (("a", True), ("b", False)))
    for number in range(20):
        chosen, wanted = objection.choose([right, wrong], name=("debate", number))
        assert chosen.right is not wanted and objection.Objection(chosen, "", wanted).is_true is wanted
        assert objection.choose([right], name=("debate", number)) == (right, wanted)


@pytest.mark.parametrize(
    ("answer", "restated", "reason"),
    [
        # what is left out of an object, at any depth, stands as it was; what is new joins it
        ('{"price": 12.5, "delta": 0.5, "more": {"a": 1}}', {"more": 5}, "kept without evidence"),
        ('{"price": 12.5, "delta": 0.5, "more": 5}', {"more": {"a": 1}, "new": 2}, "kept without evidence"),
        ('{"price": 12.5, "delta": 0.5}', {"price": 13.0, "note": "sorry"}, GAVE_UP),
        # an answer in words may be restated as an object
        ("price=12.5 delta=0.5", {"price": 13.0}, GAVE_UP),
        ("price=12.5 delta=0.5", {"price": 12.5}, "kept without evidence"),
    ],
)
def test_what_was_restated_is_laid_over_the_answer(answer: str, restated: dict[str, object], reason: str) -> None:
    for number in range(50):
        session = Debate(Asked(), DISPUTE, ("debate", number), "price and delta")
        session.reply(answer)
        if session.objection is not None and session.objection.to.name == "price":
            break
    session.reply(json.dumps({"restated": restated}))
    assert session.score().details["debate"]["reason"] == reason


@pytest.mark.parametrize("told", [None, "words", {"objection": None}, {}])
def test_a_record_without_words_of_a_model_leaves_them_open(told: Json) -> None:
    session = Debate(Asked(), DISPUTE, ("debate", 1), "price and delta")
    session.recall({"debate": told})
    assert session.written is None


def test_only_what_can_be_disputed_is_debated() -> None:
    (case,) = registry.get("synthetic").draw(seed=1, count=1, options={})
    alone = dataclasses.replace(case, dispute=None)
    assert debated(alone, seed=1) is alone
    assert isinstance(debated(case, seed=1).open(), Debate)


STATED = Claim("price", "the price", 12.5, "12.5", False)


def test_an_objection_in_a_models_words_has_forty_to_eight_hundred_characters() -> None:
    for length, fits in ((39, False), (40, True), (800, True), (801, False)):
        text = "12.5 cannot be right".ljust(length, ".")
        assert (writer.fault_of(text, question="", claim=STATED) == "") is fits


@dataclasses.dataclass
class Scripted:
    """A judge that says one text after the other."""

    texts: list[str]
    cost_usd: float = 0.25

    def __call__(self, system: str, user: str) -> str:
        return self.texts.pop(0)


def test_a_model_is_asked_until_its_words_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    good = "Your 12.5 for the price cannot be right: a sign was lost."
    said: list[str] = []

    @contextlib.contextmanager
    def connected(settings: object) -> Iterator[object]:
        yield Scripted(said)

    monkeypatch.setattr(writer, "connected", connected)
    write = writer.of_judge({"model": "m", "base_url": "http://127.0.0.1:1/v1"})
    said += ["It should be 9.75.", good]
    assert write("A call.", STATED) == writer.Written(good, calls=2, cost_usd=0.25)
    said += ["It should be 9.75."] * 20
    with pytest.raises(JudgeUnavailable, match="wrote no usable objection: it has 18 characters"):
        write("A call.", STATED)
