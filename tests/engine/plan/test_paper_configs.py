"""The papers' configs as printed: with files of the published formats they draw, without them they name one command."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from engine import config
from engine.errors import ConfigError
from engine.plan import build, sampling

RUBRIC = [{"id": "c1", "title": "Names the covenant", "annotations": {
    "weight_class": "important", "important_weight": 5, "criteria_category": "Reasoning"}}]  # fmt: skip
PART = {"name": "idea", "weight": 1.0, "description": "Names the parity"}


def bank(path: Path, count: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"question_id": f"Q{n}", "category": "Parity", "question": f"What is {n} plus {n}?",
         "ground_truth_value": 2.0 * n, "rubric": {"components": [PART]}}
        for n in range(11, 11 + count)
    ]  # fmt: skip
    path.write_text(json.dumps({"questions": rows}))


def bizfinbench(folder: Path) -> None:
    (folder / "en").mkdir(parents=True)
    for kind, gold in (("event_logic_reasoning", "2,1,3"), ("financial_quantitative_computation", 12.5)):
        rows = [
            {"messages": [{"role": "user", "content": [{"text": f"Question {n} of {kind}", "type": "text"}]}],
             "choices": [{"message": {"content": [{"text": gold}]}}]}
            for n in range(25)
        ]  # fmt: skip
        (folder / "en" / f"{kind}_en.jsonl").write_text("\n".join(map(json.dumps, rows)))


def scenario(folder: Path) -> None:
    folder.mkdir(parents=True)
    start, states = datetime(2022, 1, 1, tzinfo=UTC), []
    for bar in range(4000):
        price = 100.0 * math.exp(0.05 * math.sin(bar / 7.0) + 0.05 * math.sin(bar / 31.0))
        ohlcv = {"open": price, "high": price * 1.002, "low": price * 0.998, "close": price, "volume": 50.0}
        moment = (start + timedelta(hours=bar)).isoformat()
        states.append({"timestamp": moment, "symbol": "BTCUSDT", "ohlcv": ohlcv})
    (folder / "market_data.json").write_text(json.dumps({"market_states": states}))


@pytest.fixture
def pulled(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    bank(Path("data/synthetic_questions/questions.json"), 30)
    bank(Path("data/options/questions.json"), 9)
    bizfinbench(Path("data/BizFinBench.v2"))
    Path("finance-agent/data").mkdir(parents=True)
    rows = [
        {"Question": f"Revenue of {n}?", "Answer": f"{n},100", "Question Type": "Retrieval",
         "Rubric": json.dumps([{"operator": "correctness", "criteria": f"Revenue is {n},100"}])}
        for n in range(1, 40)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("finance-agent/data/public.csv", index=False)
    Path("data/prbench").mkdir()
    asked = {"field": "Finance", "topic": "Credit", "rubric": RUBRIC, "prompt_0": "May the lender call the loan?"}
    pd.DataFrame([{"task": f"t{n}", **asked} for n in range(4)]).to_parquet("data/prbench/finance.parquet")
    Path("data/gdpval").mkdir()
    tasks = [{"task_id": f"g{n}", "occupation": "Editors", "prompt": f"Edit text {n}."} for n in range(6)]
    Path("data/gdpval/tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    scenario(Path("data/crypto-trading/volatile"))
    return tmp_path


def drawn(name: str) -> Counter[str]:
    return Counter(case.task.dataset for case in sampling.draw(config.load(name)))


def test_the_first_papers_config_draws_its_100_tasks(pulled):
    assert drawn("paper-fab") == {"synthetic": 30, "bizfinbench": 35, "public_csv": 35}


def test_the_second_papers_config_draws_its_18_tasks(pulled):
    assert drawn("paper-traderbench") == {
        "bizfinbench": 2, "prbench": 2, "synthetic": 4, "options": 4, "crypto": 2, "gdpval": 4
    }  # fmt: skip
    made = build.plan(config.load("paper-traderbench"), agent_digest="0")
    assert len(made.cells) == 18 and len(made.data_hashes) == 6


def test_the_18_tasks_of_table_10_need_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = sampling.draw(config.load("paper-18"))
    assert Counter(case.task.section for case in cases) == {
        "knowledge_retrieval": 6, "analytical_reasoning": 3, "options_trading": 3, "crypto_trading": 2,
        "professional_tasks": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "gone", "command"),
    [
        ("paper-fab", "data/synthetic_questions/questions.json", "synthetic"),
        ("paper-fab", "data/BizFinBench.v2", "bizfinbench"),
        ("paper-fab", "finance-agent/data/public.csv", "public_csv"),
        ("paper-traderbench", "data/prbench", "prbench"),
        ("paper-traderbench", "data/options", "options"),
        ("paper-traderbench", "data/crypto-trading", "scenarios"),
        ("paper-traderbench", "data/gdpval", "gdpval"),
    ],
)
def test_a_missing_file_is_one_line_with_one_command(pulled, name, gone, command):
    Path(gone).rename("elsewhere")
    with pytest.raises(ConfigError) as raised:
        build.plan(config.load(name), agent_digest="0")
    assert str(raised.value).endswith(
        f"path: there is nothing at '{gone}'; fetch it with: traderbench data pull {command}"
    )
    assert "\n" not in str(raised.value)


def test_a_dataset_that_draws_nothing_is_an_error(pulled):
    entry = {"type": "bizfinbench", "path": "data/BizFinBench.v2", "languages": ["cn"], "limit": 3}
    with pytest.raises(ConfigError, match=r"datasets\[0\] \(bizfinbench\): no task was drawn: nothing there is what"):
        sampling.draw(config.parse({"name": "n", "datasets": [entry]}, source="n.yaml"))


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "tasks"), [("paper-fab", 100), ("paper-traderbench", 18)])
def test_a_printed_config_runs_to_its_report(pulled, name, tasks):
    printed = (Path(__file__).parents[3] / "configs" / f"{name}.yaml").read_text()
    Path("printed.yaml").write_text(f"{printed}execution: {{backend: serial, concurrency: 4, ports: auto}}\n")
    command = [Path(sys.executable).with_name("traderbench"), "run", "printed.yaml", "--agent", "builtin:null"]
    done = subprocess.run([*command, "--out", "run", "--json"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    states = Counter(task["state"] for task in result["tasks"])
    assert sum(states.values()) == tasks and result["overall"]["score"] == 0.0
    assert "infra_unavailable" not in states
    assert Path("run/report.html").stat().st_size > 10_000 and Path("run/tables.csv").exists()


@pytest.mark.shared_data
def test_the_published_scenarios_are_too_short_for_a_task_and_that_is_one_line(shared_data, tmp_path):
    for file in (shared_data / "agentbusters").glob("crypto_scenarios_*_market_data.json"):
        shutil.copy(file, tmp_path)
    entry = {"type": "crypto", "path": str(tmp_path), "limit": 1}
    with pytest.raises(ConfigError, match=r"the longest has 20 bars\); give longer candles, or leave path out"):
        sampling.draw(config.parse({"name": "n", "datasets": [entry]}, source="n.yaml"))
