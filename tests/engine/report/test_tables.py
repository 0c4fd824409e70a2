"""The tables of the papers from records of known marks, every figure by hand."""

import csv
import io

import pytest

from engine import report
from engine.report import page, tables
from engine.scoring import intervals
from engine.scoring.statistics import Sample


def record(section, dataset, category, family, value, **fields):
    parts = fields.pop("parts", {})
    return {
        "task_id": f"{dataset}-{family}",
        "section": section,
        "dataset": dataset,
        "category": category,
        "family": family,
        "state": "passed" if value >= 70.0 else "failed",
        "value": value,
        "passed": value >= 70.0,
        "parts": parts,
        "details": {},
        "tool_calls": [],
    } | fields


RECORDS = [
    record("knowledge_retrieval", "fundamentals", "Ratios", "f1", 100.0),
    record("knowledge_retrieval", "bizfinbench", "Event order", "b1", 100.0),
    record("knowledge_retrieval", "bizfinbench", "Event order", "b2", 0.0),
    record("knowledge_retrieval", "bizfinbench", "Computation", "b3", 0.0),
    record("options_trading", "options", "Greeks Analysis", "o1", 71.25,
           parts={"pnl": 100.0, "greeks": 30.0, "strategy": 85.0, "risk": 70.0}),
    record("options_trading", "options", "Strategy Construction", "o2", 50.0,
           parts={"pnl": 80.0, "greeks": 0.0, "strategy": 60.0, "risk": 60.0}),
    record("options_trading", "options", "Strategy Construction", "o3", 0.0, state="infra_unavailable"),
    record("professional_tasks", "gdpval", "Finance", "g1", 76.5, parts={"completeness": 19.0, "accuracy": 19.8}),
    record("crypto_trading", "crypto", "Trading", "c1", 6.0,
           details={"transform": "noisy",
                    "samples": [{"family": "w1", "value": 2.0}, {"family": "w2", "value": 10.0}]}),
    record("crypto_trading", "crypto", "Trading", "c2", -4.0, state="agent_error"),
]  # fmt: skip


def found(table):
    return {row.group: row for row in tables.rows(RECORDS) if row.table == table}


def test_a_table_is_printed_with_levels_as_columns_and_n_and_interval():
    rows = [
        record("analytical_reasoning", "casebook", category, f"f{n}", value, difficulty=level)
        for n, (category, level, value) in enumerate(
            [("Macro", "easy", 100.0), ("Macro", "easy", 0.0), ("Macro", "expert", 0.0), ("Sizing", "hard", 50.0)]
        )
    ]
    low, high = intervals.bounded([Sample("f0", 100.0), Sample("f1", 0.0)])
    assert tables.as_markdown(rows, "difficulty").splitlines() == [
        "| category | easy | hard | expert |",
        "| --- | --- | --- | --- |",
        f"| Macro | 50 [{low:.0f}, {high:.0f}] (2) | - | 0 (1) |",
        "| Sizing | - | 50 (1) | - |",
    ]
    assert tables.as_markdown(rows, "dataset").splitlines()[2].startswith("| casebook | 38 [")
    with pytest.raises(ValueError, match="no tasks for the table 'crypto'; it has: section, dataset, difficulty"):
        tables.as_markdown(rows, "crypto")


def test_sections_and_datasets_have_means_intervals_and_counts():
    section, dataset = found("section"), found("dataset")
    assert section["knowledge_retrieval"][2] == 50.0 and section["knowledge_retrieval"][-3:] == (4, 4, 2)
    span = intervals.bounded([Sample(f"b{n}", value) for n, value in ((1, 100.0), (2, 0.0), (3, 0.0))])
    assert dataset["bizfinbench"].score == pytest.approx(100.0 / 3.0)
    assert (dataset["bizfinbench"].low, dataset["bizfinbench"].high) == pytest.approx(span)
    assert (dataset["fundamentals"].score, dataset["fundamentals"].low) == (100.0, None)


def test_bizfinbench_stands_by_task_type_and_options_by_dimension_and_category():
    assert {name: row.score for name, row in found("bizfinbench").items()} == {"Event order": 50.0, "Computation": 0.0}
    # the papers' reference answers (100, 30, 85, 70) and (80, 0, 60, 60); the task of a dead harness is no 0
    assert {name: row.score for name, row in found("options").items()} == {
        "pnl": 90.0,
        "greeks": 15.0,
        "strategy": 72.5,
        "risk": 65.0,
    }
    construction = found("options_category")["Strategy Construction"]
    assert (construction.score, construction.tasks, construction.scored) == (50.0, 2, 1)


def test_crypto_stands_by_transform_with_the_windows_as_samples_and_gdpval_by_sub_score():
    noisy = found("crypto")["noisy"]
    assert (noisy.score, noisy.se) == (6.0, pytest.approx(4.0))
    assert set(found("crypto")) == {"noisy"}
    assert {name: row.score for name, row in found("gdpval").items()} == {"accuracy": 19.8, "completeness": 19.0}


def test_tables_without_tasks_are_left_out_and_unscored_groups_have_no_score():
    assert not found("synthetic")
    only = [RECORDS[6]]
    assert [row.score for row in tables.rows(only) if row.table == "section"] == [None]


def test_the_csv_holds_every_row_and_nothing_for_what_is_not_known():
    read = list(csv.DictReader(io.StringIO(tables.as_csv(RECORDS))))
    assert tuple(read[0]) == tables.COLUMNS == tables.Row._fields
    assert len(read) == len(tables.rows(RECORDS))
    pnl = next(row for row in read if (row["table"], row["group"]) == ("options", "pnl"))
    assert (pnl["score"], pnl["low"], pnl["tasks"], pnl["scored"]) == ("90.0", "", "3", "2")


def test_the_page_shows_each_table_by_its_title():
    shown = [page._table(item) for item in tables.shown(RECORDS)]
    assert [item["title"] for item in shown][:3] == ["By section", "By dataset", "BizFinBench by task type"]
    assert shown[0]["lines"][0] == {
        "group": "Knowledge retrieval",
        "score": "50.0",
        "interval": shown[0]["lines"][0]["interval"],
        "tasks": 4,
        "passed": 2,
    }
    assert report.TEMPLATES.joinpath("report.html.j2").read_text().count('id="tables"') == 1


def test_categories_are_told_apart_by_difficulty_and_runs_without_one_have_no_such_table():
    assert found("difficulty") == {}
    levels = [
        record("analytical_reasoning", "casebook", "Copy Trading", "c1", 100.0, difficulty="easy"),
        record("analytical_reasoning", "casebook", "Copy Trading", "c1", 50.0, difficulty="expert"),
        record("analytical_reasoning", "casebook", "Copy Trading", "c2", 0.0, difficulty="expert"),
    ]
    rows = {row.group: row for row in tables.rows(levels) if row.table == "difficulty"}
    assert rows["Copy Trading, easy"][2:6] == (100.0, None, None, None)
    assert (rows["Copy Trading, expert"].score, rows["Copy Trading, expert"].tasks) == (25.0, 2)
