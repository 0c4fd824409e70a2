"""Shards: whatever their number, their rows are those of the undivided run."""

import json
import shutil
from datetime import date, timedelta

import pytest

from engine import config
from engine.config import ExecutionConfig, ShardConfig
from engine.errors import ConfigError
from engine.plan import build, shards
from engine.plan.sampling import draw
from engine.report import results
from engine.run import services
from engine.run.execute import unavailable
from engine.run.merge import merge
from engine.storage.store import Store
from evaluators.contract import Case, Task
from tests.engine.command_line import here

CONFIG = """
name: shared out
datasets:
  - {type: fundamentals, limit: 4, difficulties: [easy]}
  - {type: synthetic, limit: 2}
  - {type: options, limit: 2}
  - {type: crypto, limit: 2, windows: 2, bars: 30}
execution: {backend: serial, ports: auto, concurrency: 2}
"""


def case(number, *, dated):
    day = date(2012, 1, 1) + timedelta(days=(7 * number) % 10)
    servers = ("edgar",) if dated else ()
    return Case(Task(f"t{number}", "options_trading", "options", "c", "f", day, "q", "a", servers=servers), open=None)


@pytest.mark.parametrize("dated", [0, 1, 7, 11])
def test_any_number_of_shards_deals_out_every_task_once_evenly_and_by_date(dated):
    cases = [case(number, dated=number % 3 != 1 if dated == 7 else number < dated) for number in range(11)]
    for count in range(1, 12):
        parts = [shards.positions(cases, ShardConfig(index=index, count=count)) for index in range(1, count + 1)]
        assert sorted(place for part in parts for place in part) == list(range(11))
        assert {len(part) for part in parts} <= {11 // count, -(-11 // count)}
        assert all(part == sorted(part) for part in parts)
        days = [[cases[place].task.as_of for place in part if cases[place].task.servers] for part in parts]
        in_turn = [day for part in days for day in sorted(part)]
        assert in_turn == sorted(in_turn)


def test_more_shards_than_tasks_are_refused_by_each_of_them():
    for index in (1, 3):
        with pytest.raises(ConfigError, match=r"shard\.count: must be at most 2, the number of tasks .* got 3"):
            shards.positions([case(0, dated=False)] * 2, ShardConfig(index=index, count=3))


@pytest.mark.parametrize(
    ("shard", "said"),
    [
        ("{index: 4, count: 3}", "sampling.shard: index must be at most count, which is 3, got 4"),
        ("{index: 0, count: 3}", r"sampling.shard.index: .*greater than or equal to 1 \(got 0\)"),
        ("{indx: 1, count: 3}", r"sampling.shard.indx: unknown key \(did you mean 'index'\?\)"),
    ],
)
def test_a_shard_that_cannot_be_names_field_and_value(tmp_path, shard, said):
    (tmp_path / "c.yaml").write_text(f"name: x\ndatasets: [{{type: synthetic}}]\nsampling: {{shard: {shard}}}")
    with pytest.raises(ConfigError, match=said):
        config.load(tmp_path / "c.yaml")


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "a/b", "1/3/5", "-1/3"])
def test_a_shard_on_the_command_line_is_written_index_of_count(text):
    done = here("run", "quick", f"--shard={text}")
    assert done.returncode == 2 and "from 1/3 to 3/3 for three" in done.stderr


@pytest.fixture(scope="module")
def plans():
    """Return the plan of a run, whole or of one shard; the cases are drawn once."""
    raw = {
        "name": "two sections",
        "datasets": [{"type": "fundamentals", "limit": 4}, {"type": "synthetic", "limit": 2}],
        "limits": {"max_cost_usd": 2},
    }
    drawn = draw(config.parse(raw, source="test"))

    def plan(index=None, count=2, **sampling):
        shard = {} if index is None else {"shard": {"index": index, "count": count}}
        made = config.parse(raw | {"sampling": shard | sampling}, source="test")
        return build.plan(made, agent_digest="a", cases=drawn)

    return plan


