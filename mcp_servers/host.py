"""Serving tool servers from one process: sockets, web servers, and the command ``traderbench mcp serve``."""

from __future__ import annotations

import asyncio
import importlib
import resource
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp

from lake import providers
from mcp_servers import access, ending
from mcp_servers.access import Grant
from mcp_servers.addresses import LOOPBACK
from mcp_servers.app import build_app
from mcp_servers.call_log import CallLog
from mcp_servers.catalog import SERVERS, ServerSpec, spec_of
from mcp_servers.connections import GuardedProtocol
from mcp_servers.embedded import run_together
from mcp_servers.handouts import Handouts
from mcp_servers.harness_channel import HarnessChannel, Watched
from mcp_servers.setting import ServerStartError, Setting, bind
from mcp_servers.warm_up import WarmUp

if TYPE_CHECKING:
    from lake.sample import Lake
    from mcp_servers.toolset import ToolServer


def allow_many_connections() -> None:
    """Raise this process's limit on open files as far as allowed: idle connections must not stop the service."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def build(
    spec: ServerSpec, *, state_dir: Path | None = None, lake: Lake | None = None, handouts: Handouts | None = None
) -> ToolServer:
    """Return the MCP server of ``spec``.

    Parameters
    ----------
    state_dir
        Folder for a server that keeps state.
    lake
        Data for a server that reads the lake; the embedded sample by default. The others take none.
    handouts
        What tasks are shown alone, for a server that shows such documents; none by default.
    """
    module = importlib.import_module(spec.module)
    arguments: dict[str, Any] = {"state_dir": state_dir} if spec.keeps_state else {}
    if lake is not None and spec.dated:
        arguments["lake"] = lake
    if handouts is not None:
        arguments["handouts"] = handouts
    server: ToolServer = module.build_server(**arguments)
    return server


def web_config(
    name: str,
    setting: Setting,
    *,
    log: CallLog | None = None,
    lake: Lake | None = None,
    handouts: Handouts | None = None,
    is_warm: Callable[[], bool] = lambda: True,
) -> uvicorn.Config:
    """Return the web server's configuration for the server ``name``: MCP and health."""
    app = build_app(
        build(spec_of(name), state_dir=setting.state_dir, lake=lake, handouts=handouts),
        server_name=name,
        key=setting.key,
        standalone=setting.standalone,
        log=log,
        names=setting.names,
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


@dataclass(frozen=True)
class Hosted:
    """The servers of one process, built and not yet served.

    Attributes
    ----------
    configs
        Web configuration by name.
    unavailable
        Reason by name of each that cannot run here.
    channel
        The harness's own way to them.
    warming
        Their warm-up, not yet started.
    """

    configs: dict[str, uvicorn.Config]
    unavailable: dict[str, str]
    channel: HarnessChannel
    warming: WarmUp

    async def serve(self, listeners: Mapping[str, socket.socket]) -> None:
        """Serve them on the running loop, which the channel watches, until the task is cancelled."""
        self.channel.watch_this_loop()
        await run_together(self.configs, listeners)


def host_together(names: Iterable[str], setting: Setting) -> Hosted:
    """Build the servers ``names`` for one process; one that cannot be built is listed with the reason."""
    names = list(names)
    lake = None if setting.lake is None or setting.lake.is_sample else providers.open_lake(setting.lake)
    warming = WarmUp(names, lake)
    watched: dict[str, Watched] = {}
    configs: dict[str, uvicorn.Config] = {}
    unavailable: dict[str, str] = {}
    for name in names:
        is_warm = partial(warming.is_done, name)
        path = None if setting.state_dir is None else setting.state_dir / f"calls-{name}.jsonl"
        log, handouts = CallLog(path), _handouts(name, setting)
        try:
            configs[name] = web_config(name, setting, log=log, lake=lake, handouts=handouts, is_warm=is_warm)
        except Exception as error:
            unavailable[name] = f"{type(error).__name__}: {error}"
        else:
            watched[name] = Watched(log, is_warm, handouts)
    return Hosted(configs, unavailable, HarnessChannel(watched, setting.key), warming)


def _handouts(name: str, setting: Setting) -> Handouts | None:
    if not spec_of(name).told:
        return None
    return Handouts(None if setting.state_dir is None else setting.state_dir / f"handouts-{name}")


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


def serve(
    names: Sequence[str],
    *,
    grant: Grant,
    host: str = LOOPBACK[0],
    port: int | None = None,
    lakes: Mapping[str, Lake] | None = None,
    allowed_hosts: tuple[str, ...] = (),
) -> None:
    """Run servers alone until interrupted (``traderbench mcp serve NAME``); a line tells the address of each.

    Parameters
    ----------
    names
        Keys of the catalogue. Of several, those that cannot run on this machine are told and left out.
    grant
        Date, seed and limit of calls to plain ``/mcp``.
    host, port
        Address; a port is for one server, and the ports of the catalogue are the default.
    lakes
        Data by server, where it is not the embedded sample (:func:`live_lake`).
    allowed_hosts
        Names by which requests may address the servers, besides loopback and IP addresses.

    Raises
    ------
    ServerStartError
        A port is busy, or none of the servers can run here.
    """
    setting = Setting(host=host, key=access.new_key(), standalone=grant, allowed_hosts=allowed_hosts)
    warming = WarmUp(names, (lakes or {}).get("options"))
    configs, unavailable = {}, {}
    for name in names:
        try:
            lake = (lakes or {}).get(name)
            configs[name] = web_config(name, setting, lake=lake, is_warm=partial(warming.is_done, name))
        except Exception as error:
            unavailable[name] = f"the {name} server cannot run here: {error}"
    if not configs:
        raise ServerStartError("; ".join(unavailable.values()))
    listeners = {name: bind(host, spec_of(name).port if port is None else port, name=name) for name in configs}
    ending.on_signals()
    warming.start()
    for name, listener in listeners.items():
        print(f"{spec_of(name).title} MCP server: http://{host}:{listener.getsockname()[1]}/mcp", flush=True)
    for line in unavailable.values():
        print(line, file=sys.stderr)
    asyncio.run(run_together(configs, listeners))


def live_lake(folder: Path) -> Lake:
    """Return live figures of every company that files with the SEC, kept in ``folder``, for ``edgar``.

    The SEC wants a contact in the environment variable ``TRADERBENCH_SEC_CONTACT``; without it ``ValueError``.
    """
    from lake import sec

    return sec.live(sec.SecClient(folder))
