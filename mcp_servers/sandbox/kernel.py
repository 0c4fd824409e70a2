"""The few Linux system calls (x86_64 numbers) that Python's standard library does not offer."""

from __future__ import annotations

import ctypes
import os
import platform
import sys

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

SYS_CAPGET = 125
SYS_CAPSET = 126
SYS_PIVOT_ROOT = 155
SYS_SECCOMP = 317
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def supported() -> bool:
    """Return whether this machine is one whose system call table the sandbox knows."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(what: str, number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make system call ``number``; raise :class:`OSError` that names ``what`` when the kernel refuses."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words), what)


def prctl(what: str, option: int, argument: int = 0) -> int:
    """Call prctl(2) with one argument; raise :class:`OSError` when the kernel refuses."""
    return _checked(_libc.prctl(option, *(ctypes.c_ulong(a) for a in (argument, 0, 0, 0))), what)


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Call mount(2)."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(_libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def unmount_lazily(target: str) -> None:
    """Detach the mount tree at ``target``."""
    mnt_detach = 2
    _checked(_libc.umount2(os.fsencode(target), mnt_detach), f"umount {target}")
