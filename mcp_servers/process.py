"""Tool servers in a plain child process: the light ones share one, the sandbox has its own.

The child gets its orders, the key among them, as one JSON line on its standard input and ends when that is closed, so
it never outlives the harness. It answers with one JSON line on its standard output.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from mcp_servers.secrecy import deny_inspection
from mcp_servers.setting import ServerStartError, Setting, bind

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
MAX_RESTARTS = 3


async def _serve_until_closed(orders: dict[str, Any], answers: IO[str]) -> None:
    from mcp_servers.host import allow_many_connections, run_together, web_config
    from mcp_servers.warm_up import WarmUp

    allow_many_connections()
    loop = asyncio.get_running_loop()
    setting = Setting(
        host=orders["host"],
        key=bytes.fromhex(orders["key"]),
        state_dir=Path(orders["state_dir"]),
        public_host=orders["public_host"],
    )
    listeners: dict[str, socket.socket] = {}
    configs, unavailable = {}, {}
    warming = WarmUp(orders["ports"])
    for name, port in orders["ports"].items():
        try:
            configs[name] = web_config(name, setting, is_warm=partial(warming.is_done, name))
        except Exception as error:
            unavailable[name] = f"{type(error).__name__}: {error}"
            continue
        listeners[name] = bind(setting.host, port, name=name)
    serving = asyncio.create_task(run_together(configs, listeners))
    ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
    print(json.dumps({"ports": ports, "unavailable": unavailable}), file=answers, flush=True)
    warming.start()
    await loop.run_in_executor(None, sys.stdin.read)
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


def main() -> None:
    """Serve what the first line of standard input asks for, until standard input is closed."""
    deny_inspection()
    orders = json.loads(sys.stdin.readline())
    # Whatever else prints here goes to the log: nobody reads this pipe after the answer, and a full pipe blocks.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        asyncio.run(_serve_until_closed(orders, answers))
    except ServerStartError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)
        sys.exit(1)
    if not orders["keep_state"]:
        # The harness does this too, unless it was killed.
        shutil.rmtree(orders["state_dir"], ignore_errors=True)
    # Worker threads of a call in progress must not keep the process alive.
    os._exit(0)


class ServerProcess:
    """A child process with some of the servers, restarted on the same ports when it dies.

    Attributes
    ----------
    ports
        Port by name of each server that is up.
    unavailable
        Reason by name of each that could not be built here.
    """

    def __init__(self, ports: dict[str, int], setting: Setting, log_path: Path) -> None:
        self._setting = setting
        self._log_path = log_path
        self._closing = False
        self._changing = threading.Lock()
        self._child = self._spawn(ports)
        self.ports, self.unavailable = self._wait_ready(self._child)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _spawn(self, ports: dict[str, int]) -> subprocess.Popen[str]:
        root = str(Path(__file__).resolve().parent.parent)
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH")) if part)
        with self._log_path.open("a", encoding="utf-8") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "mcp_servers.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": path},
                start_new_session=True,
            )
        orders = {
            "ports": ports,
            "host": self._setting.host,
            "key": self._setting.key.hex(),
            "state_dir": str(self._setting.state_dir),
            "keep_state": self._setting.keep_state,
            "public_host": self._setting.public_host,
        }
        with suppress(BrokenPipeError):
            _pipe(child.stdin).write(json.dumps(orders) + "\n")
            _pipe(child.stdin).flush()
        return child

    def _wait_ready(self, child: subprocess.Popen[str]) -> tuple[dict[str, int], dict[str, str]]:
        ready, _, _ = select.select([_pipe(child.stdout)], [], [], START_TIMEOUT_S)
        line = _pipe(child.stdout).readline() if ready else ""
        if not line:
            child.kill()
            child.wait()
            raise ServerStartError(f"the tool server process did not start; its messages are in {self._log_path}")
        answer = json.loads(line)
        if "error" in answer:
            self._stop(child)
            raise ServerStartError(answer["error"])
        return answer["ports"], answer["unavailable"]

    def _watch(self) -> None:
        """Start a new child each time one dies, up to the limit."""
        for _ in range(MAX_RESTARTS):
            self._child.wait()
            with self._changing:
                if self._closing:
                    return
                self._close_pipes(self._child)
                self._child = self._spawn(self.ports)
            with suppress(ServerStartError):
                self._wait_ready(self._child)

    @staticmethod
    def _close_pipes(child: subprocess.Popen[str]) -> None:
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                _pipe(pipe).close()

    def _stop(self, child: subprocess.Popen[str]) -> None:
        with suppress(OSError):
            _pipe(child.stdin).close()
        try:
            child.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._close_pipes(child)

    @property
    def pid(self) -> int:
        """Process id of the child that serves now."""
        return self._child.pid

    def close(self) -> None:
        """End the child."""
        with self._changing:
            self._closing = True
        self._stop(self._child)
        self._watcher.join(timeout=STOP_TIMEOUT_S)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    """Return a pipe that was asked for at the start of the child."""
    assert pipe is not None
    return pipe


if __name__ == "__main__":
    main()
