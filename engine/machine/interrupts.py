"""Signals that end a command: each ends it as Ctrl-C does, so that nothing it started is left behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


def wanted() -> list[signal.Signals]:
    """Return the signals that end a command: not those that its caller has it ignore, as ``nohup`` does."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


@contextlib.contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Let each of the signals raise ``KeyboardInterrupt`` in the body."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in wanted()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
