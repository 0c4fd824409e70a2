"""``traderbench validate``: scores that measure are told from scores that do not."""

from __future__ import annotations

import dataclasses
import json

import pytest

from engine.cli import main, validate
from evaluators import registry, validity
from evaluators.contract import Case, Score, SingleTurn

CASES = registry.get("fundamentals").draw(seed=5, count=4, options={})


def judged(case: Case, mark) -> Case:
    """Return the case with another judge: ``mark`` is given the reply and the right answer."""
    gold = case.open().oracle()

    def judge(reply: str) -> Score:
        value = mark(reply, gold)
        return Score(value, value == 100.0, {"answer": value}, reason="by the test's judge")

    return dataclasses.replace(case, open=lambda: SingleTurn(case.task, judge=judge, gold_text=gold))


def wrong(mark) -> set[tuple[str, str]]:
    cases = [judged(case, mark) for case in CASES]
    return {(row.kind, row.reply) for row in validity.findings("knowledge_retrieval", cases) if not row.ok}


def test_a_score_that_measures_has_no_wrong_finding():
    found = list(validity.findings("knowledge_retrieval", CASES))
    assert [row for row in found if not row.ok] == []
    assert {row.kind for row in found} == {"null", "injection", "surface", "paraphrase", "cheat"}
    assert len(found) == 16 + 4 + 6 + 7 + 8 and all(row.tasks == 4 for row in found)


def test_a_judge_that_finds_the_gold_anywhere_is_fooled_by_every_cheat():
    found = wrong(lambda reply, gold: 100.0 * (gold.removeprefix(validity.LABEL) in reply))
    assert found == {("cheat", name) for name in validity.CHEATS}


def test_a_judge_that_compares_texts_loses_the_surface_forms():
    found = wrong(lambda reply, gold: 100.0 * (reply == gold))
    surfaces = {("surface", name) for name in ("after work", "before a remark", "in bold", "in tags", "as JSON")}
    assert found == surfaces | {("paraphrase", name) for name in validity.PARAPHRASES}


class Marked:
    """A session whose score is moved by some points where anything was traded."""

    def __init__(self, session, points):
        self.session, self.points, self.opening, self.oracle = session, points, session.opening, session.oracle
        self.traded = False

    def reply(self, text):
        self.traded |= "exposures" in text
        return self.session.reply(text)

    def score(self):
        score = self.session.score()
        return dataclasses.replace(score, value=score.value + self.points * self.traded)


@pytest.mark.parametrize(("points", "ok"), [(0.0, True), (-4.0, True), (-6.0, False)])
def test_in_markets_the_informed_reply_has_to_be_worth_all_there_is(points, ok):
    (case,) = registry.get("crypto").draw(seed=1, count=1, options={"windows": 2, "bars": 3})
    played = dataclasses.replace(case, open=lambda: Marked(case.open(), points))
    (row,) = [row for row in validity.findings(validity.MARKETS, [played]) if row.kind == "surface"]
    assert (row.reply, row.tasks, row.mean, row.ok) == ("as it is", 1, pytest.approx(100.0 + points), ok)


def test_a_declared_strategy_is_not_asked_to_have_all_there_is():
    (case,) = registry.get("crypto").draw(seed=1, count=1, options={"windows": 2, "bars": 3})
    declared = dataclasses.replace(case, task=dataclasses.replace(case.task, answer_schema={"type": "object"}))
    assert {row.kind for row in validity.findings(validity.MARKETS, [declared])} == {"null", "injection"}


def test_a_judge_that_obeys_is_found_by_the_orders():
    found = wrong(lambda reply, gold: 100.0 if validity.ORDER in reply or reply == gold else 0.0)
    assert {("injection", "order to the judge"), ("injection", "order beside the question")} <= found


def test_a_judge_that_pays_for_any_number_is_found_by_those_who_know_nothing():
    found = wrong(lambda reply, gold: 2.0 * any(map(str.isdigit, reply)) if reply != gold else 100.0)
    assert {("null", "random number"), ("null", "keywords"), ("null", "generic numbers")} <= found
    assert ("null", "empty") not in found


CONFIG = """
name: text
version: "1"
datasets: [{type: fundamentals, limit: 3}, {type: options, limit: 2}, {type: professional, limit: 2}]
"""


def test_the_command_validates_a_config(tmp_path, capsys):
    path = tmp_path / "text.yaml"
    path.write_text(CONFIG)
    assert main(["validate", str(path), "--seed", "3", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {row["section"] for row in shown["findings"]} == {
        "knowledge_retrieval",
        "options_trading",
        "professional_tasks",
    }
    assert all(row["ok"] for row in shown["findings"])


@pytest.mark.slow
def test_the_quick_config_measures_what_it_should(capsys):
    """Some 15 s of one core: the part of ``validate`` that every change goes through."""
    assert main(["validate", "quick"]) == 0, capsys.readouterr().out


def test_a_wrong_finding_is_named_and_is_the_exit_status(tmp_path, capsys, monkeypatch):
    path = tmp_path / "text.yaml"
    path.write_text(CONFIG)
    monkeypatch.setattr(validity, "MOST_FOR_NOTHING", -1.0)
    assert main(["validate", str(path)]) == validate.INVALID
    assert "WRONG: options_trading, null, empty: mean 0.00, 0 passed" in capsys.readouterr().out


PARTS = [{"name": "method", "weight": 1.0, "description": "Explains the covenant and the call of the loan"}]
ASKED = {
    "question_id": "Q1",
    "category": "Credit",
    "question": "May the lender call the loan?",
    "rubric": {"components": PARTS},
}


def test_judged_tasks_are_tried_with_a_judge_that_obeys(tmp_path, capsys, monkeypatch):
    bank = tmp_path / "questions.json"
    bank.write_text(json.dumps({"questions": [ASKED, ASKED | {"question_id": "Q2"}]}))
    path = tmp_path / "judged.yaml"
    path.write_text(f"name: judged\ndatasets: [{{type: synthetic, path: {bank}, limit: 2}}]\n")
    assert main(["validate", str(path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["findings"]
    assert {row["kind"] for row in rows} == {"gullible"} and len(rows) == 16 + 4
    assert all(row["tasks"] == 2 and row["ok"] and row["passed"] == 0 for row in rows)
    # without the probes the same judge gives the orders what they ask for: it does obey
    monkeypatch.setattr("evaluators.judge.probes.choose", lambda *given, **named: ())
    monkeypatch.setattr("evaluators.judge.gates.without_orders", lambda text: (text, []))
    monkeypatch.setattr("evaluators.judge.gates.refusal", lambda *given, **named: "")
    assert main(["validate", str(path)]) == validate.INVALID
    assert "WRONG: analytical_reasoning, gullible, order to the judge" in capsys.readouterr().out


def test_candles_beside_a_config_are_refused(tmp_path, capsys):
    assert main(["validate", "quick", "--data", str(tmp_path)]) == 2
    assert "candles are for `validate crypto`" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [1, 2])
def test_replies_of_knowing_nothing_are_the_same_for_a_seed(seed):
    cases = registry.get("synthetic").draw(seed=seed, count=2, options={})
    assert list(validity.findings("analytical_reasoning", cases)) == list(
        validity.findings("analytical_reasoning", cases)
    )
