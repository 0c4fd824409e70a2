"""Tool servers as Ray actors: one actor each, restarted by Ray on the same port."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from mcp_servers.secrecy import deny_inspection
from mcp_servers.setting import ServerStartError, Setting, bind

REBIND_TIMEOUT_S = 5.0
REBIND_PAUSE_S = 0.2
START_TIMEOUT_S = 90.0


class ToolServerActor:
    """Serves one server from a thread. Its constructor never raises: what went wrong is in :meth:`status`."""

    def __init__(self, name: str, port: int, setting: Setting) -> None:
        from mcp_servers.host import allow_many_connections, run_in_thread, web_config
        from mcp_servers.warm_up import WarmUp

        deny_inspection()
        allow_many_connections()
        self._status: dict[str, Any] = {}
        warming = WarmUp([name])
        try:
            config = web_config(name, setting, is_warm=partial(warming.is_done, name))
        except Exception as error:
            self._status = {"unavailable": f"{type(error).__name__}: {error}"}
            return
        try:
            listener = _bind_again(setting.host, port, name)
        except ServerStartError as error:
            self._status = {"error": str(error)}
            return
        run_in_thread(config, listener)
        warming.start()
        self._status = {"port": listener.getsockname()[1]}

    def status(self) -> dict[str, Any]:
        """Return ``{"port"}``, ``{"unavailable": reason}`` or ``{"error": reason}``."""
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
    ports, unavailable
        As in ``server_set.ServerGroup``.
    """

    def __init__(self, handle: Any, ports: dict[str, int], unavailable: dict[str, str]) -> None:
        self.handle = handle
        self.ports = ports
        self.unavailable = unavailable

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
    remote = ray.remote(num_cpus=0, max_restarts=3, max_task_retries=0)(ToolServerActor)
    try:
        known = {name: _known_port(setting.host, port, name) for name, port in ports.items()}
    except ServerStartError as error:
        return [error]
    handles = {name: remote.remote(name, port, setting) for name, port in known.items()}
    return [_started(name, handle) for name, handle in handles.items()]


def _started(name: str, handle: Any) -> ServerActor | ServerStartError:
    import ray

    try:
        status = ray.get(handle.status.remote(), timeout=START_TIMEOUT_S)
    except ray.exceptions.RayError as error:
        return ServerStartError(f"the {name} server's actor did not start: {error}")
    if "error" in status:
        ray.kill(handle, no_restart=True)
        return ServerStartError(status["error"])
    return ServerActor(
        handle,
        {name: status["port"]} if "port" in status else {},
        {name: status["unavailable"]} if "unavailable" in status else {},
    )
