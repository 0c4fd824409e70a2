"""How a process that serves tools alone ends: at once, and with it all that its sandbox started."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

STOPPED = 130
"""Exit status of a command that the user stopped."""


def at_once(status: int) -> NoReturn:
    """End this process without winding up its threads.

    One that waits for standard input cannot be told to stop, and a kernel that is being compiled for the warm-up would
    fail with a traceback when the interpreter shuts down under it.
    """
    for stream in (sys.stdout, sys.stderr):
        # its reader is gone, or a signal came in the middle of a write
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            stream.flush()
    os._exit(status)


def on_signals() -> None:
    """End at once on Ctrl-C, SIGTERM and SIGHUP, but for those that the caller has this process ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: at_once(STOPPED))
