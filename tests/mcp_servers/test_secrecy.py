"""The memory of harness and tool servers, with the signing key in it, is not for other programs of the same user."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

PR_CAPBSET_DROP = 24
LOOK = """
import json, sys
seen = []
for pid in sys.argv[1:]:
    for name in ("environ", "maps"):
        try:
            open(f"/proc/{pid}/{name}", "rb").read(1)
            seen.append(f"{pid} {name}")
        except OSError:
            pass
print(json.dumps(seen))
"""


def without_the_rights_of_root():
    """Root may look into every process; without its capabilities it is a user like any other."""
    for capability in range(64):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, *(ctypes.c_ulong(n) for n in (capability, 0, 0, 0)))


def popen(*command, **options):
    return subprocess.Popen(command, preexec_fn=without_the_rights_of_root, text=True, **options)


def look(*pids):
    """Return what a program of the same user reads of these processes."""
    with popen(sys.executable, "-c", LOOK, *map(str, pids), stdout=subprocess.PIPE) as process:
        return json.loads(process.communicate()[0])


def test_a_process_that_denies_inspection_cannot_be_read_and_its_programs_can():
    program = (
        "import os, subprocess, sys, time\n"
        "from mcp_servers.secrecy import deny_inspection\n"
        "deny_inspection()\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with popen(sys.executable, "-c", program, stdout=subprocess.PIPE) as process:
        secret, child = process.stdout.readline().split()
        try:
            assert look(secret, child) == [f"{child} environ", f"{child} maps"]
        finally:
            os.kill(int(child), 9)
            process.kill()


RUN = """
import sys, time
from pathlib import Path
from engine.cli import main, runs
from engine.run import batch
def wait(config, **options):
    from mcp_servers.process import ServerProcess
    from mcp_servers.setting import Setting
    state = Path(sys.argv[1])
    light = ServerProcess({"risk": 0}, Setting("127.0.0.1", bytes(32), state_dir=state), state / "log")
    print(light.pid, flush=True)
    time.sleep(60)
batch.start_run = wait
main(["run", "quick"])
"""


def test_the_harness_and_its_tool_servers_cannot_be_read(tmp_path):
    with popen(sys.executable, "-c", RUN, str(tmp_path), stdout=subprocess.PIPE) as harness:
        server = harness.stdout.readline().strip()
        try:
            assert Path(f"/proc/{server}").exists()
            assert look(harness.pid, server) == []
        finally:
            harness.kill()
