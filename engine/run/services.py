"""Bring up what a run talks to: the agent under test and the tool servers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Iterator
from typing import Literal

from engine.agent import builtin as builtin_agents
from engine.agent import client as agent_client
from engine.agent import token as agent_token
from engine.agent.failure import printable
from engine.agent.model_settings import ModelSettings
from engine.agent.oracle import Oracle
from engine.config import ExecutionConfig, LimitsConfig
from engine.errors import AgentUnreachable, ConfigError, ServiceUnavailable
from engine.run.tool_access import ToolAccess
from lake.settings import LakeSettings
from lake.vocabulary import did_you_mean
from mcp_servers import addresses
from mcp_servers.access import new_key
from mcp_servers.catalog import SERVERS

BUILTIN = "builtin:"


@contextlib.asynccontextmanager
async def connected_agent(
    spec: str, model: ModelSettings | None = None, limits: LimitsConfig | None = None
) -> AsyncIterator[tuple[agent_client.Agent, str]]:
    """Yield the agent that ``spec`` names and the address workers reach it at.

    ``spec`` is a URL, ``builtin:NAME`` (a program of ours, started for the run and ended with it) or
    ``builtin:oracle`` (the in-process oracle, whose address is its name). ``model`` and ``limits`` are the
    settings of the language model and how long its answers are waited for.

    Raises
    ------
    AgentUnreachable
        When nothing at the address speaks A2A.
    ConfigError
        For an unknown builtin.
    """
    if spec == Oracle.name:
        yield Oracle(), Oracle.name
        return
    try:
        async with contextlib.AsyncExitStack() as stack:
            if spec.startswith(BUILTIN):
                check_agent(spec)
                settings = model.arguments(limits or LimitsConfig()) if model else ()
                program = builtin_agents.start(spec, env=model.environment() if model else None, arguments=settings)
                running = await stack.enter_async_context(program)
                agent: agent_client.Agent = running
                url = running.url
            else:
                connected = await agent_client.connect(spec, token=agent_token.given())
                stack.push_async_callback(connected.close)
                agent, url = connected, spec
            yield agent, url
    except agent_client.AgentFailure as error:
        raise AgentUnreachable(f"--agent {spec}: {error}") from error


def check_agent(spec: str) -> None:
    """Refuse an impossible address and an unknown builtin.

    Raises
    ------
    ConfigError
        Naming what is wrong. Whether somebody is at an address is not looked at.
    """
    names = ("oracle", *builtin_agents.BUILTIN_AGENTS)
    if not spec.startswith(BUILTIN):
        try:
            agent_client.check_url(spec)
        except ValueError as error:
            meant = f"{BUILTIN}{spec}" if spec in names else f"http://{spec}"
            hint = "" if "://" in spec else f" (did you mean {meant!r}?)"
            raise ConfigError(f"--agent: {error}{hint}") from error
        agent_token.given()
        return
    name = spec.removeprefix(BUILTIN)
    if name not in names:
        raise ConfigError(
            f"--agent builtin:{name}: unknown agent{did_you_mean(name, names)}; available: {', '.join(names)}"
        )


def description_of(agent: agent_client.Agent) -> str:
    """Return what an agent's card says about it, in one line."""
    card = agent.card if isinstance(agent, agent_client.A2AAgent) else {}
    return " ".join(printable(str(card.get("description", ""))).split())[:1000]


def told_about(spec: str) -> str:
    """Return what a run says about the agent it starts: as which user, where that is not another one than ours."""
    if not spec.startswith(BUILTIN) or spec == Oracle.name:
        return ""
    user = builtin_agents.user_of(spec)
    return "" if user.is_apart else f"; {user.text}"


def reachable(settings: ExecutionConfig, agent_url: str) -> ExecutionConfig:
    """Return the settings with the name by which the agent at ``agent_url`` reaches the tool servers.

    Raises
    ------
    ConfigError
        When the agent is on another host and the servers would listen to this machine alone.
    """
    if settings.public_host or agent_url == Oracle.name:
        return settings
    ours = addresses.towards(agent_url)
    if ours is None:
        return settings
    if addresses.is_loopback(settings.host):
        raise ConfigError(
            f"--agent {agent_url} is on another host and could not reach tool servers on {settings.host}; let them "
            f"listen where it can: --host {ours} (execution.host), with --public-host NAME where it knows this machine "
            "by another name; --public-host 127.0.0.1 says that their ports are forwarded to it"
        )
    return settings.model_copy(update={"public_host": ours}) if settings.host == addresses.WILDCARD else settings


@contextlib.contextmanager
def tool_servers(
    settings: ExecutionConfig, lake: LakeSettings | None = None, withheld: Collection[str] = ()
) -> Iterator[tuple[ToolAccess, str]]:
    """Yield the access to the tool servers over a lake, up for the length of the body, and the sandbox tier.

    All six but those that are ``withheld``.

    Raises
    ------
    ServiceUnavailable
        When a port is taken or a server does not come up.
    """
    from engine.machine.ray_session import local_ray
    from mcp_servers import sandbox
    from mcp_servers.server_set import start_servers
    from mcp_servers.setting import ServerStartError

    key = new_key()
    backend: Literal["ray", "process"] = "ray" if settings.backend == "ray" else "process"
    with contextlib.ExitStack() as stack:
        if backend == "ray":
            stack.enter_context(local_ray())
        try:
            servers = start_servers(
                tuple(name for name in SERVERS if name not in withheld),
                ports=settings.ports,
                host=settings.host,
                key=key,
                backend=backend,
                public_host=settings.public_host,
                allowed_hosts=settings.allowed_hosts,
                lake=lake,
            )
        except ServerStartError as error:
            raise ServiceUnavailable(str(error)) from error
        stack.callback(servers.close)
        yield ToolAccess(servers.addresses, key, servers.unavailable, servers.channels), sandbox.tier() or "none"
