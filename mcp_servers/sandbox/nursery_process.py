"""The host's end of a nursery: start it, have it fork zygotes, stop it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mcp_servers.sandbox import bubblewrap
from mcp_servers.sandbox.nursery import NEW_ZYGOTE
from mcp_servers.sandbox.outcome import SandboxUnavailable
from mcp_servers.sandbox.protection import Tier
from mcp_servers.sandbox.readable import Readable, interpreter

START_LIMIT_S = 60.0
_STOP_LIMIT_S = 5.0
_LARGEST_MESSAGE = 1 << 16
_NOBODY = 65534
_SOURCES = Path(__file__).resolve().parents[1]
_BOOT = """
import sys
sys.path.insert(0, {root!r})
from mcp_servers.sandbox.nursery import main
sys.path.remove({root!r})
main({descriptor})
"""
_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # XLA's pools, which each call that prices starts anew, and no search for a compiler.
    "NPROC": "1",
    "JAX_PLATFORMS": "cpu",
    "TRADERBENCH_NATIVE": "0",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def _command(tier: Tier, readable: Readable, descriptor: int) -> list[str]:
    boot = _BOOT.format(root=str(_SOURCES.parent), descriptor=descriptor)
    program = [interpreter(), "-S", "-s", "-P", "-c", boot]
    if tier.outer != "bwrap":
        return program
    bwrap = bubblewrap.find()
    if bwrap is None:
        raise SandboxUnavailable("bwrap is not installed in a system folder")
    own = [str(_SOURCES / "__init__.py"), str(Path(__file__).resolve().parent)]
    return bubblewrap.command(bwrap, readable, own, program)


class NurseryProcess:
    """A running nursery. Start it on a thread that lives as long as it: the kernel ties its life to that thread."""

    def __init__(self, tier: Tier, readable: Readable, modules: Sequence[str]) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = self._spawn(_command(tier, readable, theirs.fileno()), tier, theirs)
            self._await_ready(tier, readable, modules)
        except BaseException:
            self._connection.close()
            raise

    @staticmethod
    def _spawn(command: list[str], tier: Tier, theirs: socket.socket) -> subprocess.Popen[bytes]:
        # Bubblewrap maps one user only, so root must have become nobody before it.
        as_nobody = tier.outer == "bwrap" and os.geteuid() == 0
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            user=_NOBODY if as_nobody else None,
            group=_NOBODY if as_nobody else None,
            extra_groups=[] if as_nobody else None,
        )

    def _await_ready(self, tier: Tier, readable: Readable, modules: Sequence[str]) -> None:
        settings = {
            "outer": tier.outer,
            "landlock": tier.landlock,
            "readable": readable.to_json(),
            "modules": list(modules),
        }
        self._connection.settimeout(START_LIMIT_S)
        try:
            self._connection.send(json.dumps(settings).encode())
            raw = self._connection.recv(_LARGEST_MESSAGE)
        except OSError:
            raw = b""
        self._connection.settimeout(None)
        answer = json.loads(raw) if raw else {}
        if "ready" not in answer:
            self._process.kill()
            _, complaint = self._process.communicate()
            last_line = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            raise SandboxUnavailable(f"{answer.get('failed') or last_line or 'the zygote did not start'}")
        if self._process.stderr is not None:
            self._process.stderr.close()

    def new_zygote(self) -> socket.socket:
        """Fork a zygote and return the host's end of its socket; the zygote reports on it when it is ready.

        Raises
        ------
        SandboxUnavailable
            The nursery has ended.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self._connection, [NEW_ZYGOTE], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxUnavailable(f"the nursery has ended: {error}") from error
        return ours

    def stop(self) -> None:
        """End the nursery and with it its zygotes and their calls, and wait until it is gone."""
        self._connection.close()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
