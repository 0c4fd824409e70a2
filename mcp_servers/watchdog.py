"""Servers that hang: a process that dies is noticed by its parent, one that stands still only by asking it."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

PROBE_S = 2.0
HUNG_S = 60.0
"""Longer than anything that a loaded machine has done to a healthy server (58 s was seen)."""
START_S = 60.0
"""What a new process has to come up before its silence counts."""


class Replaceable(Protocol):
    """A process that serves, as the watchdog sees it."""

    def replace(self, last_health: Mapping[str, Any]) -> None:
        """Kill what serves now; a new one takes its place."""
        ...


class Watchdog:
    """Asks each channel how it is, and has a process replaced that was silent or stood still for ``HUNG_S``.

    Parameters
    ----------
    groups
        Process by the address of its channel.
    """

    def __init__(self, groups: Mapping[str, Replaceable]) -> None:
        self._groups = dict(groups)
        self._answered_at = dict.fromkeys(self._groups, time.monotonic())
        self._last_health: dict[str, dict[str, Any]] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing.wait(PROBE_S):
            for address in self._groups:
                self._look_at(address)

    def _look_at(self, address: str) -> None:
        health = probe(address)
        if health is not None:
            self._last_health[address], self._answered_at[address] = health, time.monotonic()
        silent_s = time.monotonic() - self._answered_at[address]
        if max(silent_s, health["late_s"] if health else 0.0) > HUNG_S and not self._closing.is_set():
            with suppress(Exception):
                self._groups[address].replace(self._last_health.get(address, {}))
            self._answered_at[address] = time.monotonic() + START_S

    def close(self) -> None:
        """Stop asking."""
        self._closing.set()
        self._thread.join(timeout=PROBE_S)


def probe(channel: str) -> dict[str, Any] | None:
    """Return what ``GET /health`` of a channel says, or None when it does not answer within ``PROBE_S``."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{channel}/health", timeout=PROBE_S) as reply:
            said: dict[str, Any] = json.load(reply)
            return said
    except (OSError, ValueError):
        return None
