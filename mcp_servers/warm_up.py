"""The first call of a kernel compiles it, for seconds: servers make their first calls themselves, before any task."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mcp_servers.catalog import spec_of

if TYPE_CHECKING:
    from lake.sample import Lake

LATER_NICENESS = 10


class WarmUp:
    """Runs ``warm_up()`` of the modules of some servers, one after another in a thread of this process.

    A server whose module has none is warm from the start. One whose warm-up fails counts as warm too: its own calls
    will say what is wrong, and the messages of the process tell the traceback. ``warm_up_lake(lake)`` belongs to it
    where the data are no embedded sample. When all are warm, the modules' ``warm_up_later()`` runs at a low priority:
    for calls that are few, and that no task should wait for.
    """

    def __init__(self, names: Iterable[str], lake: Lake | None = None) -> None:
        self._lake = lake
        self._done = {name: threading.Event() for name in names}

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, daemon=True).start()

    def is_done(self, name: str) -> bool:
        """Return whether the server ``name`` is warm."""
        return self._done[name].is_set()

    def _run(self) -> None:
        for name, done in self._done.items():
            _play(name, "warm_up")
            if self._lake is not None:
                _play(name, "warm_up_lake", self._lake)
            done.set()
        # Linux knows priorities of threads
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LATER_NICENESS)
        for name in self._done:
            _play(name, "warm_up_later")


def _play(name: str, function: str, *arguments: object) -> None:
    try:
        getattr(importlib.import_module(spec_of(name).module), function, _nothing)(*arguments)
    except Exception:
        print(f"the {name} server could not be warmed:", file=sys.stderr)
        traceback.print_exc()


def _nothing(*arguments: object) -> None:
    """Stand in for the warm-up of a server that needs none."""
