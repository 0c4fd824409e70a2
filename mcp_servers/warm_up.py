"""The first call of a kernel compiles it, for seconds: servers make their first calls themselves, before any task."""

from __future__ import annotations

import importlib
import sys
import threading
import traceback
from collections.abc import Iterable

from mcp_servers.catalog import spec_of


class WarmUp:
    """Runs ``warm_up()`` of the modules of some servers, one after another in a thread of this process.

    A server whose module has none is warm from the start. One whose warm-up fails counts as warm too: its own calls
    will say what is wrong, and the messages of the process tell the traceback.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._done = {name: threading.Event() for name in names}

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, daemon=True).start()

    def is_done(self, name: str) -> bool:
        """Return whether the server ``name`` is warm."""
        return self._done[name].is_set()

    def _run(self) -> None:
        for name, done in self._done.items():
            try:
                module = importlib.import_module(spec_of(name).module)
                getattr(module, "warm_up", _nothing)()
            except Exception:
                print(f"the {name} server could not be warmed:", file=sys.stderr)
                traceback.print_exc()
            finally:
                done.set()


def _nothing() -> None:
    """Stand in for the warm-up of a server that needs none."""
