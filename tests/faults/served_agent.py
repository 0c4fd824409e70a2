"""The quant as a server of its own, for runs that meet it through a proxy."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults import descendants
from tests.faults.run_command import ROOT, environment
from tests.free_port import free_port

AGENT_START_S = 60.0


@contextmanager
def served_agent() -> Iterator[int]:
    """Serve the quant for as long as the body runs; yield its port."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="tf-agent-") as folder, (Path(folder) / "log").open("wb") as log:
        command = [sys.executable, "-m", "engine.cli", "agent", "quant", "--port", str(port)]
        agent = subprocess.Popen(command, cwd=ROOT, env=environment(Path(folder)), stdout=log, stderr=log)
        descendants.OWN.add(agent.pid)
        try:
            _wait_for(port)
            yield port
        finally:
            agent.terminate()
            agent.wait()
            descendants.OWN.discard(agent.pid)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + AGENT_START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
