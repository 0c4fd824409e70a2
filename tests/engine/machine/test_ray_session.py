"""Nobody but the run that started it gets into its Ray."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.campaign]

HARNESS = """
import subprocess, sys
from engine.machine.ray_session import local_ray
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
os.environ |= {"RAY_AUTH_TOKEN": "0" * 64, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
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


LISTENING = """
import json, os, time
from pathlib import Path
from engine.machine.ray_session import local_ray

def family(pid):
    children = " ".join((task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()).split()
    return [pid, *(other for child in children for other in family(int(child)))]

def sockets(pid):
    links = (os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink())
    return {link[8:-1] for link in links if link.startswith("socket:")}

with local_ray(num_cpus=1):
    import ray
    ray.get(ray.remote(lambda: 1).remote())
    (folder,) = Path(os.environ["TMPDIR"]).glob("tb-ray-*")
    time.sleep(3)
    ours = set().union(*map(sockets, family(os.getpid())))
    rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    addresses = [row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and row[9] in ours]
    mode = oct(folder.stat().st_mode & 0o777)
    print(json.dumps({"addresses": addresses, "mode": mode, "inside": os.listdir(folder)}))
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""127.0.0.1 as the kernel writes it, and the same as an IPv6 address."""


def test_ray_listens_to_this_machine_alone_in_a_folder_that_nobody_else_enters():
    # its sockets do not bear a long path
    with tempfile.TemporaryDirectory(prefix="t-") as temporary:
        done = subprocess.run(
            [sys.executable, "-c", LISTENING], capture_output=True, text=True, env=os.environ | {"TMPDIR": temporary}
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert os.listdir(temporary) == []
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["addresses"]) > 5
    assert set(found["addresses"]) <= LOOPBACK
    assert (found["mode"], sorted(found["inside"])) == ("0o700", ["r1", "token"])
