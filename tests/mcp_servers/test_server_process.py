"""A process of tool servers that is closed while it is being started again."""

from __future__ import annotations

import os
import secrets
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mcp_servers.process import ServerProcess
from mcp_servers.setting import Setting


def test_closing_it_while_a_new_child_comes_up_ends_its_watcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception that nobody catches in the watcher would turn this test red by itself."""
    state = tmp_path / "state"
    state.mkdir()
    setting = Setting(host="127.0.0.1", key=secrets.token_bytes(32), state_dir=state)
    served = ServerProcess({"risk": 0}, setting, tmp_path / "process.log")
    first = served.pid

    def taken_away(child: Any) -> dict[str, Any]:
        served._closing.set()
        raise ValueError("I/O operation on closed file.")  # what readline says of a pipe that close() closed

    monkeypatch.setattr(served, "_wait_ready", taken_away)
    os.kill(first, signal.SIGKILL)
    served._watcher.join(timeout=30.0)
    assert not served._watcher.is_alive() and served.pid != first
    served.close()
    with pytest.raises(ProcessLookupError):
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            os.kill(served.pid, 0)
            time.sleep(0.05)
