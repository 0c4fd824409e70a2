"""The process that forks one locked child per call and says how it ended.

It speaks in short messages only: the user's code and data pass it by in a descriptor that the child alone reads, so no
call leaves a byte for the next one.

Host to zygote: ``C`` + id with four descriptors (request, stdout, stderr, result), or ``K`` + id to kill. Zygote to
host: ``{"ready": true}``, then per call ``{"id", "status", "cpu_seconds", "peak_bytes"}`` when its child has ended, or
``{"id", "fault"}``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
from typing import NoReturn

from mcp_servers.sandbox import lockdown, user_code

CALL, KILL = b"C", b"K"
MESSAGE = struct.Struct("<cQ")


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
        self._send(ready=True)
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
