"""The process that loads numpy, scipy and pandas once and then forks zygotes on demand, each in milliseconds.

No call ever runs below it directly, so a new zygote is as fresh as the first. It is started by the host with a cleared
environment and one socket.

Host to nursery: first the settings (JSON); then :data:`NEW_ZYGOTE` with one descriptor, the socket of a zygote. Nursery
to host: ``{"ready": true}`` or ``{"failed": reason}``, once.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
from typing import Any, NoReturn

from mcp_servers.sandbox import landlock, limits, lockdown, namespaces, preload
from mcp_servers.sandbox.readable import Readable
from mcp_servers.sandbox.zygote import Zygote

NEW_ZYGOTE = b"Z"
_LARGEST_MESSAGE = 1 << 18


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
    threads: lockdown.ThreadCount = "by user" if had_root or settings["outer"] != "none" else "with strangers"
    if lockdown.counts_by_call():
        threads = "by call"
    readable.require_access()
    preload.load(readable, settings["modules"])
    ruleset = landlock.build(readable) if settings["landlock"] else None
    confinement = lockdown.Confinement(
        ruleset=ruleset,
        address_space_bytes=lockdown.mapped_bytes() + limits.MEMORY_LIMIT_BYTES,
        threads=threads,
    )
    return confinement, null


def _fork_zygote(connection: socket.socket, theirs: int, confinement: lockdown.Confinement, null: int) -> None:
    nursery = os.getpid()
    if os.fork():
        os.close(theirs)
        return
    lockdown.die_with_parent(nursery)
    connection.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        Zygote(socket.socket(fileno=theirs), confinement, null).serve()
    finally:
        os._exit(0)


def _serve(connection: socket.socket, confinement: lockdown.Confinement, null: int) -> None:
    """Fork zygotes until the host closes its end or dies; they then die with this process."""
    # Ended zygotes are not waited for: the host sees their sockets close.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        raw, descriptors, _, _ = socket.recv_fds(connection, len(NEW_ZYGOTE), 1)
        if not raw:
            return
        _fork_zygote(connection, descriptors[0], confinement, null)


def main(descriptor: int) -> None:
    """Serve on the inherited socket ``descriptor``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    settings = json.loads(connection.recv(_LARGEST_MESSAGE))
    try:
        confinement, null = _prepare(settings)
    except Exception as error:
        connection.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        return
    os.dup2(null, 2)
    gc.collect()
    gc.freeze()
    connection.send(json.dumps({"ready": True}).encode())
    _serve(connection, confinement, null)
    os._exit(0)
