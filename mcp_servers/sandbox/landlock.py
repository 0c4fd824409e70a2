"""Landlock: this process and its descendants may read what is listed and write nothing, whatever their user id.

Source of the numbers and layouts: include/uapi/linux/landlock.h in the Linux tree.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from mcp_servers.sandbox import kernel
from mcp_servers.sandbox.readable import Readable

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_NEWEST_KNOWN_ABI = 6
_FILE_RIGHTS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16}
_FIRST_ABI_WITH_NETWORK, _NETWORK_RIGHTS = 4, 0b11
_FIRST_ABI_WITH_SCOPES, _SCOPES = 6, 0b11


def abi() -> int:
    """Return the kernel's Landlock version, 0 where there is none."""
    try:
        return kernel.syscall("landlock", kernel.SYS_LANDLOCK_CREATE_RULESET, 0, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def _rights_of(readable: Readable) -> Iterator[tuple[str, int]]:
    """Yield a path and its rights; a folder around a hidden one may be listed, and its other children are read."""
    for device in readable.devices:
        yield device, _READ_FILE
    waiting = list(readable.trees)
    while waiting:
        path = waiting.pop()
        if not any(hidden.startswith(path + os.sep) for hidden in readable.hidden):
            yield path, _READ_FILE | _READ_DIR
            continue
        yield path, _READ_DIR
        children = (os.path.join(path, name) for name in os.listdir(path))
        waiting.extend(child for child in children if child not in readable.hidden)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if os.path.isdir(path) else rights & _READ_FILE
        rule = struct.pack("<Qi", allowed, descriptor)
        kernel.syscall("landlock_add_rule", kernel.SYS_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def build(readable: Readable) -> int:
    """Return a ruleset (a file descriptor) that handles every right the kernel knows and grants only reading.

    Raises
    ------
    OSError
        The kernel has no Landlock, or a listed path cannot be opened by this user.
    """
    version = min(abi(), _NEWEST_KNOWN_ABI)
    if version == 0:
        raise OSError("this kernel has no Landlock")
    network = _NETWORK_RIGHTS if version >= _FIRST_ABI_WITH_NETWORK else 0
    scopes = _SCOPES if version >= _FIRST_ABI_WITH_SCOPES else 0
    handled = struct.pack("<QQQ", (1 << _FILE_RIGHTS_BITS[version]) - 1, network, scopes)
    size = 8 if version < _FIRST_ABI_WITH_NETWORK else 16 if version < _FIRST_ABI_WITH_SCOPES else 24
    ruleset = kernel.syscall("landlock_create_ruleset", kernel.SYS_LANDLOCK_CREATE_RULESET, handled, size, 0)
    for path, rights in _rights_of(readable):
        _allow(ruleset, path, rights)
    return ruleset


def restrict(ruleset: int) -> None:
    """Put the calling thread under ``ruleset``; ``no_new_privs`` must be set."""
    kernel.syscall("landlock_restrict_self", kernel.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
