import os
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from engine.errors import ConfigError, RunFolderBusy, StoreCorrupt
from engine.storage.store import Store, digest

MANIFEST = {"run_id": "r", "tasks": []}


def record(task_id, state="passed", value=100.0):
    return {"task_id": task_id, "state": state, "reason": "", "value": value, "transcript": [{"text": "ü\ud800"}]}


def open_file(number):
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except FileNotFoundError:
        return ""


def test_a_committed_record_comes_back_in_playing_order(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        assert store.commit(key="k2", position=2, record=record("b"))
        assert store.commit(key="k1", position=1, record=record("a"))
    with Store.open(tmp_path / "run") as store:
        assert [item["task_id"] for item in store.records()] == ["a", "b"]
        assert next(store.records())["transcript"] == [{"text": "ü\ud800"}]
        assert store.finished() == {"k1", "k2"}
        assert store.check() == []


def test_the_first_commit_of_a_cell_wins_and_every_attempt_is_kept(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        assert store.commit(key="k", position=0, record=record("a", value=1.0))
        assert not store.commit(key="k", position=0, record=record("a", value=2.0))
        assert [item["value"] for item in store.records()] == [1.0]
        assert store.attempts() == 2


def test_a_failure_of_the_harness_leaves_the_cell_open(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        assert not store.commit(key="k", position=0, record=record("a", state="infra_unavailable"))
        assert store.finished() == set()
        assert list(store.last_infrastructure_failures()) == ["k"]
        assert store.commit(key="k", position=0, record=record("a"))
        assert store.last_infrastructure_failures() == {}


def test_a_retry_replaces_the_result_it_names_and_no_other(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        store.commit(key="k", position=0, record=record("a", state="agent_unavailable", value=0.0))
        store.commit(key="other", position=1, record=record("b"))
        (over,) = store.retriable().values()
        assert set(store.retriable()) == {"k"}
        assert not store.commit(key="k", position=0, record=record("a", value=1.0))
        assert not store.commit(key="k", position=0, record=record("a", state="infra_unavailable"), over=over)
        assert [item["state"] for item in store.records()] == ["agent_unavailable", "passed"]
        assert store.commit(key="k", position=0, record=record("a", value=2.0), over=over)
        # a second retry of the same result comes too late: exactly one of the two counts
        assert not store.commit(key="k", position=0, record=record("a", value=3.0), over=over)
        assert [item["value"] for item in store.records()] == [2.0, 100.0]
        assert store.retriable() == {}
        assert [item["value"] for item in store.former_attempts()["a"]] == [0.0, 1.0, 100.0, 3.0]
        assert store.check() == []


def test_a_conversation_that_broke_off_after_an_answer_is_not_played_again(tmp_path):
    seen = [
        {"role": "harness", "text": "bar 1"},
        {"role": "agent", "text": "BUY"},
        {"role": "harness", "text": "bar 2"},
    ]
    with Store.create(tmp_path / "run", MANIFEST) as store:
        gone = record("a", state="agent_unavailable", value=-40.0)
        store.commit(key="seen", position=0, record=gone | {"transcript": seen})
        store.commit(key="asked", position=1, record=record("b", state="agent_unavailable") | {"transcript": seen[:1]})
        assert set(store.retriable()) == {"asked"}


@pytest.mark.parametrize(("step", "value"), [("_put_blob", 0.0), ("_write_durably", 0.0), ("", 50.0)])
def test_a_kill_during_a_retry_leaves_the_old_result_or_the_new_one(tmp_path, step, value):
    """The process dies before the transcript is whole, before the ledger is told, or right after."""
    kill = "lambda *a, **k: os.kill(os.getpid(), 9)"
    deaths = {
        "_put_blob": f"store._put_blob = {kill}",
        "_write_durably": "put = store._put_blob\nstore._put_blob = lambda r: (put(r), os.kill(os.getpid(), 9))",
        "": "",
    }
    program = f"""
import os
from pathlib import Path
from engine.storage.store import Store
store = Store.create(Path({str(tmp_path / "run")!r}), {{"run_id": "r", "tasks": []}})
store.commit(key="k", position=0, record={record("a", state="agent_unavailable", value=0.0)!r})
over = store.retriable()["k"]
{deaths[step]}
store.commit(key="k", position=0, record={record("a", state="failed", value=50.0)!r}, over=over)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with Store.open(tmp_path / "run") as store:
        assert [item["value"] for item in store.records()] == [value]
        assert len(store.retriable()) == (value == 0.0)
        assert store.check() == []


def test_a_folder_in_use_is_refused(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST), pytest.raises(RunFolderBusy, match="in use by another"):
        Store.open(tmp_path / "run")


def test_the_lock_dies_with_its_process(tmp_path):
    program = textwrap.dedent(f"""
        import os
        from pathlib import Path
        from engine.storage.store import Store
        store = Store.create(Path({str(tmp_path / "run")!r}), {{"run_id": "r", "tasks": []}})
        store.commit(key="k", position=0, record={record("a")!r})
        os.kill(os.getpid(), 9)
    """)
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with Store.open(tmp_path / "run") as store:
        assert store.finished() == {"k"}


def test_a_run_folder_is_not_started_twice(tmp_path):
    Store.create(tmp_path / "run", MANIFEST).close()
    with pytest.raises(ConfigError, match="already holds a run"):
        Store.create(tmp_path / "run", MANIFEST)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigError, match=r"thesis\.tex"):
        Store.create(tmp_path, MANIFEST)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(ConfigError, match="holds no run"):
        Store.open(tmp_path)


def test_a_flipped_byte_in_a_transcript_is_found(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        store.commit(key="k", position=0, record=record("a"))
    blob = next((tmp_path / "run").rglob("*.json.zz"))
    raw = bytearray(blob.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    blob.write_bytes(raw)
    with Store.open(tmp_path / "run") as store:
        assert len(store.check()) == 1
        with pytest.raises(StoreCorrupt, match="transcript"):
            list(store.records())


def test_a_truncated_ledger_is_found_and_nothing_is_overwritten(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        for i in range(50):
            store.commit(key=f"k{i}", position=i, record=record(f"t{i}"))
    ledger = tmp_path / "run" / "ledger.sqlite"
    raw = ledger.read_bytes()
    ledger.write_bytes(raw[: len(raw) // 3])
    with pytest.raises(StoreCorrupt, match="ledger") as refused:
        Store.open(tmp_path / "run")
    held = [link for number in os.listdir("/proc/self/fd") if "ledger.sqlite" in (link := open_file(number))]
    assert refused.value is not None and held == []
    assert ledger.read_bytes() == raw[: len(raw) // 3]


def test_a_row_that_points_to_another_tasks_transcript_is_found(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        store.commit(key="k1", position=0, record=record("a"))
        store.commit(key="k2", position=1, record=record("b", value=0.0))
    with sqlite3.connect(tmp_path / "run" / "ledger.sqlite") as ledger:
        ledger.execute("UPDATE cells SET blob = (SELECT blob FROM cells WHERE key = 'k1')")
    ledger.close()
    with Store.open(tmp_path / "run", read_only=True) as store, pytest.raises(StoreCorrupt, match="another task"):
        list(store.records())
    with Store.open(tmp_path / "run", read_only=True) as store:
        assert [line for line in store.check() if "row of 'b' points to another task's transcript" in line]
    with pytest.raises(StoreCorrupt, match=r"results are not those of the 2 commits"):
        Store.open(tmp_path / "run")


def test_a_corrupt_manifest_is_one_clear_error(tmp_path):
    Store.create(tmp_path / "run", MANIFEST).close()
    (tmp_path / "run" / "manifest.json").write_text('{"run_id": ')
    with pytest.raises(StoreCorrupt, match=r"manifest\.json was changed"):
        Store.open(tmp_path / "run")
    with Store.open(tmp_path / "run", read_only=True) as store, pytest.raises(StoreCorrupt, match="not readable JSON"):
        store.manifest()


def test_nan_never_enters_the_store(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store, pytest.raises(ValueError, match="not JSON compliant"):
        store.commit(key="k", position=0, record=record("a", value=float("nan")))


def test_the_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.0, None]}) == digest({"b": [1.0, None], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
