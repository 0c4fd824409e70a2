"""The process that waits with numpy, scipy and pandas loaded and forks one locked child per call.

It is started by the host with a cleared environment and one socket, and speaks in short messages only: the user's code
and data pass it by in a descriptor that the child alone reads, so no call leaves a byte for the next one.

Host to zygote: first the settings (JSON); then ``C`` + id with four descriptors (request, stdout, stderr, result), or
``K`` + id to kill. Zygote to host: ``{"ready": true}`` or ``{"failed": reason}``; then per call
``{"id", "status", "cpu_seconds", "peak_bytes"}`` when its child has ended, or ``{"id", "fault"}``.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import time
from typing import Any, NoReturn

from mcp_servers.sandbox import landlock, limits, lockdown, namespaces, preload, user_code
from mcp_servers.sandbox.readable import Readable

CALL, KILL = b"C", b"K"
MESSAGE = struct.Struct("<cQ")
_LARGEST_MESSAGE = 1 << 18


class Zygote:
    """The loop: takes calls, forks, reports ends. One thread, and at most a few children at a time."""

    def __init__(self, connection: socket.socket, confinement: lockdown.Confinement, null: int) -> None:
        self._connection = connection
        self._confinement = confinement
        self._null = null
        self._children: dict[int, tuple[int, int]] = {}
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def serve(self) -> None:
        """Serve until the host closes its end or dies; the children then die with this process."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._children:
                    self._report_end(descriptor)
                elif not self._take_message():
                    return

    def _report_end(self, process_fd: int) -> None:
        call, pid = self._children.pop(process_fd)
        self._poll.unregister(process_fd)
        os.close(process_fd)
        _, status, usage = os.wait4(pid, 0)
        self._send(
            id=call,
            status=status,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * 1024,
        )

    def _send(self, **fields: object) -> None:
        self._connection.send(json.dumps(fields).encode())

    def _take_message(self) -> bool:
        raw, descriptors, _, _ = socket.recv_fds(self._connection, MESSAGE.size, 4)
        if not raw:
            return False
        kind, call = MESSAGE.unpack(raw)
        if kind == KILL:
            self._kill(call)
        else:
            self._start(call, descriptors)
        return True

    def _kill(self, call: int) -> None:
        for of, pid in self._children.values():
            if of == call:
                os.kill(pid, signal.SIGKILL)

    def _start(self, call: int, descriptors: list[int]) -> None:
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            self._send(id=call, fault=f"fork: {error}")
            return
        finally:
            if os.getpid() == parent:
                for descriptor in descriptors:
                    os.close(descriptor)
        if pid == 0:
            _be_child(self._confinement, parent, self._null, descriptors)
        process_fd = os.pidfd_open(pid)
        self._children[process_fd] = (call, pid)
        self._poll.register(process_fd, select.POLLIN)


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0)


def _be_child(confinement: lockdown.Confinement, parent: int, null: int, descriptors: list[int]) -> NoReturn:
    request, stdout, stderr, result = descriptors
    channel = result
    try:
        os.setsid()
        raw = _read_all(request)
        kept = {0: null, 1: stdout, 2: stderr, lockdown.RESULT_FD: result}
        if confinement.ruleset is not None:
            kept[lockdown.RULESET_FD] = confinement.ruleset
        channel = lockdown.RESULT_FD
        lockdown.keep_only(kept)
        lockdown.lock(confinement, parent)
        os.write(lockdown.RESULT_FD, user_code.LOCKED)
    except BaseException as error:
        try:
            os.write(channel, user_code.FAULT + f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(1)
    user_code.run(raw)


def _stand_by_for(child: int, host: int) -> NoReturn:
    """Be the parent that a new process namespace needs: hold nothing, end with the host, end with ``child``."""
    os.closerange(0, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    lockdown.drop_privileges()
    lockdown.die_with_parent(host)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _enter_namespaces(readable: Readable) -> None:
    """Return as the first process of new namespaces, whose end ends every process in them."""
    host = os.getppid()
    namespaces.enter(readable)
    child = os.fork()
    if child:
        _stand_by_for(child, host)


def _prepare(settings: dict[str, Any]) -> tuple[lockdown.Confinement, int]:
    null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    readable = Readable.from_json(settings["readable"])
    had_root = os.geteuid() == 0
    lockdown.die_with_parent(os.getppid())
    if settings["outer"] == "namespaces":
        _enter_namespaces(readable)
    # Seen from inside a new process namespace the parent is number 0; if it is gone, the host's end is closed soon.
    parent = os.getppid()
    lockdown.drop_privileges()
    lockdown.die_with_parent(parent)
    readable.require_access()
    preload.load(readable, settings["modules"])
    ruleset = landlock.build(readable) if settings["landlock"] else None
    confinement = lockdown.Confinement(
        ruleset=ruleset,
        address_space_bytes=lockdown.mapped_bytes() + limits.MEMORY_LIMIT_BYTES,
        limit_threads=had_root or settings["outer"] != "none",
    )
    return confinement, null


def main(descriptor: int) -> None:
    """Serve on the inherited socket ``descriptor``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    settings = json.loads(connection.recv(_LARGEST_MESSAGE))
    started = time.perf_counter()
    try:
        confinement, null = _prepare(settings)
    except Exception as error:
        connection.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        return
    os.dup2(null, 2)
    gc.collect()
    gc.freeze()
    connection.send(json.dumps({"ready": True, "start_seconds": time.perf_counter() - started}).encode())
    Zygote(connection, confinement, null).serve()
    os._exit(0)
