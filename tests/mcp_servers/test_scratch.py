"""Temporary folders: nothing of a killed run stays for ever, and nothing that is in use is taken away."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mcp_servers import scratch

KILLED = """
import os
from mcp_servers import scratch
with scratch.folder("tb-test-") as folder:
    (folder / "inside").write_text("x")
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_a_folder_is_its_owners_alone_and_goes_at_the_end():
    with scratch.folder("tb-test-") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    left = Path(done.stdout.strip())
    assert done.returncode == -9 and (left / "inside").exists()
    with scratch.folder("tb-test-") as folder:
        assert os.listdir(tmp_path) == [folder.name]


def test_a_folder_in_use_and_one_of_another_name_stay(tmp_path):
    (tmp_path / "other-1").mkdir()
    with scratch.folder("tb-test-") as one, scratch.folder("tb-test-") as two:
        assert one.exists() and two.exists()
    assert os.listdir(tmp_path) == ["other-1"]


def test_a_link_of_the_prefix_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "tb-test-link").symlink_to(tmp_path / "precious")
    with scratch.folder("tb-test-"):
        pass
    assert (tmp_path / "precious").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away and enters those of others")
def test_root_sweeps_what_it_gave_to_the_user_of_an_agent_and_nobody_else_sweeps_roots(tmp_path):
    given, roots = tmp_path / "tb-test-given", tmp_path / "tb-test-root"
    for path in (given, roots):
        path.mkdir()
    os.chown(given, 65_534, 65_534)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 65_534)
        scratch._remove_if_abandoned(roots)
    assert roots.is_dir()
    scratch._remove_if_abandoned(given)
    scratch._remove_if_abandoned(roots)
    assert os.listdir(tmp_path) == []


def test_a_new_folder_that_another_run_takes_for_abandoned_is_made_again(monkeypatch):
    made, make = [], tempfile.mkdtemp

    def taken_at_once(**settings):
        made.append(make(**settings))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", taken_at_once)
    with scratch.folder("tb-test-") as folder:
        assert [str(folder)] == made[1:] and folder.exists()
