"""Where servers listen, the names they answer to, and the address by which another host reaches this machine."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

WILDCARD = "0.0.0.0"
"""Listens on every address of the machine."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def on_this_machine(host: str) -> str:
    """Return the address by which this machine itself reaches what listens on ``host``."""
    return LOOPBACK[0] if host == WILDCARD else host


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches what listens on ``host``."""
    return host in LOOPBACK or (_is_number(host) and ipaddress.ip_address(host).is_loopback)


def towards(url: str) -> str | None:
    """Return the address of this machine on the way to the host of ``url``; None where that is this machine itself.

    Nothing is sent: the kernel is asked which way it would take. None also where it knows none.
    """
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(found[0][4])
            ours, theirs = str(probe.getsockname()[0]), str(found[0][4][0])
    except (OSError, UnicodeError):
        return None
    return None if ours == theirs or is_loopback(theirs) else ours


def refusal(host: str, origin: str, names: Collection[str]) -> tuple[int, str] | None:
    """Return the status and the reason to refuse a request with these ``Host`` and ``Origin`` headers, or None.

    A page in somebody's browser must not reach a server here by a name that it has pointed at this machine (DNS
    rebinding). Names have to be known for it; numbers are no names, and an ``Origin`` is always a page's.
    """
    name = _hostname(f"//{host}")
    if not name or (name not in names and not _is_number(name)):
        known = ", ".join(sorted(names))
        return 421, (
            f"Host {host!r}: this server answers to {known} and to IP addresses; where agents know it by this name, "
            f"set execution.public_host or execution.allowed_hosts (--public-host {name}, --allowed-host {name})"
        )
    if origin and (not _hostname(origin) or _hostname(origin) not in names):
        return 403, f"Origin {origin!r}: pages of this host may not call the server; allow it with --allowed-host"
    return None


def checked(name: str) -> str:
    """Return a name or an IPv4 address of a host as it stands in addresses; ``ValueError`` says what it may be."""
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise ValueError(f"a name or an IPv4 address alone, without scheme, port or blanks, got {name!r}")
    return name


def _hostname(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
