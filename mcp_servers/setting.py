"""What the servers of one run share, and their sockets. Light to import: the harness needs no web framework for it."""

from __future__ import annotations

import resource
import socket
from dataclasses import dataclass
from pathlib import Path

from lake.settings import LakeSettings
from mcp_servers.access import Grant
from mcp_servers.addresses import LOOPBACK

MIN_OPEN_FILES = 128
"""What the servers of a small run have open, twice over. With fewer they fail calls, which an agent would pay for."""

ON_PROCESSOR = {"JAX_PLATFORMS": "cpu"}
"""Environment of every server: answers of tools are the same on every machine, and no server takes a card's memory."""

START_TIMEOUT_S = 240.0
"""How long servers may take to come up. One that dies is told at once; many that start together on a busy machine
share its cores."""


class ServerStartError(RuntimeError):
    """A server could not be started; the message is one line that says why."""


@dataclass(frozen=True)
class Setting:
    """What the servers of one run share.

    Attributes
    ----------
    host
        Address to bind.
    key
        The run's signing key.
    standalone
        Grant of plain ``/mcp`` without a token, or None.
    state_dir
        Folder where call logs and accounts are written through, so that they survive a restart; None keeps them in
        memory.
    keep_state
        Whether ``state_dir`` stays when the run is over.
    public_host
        Name under which agents reach the servers when it is not ``host`` (in containers, on other machines).
    allowed_hosts
        Further names that requests may address the servers by.
    lake
        Where the data come from; None: the embedded sample.
    """

    host: str
    key: bytes
    standalone: Grant | None = None
    state_dir: Path | None = None
    keep_state: bool = True
    public_host: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    lake: LakeSettings | None = None

    @property
    def names(self) -> frozenset[str]:
        """The names that the servers answer to."""
        given = (*LOOPBACK, self.host, self.public_host or self.host, *self.allowed_hosts)
        return frozenset(name.lower() for name in given)


def bind(host: str, port: int, *, name: str) -> socket.socket:
    """Return a listening socket; port 0 takes a free one. A busy port raises :class:`ServerStartError` naming it."""
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it every answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except socket.gaierror as error:
        listener.close()
        raise ServerStartError(f"cannot listen on {host!r}: no IPv4 address or name of this machine") from error
    except OSError as error:
        listener.close()
        raise ServerStartError(
            f"port {port} on {host} is not free for the {name} server ({error.strerror}); stop what uses it, or choose "
            "another: traderbench run CONFIG --ports auto, traderbench mcp serve NAME --port N"
        ) from error
    return listener


def check_open_files() -> None:
    """Refuse a limit that would make calls fail in mid-run, with :class:`ServerStartError`."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # RLIM_INFINITY is negative
    if 0 <= most < MIN_OPEN_FILES:
        raise ServerStartError(
            f"the tool servers need {MIN_OPEN_FILES} open files, {most} are allowed; raise the limit (ulimit -Hn)"
        )
