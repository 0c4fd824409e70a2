"""Own items are solved again by other code; public files are read in place and scored."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from evaluators.answers import Refusal, parse_number
from evaluators.bizfinbench.dataset import DATASET
from evaluators.bizfinbench.public_file import expected_answer
from evaluators.contract import Case, Score

BOTH = {"languages": ["en", "cn"]}


def score(case: Case, reply: str) -> Score:
    session = case.open()
    session.reply(reply)
    return session.score()


def own(task_type: str, *, language: str = "en", count: int = 24, seed: int = 5) -> list[Case]:
    options = {"task_types": [task_type], "languages": [language], "difficulties": ["easy"]}
    return list(DATASET.draw(seed=seed, count=count, options=options))


def test_a_wrong_order_gets_nothing_and_says_how_many_are_in_place() -> None:
    case = own("event_logic_reasoning")[0]
    order = case.open().oracle().removeprefix("Final answer: ").split(",")
    swapped = [order[1], order[0], *order[2:]]
    verdict = score(case, "Final answer: " + ",".join(swapped))
    assert verdict.value == 0.0
    assert verdict.reason == f"{len(order) - 2} of {len(order)} items in their place; exact match only"


def table(question: str) -> dict[tuple[str, str], float]:
    """Return (company, column) -> figure out of the question's table."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in question.splitlines() if line.startswith("|")
    ]
    header, body = rows[0], rows[2:]
    return {(row[0], header[i].rpartition(" (")[0]): float(row[i]) for row in body for i in range(1, len(row))}


def solved(question: str) -> float:
    """Solve an English item from its text alone."""
    figures = table(question)
    match = re.search(r"Assuming that the (.+) of (.+) in ([0-9]{4}) had been ([0-9]+)% (higher|lower), (.+)", question)
    assert match is not None
    item, company, year, change, direction, ask = match.groups()
    factor = 1 + int(change) / 100 * (1 if direction == "higher" else -1)

    def figure(name: str, when: int) -> float:
        value = figures[company, f"{name} {when}"]
        return value * factor if (name.lower(), str(when)) == (item, year) else value

    years = [int(found) for found in re.findall(r"[0-9]{4}", ask)]
    last = years[-1]
    if "growth" in ask:
        return (figure("Net operating cash flow", last) / figure("Net operating cash flow", years[0])) ** (
            1 / (last - years[0])
        ) - 1
    if "gross margin" in ask:
        return (figure("Revenue", last) - figure("Operating cost", last)) / figure("Revenue", last)
    if "quick ratio" in ask:
        return (figure("Total current assets", last) - figure("Inventory", last)) / figure(
            "Total current liabilities", last
        )
    if "equity multiplier" in ask:
        return figure("Total assets", last) / (figure("Total assets", last) - figure("Total liabilities", last))
    if "days of inventory" in ask:
        mean = (figure("Inventory", last) + figure("Inventory", last - 1)) / 2
        return 365 * mean / figure("Operating cost", last)
    if "interest cover" in ask:
        return figure("Operating profit", last) / figure("Interest expense", last)
    if "return on assets" in ask:
        return figure("Net profit", last) / ((figure("Total assets", last) + figure("Total assets", last - 1)) / 2)
    return figure("Net operating cash flow", last) / figure("Total current liabilities", last)


def test_every_computation_is_solved_again_from_the_text_alone() -> None:
    cases = own("financial_quantitative_computation", count=60)
    assert len({case.task.family for case in cases}) == 8
    for case in cases:
        gold = score(case, case.open().oracle()).details["expected_value"]
        assert gold == pytest.approx(solved(case.task.question), rel=1e-9), case.task.question


def test_the_tolerance_is_one_percent() -> None:
    for case in own("financial_quantitative_computation", count=8):
        gold = solved(case.task.question)
        for factor, expected in (
            (1.0095, 100.0),
            (0.9905, 100.0),
            (1.0105, 0.0),
            (0.9895, 0.0),
            (-1.0, 0.0),
            (100, 0.0),
        ):
            assert score(case, f"Final answer: {gold * factor!r}").value == expected


def test_languages_and_task_types_take_turns() -> None:
    cases = DATASET.draw(seed=1, count=20, options=BOTH)
    assert sum("Events:" in case.task.question for case in cases) == 2
    assert sum("事件:" in case.task.question for case in cases) == 2
    assert len({case.task.family.split("/")[1] for case in cases}) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"languages": ["de"]}, "languages: unknown value 'de'; allowed: en, cn"),
        ({"task_types": ["stock_price_predict"]}, "task_types: unknown value 'stock_price_predict'"),
        ({"path": 3}, "path: Input should be a valid string (got 3)"),
        ({"path": "/nowhere/at/all"}, "no .jsonl or .jsonl.gz file at '/nowhere/at/all'"),
    ],
)
def test_a_bad_option_is_one_clear_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DATASET.draw(seed=1, count=1, options=options)


