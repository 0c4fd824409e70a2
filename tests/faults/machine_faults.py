"""Faults of the machine: a full disk, few descriptors, little memory, a clock that jumps, a port in use."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp_servers.catalog import SERVERS
from tests.faults.row import Fault
from tests.faults.run_command import Ended, RunCommand
from tests.faults.scene import BOUND_S, NotRun, Scene, ended_by

PLACE_BYTES = 40 * 2**20
FULL, STOPPED = "74, then equal", "130, then equal"
WARMING = "warming the MCP servers"
FAKETIME = "TRADERBENCH_FAKETIME"
"""Environment variable that names ``libfaketimeMT.so.1`` where it is not in its usual place."""
USUAL_PLACES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1")


@contextmanager
def small_disk(scene: Scene) -> Iterator[Path]:
    """Yield a folder on a file system of its own, of limited size."""
    place = scene.folder / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={PLACE_BYTES}", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounted.returncode:
        raise NotRun(f"a disk of its own cannot be mounted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Leave no room on the disk; return the file that takes it."""
    filler = place / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return filler


def ended_by_line(ended: Ended) -> str:
    """Return the exit status, and whether it was told in one line."""
    lines = [line for line in ended.stderr.splitlines() if line.startswith("traderbench: error:")]
    return str(ended.status) if len(lines) == 1 else f"{ended.status} in {len(lines)} lines of error"


def disk_full(happens: Callable[[Scene, RunCommand], bool]) -> Callable[[Scene], str]:
    """Fill the disk of the run folder when something happens; make room and resume."""

    def inject(scene: Scene) -> str:
        with small_disk(scene) as place:
            scene.run = place / "run"
            command = scene.start()
            assert happens(scene, command), "the run ended before the disk was full"
            filler = fill(place)
            told = ended_by_line(scene.end(command))
            filler.unlink()
            return f"{told}, then {scene.finished(scene.resume())}"

    return inject


def disk_full_at_start(scene: Scene) -> str:
    """Start a run on a full disk, make room and start it again in the same folder."""
    with small_disk(scene) as place:
        scene.run = place / "run"
        scene.run.mkdir()
        filler = fill(place)
        told = ended_by_line(scene.end(scene.start()))
        filler.unlink()
        return f"{told}, then {scene.finished(scene.start())}"


def temporary_disk_full(scene: Scene) -> str:
    """Fill the disk of the temporary files, where the servers keep their journals, before the first task."""
    with small_disk(scene) as place:
        temporary = place / "tmp"
        temporary.mkdir()
        command = scene.start(more={"TMPDIR": str(temporary)})
        assert command.wait_until(lambda: command.said(WARMING), timeout_s=BOUND_S), "it never warmed its servers"
        fill(place)
        return scene.finished(command)


def limited(kind: int, amount: int) -> Callable[[Scene], str]:
    """Play the run under a limit of the operating system; what it does not survive is resumed without."""

    def inject(scene: Scene) -> str:
        ended = scene.end(scene.start(limits=lambda: resource.setrlimit(kind, (amount, amount))))
        if not ended.status:
            return scene.status_and_equality(ended)
        told = ended_by_line(ended) if ended.status > 0 else ended_by(ended.status)
        if not (scene.run / "manifest.json").exists():
            return told
        return f"{told}, then {scene.finished(scene.resume())}"

    return inject


def faketime() -> Path:
    """Return the library that fakes the clock."""
    named = os.environ.get(FAKETIME)
    found = [Path(named)] if named else [path for place in USUAL_PLACES for path in Path("/").glob(place[1:])]
    if not found or not found[0].is_file():
        raise NotRun(f"libfaketime is not installed (nor named by {FAKETIME})")
    return found[0]


def clock_jumps(days: int) -> Callable[[Scene], str]:
    """Interrupt the run, and resume it with the clocks of all its processes some days off.

    A jump in mid-run cannot be played so: the library moves the monotonic clock as well, which no real jump does, and
    where it is told not to, ``time.sleep`` fails.
    """

    def inject(scene: Scene) -> str:
        more = {"LD_PRELOAD": str(faketime()), "FAKETIME": f"{days:+d}d"}
        command = scene.start()
        assert scene.after_commits(command, 3), "the run ended before the clock jumped"
        command.send(signal.SIGINT)
        status = scene.end(command).status
        return f"{ended_by(status)}, then {scene.finished(scene.resume(more=more))}"

    return inject


def temporary_folder_missing(scene: Scene) -> str:
    """Name a temporary folder that does not exist."""
    return scene.finished(scene.start(more={"TMPDIR": str(scene.folder / "missing")}))


def port_in_use(scene: Scene) -> str:
    """Listen where a tool server wants to."""
    port = SERVERS["risk"].port
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise NotRun(f"port {port}: {error.strerror}") from error
        listener.listen()
        ended = scene.end(scene.start(execution={"ports": "fixed"}))
    return f"refused, {ended_by_line(ended)}"


def after_a_commit(scene: Scene, command: RunCommand) -> bool:
    """Wait for some commits."""
    return scene.after_commits(command, 3)


def after_the_last_commit(scene: Scene, command: RunCommand) -> bool:
    """Wait for the last commit: only the report is missing then."""
    assert scene.calm is not None
    return scene.after_commits(command, scene.calm.result["overall"]["total"])


CPU_ENDED = f"equal or killed by {signal.SIGKILL.name}, then equal"
FAULTS = (
    Fault("disk-full-at-start", FULL, disk_full_at_start),
    Fault("disk-full-in-mid-run", FULL, disk_full(after_a_commit)),
    Fault("disk-full-at-report", FULL, disk_full(after_the_last_commit)),
    Fault("disk-full-temporary", "equal", temporary_disk_full),
    Fault("temporary-folder-missing", "equal", temporary_folder_missing),
    Fault("descriptors-128", "equal", limited(resource.RLIMIT_NOFILE, 128)),
    Fault("descriptors-64", "71", limited(resource.RLIMIT_NOFILE, 64)),
    Fault("descriptors-24", "71", limited(resource.RLIMIT_NOFILE, 24)),
    Fault("descriptors-12", "71 or 74", limited(resource.RLIMIT_NOFILE, 12)),
    Fault("address-space-4-gb", "equal", limited(resource.RLIMIT_AS, 4 * 2**30)),
    Fault("processor-time-5-s", CPU_ENDED, limited(resource.RLIMIT_CPU, 5)),
    Fault("clock-day-forward", STOPPED, clock_jumps(1)),
    Fault("clock-day-back", STOPPED, clock_jumps(-1)),
    Fault("clock-year-back", STOPPED, clock_jumps(-400)),
    Fault("port-in-use", "refused, 71", port_in_use),
)
