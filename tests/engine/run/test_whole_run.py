"""Whole runs through the command line: real agents over A2A, real MCP servers, a real store.

Runs that prove something about their processes are programs with tool servers of their own; the others are commands in
this process that share one set of servers.
"""

import base64
import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from engine.storage.store import Store
from evaluators.contract import SECTIONS
from tests.engine.command_line import TRADERBENCH, here, program

CONFIG = """
name: small
datasets:
  - {type: fundamentals, limit: 3, difficulties: [easy]}
  - {type: bizfinbench, limit: 3}
  - {type: synthetic, limit: 6}
  - {type: options, limit: 3, difficulties: [easy]}
  - {type: professional, limit: 3}
execution: {backend: serial, ports: auto, concurrency: 2}
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "small.yaml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def played(config, servers, tmp_path_factory):
    """Return the result and the folder of a run with an agent, played once for the whole file."""
    runs = {}

    def play(agent):
        if agent not in runs:
            out = tmp_path_factory.mktemp("runs") / agent
            runs[agent] = run_json("run", config, "--agent", f"builtin:{agent}", "--out", out, servers=servers), out
        return runs[agent]

    return play


@pytest.fixture(scope="module")
def quick(servers, tmp_path_factory):
    """Return the results and the folders of two runs of the default config, by Ray and in this process."""
    path, folder = Path(__file__).parents[3] / "configs" / "quick.yaml", tmp_path_factory.mktemp("quick")
    command = ("run", path, "--ports", "auto", "--out")
    return {
        "ray": (run_json(*command, folder / "ray", by=program), folder / "ray"),
        "serial": (
            run_json(*command, folder / "serial", "--backend", "serial", servers=servers),
            folder / "serial",
        ),
    }


def copied(out, tmp_path):
    return Path(shutil.copytree(out, tmp_path / "copy"))


def traderbench(*arguments, status=0, by=here, **options):
    done = by(*arguments, **options)
    assert done.returncode == status, done.stderr[-2000:]
    return done


def run_json(*arguments, **options):
    return json.loads(traderbench(*arguments, "--json", **options).stdout)


def comparable(result):
    """What must be equal between two runs of the same config, seed and agent."""
    return {name: result[name] for name in ("overall", "sections", "tasks")}


def test_the_json_of_a_run_has_the_promised_shape(played):
    result, out = played("null")
    assert {"run_id", "overall", "sections", "tasks"} <= set(result)
    assert {"score", "se", "ci95", "n"} <= set(result["overall"])
    assert set(result["sections"]) == set(SECTIONS) - {"crypto_trading"}
    for section in result["sections"].values():
        assert {"score", "n", "se", "pass_rate"} <= set(section)
    for task in result["tasks"]:
        assert {"id", "section", "dataset", "score", "state", "reason"} <= set(task)
    for name in ("report.html", "results.json", "tables.csv", "manifest.json", "ledger.sqlite"):
        assert (out / name).is_file()


@pytest.mark.parametrize("agent", ["null", "echo", "keyword", "random"])
def test_an_agent_without_knowledge_earns_nothing(played, agent):
    result, _ = played(agent)
    assert result["overall"]["score"] <= 2.0
    assert result["overall"]["passed"] == 0
    assert {task["state"] for task in result["tasks"]} == {"failed"}


def test_the_oracle_earns_everything(played):
    result, _ = played("oracle")
    assert result["overall"]["score"] == pytest.approx(100.0, abs=1e-9)
    assert result["overall"]["pass_rate"] == 1.0


def test_the_quant_agent_lies_between_the_null_family_and_the_oracle(played):
    result, _ = played("quant")
    assert 10.0 < result["overall"]["score"] < 95.0


def test_tasks_belong_to_the_seed_and_never_to_the_agent(played, config):
    ids = [task["id"] for task in played("quant")[0]["tasks"]]
    assert [task["id"] for task in played("null")[0]["tasks"]] == ids
    other = run_json("tasks", "draw", config, "--seed", 43)
    assert set(ids).isdisjoint(task["id"] for task in other)


def start(*arguments):
    command = [*TRADERBENCH, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def wait_for_cells(out, count, process):
    while True:
        if (out / "manifest.json").is_file() and (out / "ledger.sqlite").is_file():
            with Store.open(out, read_only=True) as store:
                if len(store.finished()) >= count:
                    return
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.02)


def descendants(pid):
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [int(child), *descendants(int(child))]
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids):
    deadline = time.monotonic() + 120
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [pid for pid in pids if is_alive(pid)]


def stop(process, number):
    """Send the signal; return the exit status, once nothing of the run is left."""
    children = descendants(process.pid)
    process.send_signal(number)
    process.communicate()
    assert wait_until_gone(children) == []
    return process.returncode


@pytest.mark.campaign
def test_a_run_that_is_stopped_and_then_killed_resumes_to_the_table_of_an_uninterrupted_one(
    played, config, servers, tmp_path
):
    whole, _ = played("quant")
    out = tmp_path / "stopped"
    process = start("run", config, "--out", out, "--concurrency", "1")
    wait_for_cells(out, 2, process)
    in_use = traderbench("resume", out, status=75)
    assert in_use.stderr.strip() == f"traderbench: error: {out} is in use by another traderbench process"
    assert stop(process, signal.SIGINT) == 130
    with Store.open(out) as store:
        stopped = len(store.finished())
    assert 2 <= stopped < len(whole["tasks"]) - 2
    process = start("resume", out)
    wait_for_cells(out, stopped + 2, process)
    assert stop(process, signal.SIGKILL) == -9
    with Store.open(out) as store:
        assert stopped + 2 <= len(store.finished()) < len(whole["tasks"])
    assert comparable(run_json("resume", out, servers=servers)) == comparable(whole)


def test_report_and_rescore_work_from_the_store_alone(played, tmp_path):
    result, out = played("quant")
    out = copied(out, tmp_path)
    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    assert comparable(run_json("report", out)) == comparable(result)
    assert (out / "report.html").read_bytes() == before
    rescored = run_json("rescore", out)
    assert rescored["changed"] == []
    assert comparable(rescored) == comparable(result)


def test_rescore_finds_relative_transforms_from_any_working_directory(servers, tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / "mine.py").write_text(
        "import transforms\n\n\n"
        "@transforms.transform(channel='observed')\n"
        "def double(key, market, *, severity=1.0):\n"
        "    return market._replace(volume=market.volume * (1.0 + severity))\n"
    )
    (home / "c.yaml").write_text(
        "name: own\ndatasets: [{type: crypto, transforms: ['mine.py:double'], limit: 1, bars: 24, windows: 2}]\n"
        "execution: {backend: serial, ports: auto}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.chdir(home)
    result = run_json("run", "c.yaml", "--agent", "builtin:null", "--out", "run", servers=servers)
    assert result["tasks"][0]["state"] != "infra_unavailable"
    monkeypatch.chdir(elsewhere)
    rescored = run_json("rescore", "../home/run", by=program)
    assert rescored["changed"] == []
    assert comparable(rescored) == comparable(result)
    assert comparable(run_json("resume", "../home/run")) == comparable(result)


def test_an_unreachable_agent_is_one_clear_line_and_leaves_no_run_behind(config, tmp_path):
    done = traderbench("run", config, "--agent", "http://127.0.0.1:9", "--out", tmp_path / "run", status=69)
    (line,) = [row for row in done.stderr.splitlines() if row.startswith("traderbench: error")]
    assert "http://127.0.0.1:9" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("http://[::1", ""),
        ("http://127.0.0.1:99999", ""),
        ("ftp://x", ""),
        ("127.0.0.1:9110", "did you mean 'http://127.0.0.1:9110'?"),
        ("localhost:9110", "did you mean 'http://localhost:9110'?"),
        ("quant", "did you mean 'builtin:quant'?"),
    ],
)
def test_an_impossible_address_of_an_agent_is_a_wrong_argument_before_anything_is_drawn(config, tmp_path, url, meant):
    done = traderbench("run", config, "--agent", url, "--out", tmp_path / "run", status=2)
    (line,) = done.stderr.splitlines()
    assert url in line and meant in line


def test_an_out_that_cannot_be_a_folder_is_one_clear_line(config, tmp_path):
    (tmp_path / "file").write_text("kept")
    done = traderbench("run", config, "--agent", "builtin:oracle", "--out", tmp_path / "file", status=2)
    assert "this is a file" in done.stderr.splitlines()[-1]
    assert (tmp_path / "file").read_text() == "kept"


def test_an_unknown_builtin_names_the_nearest(config, tmp_path):
    done = traderbench("run", config, "--agent", "builtin:qant", "--out", tmp_path / "run", status=2)
    assert "did you mean 'quant'?" in done.stderr


def test_a_busy_port_is_one_clear_line(config, tmp_path):
    import socket

    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8104))
        except OSError:
            pass  # somebody holds it already, which serves as well
        else:
            taken.listen()
        done = traderbench("run", config, "--out", tmp_path / "run", "--ports", "fixed", status=71)
    assert "810" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_a_corrupt_store_is_one_clear_line_and_nothing_is_lost(played, tmp_path):
    out = copied(played("null")[1], tmp_path)
    ledger = out / "ledger.sqlite"
    raw = ledger.read_bytes()[:5000]
    ledger.write_bytes(raw)
    done = traderbench("resume", out, status=65)
    assert "ledger.sqlite" in done.stderr.splitlines()[-1]
    assert ledger.read_bytes() == raw


def test_a_config_with_a_typo_or_an_unknown_transform_is_one_clear_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("name: x\ndatasets: [{type: synthetic, limt: 1}]")
    done = traderbench("run", path, status=2)
    assert "did you mean 'limit'?" in done.stderr
    path.write_text("name: x\ndatasets: [{type: crypto, transforms: [adversarail]}]\nexecution: {ports: auto}")
    done = traderbench("tasks", "draw", path, status=2)
    assert "adversarail" in done.stderr
    assert "adversarial" in done.stderr


def without_a_result(out, tmp_path):
    """Return a copy of a run that lacks the result of its first task, so that there is something to play."""
    with Store.open(out) as whole, Store.create(tmp_path / "part", whole.manifest()) as part:
        keys = {task["task_id"]: task["key"] for task in whole.manifest()["tasks"]}
        for position, record in enumerate(whole.records()):
            if position:
                part.commit(key=keys[record["task_id"]], position=position, record=record)
    return tmp_path / "part"


def test_a_run_with_nothing_left_to_play_is_finished_without_its_agent(played, tmp_path):
    whole, out = played("null")
    out = copied(out, tmp_path)
    for options in ((), ("--retry-errors",), ("--max-cost-usd", "1")):
        done = traderbench("resume", out, "--agent", "http://127.0.0.1:9", "--json", *options)
        assert comparable(json.loads(done.stdout)) == comparable(whole)
        (line,) = done.stderr.splitlines()
        assert line.endswith("] nothing to play: every task has a result")


def test_a_spent_budget_asks_for_a_larger_one_before_anything_is_started(played, tmp_path):
    out = without_a_result(played("null")[1], tmp_path)
    with Store.open(out) as store:
        record = next(store.records())
        record |= {"state": "infra_unavailable", "usage": record["usage"] | {"cost_usd": 5.0}}
        store.commit(key="dear", position=0, record=record)
    done = traderbench("resume", out, "--max-cost-usd", "3", status=76)
    (line,) = done.stderr.splitlines()
    assert "the budget of $3.00 (limits.max_cost_usd) is spent: $5.00" in line
    assert line.endswith(f"go on with: traderbench resume {out} --max-cost-usd MORE")


def test_resume_refuses_another_agent(played, servers, tmp_path):
    out = without_a_result(played("null")[1], tmp_path)
    done = traderbench("resume", out, "--agent", "builtin:echo", status=2, servers=servers)
    assert "agent.digest" in done.stderr


def test_nothing_that_was_sent_holds_the_gold(played, config):
    from engine import config as configs
    from engine.plan import sampling

    _, out = played("null")
    golds = {}
    for case in sampling.draw(configs.load(config)):
        session = case.open()
        session.opening()
        golds[case.task.task_id] = session.oracle()
    with Store.open(out) as store:
        records = list(store.records())
    assert len(records) == len(golds)
    for record in records:
        sent = "\n".join(turn["text"] for turn in record["transcript"] if turn["role"] == "harness")
        assert golds[record["task_id"]] not in sent
        for word in ("gold", "oracle", "expected_answer", "truth"):
            assert f'"{word}"' not in sent


def test_a_tool_grant_tells_the_agent_neither_the_seed_nor_the_config(played):
    _, out = played("null")
    with Store.open(out) as store:
        run_id = store.manifest()["run_id"]
        openings = [json.loads(record["transcript"][0]["text"]) for record in store.records()]
    for opening in openings:
        token = opening["mcp_servers"]["risk"].split("/t/")[1].split("/")[0]
        body = token.split(".")[0]
        grant = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        assert set(grant) == {"run_id", "task_id", "as_of", "seed", "max_tool_calls", "servers"}
        assert set(grant["servers"]) == set(opening["mcp_servers"])
        assert re.fullmatch("[0-9a-f]{16}", grant["run_id"])
        assert run_id not in json.dumps(opening)


@pytest.mark.ray
@pytest.mark.campaign
def test_the_first_run_of_a_newcomer_shows_every_section_and_calls_the_servers_that_quant_has_a_use_for(quick):
    result, out = quick["ray"]
    assert set(result["sections"]) == set(SECTIONS)
    assert result["overall"]["total"] >= 20
    assert min(section["total"] for section in result["sections"].values()) >= 3
    assert result["unscored"] == 0
    called = {name for name, calls in result["tool_calls"].items() if calls}
    assert len(result["tool_calls"]) == 6 and called == {"edgar", "sandbox", "options", "risk"}
    assert json.loads((out / "manifest.json").read_text())["config"]["execution"]["backend"] == "ray"


@pytest.mark.ray
@pytest.mark.campaign
def test_the_same_seed_gives_the_same_run_on_either_backend(quick):
    assert comparable(quick["serial"][0]) == comparable(quick["ray"][0])
