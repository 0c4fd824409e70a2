"""What was acknowledged and is gone is noticed, and never played again."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from engine import cli
from engine.errors import StoreCorrupt
from engine.machine import doctor
from engine.storage import commit_log
from engine.storage.store import SCHEMA_WITH_LOG, Store

MANIFEST = {"schema": SCHEMA_WITH_LOG, "run_id": "r", "tasks": [], "seed": 7, "config": {"weights": {"a": 0.5}}}
COMMITS = 10


def record(number, state="passed", value=100.0):
    return {
        "task_id": f"t{number}",
        "state": state,
        "reason": "",
        "value": value,
        "transcript": [{"text": "x" * 2000}],
        "usage": {},
    }


def commit(store, number, **options):
    return store.commit(key=f"k{number}", position=number, record=record(number, **options))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of ten commits as its killed process left it: nothing is in the ledger's main file yet."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    program = f"""
import os
from pathlib import Path
from engine.storage.store import Store
store = Store.create(Path({str(folder)!r}), {MANIFEST!r})
for number in range({COMMITS}):
    record = {record(0)!r} | {{"task_id": f"t{{number}}"}}
    store.commit(key=f"k{{number}}", position=number, record=record)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    assert (folder / "ledger.sqlite-wal").stat().st_size > 10_000
    return folder


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def settled(run):
    """Put everything into the ledger's main file, as a run that ends does."""
    Store.open(run).close()
    assert not (run / "ledger.sqlite-wal").exists()


def cut(path, share):
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])


def flip(path, share):
    raw = bytearray(path.read_bytes())
    raw[int(len(raw) * share)] ^= 0xFF
    path.write_bytes(raw)


def statement(run, sql):
    ledger = sqlite3.connect(run / "ledger.sqlite")
    with ledger:
        assert ledger.execute(sql).rowcount > 0
    ledger.close()


def last_commits_lost_everywhere(run):
    settled(run)
    statement(run, "DELETE FROM attempts WHERE id > 7")
    statement(run, "DELETE FROM cells WHERE position > 6")
    log = run / commit_log.NAME
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:8]))


