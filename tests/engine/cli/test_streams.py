"""Standard streams of a command: results alone on standard output, and no failure of standard error stops it."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from engine.cli import options, streams

CHILD = """
import os, subprocess, sys
from engine.cli import main, options, tasks
def noisy(arguments):
    print("a library prints")
    os.write(1, b"C code prints\\n")
    subprocess.run(["echo", "a child prints"], check=True)
    options.print_json({"score": 1})
    os.write(1, b"and after the result\\n")
    return 0
tasks.list_command = noisy
sys.exit(main(["tasks", "list", "--json"]))
"""
DEAD_WORKER = """
import os, sys, time
from engine.cli import main, options, tasks
def dying(arguments):
    from engine.machine.ray_session import local_ray
    with local_ray(num_cpus=1):
        import ray
        worker = ray.remote(max_restarts=0)(type("Dying", (), {"end": lambda self: os._exit(1)})).remote()
        try:
            ray.get(worker.end.remote())
        except ray.exceptions.RayError:
            time.sleep(8)
    options.print_json({"score": 1})
    return 0
tasks.list_command = dying
sys.exit(main(["tasks", "list", "--json"]))
"""


def run(program, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], text=True, **options)


def test_json_stands_alone_on_standard_output_whoever_else_prints():
    done = run(CHILD, capture_output=True)
    assert json.loads(done.stdout) == {"score": 1}
    for line in ("a library prints", "C code prints", "a child prints", "and after the result"):
        assert line in done.stderr


@pytest.mark.ray
@pytest.mark.campaign
def test_json_stands_alone_where_a_ray_worker_dies():
    done = run(DEAD_WORKER, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {"score": 1}
    assert "A worker died" in done.stderr


def test_a_caller_that_captures_standard_output_gets_the_result(capsys):
    with streams.reliable(), streams.results_alone():
        print("noise")
        options.print_json([1])
    captured = capsys.readouterr()
    assert (json.loads(captured.out), captured.err) == ([1], "noise\n")


@pytest.mark.campaign
@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&- <&-"])
def test_a_standard_error_that_is_closed_or_full_stops_nothing(tmp_path, stderr):
    config = tmp_path / "c.yaml"
    config.write_text(
        "name: c\ndatasets: [{type: synthetic, limit: 1}]\nexecution: {backend: serial, ports: auto, concurrency: 1}\n"
    )
    command = (
        f"{sys.executable} -m engine.cli run {config} --agent builtin:oracle --out {tmp_path / 'run'} --json {stderr}"
    )
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert json.loads(done.stdout)["overall"]["score"] == 100.0


def test_no_file_of_ours_takes_the_place_of_a_closed_stream():
    program = "import os\nfrom engine.cli import streams\nwith streams.reliable():\n    print(os.open('/dev/zero', 0))"
    done = subprocess.run(["sh", "-c", f'{sys.executable} -c "{program}" 2>&- <&-'], stdout=subprocess.PIPE, text=True)
    assert int(done.stdout) > 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_result_that_cannot_be_printed_is_one_line():
    command = f"{sys.executable} -m engine.cli tasks list --json >/dev/full"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (74, "traderbench: error: No space left on device\n")
