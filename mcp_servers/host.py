"""Serving tool servers from one process: sockets, web servers, and the command ``traderbench mcp serve``."""

from __future__ import annotations

import asyncio
import importlib
import resource
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp

from mcp_servers import access, caller
from mcp_servers.app import build_app
from mcp_servers.call_log import CallLog
from mcp_servers.catalog import SERVERS, ServerSpec, spec_of
from mcp_servers.connections import GuardedProtocol
from mcp_servers.setting import Setting, bind
from mcp_servers.warm_up import WarmUp

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from lake.sample import Lake


def allow_many_connections() -> None:
    """Raise this process's limit on open files as far as allowed: idle connections must not stop the service."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class EmbeddedServer(uvicorn.Server):
    """A web server inside a larger process, which keeps its own signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's signal handlers alone."""
        yield


def build(spec: ServerSpec, *, state_dir: Path | None = None, lake: Lake | None = None) -> MCPServer:
    """Return the MCP server of ``spec``.

    Parameters
    ----------
    state_dir
        Folder for a server that keeps state.
    lake
        Data for a server that reads the lake; the embedded sample by default.
    """
    module = importlib.import_module(spec.module)
    arguments: dict[str, Any] = {"state_dir": state_dir} if spec.keeps_state else {}
    if lake is not None:
        arguments["lake"] = lake
    server: MCPServer = module.build_server(**arguments)
    return server


def web_config(
    name: str, setting: Setting, *, lake: Lake | None = None, is_warm: Callable[[], bool] = lambda: True
) -> uvicorn.Config:
    """Return the web server's configuration for the server ``name``: MCP, health and call log."""
    log_path = None if setting.state_dir is None else setting.state_dir / f"calls-{name}.jsonl"
    app = build_app(
        build(spec_of(name), state_dir=setting.state_dir, lake=lake),
        server_name=name,
        key=setting.key,
        standalone=setting.standalone,
        log=CallLog(log_path),
        allowed_hosts=() if setting.public_host is None else (f"{setting.public_host}:*",),
        is_warm=is_warm,
    )
    return guarded(app)


def guarded(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration of a web server for ``app`` whose connections have deadlines and limits.

    There is no access log, which would print tokens.
    """
    return uvicorn.Config(
        app,
        http=GuardedProtocol,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )


def describe_servers() -> list[dict[str, Any]]:
    """Return a row for each server of the catalogue: name, port, title, module, its tools, and why it is unavailable.

    ``unavailable`` is None, or the reason why the server cannot be built on this machine; it then lists no tools.
    """
    rows = []
    for spec in SERVERS.values():
        row: dict[str, Any] = {"name": spec.name, "port": spec.port, "title": spec.title, "module": spec.module}
        try:
            tools = asyncio.run(build(spec).list_tools())
        except Exception as error:
            rows.append(row | {"tools": [], "unavailable": f"{type(error).__name__}: {error}"})
        else:
            rows.append(row | {"tools": [tool.name for tool in tools], "unavailable": None})
    return rows


async def run_together(configs: Mapping[str, uvicorn.Config], listeners: Mapping[str, socket.socket]) -> None:
    """Serve several servers on one event loop until the task is cancelled."""
    servers = {name: EmbeddedServer(config) for name, config in configs.items()}
    try:
        await asyncio.gather(*(server.serve(sockets=[listeners[name]]) for name, server in servers.items()))
    except asyncio.CancelledError:
        for server in servers.values():
            server.should_exit = True
        raise


def run_in_thread(config: uvicorn.Config, listener: socket.socket) -> threading.Thread:
    """Serve one server from a daemon thread with its own event loop."""
    server = EmbeddedServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    return thread


def serve(
    name: str,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    as_of: date | None = None,
    key: bytes | None = None,
    live_folder: Path | None = None,
) -> None:
    """Run one server alone until interrupted (``traderbench mcp serve NAME``).

    Parameters
    ----------
    name
        Key of the catalogue.
    host, port
        Address; the port of the catalogue by default.
    as_of
        Simulation date of calls to plain ``/mcp``; today by default.
    key
        Signing key of a run whose tokens are accepted too; a fresh one by default.
    live_folder
        For ``edgar``: serve live figures of every company that files with the SEC, kept in this folder. The SEC wants
        a contact in the environment variable ``TRADERBENCH_SEC_CONTACT``.

    Raises
    ------
    ServerStartError
        The port is busy.
    ValueError
        Unknown name, or a server without live data.
    """
    spec = spec_of(name)
    lake = None if live_folder is None else _live_lake(name, live_folder)
    listener = bind(host, spec.port if port is None else port, name=name)
    setting = Setting(host=host, key=key or access.new_key(), standalone=caller.standalone_grant(as_of))
    warming = WarmUp([name])
    config = web_config(name, setting, lake=lake, is_warm=partial(warming.is_done, name))
    warming.start()
    print(f"{spec.title} MCP server: http://{host}:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def _live_lake(name: str, folder: Path) -> Lake:
    if name != "edgar":
        raise ValueError(f"the {name} server has no live data; edgar has")
    from lake import sec

    return sec.live(sec.SecClient(folder))