@pytest.fixture
def stored(tmp_path):
    """Return the folder of a shard whose tasks all ended at one second."""

    def store(plan, name, *, at, agent="a", state="failed", played=None):
        described = {"spec": "x", "name": agent, "digest": agent, "environment": {}}
        manifest = build.manifest(plan, run_id=name, agent=described, sandbox_tier="namespaces")
        with Store.create(tmp_path / name, manifest) as made:
            for cell in plan.cells[:played]:
                record = unavailable(cell.case.task, "") | {"state": state, "value": 50.0, "seconds": 5.0}
                made.commit(key=cell.key, position=cell.position, record=record, at=at)
        return tmp_path / name

    return store


def marked(folder):
    with Store.open(folder, read_only=True) as store:
        return {record["task_id"] for record in results.all_records(store) if record.get("after_later_data")}


def dated(plan):
    return {task.task_id: task.as_of for task in (cell.case.task for cell in plan.cells) if task.servers}


def test_shards_in_turn_keep_the_order_of_dates_and_others_are_marked(plans, stored, tmp_path):
    first, second = plans(1), plans(2)
    assert max(dated(first).values()) < max(dated(second).values())
    folders = [stored(first, "first", at=100.0), stored(second, "second", at=110.0)]
    merge(folders, tmp_path / "in turn")
    assert marked(tmp_path / "in turn") == set()

    # side by side: whatever is dated earlier than something of the other shard may have been told of it
    folders = [folders[0], stored(second, "beside", at=104.0)]
    found = merge(folders, tmp_path / "beside each other")
    both = dated(first) | dated(second)
    last = max(dated(second).values())
    assert marked(tmp_path / "beside each other") == {task for task in dated(first) if both[task] < last} != set()
    assert found["after_later_data"] == len(marked(tmp_path / "beside each other"))


def test_the_merged_run_is_the_undivided_one_with_the_budgets_of_all(plans, stored, tmp_path):
    folders = [stored(plans(index), f"s{index}", at=100.0 * index) for index in (1, 2)]
    found = merge(folders, tmp_path / "whole")
    assert found["exit_status"] == 0 and found["shard"] is None and found["budget_usd"] == 4
    assert [task["id"] for task in found["tasks"]] == [cell.case.task.task_id for cell in plans().cells]
    with Store.open(tmp_path / "whole", read_only=True) as store:
        manifest = store.manifest()
        assert store.check() == []
    assert [task["key"] for task in manifest["tasks"]] == [cell.key for cell in plans().cells]
    assert manifest["shards"] == ["s1", "s2"]


def test_a_retry_and_a_failure_of_the_harness_keep_their_former_attempts(plans, stored, tmp_path):
    plan = plans(1)
    away = stored(plan, "away", at=100.0, state="agent_unavailable")
    cell = plan.cells[0]
    record = unavailable(cell.case.task, "") | {"value": 80.0}
    with Store.open(away) as store:
        over = store.retriable()[cell.key]
        broken = record | {"state": "infra_unavailable"}
        store.commit(key=cell.key, position=cell.position, record=broken)
        again = record | {"state": "failed", "retry": True}
        assert store.commit(key=cell.key, position=cell.position, record=again, over=over)
    # the other shard served later data meanwhile, so that the attempts are marked and get other names
    folders = [away, stored(plans(2), "other", at=98.0)]
    found = merge(folders, tmp_path / "whole")
    row = next(row for row in found["tasks"] if row["id"] == cell.case.task.task_id)
    assert (row["state"], row["value"], row["attempts"]) == ("failed", 80.0, 3)
    assert row["after_later_data"] and (found["retried"], found["repeated"]) == (1, 1)


