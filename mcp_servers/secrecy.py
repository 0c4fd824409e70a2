"""Keep the memory of a process that holds the signing key or the answers from other programs of the same user."""

from __future__ import annotations

import ctypes
import sys

PR_SET_DUMPABLE = 4


def deny_inspection() -> None:
    """Let no process without the rights of root read this one's memory or environment, and write no core dump.

    Programs that this process starts are not affected: execution resets it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, *(ctypes.c_ulong(0) for _ in range(4)))
