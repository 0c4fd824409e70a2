"""Signals: each ends a run as Ctrl-C does, at any moment, and leaves nothing behind."""

import os
import signal
import subprocess
import sys

import pytest

CONFIG = (
    "name: c\ndatasets: [{type: synthetic, limit: 40}]\nexecution: {backend: serial, ports: auto, concurrency: 1}\n"
)


def start(tmp_path, **options):
    (tmp_path / "c.yaml").write_text(CONFIG)
    (tmp_path / "tmp").mkdir()
    command = [
        sys.executable,
        "-m",
        "engine.cli",
        "run",
        tmp_path / "c.yaml",
        "--agent",
        "builtin:quant",
        "--out",
        tmp_path / "run",
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, **options)


def played(process, number):
    """Read the lines of a run until this many tasks are finished."""
    while f" {number}/40 " not in process.stderr.readline():
        assert process.poll() is None


def ends_cleanly(process, number, tmp_path):
    """Send the signal; nothing but the run's folder may be left, and the way on is said."""
    assert [path for path in os.listdir(tmp_path / "tmp") if path.startswith("traderbench-agent-")] != []
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1].endswith(f"stopped; finish the run with: traderbench resume {tmp_path / 'run'}")
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.slow
def test_a_lost_terminal_ends_a_run_cleanly_and_leaves_no_temporary_folder(tmp_path):
    process = start(tmp_path)
    played(process, 1)
    ends_cleanly(process, signal.SIGHUP, tmp_path)


@pytest.mark.campaign
def test_a_run_under_nohup_outlives_its_terminal_and_ends_cleanly_when_it_is_told_to(tmp_path):
    process = start(tmp_path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    played(process, 1)
    process.send_signal(signal.SIGHUP)
    played(process, 3)
    ends_cleanly(process, signal.SIGTERM, tmp_path)


@pytest.mark.parametrize("module", ["argparse", "engine.cli", "engine.cli.runs", "engine.run.batch", "numpy"])
def test_ctrl_c_while_anything_is_imported_is_one_line(module):
    """The signal comes at a known moment: when this module is asked for."""
    program = f"""
import os, sys
for name in ("argparse", "numpy"):
    sys.modules.pop(name, None)
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Interrupting())
from engine.start import main
sys.argv[1:] = ["run", "quick"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "traderbench: stopped\n")