def test_tasks_that_a_shard_did_not_play_are_not_run_in_the_merged_run(plans, stored, tmp_path):
    folders = [stored(plans(1), "s1", at=100.0, played=1), stored(plans(2), "s2", at=200.0)]
    found = merge(folders, tmp_path / "whole")
    assert [task["state"] for task in found["tasks"]].count("not_run") == len(plans(1).cells) - 1 == 2
    assert (found["exit_status"], found["go_on"]) == (76, f"traderbench resume {tmp_path / 'whole'}")


def test_what_is_not_one_run_is_one_clear_line_and_leaves_nothing_behind(plans, stored, tmp_path):
    one, two = stored(plans(1), "one", at=1.0), stored(plans(2), "two", at=2.0)
    others = {
        "different runs: seed is 42 and 7": stored(plans(2, seed=7), "seed", at=1.0),
        "agent.name is 'a' and 'b'": stored(plans(2), "agent", at=1.0, agent="b"),
        "shards is 2 and 3": stored(plans(2, 3), "count", at=1.0),
        "config.sampling.strategy is 'stratified' and 'random'": stored(plans(2, strategy="random"), "s", at=1.0),
        "both hold shard 1 of 2": stored(plans(1), "again", at=1.0),
        "holds no shard": stored(plans(), "undivided", at=1.0),
    }
    for said, folder in others.items():
        with pytest.raises(ConfigError, match=said):
            merge([one, folder], tmp_path / "out")
    with pytest.raises(ConfigError, match="of 2 shards these are missing: 2; play them with --shard 2/2"):
        merge([one], tmp_path / "out")
    with pytest.raises(ConfigError, match="is named twice"):
        merge([one, two, one], tmp_path / "out")
    with pytest.raises(ConfigError, match="name a new or empty folder"):
        merge([one, two], one)
    assert not list(tmp_path.glob("out*")) and not list(tmp_path.glob(".merge*"))


def test_a_merge_that_breaks_off_leaves_no_run_that_looks_unfinished(plans, stored, tmp_path):
    folders = [stored(plans(index), f"s{index}", at=100.0 * index) for index in (1, 2)]
    shutil.rmtree(next((folders[1] / "transcripts").iterdir()))
    with pytest.raises(Exception, match="transcript"):
        merge(folders, tmp_path / "out")
    assert not list(tmp_path.glob("out*")) and not list(tmp_path.glob(".merge*"))


@pytest.mark.slow
def test_three_shards_equal_one_run_row_by_row(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    with services.tool_servers(ExecutionConfig(backend="serial", ports="auto")) as servers:

        def run(name, *arguments):
            done = here("run", path, "--out", tmp_path / name, *arguments, "--json", servers=servers)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        whole = run("whole")
        parts = [run(f"s{index}", "--shard", f"{index}/3") for index in (1, 2, 3)]
    assert [part["shard"] for part in parts] == [{"index": index, "count": 3} for index in (1, 2, 3)]
    assert [len(part["tasks"]) for part in parts] == [4, 3, 3]
    done = here("merge", *(tmp_path / f"s{index}" for index in (3, 1, 2)), "--out", tmp_path / "merged", "--json")
    assert done.returncode == 0, done.stderr
    merged = json.loads(done.stdout)
    own = {"run_id", "folder", "tool_times"}
    assert {name: merged[name] for name in merged.keys() - own} == {name: whole[name] for name in whole.keys() - own}
    assert len({task["score"] for task in merged["tasks"]}) > 2

    # like any other run: nothing left to play, the same scores again, no difference from the undivided one
    assert here("resume", tmp_path / "merged").returncode == 0
    assert json.loads(here("rescore", tmp_path / "merged", "--json").stdout)["changed"] == []
    difference = json.loads(here("compare", tmp_path / "whole", tmp_path / "merged", "--json").stdout)
    assert (difference["n"], difference["difference"]) == (10, 0.0)
    table = json.loads(here("leaderboard", tmp_path, "--json").stdout)
    assert {(row["tasks"], row["runs"]) for row in table} == {(20, 2), (4, 1), (3, 1)}
