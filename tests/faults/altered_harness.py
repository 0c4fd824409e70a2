"""``traderbench`` that dies by itself at a point of a commit, or is of another version.

``python -m tests.faults.altered_harness POINT NUMBER COMMAND ...``: SIGKILL when the point is reached the NUMBER-th
time. An outside observer could not hit these points: they lie less than a millisecond apart.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import engine
from engine.cli import main
from engine.storage.store import Store

BEFORE_RENAME, BEFORE_ROW, BEFORE_ACKNOWLEDGE, OTHER_VERSION = "rename", "row", "acknowledge", "version"


class _Death:
    """Ends the process when it is called for the ``number``-th time."""

    def __init__(self, number: int) -> None:
        self._left = number

    def come(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _after(function: Callable[..., Any], death: _Death) -> Callable[..., Any]:
    def altered(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        death.come()
        return result

    return altered


def _before_rename(death: _Death) -> None:
    rename = os.replace

    def altered(source: Any, target: Any) -> None:
        if str(target).endswith(".json.zz"):
            death.come()
        rename(source, target)

    os.replace = altered


def alter(point: str, number: int) -> None:
    """Make this process die at the point, or another version."""
    death = _Death(number)
    if point == BEFORE_RENAME:
        _before_rename(death)
    elif point == BEFORE_ROW:
        Store._put_blob = _after(Store._put_blob, death)
    elif point == BEFORE_ACKNOWLEDGE:
        Store.commit = _after(Store.commit, death)
    else:
        engine.__version__ = "0.0.1"


if __name__ == "__main__":
    alter(sys.argv[1], int(sys.argv[2]))
    # the manifest tells the command as the user gave it
    sys.argv[1:] = sys.argv[3:]
    sys.exit(main(sys.argv[1:]))
