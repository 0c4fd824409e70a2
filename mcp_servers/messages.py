"""What a server process says of itself: one plain line a message, and only so many a minute.

An agent can provoke messages. A formatted traceback holds up the event loop for 0.1 s, and a flood of them fills disks.
"""

from __future__ import annotations

import logging
import time
import traceback
from itertools import islice
from pathlib import Path

MESSAGES_A_MINUTE = 200
LONGEST_LINE = 1000
SHOWN_FRAMES = 5


def describe(error: BaseException) -> str:
    """Return the error in one line: type, message, and the innermost places of the code, inside out."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    places = [f"{Path(file).name}:{line}" for file, line in islice(reversed(frames), SHOWN_FRAMES)]
    return f"{type(error).__name__}: {error}" + (f" (at {' < '.join(places)})" if places else "")


class OneLine(logging.Formatter):
    """Formats a record, with its exception if it has one, as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        text = f"{self.formatTime(record)} {record.levelname} {record.name}: {record.getMessage().strip()}"
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}: {describe(record.exc_info[1])}"
        line = " ".join(text.split())
        return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


class Quota(logging.Filter):
    """Lets so many records a minute pass, and says in the first of a later minute how many it kept back."""

    def __init__(self) -> None:
        super().__init__()
        self._minute = self._passed = self._kept_back = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written."""
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            if self._kept_back:
                record.msg = f"({self._kept_back} messages before this one were left out) {record.msg}"
            self._minute, self._passed, self._kept_back = minute, 0, 0
        if self._passed >= MESSAGES_A_MINUTE:
            self._kept_back += 1
            return False
        self._passed += 1
        return True


def write_plainly() -> None:
    """Send this process's warnings to standard error in this form, unless it has chosen another already."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    handler.addFilter(Quota())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