DAMAGES = {
    "the ledger is emptied": lambda run: (settled(run), cut(run / "ledger.sqlite", 0.0)),
    "the ledger is cut in half": lambda run: (settled(run), cut(run / "ledger.sqlite", 0.5)),
    "the write-ahead log is gone": lambda run: (run / "ledger.sqlite-wal").unlink(),
    "the write-ahead log is cut in half": lambda run: cut(run / "ledger.sqlite-wal", 0.5),
    "a byte of the write-ahead log is flipped": lambda run: flip(run / "ledger.sqlite-wal", 0.5),
    "the log of commits is gone": lambda run: (run / commit_log.NAME).unlink(),
    "the log of commits is emptied": lambda run: cut(run / commit_log.NAME, 0.0),
    "the log of commits is cut in half": lambda run: cut(run / commit_log.NAME, 0.5),
    "a byte of the log of commits is flipped": lambda run: flip(run / commit_log.NAME, 0.5),
    "the last bytes of the log of commits are gone": lambda run: cut(run / commit_log.NAME, 0.99),
    "ledger and log lost their last rows": last_commits_lost_everywhere,
    "a row of a result is gone": lambda run: statement(run, "DELETE FROM cells WHERE position = 0"),
    "a row of an attempt is gone": lambda run: statement(run, "DELETE FROM attempts WHERE id = 1"),
    "a result is another state": lambda run: statement(run, "UPDATE cells SET state = 'failed' WHERE position = 3"),
    "a row points to another task's transcript": lambda run: statement(
        run, "UPDATE cells SET blob = (SELECT blob FROM cells WHERE position = 1) WHERE position = 2"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_loss_of_acknowledged_commits_is_told_by_doctor_and_refused_by_resume(run, damage, capsys):
    DAMAGES[damage](run)
    assert doctor._store(run).state == "error"
    for _ in range(2):  # a look does not mend it
        assert cli.main(["resume", str(run)]) == 65
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("traderbench: error: ")


def test_the_whole_run_is_whole(run):
    assert doctor._store(run).state == "ok"
    with Store.open(run) as store:
        assert [item["task_id"] for item in store.records()] == [f"t{number}" for number in range(COMMITS)]
        assert store.check() == []


def test_what_is_missing_is_counted(run):
    (run / "ledger.sqlite-wal").unlink()
    with pytest.raises(StoreCorrupt, match=r"10 of 10 acknowledged commits are missing in it; commits\.log names them"):
        Store.open(run)


def test_a_ledger_that_was_moved_away_is_written_again(run, tmp_path):
    with Store.open(run) as store:
        before = (
            list(store._ledger.execute("SELECT * FROM cells")),
            list(store._ledger.execute("SELECT * FROM attempts")),
        )
    (run / "ledger.sqlite").rename(tmp_path / "moved")
    with Store.open(run) as store:
        assert (
            list(store._ledger.execute("SELECT * FROM cells")),
            list(store._ledger.execute("SELECT * FROM attempts")),
        ) == before
        assert store.check() == []


@pytest.mark.parametrize("step", ["blob", "line", "half a line", "row"])
def test_a_kill_at_any_step_of_a_commit_loses_nothing_and_raises_no_alarm(tmp_path, step):
    """Four kills in a row, each of a run that goes on: what crashes leave does not add up to a loss."""
    deaths = {
        "blob": "store._log.add = die",
        "line": "store._apply = die",
        "half a line": "durable.append_line = lambda path, line: (path.open('ab').write(line[:50]), die())",
        "row": "apply = store._apply; store._apply = lambda commit: (apply(commit), die())",
    }
    folder = tmp_path / "run"
    Store.create(folder, MANIFEST).close()
    for kill in range(4):
        program = f"""
import os
from pathlib import Path
from engine.storage import durable
from engine.storage.store import Store
def die(*_, **__):
    os.kill(os.getpid(), 9)
store = Store.open(Path({str(folder)!r}))
store.commit(key="done{kill}", position={2 * kill}, record={record(2 * kill)!r})
{deaths[step]}
store.commit(key="dying{kill}", position={2 * kill + 1}, record={record(2 * kill + 1)!r})
"""
        assert subprocess.run([sys.executable, "-c", program]).returncode == -9
        assert doctor._store(folder).state == "ok"
    with Store.open(folder) as store:
        done = {f"done{kill}" for kill in range(4)}
        dying = {f"dying{kill}" for kill in range(4)}
        assert store.finished() == (done | dying if step in ("line", "row") else done)
        assert store.check() == []
        assert [path.name for path in folder.rglob("*.tmp")] == []


def test_a_look_at_a_run_that_goes_on_raises_no_alarm(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        for number in range(5):
            commit(store, number, state="infra_unavailable" if number % 2 else "passed")
            assert doctor._store(tmp_path / "run").state == "ok"


@pytest.mark.parametrize(
    ("field", "value"), [("seed", 8), ("config", {"weights": {"a": 0.9}}), ("config", {"limits": {"max_turns": 1}})]
)
def test_a_manifest_that_was_edited_is_refused_with_what_to_do(run, field, value, capsys):
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    for command in ("resume", "report", "rescore"):
        assert cli.main([command, str(run)]) == 65
        assert capsys.readouterr().err == (
            f"traderbench: error: {path.absolute()} was changed after the run began; restore it, or start a new run "
            "for another seed, other weights or other limits\n"
        )
    found = doctor._store(run)
    assert found.state == "error" and "manifest.json was changed" in found.text


def test_a_run_from_before_the_log_is_taken_as_it_is_and_doctor_says_so(run):
    settled(run)
    (run / commit_log.NAME).unlink()
    (run / "manifest.json").write_text(json.dumps(MANIFEST | {"schema": 1}))
    with Store.open(run) as store:
        assert commit(store, COMMITS)
        assert len(store.finished()) == COMMITS + 1
    assert not (run / commit_log.NAME).exists()
    found = doctor._store(run)
    assert found.state == "warning"
    assert found.text.endswith("began before commits were logged: lost ones and a changed manifest go unnoticed")


def test_every_file_of_a_run_is_its_owners_alone_even_in_an_open_folder(tmp_path):
    before = os.umask(0o022)
    try:
        (tmp_path / "open").mkdir(mode=0o755)
        for name in ("open", "new"):
            with Store.create(tmp_path / name, MANIFEST) as store:
                commit(store, 0)
                modes = {
                    path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in (tmp_path / name).rglob("*")
                }
            assert {str(path.name) for path in modes} >= {"manifest.json", "ledger.sqlite", "ledger.sqlite-wal", "lock"}
            assert {path: mode for path, mode in modes.items() if mode & 0o077} == {}
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
