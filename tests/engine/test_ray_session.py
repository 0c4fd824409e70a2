"""Nobody but the run that started it gets into its Ray."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.slow]

HARNESS = """
import subprocess, sys
from engine.ray_session import local_ray
with local_ray(num_cpus=1):
    import ray
    print("mine", ray.get(ray.remote(lambda: 41 + 1).remote()), flush=True)
    address = ray.get_runtime_context().gcs_address
    clean = {"PATH": "/usr/bin", "HOME": "/nonexistent"}
    intruders = []
    for mode in ("disabled", "token"):
        command = [sys.executable, "-c", sys.argv[1], address, mode]
        intruders.append(subprocess.Popen(command, env=clean, stdout=subprocess.PIPE, text=True))
    for intruder in intruders:
        print(intruder.communicate()[0], flush=True)
"""
INTRUDER = """
import os, sys
os.environ["RAY_AUTH_MODE"] = sys.argv[2]
os.environ["RAY_AUTH_TOKEN"] = "0" * 64
try:
    import ray
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=50)
    print("entered", ray.get(ray.remote(lambda: "and ran code").remote()))
except BaseException as error:
    print("refused", type(error).__name__)
"""


def test_a_second_driver_without_the_runs_token_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HARNESS), textwrap.dedent(INTRUDER)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert "mine 42" in done.stdout, done.stderr[-2000:]
    assert "entered" not in done.stdout
    assert done.stdout.count("refused") == 2, done.stdout + done.stderr[-2000:]
