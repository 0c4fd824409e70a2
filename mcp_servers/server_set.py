"""The servers of a run, as the harness holds them: start, addresses, health, stop."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from lake.settings import LakeSettings
from mcp_servers import access, addresses, scratch
from mcp_servers.catalog import SERVERS, spec_of
from mcp_servers.setting import ServerStartError, Setting, bind, check_open_files
from mcp_servers.watchdog import Watchdog

HEAVY = ("sandbox",)
"""Servers with a process of their own in the process backend: the sandbox forks, which a process with jax must not."""
REQUEST_TIMEOUT_S = 5.0


class ServerGroup(Protocol):
    """Some of the servers, in a process or an actor."""

    @property
    def ports(self) -> dict[str, int]:
        """Port by name of each server that is up."""
        ...

    @property
    def unavailable(self) -> dict[str, str]:
        """Reason by name of each that could not be built here."""
        ...

    @property
    def channel_port(self) -> int | None:
        """Port of the harness's own way to them; None where none is up."""
        ...

    def replace(self, last_health: Mapping[str, Any]) -> None:
        """Kill what serves now, because it hangs; ``last_health`` is the last that the channel said."""
        ...

    def close(self) -> None:
        """End them."""
        ...


class ServerSet:
    """Running servers. Use as a context manager, or call :meth:`close`.

    Attributes
    ----------
    ports
        Port by name of each server that is up.
    addresses
        ``http://host:port`` by name of each server that is up, as agents reach it.
    channels
        Address by name of the harness's own way to each server that is up.
    unavailable
        Reason by name of each server that cannot run here; tasks that need it are ``infra_unavailable``.
    """

    def __init__(self, groups: Sequence[ServerGroup], setting: Setting, state: ExitStack):
        self._groups = list(groups)
        self._setting = setting
        self._state = state
        self._host = addresses.on_this_machine(setting.host)
        ports = {name: port for group in groups for name, port in group.ports.items()}
        self.ports = {name: ports[name] for name in SERVERS if name in ports}
        self.channels = {
            name: f"http://{addresses.LOOPBACK[0]}:{group.channel_port}" for group in groups for name in group.ports
        }
        public = setting.public_host or self._host
        self.addresses = {name: f"http://{public}:{port}" for name, port in self.ports.items()}
        self._watchdog = Watchdog({self.channels[next(iter(group.ports))]: group for group in groups if group.ports})
        self.unavailable = {name: why for group in groups for name, why in group.unavailable.items()}

    @property
    def key(self) -> bytes:
        """The signing key: tokens are issued with it (``access.issue``)."""
        return self._setting.key

    def urls(self, token: str) -> dict[str, str]:
        """Return the MCP address of each server for the holder of ``token``."""
        return {name: f"{base}/t/{token}/mcp" for name, base in self.addresses.items()}

    def health(self) -> dict[str, str]:
        """Return ``ok``, or what is wrong, for each server asked for."""
        return {name: self._probe(name) for name in self.ports} | self.unavailable

    def _probe(self, name: str) -> str:
        try:
            with urllib.request.urlopen(
                f"http://{self._host}:{self.ports[name]}/health", timeout=REQUEST_TIMEOUT_S
            ) as reply:
                return str(json.load(reply)["status"])
        except OSError as error:
            return f"no answer: {error}"

    def close(self) -> None:
        """End every server and remove the state that was not asked to stay."""
        self._watchdog.close()
        for group in self._groups:
            group.close()
        self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_servers(
    names: Iterable[str] = tuple(SERVERS),
    *,
    ports: Literal["fixed", "auto"] = "fixed",
    host: str = "127.0.0.1",
    key: bytes | None = None,
    backend: Literal["ray", "process"] = "process",
    state_dir: Path | None = None,
    public_host: str | None = None,
    allowed_hosts: Iterable[str] = (),
    lake: LakeSettings | None = None,
) -> ServerSet:
    """Start tool servers and return when they answer.

    Parameters
    ----------
    names
        Keys of the catalogue; all six by default.
    ports
        ``fixed``: those of the catalogue; ``auto``: free ones.
    host
        Address to bind.
    key
        Signing key of the run; a fresh one by default.
    backend
        ``process``: plain child processes; ``ray``: one actor each, in the Ray that this process has initialised.
    state_dir
        Where call logs, accounts and messages of the servers are written; a temporary folder by default.
    public_host
        Name under which agents reach the servers when it is not ``host``.
    allowed_hosts
        Further names that requests may address the servers by.
    lake
        Where the data come from; the embedded sample by default.

    Raises
    ------
    ServerStartError
        A busy port, too few open files allowed, or a process that does not come up. Nothing is left running.
    ValueError
        Unknown name, ``ports`` or ``backend``.
    """
    chosen = {name: spec_of(name).port if ports == "fixed" else 0 for name in names}
    if ports not in ("fixed", "auto"):
        raise ValueError(f"ports must be 'fixed' or 'auto', got {ports!r}")
    if backend not in ("ray", "process"):
        raise ValueError(f"backend must be 'ray' or 'process', got {backend!r}")
    check_open_files()
    for name, port in chosen.items():
        bind(host, port, name=name).close()
    with ExitStack() as state:
        place = state_dir or state.enter_context(scratch.folder("traderbench-servers-"))
        place.mkdir(parents=True, exist_ok=True)
        setting = Setting(
            host=host,
            key=key or access.new_key(),
            state_dir=place,
            keep_state=state_dir is not None,
            public_host=public_host,
            allowed_hosts=tuple(allowed_hosts),
            lake=lake,
        )
        groups = _ray_groups(chosen, setting) if backend == "ray" else _process_groups(chosen, setting)
        return ServerSet(groups, setting, state.pop_all())


def _process_groups(ports: dict[str, int], setting: Setting) -> list[ServerGroup]:
    from mcp_servers.process import ServerProcess

    light = {name: port for name, port in ports.items() if name not in HEAVY}
    shares = [share for share in (light, *({name: ports[name]} for name in HEAVY if name in ports)) if share]
    folder = setting.state_dir or Path()

    def start(number: int) -> ServerGroup | ServerStartError:
        try:
            return ServerProcess(shares[number], setting, folder / f"process-{number}.log")
        except ServerStartError as error:
            return error
        except OSError as error:
            return ServerStartError(f"the tool servers cannot be started: {error}")

    with ThreadPoolExecutor(max_workers=len(shares) or 1) as pool:
        return _all_or_none(list(pool.map(start, range(len(shares)))))


def _ray_groups(ports: dict[str, int], setting: Setting) -> list[ServerGroup]:
    from mcp_servers.actors import start_actors

    return _all_or_none(start_actors(ports, setting))


def _all_or_none(started: Sequence[ServerGroup | ServerStartError]) -> list[ServerGroup]:
    """Return the groups when all are up; otherwise end those that are and raise the first error."""
    errors = [outcome for outcome in started if isinstance(outcome, ServerStartError)]
    groups = [outcome for outcome in started if not isinstance(outcome, ServerStartError)]
    if errors:
        for group in groups:
            group.close()
        raise errors[0]
    return groups
