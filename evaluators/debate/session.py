"""The conversation of a debated task: the task as it is, then one objection and one rebuttal."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluators.answers import Kind, Refusal, parse_json_object
from evaluators.contract import Case, Check, Dispute, Json, Score, Session
from evaluators.debate import objection, verdict
from evaluators.debate.objection import Objection
from evaluators.debate.verdict import NO_CASE, Ruling
from evaluators.debate.writer import Writer, Written
from evaluators.drawing import stream

FULL_MARKS = 100.0
RESTATED, CHECK = "restated", "check"
"""Keys of a rebuttal; no task asks for an answer with such a key."""

_REPLY = (
    f'Reply with one JSON object with the keys "{RESTATED}" and "{CHECK}".\n'
    f'"{RESTATED}": your whole answer to the task again, in the format that the task asked for (a JSON object, or a '
    "text), corrected where you now think that it was wrong and unchanged where it was right. The objection may be "
    "right or wrong. What you leave out stands as it was.\n"
    f'"{CHECK}": your evidence, the answer to the check question: {{check_format}}'
)
_CHECK_FORMATS: dict[Kind, str] = {
    "percent": 'a text with its percent sign, such as "<p>%", or the same as a decimal fraction without a sign',
    "currency": "a number of US dollars, in full",
    "number": "a plain number",
    "any": "a number with its unit",
}


def debated(case: Case, *, seed: int, writer: Writer | None = None) -> Case:
    """Return the case with a debate after its answer; a case that offers nothing to dispute is returned as it is.

    Parameters
    ----------
    seed
        Of the run: the same seed, the same objections, whoever the agent is.
    writer
        Puts objections into words; None for the bank.
    """
    dispute = case.dispute
    if dispute is None:
        return case
    name = ("debate", seed, case.task.task_id)
    open_first = case.open

    def opened() -> Session:
        return Debate(open_first(), dispute, name, case.task.question, writer)

    return dataclasses.replace(case, open=opened)


@dataclass
class Debate(Session):
    """A session that hears one rebuttal after the answer.

    Which objection is made does not depend on what an agent says except by which of its figures are right, and the
    score is the answer's own: a rebuttal changes the multiplier and nothing else.
    """

    session: Session
    dispute: Dispute
    name: tuple[object, ...]
    question: str
    writer: Writer | None = None
    answers: list[str] = field(default_factory=list)
    objection: Objection | None = None
    rebuttal: str | None = None
    written: Written | None = None

    def opening(self) -> dict[str, Json]:
        """Return the task's first message."""
        return self.session.opening()

    def reply(self, text: str) -> dict[str, Json] | None:
        """Take the answer and return the objection; then take the rebuttal, with which the conversation is over."""
        if self.objection is not None:
            self.rebuttal = text
            return None
        self.answers.append(text)
        message = self.session.reply(text)
        return self._challenge() if message is None else message

    def _challenge(self) -> dict[str, Json] | None:
        claims = self.dispute.claims(self.answers[-1])
        if not claims:
            return None
        claim, wanted = objection.choose(claims, name=self.name)
        if self.written is None and self.writer is not None:
            self.written = self.writer(self.question, claim)
        text = self.written.text if self.written else objection.write(claim, name=self.name)
        self.objection = Objection(claim, text, wanted)
        check = self._check()
        reply_format = _REPLY.format(check_format=_CHECK_FORMATS[check.expected.kind])
        return {
            "type": "debate",
            "question": f"{self.objection.text}\n\nCheck question: {check.question}\n\n{reply_format}",
            "objection": self.objection.text,
            "challenged": {"figure": claim.name, "stated": claim.stated},
            "check_question": check.question,
            "answer_format": reply_format,
        }

    def _check(self) -> Check:
        return self.dispute.check(stream(*self.name, "check"))

    def score(self) -> Score:
        """Return the score of the answer times the multiplier, at most 100; its parts are those of the answer."""
        first = self.session.score()
        ruling, told = self._ruling()
        told |= {
            "verdict": str(ruling.verdict),
            "multiplier": ruling.multiplier,
            "reason": ruling.reason,
            "value_before": first.value,
        }
        return Score(
            value=min(FULL_MARKS, first.value * ruling.multiplier),
            passed=first.passed,
            parts=first.parts,
            details=dict(first.details) | {"debate": told},
            reason="; ".join(part for part in (first.reason, f"debate {ruling.verdict}: {ruling.reason}") if part),
        )

    def _ruling(self) -> tuple[Ruling, dict[str, Json]]:
        """Return the verdict, and what the record tells of the debate."""
        if self.objection is None:
            return NO_CASE, {"objection": None}
        claim, check = self.objection.to, self._check()
        _, calls, cost = self.written or Written(self.objection.text)
        restated, evidence = self._heard()
        before = self.dispute.claims(self.answers[-1])
        stated_now = {row.name: row for row in self.dispute.claims(restated)}
        after = [stated_now.get(row.name, row) for row in before]
        graded = check.expected.grade(evidence)
        ruling = verdict.rule(before, after, challenged=claim.name, proven=graded.passed)
        now = next(row for row in after if row.name == claim.name)
        return ruling, {
            "objection": self.objection.text,
            "true_objection": self.objection.is_true,
            "true_wanted": self.objection.wanted,
            "figure": claim.name,
            "stated": claim.stated,
            "stated_after": now.stated,
            "right_after": now.right,
            "check_question": check.question,
            "check_expected": check.expected.written(),
            "check_given": evidence[:200],
            "check_right": graded.passed,
            "judge_calls": calls,
            "judge_cost_usd": cost,
        }

    def _heard(self) -> tuple[str, str]:
        """Return the answer as it stands after the rebuttal, and the evidence."""
        document = parse_json_object(self.rebuttal or "")
        if isinstance(document, Refusal):
            return self.rebuttal or "", ""
        evidence = _evidence(document.pop(CHECK, None))
        told = document.get(RESTATED, document)
        if isinstance(told, dict):
            told = json.dumps(_laid_over(self.answers[-1], told)) if told else ""
        return told if isinstance(told, str) else json.dumps(told), evidence

    def oracle(self) -> str:
        """Return the perfect reply to the latest message."""
        if self.objection is None:
            return self.session.oracle()
        return json.dumps({RESTATED: self.session.oracle(), CHECK: self._check().expected.written()})

    def handouts(self) -> Mapping[str, Json]:
        """Return the documents of the task's own session."""
        return self.session.handouts()

    def recall(self, details: Mapping[str, Json]) -> None:
        """Take what a judge said, and what a model objected."""
        told = details.get("debate")
        if isinstance(told, dict) and isinstance(told.get("objection"), str):
            cost = told.get("judge_cost_usd", 0.0)
            self.written = Written(told["objection"], int(told.get("judge_calls", 0)), cost)
        self.session.recall(details)


def _laid_over(answer: str, restated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer's object with what was restated of it: what a rebuttal leaves out stands as it was."""
    document = parse_json_object(answer)
    return dict(restated) if isinstance(document, Refusal) else _merged(document, restated)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {**old, **new}
    for key in old.keys() & new.keys():
        if isinstance(old[key], dict) and isinstance(new[key], dict):
            both[key] = _merged(old[key], new[key])
    return both


def _evidence(given: Any) -> str:
    """Return what a rebuttal gives as its check figure, as text that a parser reads."""
    if isinstance(given, str):
        return given
    return "" if given is None or isinstance(given, bool | dict | list) else json.dumps(given)