def write(path: Path, rows: list[tuple[str, object]]) -> None:
    lines = [
        json.dumps({
            "messages": [{"role": "user", "content": [{"text": prompt, "type": "text"}]}],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": [{"text": gold, "type": "text"}]}}],
        })
        for prompt, gold in rows
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def public(path: Path, **options: object) -> list[Case]:
    return list(DATASET.draw(seed=1, count=100, options={"path": str(path), **options}))


def test_a_folder_of_public_files_is_read_by_type_and_language(tmp_path: Path) -> None:
    write(tmp_path / "event_logic_reasoning_en.jsonl", [("Order these.", "2,4,1,3"), ("Order those.", "3, 1, 2")])
    write(tmp_path / "event_logic_reasoning_cn.jsonl.gz", [("排序", "3, 1, 5, 2, 6, 4")])
    write(tmp_path / "financial_quantitative_computation_en.jsonl", [("Compute.", "55.1219 %"), ("Compute it.", 0.5)])
    write(tmp_path / "stock_price_predict_en.jsonl", [("Predict.", "9.42")])
    assert len(public(tmp_path)) == 5
    assert len(public(tmp_path, languages=["en"])) == 4
    assert len(public(tmp_path, task_types=["event_logic_reasoning"], languages=["en"])) == 2
    assert [case.task.task_id for case in public(tmp_path)] == [case.task.task_id for case in public(tmp_path)]


def test_a_public_line_out_of_format_is_named_by_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "event_logic_reasoning_en.jsonl"
    write(file, [("Order these.", "2,4,1,3")])
    file.write_text(file.read_text() + '{"question": "?"}\n')
    with pytest.raises(ValueError, match=r"event_logic_reasoning_en.jsonl:2: not in the messages/choices format"):
        public(tmp_path)


def test_a_file_whose_name_tells_no_task_type_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", [("?", "1")])
    with pytest.raises(ValueError, match="tell none of the task types"):
        public(tmp_path)


@pytest.mark.parametrize(
    ("gold", "task_type", "right", "wrong"),
    [
        ("55.1219 %", "counterfactual_inference", ["55.1219%", "55.12", "0.551219", '{"answer": "55.1219%"}'],
         ["5.51219", "0.00551219", "-55.1219%", "551.219%"]),
        ("41.5977", "counterfactual_inference", ["41.5977", "41.5977%", '{"answer": 41.6}'], ["0.415977", "415.977"]),
        (332755900000.0, "counterfactual_inference", ["332755900000", "332.7559 billion", "3327.559亿"], ["332.7559"]),
        ("14.8065", "financial_quantitative_computation", ["14.8065", "14.8065亿元", '{"cot": "x", "answer": 14.8065}'],
         ["-14.8065", "148.065", "14.8065 or 15.2"]),
        ("2023年06月20日", "financial_quantitative_computation", ["2023年06月20日", "2023-06-20", "20230620"],
         ["2023年06月21日", "2023"]),
        ("20230620", "financial_quantitative_computation", ["20230620", "2023年6月20日"], ["20230621", "20230601"]),
        ("3, 1, 5, 2", "event_logic_reasoning", ["3,1,5,2", "Q1: 3-1-5-2"], ["3,1,2,5", "1,2,3,5", "3,1,5"]),
        ("8, 10, 12", "anomaly_information_tracing", ["12, 8, 10", "[8, 10, 12]", '{"answer": [8, 10, 12]}'],
         ["8, 10", "8, 10, 12, 13", "8, 10, 12 and some text"]),
        ("[]", "financial_data_description", ["[]", "Final answer: []"], ["[1]", "none of them"]),
        ("Lack of relevant data", "counterfactual_inference",
         ['{"answer": "lack of relevant data"}', "Final answer: Lack of relevant data."], ["0", "", "No answer"]),
        ({"a": 1.0, "b": "x"}, "counterfactual_inference", ['{"a": 1.005, "b": "X"}'],
         ['{"a": 1}', '{"a": 2, "b": "x"}']),
    ],
)  # fmt: skip
def test_public_golds_accept_their_stated_readings_and_nothing_else(
    gold: object, task_type: str, right: list[str], wrong: list[str]
) -> None:
    expected = expected_answer(gold, task_type)
    assert expected.grade(expected.gold_text()).value == 100.0
    for reply in right:
        assert expected.grade(reply).value == 100.0, reply
    for reply in (*wrong, "", ".", "I don't know"):
        assert expected.grade(reply).value == 0.0, reply


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("file", "count", "kind"),
    [
        ("bizfinbench_v1", 581, "financial_quantitative_computation"),
        ("bizfinbench_v2/conterfactual_en.even.jsonl.gz", 151, "counterfactual_inference"),
    ],
)
def test_real_files_are_read_whole_and_their_golds_score_100(
    shared_data: Path, file: str, count: int, kind: str
) -> None:
    cases = list(DATASET.draw(seed=4, count=10_000, options={"path": str(shared_data / file)}))
    assert len(cases) == count
    assert {case.task.family.split("/")[1] for case in cases} == {kind}
    for case in cases:
        assert score(case, case.open().oracle()).value == 100.0
        assert score(case, case.task.question).value == 0.0
    assert len(DATASET.draw(seed=4, count=7, options={"path": str(shared_data / file)})) == 7


@pytest.mark.shared_data
def test_real_gold_answers_of_further_task_types_are_understood(shared_data: Path) -> None:
    lines = (shared_data / "bizfinbench_v2" / "agentbusters_results_pairs.jsonl").read_text().splitlines()
    pairs = [
        row
        for row in map(json.loads, lines)
        if row["expected"] and row["task_type"] != "financial_multi_turn_perception"
    ]
    assert len(pairs) >= 20
    for row in pairs:
        expected = expected_answer(row["expected"], row["task_type"])
        assert expected.grade(row["expected"]).value == 100.0, row
        number = parse_number(row["expected"], kind="any")
        if not isinstance(number, Refusal):
            assert expected.grade(str(number.value + 1000)).value == 0.0
