"""What other users of the machine see of a run: neither its seed nor its files."""

import os

from engine import config
from engine.run import batch
from engine.storage import run_folder

SEED = 8401113248947705376


def test_the_name_of_a_run_tells_no_seed():
    raw = {"name": "My Run", "datasets": [{"type": "options", "limit": 1}], "sampling": {"seed": SEED}}
    names = {batch.new_run_id(config.parse(raw, source="test")) for _ in range(10)}
    assert len(names) == 10
    assert all(name.startswith("my-run-") and str(SEED) not in name for name in names)


def test_the_folder_of_all_runs_is_its_owners_alone_and_an_open_one_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    try:
        run_folder.make(run_folder.RUNS / "mine", mode=0o700)
        run_folder.make(tmp_path / "elsewhere" / "mine", mode=0o700)
    finally:
        os.umask(before)
    modes = {name: os.stat(name).st_mode & 0o777 for name in ("runs", "runs/mine", "elsewhere", "elsewhere/mine")}
    assert modes == {"runs": 0o700, "runs/mine": 0o700, "elsewhere": 0o755, "elsewhere/mine": 0o700}
    found = [run_folder.is_open(tmp_path / name) for name in ("runs", "elsewhere", "absent")]
    assert found == [False, True, False]
