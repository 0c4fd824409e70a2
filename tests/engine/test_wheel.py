"""The wheel is built, installed into an empty environment and tried outside the tree."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from engine import __version__

PROGRAM = Path(__file__).parents[1] / "wheel_check.py"


@pytest.mark.campaign
@pytest.mark.timeout(900)
def test_the_wheel_works_in_an_empty_environment_outside_the_tree():
    dependencies = sysconfig.get_path("purelib")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), sys.executable, "--dependencies", dependencies, "--backend", "serial"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert f"traderbench-{__version__}-py3-none-any.whl works" in done.stdout
