"""Find the strongest tier that works here, by trying it: a kernel's version says nothing about what is permitted."""

from __future__ import annotations

import functools
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp_servers.sandbox import kernel, namespaces, readable
from mcp_servers.sandbox.call import Call
from mcp_servers.sandbox.nursery_process import NurseryProcess
from mcp_servers.sandbox.outcome import Outcome, SandboxFault, SandboxUnavailable
from mcp_servers.sandbox.protection import Tier
from mcp_servers.sandbox.readable import Readable
from mcp_servers.sandbox.zygote_process import ZygoteProcess

CANDIDATES = (
    Tier("bwrap", landlock=True),
    Tier("namespaces", landlock=True),
    Tier("bwrap", landlock=False),
    Tier("namespaces", landlock=False),
    Tier("none", landlock=True),
)
"""Strongest first."""

_PROBE_TIMEOUT_S = 10.0
PROBE = """
import ctypes, os, socket, threading

def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False

def works(attempt):
    return not refused(attempt)

def run_thread():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()

def exit_child():
    if os.fork() == 0:
        os._exit(0)

result = {
    "cannot read " + data["outside"]: refused(lambda: open(data["outside"]).read()),
    "cannot read /etc/passwd": refused(lambda: open("/etc/passwd").read()),
    "cannot list /proc": refused(lambda: os.listdir("/proc")),
    "cannot list the old root": refused(lambda: os.listdir(data["old root"])),
    # The new root of a mount namespace is harmless and can be listed; Landlock refuses even that.
    **({"is under Landlock": refused(lambda: os.listdir("/"))} if data["landlock"] else {}),
    "cannot write": refused(lambda: os.open("probe", os.O_CREAT | os.O_WRONLY)),
    "cannot open a socket": refused(socket.socket),
    "cannot fork": refused(exit_child),
    "cannot exec": refused(lambda: os.execv(data["interpreter"], ["python"])),
    "cannot send signals": refused(lambda: os.kill(1, 0)),
    "has a user id of its own": os.getuid() != 0,
    "holds only its own descriptors": works(lambda: os.fstat(10)) and all(
        refused(lambda: os.fstat(number)) for number in range(3, 64) if number != 10
    ),
    "can run threads": works(run_thread),
    **{"can read " + path: works(lambda: open(path).close()) for path in data["needed"]},
}
"""


@dataclass(frozen=True)
class Check:
    """One tier that was tried: its name, whether it works here, and if not why."""

    tier: str
    works: bool
    reason: str


@dataclass(frozen=True)
class SelfTest:
    """What was found.

    Attributes
    ----------
    tier
        The strongest tier that works; None when foreign code is refused here.
    reason
        One line: the tier's name, or what is missing.
    checks
        Every tier that was tried, strongest first.
    """

    tier: Tier | None
    reason: str
    checks: tuple[Check, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON types, for the manifest of a run."""
        name = None if self.tier is None else self.tier.name
        return {"tier": name, "reason": self.reason, "checks": [asdict(check) for check in self.checks]}


def _probe_data(tier: Tier, paths: Readable) -> dict[str, Any]:
    needed = [f"{place}/__init__.py" for name, place in paths.packages if name in readable.REQUIRED]
    outside = Path(__file__).resolve().parents[1] / "catalog.py"
    return {
        "outside": str(outside),
        "old root": namespaces.OLD_ROOT,
        "landlock": tier.landlock,
        "interpreter": readable.interpreter(),
        "needed": needed,
    }


def _run_alone(tier: Tier, paths: Readable, request: bytes) -> Outcome:
    nursery = NurseryProcess(tier, paths, modules=())
    try:
        zygote = ZygoteProcess(nursery.new_zygote())
        try:
            return Call(zygote, request, _PROBE_TIMEOUT_S).finish()
        finally:
            zygote.stop()
    finally:
        nursery.stop()


def check(tier: Tier, paths: Readable) -> Check:
    """Start ``tier`` without the packages and try in it what must fail and what must work."""
    request = json.dumps({"code": PROBE, "data": _probe_data(tier, paths), "seed": 0}).encode()
    try:
        outcome = _run_alone(tier, paths, request)
    except (SandboxUnavailable, SandboxFault, OSError) as error:
        return Check(tier.name, False, f"tier {tier.name}: {error}")
    if not outcome.ok:
        return Check(tier.name, False, f"tier {tier.name}: the probe failed: {outcome.error}")
    failed = [claim for claim, holds in outcome.result.items() if not holds]
    reason = f"tier {tier.name}: not true in it: {', '.join(failed)}" if failed else ""
    return Check(tier.name, not failed, reason)


def _checks_to_the_first_that_works() -> Iterator[tuple[Tier, Check]]:
    paths = readable.find()
    for tier in CANDIDATES:
        found = check(tier, paths)
        yield tier, found
        if found.works:
            return


@functools.cache
def selftest() -> SelfTest:
    """Return the strongest tier that works on this machine, looked for once in a process."""
    if not kernel.supported():
        reason = f"the Python sandbox needs Linux on x86_64; this is {sys.platform} on {platform.machine()}"
        return SelfTest(None, reason, ())
    try:
        tried = list(_checks_to_the_first_that_works())
    except OSError as error:
        return SelfTest(None, f"the Python sandbox cannot run here: {error}", ())
    checks = tuple(found for _, found in tried)
    tier, last = tried[-1]
    if last.works:
        return SelfTest(tier, tier.name, checks)
    missing = "; ".join(found.reason for found in checks)
    reason = f"the Python sandbox needs seccomp and Landlock or namespaces, and refuses to run code here: {missing}"
    return SelfTest(None, reason, checks)
