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
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from lake.settings import LakeSettings
from mcp_servers.addresses import LOOPBACK
from mcp_servers.secrecy import deny_inspection
from mcp_servers.setting import ON_PROCESSOR, START_TIMEOUT_S, ServerStartError, Setting, bind

STOP_TIMEOUT_S = 5.0
MAX_FAILED_STARTS = 5
FAILED_START_PAUSE_S = 1.0


async def _serve_until_closed(orders: dict[str, Any], answers: IO[str]) -> None:
    from mcp_servers.host import allow_many_connections, host_together

    allow_many_connections()
    setting = Setting(
        host=orders["host"],
        key=bytes.fromhex(orders["key"]),
        state_dir=Path(orders["state_dir"]),
        public_host=orders["public_host"],
        allowed_hosts=tuple(orders["allowed_hosts"]),
        lake=orders["lake"] and LakeSettings(**orders["lake"]),
    )
    hosted = host_together(orders["ports"], setting)
    # whatever agents reach, the harness's own way stays on this machine
    channel = bind(LOOPBACK[0], orders["channel_port"], name="harness channel")
    listeners = {name: bind(setting.host, orders["ports"][name], name=name) for name in hosted.configs}
    serving = asyncio.create_task(hosted.serve(listeners))
    hosted.channel.serve(channel)
    ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
    answer = {"ports": ports, "unavailable": hosted.unavailable, "channel_port": channel.getsockname()[1]}
    print(json.dumps(answer), file=answers, flush=True)
    hosted.warming.start()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
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
    channel_port
        Port of the harness's own way to them.
    """

    def __init__(self, ports: dict[str, int], setting: Setting, log_path: Path) -> None:
        self._setting = setting
        self._log_path = log_path
        self._closing = threading.Event()
        self._changing = threading.Lock()
        self._child = self._spawn(ports, 0)
        answer = self._wait_ready(self._child)
        self.ports: dict[str, int] = answer["ports"]
        self.unavailable: dict[str, str] = answer["unavailable"]
        self.channel_port: int = answer["channel_port"]
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _spawn(self, ports: dict[str, int], channel_port: int) -> subprocess.Popen[str]:
        root = str(Path(__file__).resolve().parent.parent)
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH")) if part)
        with self._log_path.open("a", encoding="utf-8") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "mcp_servers.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": path} | ON_PROCESSOR,
                start_new_session=True,
            )
        orders = {
            "ports": ports,
            "channel_port": channel_port,
            "host": self._setting.host,
            "key": self._setting.key.hex(),
            "state_dir": str(self._setting.state_dir),
            "keep_state": self._setting.keep_state,
            "public_host": self._setting.public_host,
            "allowed_hosts": self._setting.allowed_hosts,
            "lake": self._setting.lake and self._setting.lake.plain(),
        }
        with suppress(BrokenPipeError):
            _pipe(child.stdin).write(json.dumps(orders) + "\n")
            _pipe(child.stdin).flush()
        return child

    def _wait_ready(self, child: subprocess.Popen[str]) -> dict[str, Any]:
        ready, _, _ = select.select([_pipe(child.stdout)], [], [], START_TIMEOUT_S)
        line = _pipe(child.stdout).readline() if ready else ""
        if not line:
            child.kill()
            child.wait()
            raise ServerStartError(f"the tool server process did not start; its messages are in {self._log_path}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            self._stop(child)
            raise ServerStartError(answer["error"])
        return answer

    def _watch(self) -> None:
        """Start a new child each time one dies, until some in a row did not come up."""
        failed = 0
        while failed < MAX_FAILED_STARTS:
            self._child.wait()
            try:
                with self._changing:
                    if self._closing.is_set():
                        return
                    self._close_pipes(self._child)
                    self._child = self._spawn(self.ports, self.channel_port)
                self._wait_ready(self._child)
            # Reading from a pipe that close() took away meanwhile is a ValueError.
            except (ServerStartError, OSError, ValueError):
                if self._closing.is_set():
                    return
                failed += 1
                self._closing.wait(FAILED_START_PAUSE_S)
            else:
                failed = 0

    def replace(self, last_health: Mapping[str, Any]) -> None:
        """Kill the child, because it does not answer any more; a new one takes its place."""
        self._child.kill()

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
            self._closing.set()
        self._stop(self._child)
        self._watcher.join(timeout=STOP_TIMEOUT_S)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    """Return a pipe that was asked for at the start of the child."""
    assert pipe is not None
    return pipe


if __name__ == "__main__":
    main()
