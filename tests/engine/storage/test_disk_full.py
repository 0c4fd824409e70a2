"""A disk that is full at any byte: one clear line, nothing acknowledged is lost, and the run goes on afterwards.

A limit on the size of files (EFBIG) stands for the full disk: it needs no rights and hits every write at a known byte.
"""

import contextlib
import errno
import os
import random
import resource
import subprocess
import sys

import pytest

from engine import cli, report
from engine.errors import ConfigError, WriteFailed
from engine.storage import durable
from engine.storage.store import SCHEMA_WITH_LOG, Store

MANIFEST = {"schema": SCHEMA_WITH_LOG, "run_id": "r", "tasks": [], "text": "x" * 6000}
MINE = (
    "name: full\ndatasets: [{type: synthetic, limit: 3}]\nexecution: {backend: serial, ports: auto, concurrency: 1}\n"
)


@contextlib.contextmanager
def room_for(number):
    """Let no file grow beyond ``number`` bytes; compiled modules are not written, Python would leave them cut."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, before[0][1]))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before[0])
        sys.dont_write_bytecode = before[1]


def record(number):
    text = random.Random(number).randbytes(3000).hex()
    return {"task_id": f"t{number}", "state": "passed", "reason": "", "value": 1.0, "transcript": [{"text": text}]}


@pytest.mark.parametrize("room", [0, 20, 500, 4000, 5000, 20_000])
def test_a_start_without_room_is_one_line_and_the_folder_can_be_run_into_again(tmp_path, room):
    run = tmp_path / "run"
    with room_for(room), pytest.raises(WriteFailed) as refused:
        Store.create(run, MANIFEST)
    assert refused.value.exit_status == 74
    assert str(refused.value).startswith(f"{run} cannot be written: ")
    assert str(refused.value).endswith("; mend that, or name another folder with --out")
    with Store.create(run, MANIFEST) as store:
        assert store.commit(key="k", position=0, record=record(0))
        assert store.check() == []


def test_what_a_killed_start_leaves_is_not_taken_for_other_files(tmp_path):
    program = f"""
import os
from pathlib import Path
from engine.storage import durable
from engine.storage.store import Store
write = durable.write_file
durable.write_file = lambda path, raw: os.kill(os.getpid(), 9) if path.name == "manifest.json" else write(path, raw)
Store.create(Path({str(tmp_path / "run")!r}), {MANIFEST!r})
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    assert {"lock", "ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "commits.log"} == set(
        os.listdir(tmp_path / "run")
    )
    with Store.create(tmp_path / "run", MANIFEST) as store:
        assert store.check() == []


def test_transcripts_without_a_manifest_are_not_run_over(tmp_path):
    with Store.create(tmp_path / "run", MANIFEST) as store:
        store.commit(key="k", position=0, record=record(0))
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(ConfigError, match=r"a run whose manifest\.json is gone"):
        Store.create(tmp_path / "run", MANIFEST)


@pytest.mark.parametrize("room", [1000, 7000, 33_000, 50_000, 70_000, 100_000])
def test_a_disk_that_fills_up_in_mid_run_loses_no_acknowledged_commit(tmp_path, room):
    run = tmp_path / "run"
    acknowledged = set()
    with Store.create(run, MANIFEST) as store:
        with room_for(room), pytest.raises(WriteFailed, match=f"mend that, then: traderbench resume {run}$"):
            for number in range(1000):
                store.commit(key=f"k{number}", position=number, record=record(number))
                acknowledged.add(f"k{number}")
    with Store.open(run) as store:
        # one more than was acknowledged: its line was written and its row was not
        assert acknowledged <= store.finished() and len(store.finished()) <= len(acknowledged) + 1
        assert store.check() == []
        assert [path.name for path in run.rglob("*.tmp")] == []
        assert store.commit(key="next", position=1001, record=record(1001))
        assert len(store.finished()) == store.attempts()


def test_a_failed_write_leaves_no_part_of_a_file_and_a_failed_line_none_of_itself(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"first\n")
    with room_for(10):
        with pytest.raises(OSError, match="File too large"):
            durable.write_file(tmp_path / "file", b"x" * 100)
        with pytest.raises(OSError, match="File too large"):
            durable.append_line(log, b"second line\n")
    assert os.listdir(tmp_path) == ["log"]
    assert log.read_bytes() == b"first\n"


PROGRAM = """
import contextlib, resource, sys
from engine import cli
from engine.run import services
from engine.run.tool_access import ToolAccess
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, -1))
nobody = ToolAccess({{}}, b"key"), "none"
services.tool_servers = lambda *_: contextlib.nullcontext(nobody)
sys.exit(cli.main({arguments!r}))
"""


def traderbench(*arguments, room, folder):
    """Run a command with so much room in each file; without tool servers, which the tasks do not use."""
    program = PROGRAM.format(room=room, arguments=list(map(str, arguments)))
    # nobody else shall meet the files that are cut here: compiled modules, compiled kernels
    environment = os.environ | {"TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_a_run_on_a_full_disk_ends_with_74_and_resumes_to_a_whole_table(tmp_path):
    (tmp_path / "c.yaml").write_text(MINE)
    run = tmp_path / "run"
    arguments = ("run", tmp_path / "c.yaml", "--agent", "builtin:oracle", "--out", run)
    for room, way_on in ((3_000, "name another folder with --out"), (35_000, f"traderbench resume {run}")):
        done = traderbench(*arguments, room=room, folder=tmp_path)
        assert done.returncode == 74, done.stderr[-3000:]
        assert done.stderr.splitlines()[-1].startswith(f"traderbench: error: {run} cannot be written: ")
        assert done.stderr.rstrip().endswith(way_on)
        assert "Traceback" not in done.stderr
    done = traderbench("resume", run, room=-1, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (run / "report.html").is_file()


def test_an_empty_folder_that_may_not_be_written_is_one_line(tmp_path, monkeypatch):
    """Root may write everywhere: the kernel's answer to somebody else stands in its place."""
    real = os.open

    def refuse(path, flags, *rest, **options):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, flags, *rest, **options)

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(WriteFailed, match="cannot be written: Permission denied"):
        Store.create(tmp_path / "run", MANIFEST)


def test_a_report_without_room_is_one_line(tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    Store.create(tmp_path / "run", MANIFEST).close()
    monkeypatch.setattr(report, "write", full)
    assert cli.main(["report", str(tmp_path / "run")]) == 74
    assert capsys.readouterr().err == (
        f"traderbench: error: {tmp_path / 'run'} cannot be written: No space left on device; mend that, then: "
        f"traderbench report {tmp_path / 'run'}\n"
    )
