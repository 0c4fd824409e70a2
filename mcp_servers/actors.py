"""Tool servers as Ray actors: one actor each, restarted by Ray on the same port."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcp_servers.addresses import LOOPBACK
from mcp_servers.secrecy import deny_inspection
from mcp_servers.setting import ON_PROCESSOR, START_TIMEOUT_S, ServerStartError, Setting, bind

REBIND_TIMEOUT_S = 5.0
REBIND_PAUSE_S = 0.2


class ToolServerActor:
    """Serves one server from a thread. Its constructor never raises: what went wrong is in :meth:`status`."""

    def __init__(self, name: str, port: int, channel_port: int, setting: Setting) -> None:
        os.environ.update(ON_PROCESSOR)
        from mcp_servers.host import allow_many_connections, host_together

        deny_inspection()
        allow_many_connections()
        self._status: dict[str, Any] = {}
        hosted = host_together([name], setting)
        if hosted.unavailable:
            self._status = {"unavailable": hosted.unavailable[name]}
            return
        try:
            listeners = {name: _bind_again(setting.host, port, name)}
            channel = _bind_again(LOOPBACK[0], channel_port, "harness channel")
        except ServerStartError as error:
            self._status = {"error": str(error)}
            return
        threading.Thread(target=lambda: asyncio.run(hosted.serve(listeners)), daemon=True).start()
        hosted.channel.serve(channel)
        hosted.warming.start()
        self._status = {"port": port, "channel_port": channel_port}

    def status(self) -> dict[str, Any]:
        """Return ``{"port", "channel_port"}``, ``{"unavailable": reason}`` or ``{"error": reason}``."""
        return self._status


def _bind_again(host: str, port: int, name: str) -> Any:
    """Bind, waiting a moment for the socket of a predecessor that has just died."""
    deadline = time.monotonic() + REBIND_TIMEOUT_S
    while True:
        try:
            return bind(host, port, name=name)
        except ServerStartError:
            if time.monotonic() > deadline:
                raise
            time.sleep(REBIND_PAUSE_S)


class ServerActor:
    """The harness's side of one actor.

    Attributes
    ----------
    ports, unavailable, channel_port
        As in ``server_set.ServerGroup``.
    """

    def __init__(self, handle: Any, name: str, status: dict[str, Any]) -> None:
        self.handle = handle
        self.ports = {name: int(status["port"])} if "port" in status else {}
        self.unavailable = {name: str(status["unavailable"])} if "unavailable" in status else {}
        self.channel_port: int | None = status.get("channel_port")

    def replace(self, last_health: Mapping[str, Any]) -> None:
        """Kill the actor's process, because it does not answer any more; Ray starts a new one on the same ports."""
        import ray

        if last_health.get("node") == platform.node():
            # a stopped process takes no orders from Ray
            with suppress(ProcessLookupError):
                os.kill(last_health["pid"], signal.SIGKILL)
        else:
            ray.kill(self.handle, no_restart=False)

    def close(self) -> None:
        """End the actor for good."""
        import ray

        ray.kill(self.handle, no_restart=True)


def _known_port(host: str, port: int, name: str) -> int:
    """Return ``port``, or a free one for 0: an actor must know its port beforehand to come back on it."""
    with bind(host, port, name=name) as listener:
        return int(listener.getsockname()[1])


def start_actors(ports: dict[str, int], setting: Setting) -> list[ServerActor | ServerStartError]:
    """Start one actor a server in the Ray that is already initialised; port 0 means a free one."""
    import ray

    if not ray.is_initialized():
        return [ServerStartError("the ray backend needs an initialised Ray: call ray.init(address='local') first")]
    # without an end: a server that dies is ours, however often, and costs the agent nothing
    remote = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(ToolServerActor)
    try:
        known = {name: _known_port(setting.host, port, name) for name, port in ports.items()}
        channels = {name: _known_port(LOOPBACK[0], 0, "harness channel") for name in ports}
    except ServerStartError as error:
        return [error]
    handles = {name: remote.remote(name, port, channels[name], setting) for name, port in known.items()}
    started = {name: _started(name, handle) for name, handle in handles.items()}
    for name, port in ports.items():
        if port == 0 and isinstance(started[name], ServerStartError):
            # somebody else took the free port before the actor came to it
            free, channel = _known_port(setting.host, 0, name), _known_port(LOOPBACK[0], 0, "harness channel")
            started[name] = _started(name, remote.remote(name, free, channel, setting))
    return list(started.values())


def _started(name: str, handle: Any) -> ServerActor | ServerStartError:
    import ray

    try:
        status = ray.get(handle.status.remote(), timeout=START_TIMEOUT_S)
    except ray.exceptions.RayError as error:
        return ServerStartError(f"the {name} server's actor did not start: {error}")
    if "error" in status:
        ray.kill(handle, no_restart=True)
        return ServerStartError(status["error"])
    return ServerActor(handle, name, status)
