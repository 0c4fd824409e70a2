"""Talk to an agent over A2A: fetch and pin its card, open one conversation per task, send and receive text.

The agent is a stranger. The card chooses the path and the protocol version, never the host: every request goes to the
address that the user gave, whatever a card or a redirect says. A reply that belongs to another task or conversation, or
repeats an earlier one, is refused. See :mod:`engine.agent.http` for the limits on time, bytes and JSON, and
:class:`engine.agent.dialect.Usage` for how an agent reports its token usage.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit

import httpx

from engine.agent import dialect as agent_dialect
from engine.agent import http as agent_http
from engine.agent.dialect import Event, Usage, Version
from engine.agent.failure import AgentFailure, FailureKind, printable
from engine.agent.reply import Assembly, Reply
from evaluators.contract import Session

__all__ = ["Agent", "AgentFailure", "Conversation", "FailureKind", "Insider", "Reply", "Usage", "connect"]

CONNECT_BACKOFF_S = (0.25, 1.0)
"""Pauses before a message is offered again to an agent that took no connection."""
CANCEL_TIMEOUT_S = 2.0
CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
POLL_INTERVAL_S = 0.5


class Conversation(Protocol):
    """One conversation, which is one A2A context."""

    async def send(self, text: str, *, timeout_s: float) -> Reply:
        """Send a message and wait for the reply for ``timeout_s`` seconds in all.

        Raises
        ------
        AgentFailure
            When no usable reply came.
        """
        ...

    async def close(self) -> None:
        """End the conversation and whatever the agent still does for it."""
        ...


class Agent(Protocol):
    """A system under test."""

    name: str
    digest: str

    def conversation(self, task_id: str) -> Conversation:
        """Open a conversation about the task; the agent does not learn ``task_id`` from it."""
        ...

    async def close(self) -> None:
        """Drop the connections."""
        ...


class Insider(ABC):
    """An agent in the harness that answers from the session itself; nothing that is spoken to over A2A is one."""

    @abstractmethod
    def answering(self, session: Session) -> Conversation:
        """Open a conversation that may ask the session for its truth."""


@dataclass(frozen=True)
class Endpoint:
    """Where and how an agent is spoken to."""

    url: str
    version: Version
    stream: bool


async def connect(url: str, *, timeout_s: float = 30.0, token: str | None = None) -> A2AAgent:
    """Fetch the agent card at ``url``, pin it and return the agent.

    Parameters
    ----------
    url
        Base address of the agent (``http://host:port``), or the address of its card.
    timeout_s
        Total time for fetching the card.
    token
        Bearer token that the agent asks for.

    Raises
    ------
    AgentFailure
        When there is no agent that speaks A2A 1.0 or 0.3 over JSON-RPC.
    """
    client = agent_http.new_client(token)
    try:
        async with asyncio.timeout(timeout_s):
            card = await _fetch_card(client, url)
        return A2AAgent(client, card, endpoint_of(url, card), token)
    except TimeoutError as error:
        await client.aclose()
        raise AgentFailure("timeout", f"no agent card from {url} within {timeout_s:g} s") from error
    except BaseException:
        await client.aclose()
        raise


def check_url(url: str) -> SplitResult:
    """Return the parts of an agent's address.

    Raises
    ------
    ValueError
        When no agent can be there, whatever is running.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"agent URL {url!r}: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"agent URL must be http(s)://host[:port], got {url!r}")
    return parts


async def _fetch_card(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    try:
        parts = check_url(url)
    except ValueError as error:
        raise AgentFailure("unreachable", str(error)) from error
    paths = [""] if parts.path.endswith(".json") else CARD_PATHS
    status = 0
    for path in paths:
        status, card = await agent_http.get_json(client, url.rstrip("/") + path)
        if status == 200:
            if not isinstance(card, dict):
                raise AgentFailure("protocol", f"the agent card at {url} is no JSON object")
            return card
    raise AgentFailure("protocol", f"no agent card at {url}{CARD_PATHS[0]}: HTTP {status}{agent_http.way_in(status)}")


def endpoint_of(url: str, card: dict[str, Any]) -> Endpoint:
    """Choose the newest protocol version that both sides speak over JSON-RPC."""
    interfaces = _interfaces(card)
    versions: tuple[Version, ...] = ("1.0", "0.3")
    for version in versions:
        for offered, binding, address in interfaces:
            if binding == "JSONRPC" and (offered == version or offered.startswith(version + ".")):
                capabilities = card.get("capabilities")
                stream = isinstance(capabilities, dict) and capabilities.get("streaming") is True
                return Endpoint(_on_given_host(url, address), version, stream)
    offers = ", ".join(f"{binding} {version}" for version, binding, _ in interfaces) or "none"
    raise AgentFailure("protocol", f"the agent offers no JSON-RPC interface of A2A 1.0 or 0.3 (it offers: {offers})")


def _interfaces(card: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (version, binding, url) of every interface of a 1.0 or 0.3 card."""
    listed = card.get("supportedInterfaces")
    if isinstance(listed, list) and listed:
        rows = [row for row in listed if isinstance(row, dict)]
        return [
            (str(row.get("protocolVersion") or "1.0"), str(row.get("protocolBinding")), str(row.get("url")))
            for row in rows
        ]
    version = str(card.get("protocolVersion") or "0.3")
    rows = [{"transport": card.get("preferredTransport") or "JSONRPC", "url": card.get("url")}]
    more = card.get("additionalInterfaces")
    rows += [row for row in more if isinstance(row, dict)] if isinstance(more, list) else []
    # Cards of before 0.3 (0.2.x) carry no transport name and take the same JSON-RPC calls.
    version = "0.3" if version.startswith("0.2") else version
    return [(version, str(row.get("transport")), str(row.get("url"))) for row in rows if row.get("url")]


def _on_given_host(given: str, advertised: str) -> str:
    """Return the advertised path on the given host; a prefix that the user gave stands where the card names no path."""
    base, path = urlsplit(given), urlsplit(advertised)
    prefix = "" if base.path.endswith(".json") else base.path
    chosen = path.path if path.path.strip("/") else prefix or "/"
    return urlunsplit((base.scheme, base.netloc, chosen, path.query, ""))


def card_digest(card: dict[str, Any]) -> str:
    """Return the sha256 of the canonical card without its network addresses and signatures.

    The same agent on another port is the same agent.
    """
    text = json.dumps(_without_addresses(card), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _without_addresses(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_addresses(v) for k, v in value.items() if k not in ("url", "signatures")}
    if isinstance(value, list):
        return [_without_addresses(item) for item in value]
    return value


class A2AAgent:
    """An agent behind an A2A server, with the card it had when the run began."""

    def __init__(
        self, client: httpx.AsyncClient, card: dict[str, Any], endpoint: Endpoint, token: str | None = None
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self.card = card
        self.token = token
        self.name = " ".join(printable(str(card.get("name") or "unnamed agent")).split())[:200]
        self.digest = card_digest(card)
        self.url = endpoint.url
        self.version = endpoint.version

    def conversation(self, task_id: str) -> A2AConversation:
        """Open a conversation. ``task_id`` is the harness's own name for it and is not sent."""
        return A2AConversation(self._client, self._endpoint)

    async def close(self) -> None:
        """Drop the connections."""
        await self._client.aclose()


@contextmanager
def _reading(assembly: Assembly | None = None) -> Iterator[None]:
    """Make what the agent's words break the agent's failure: as one of ours the task would be played again."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        failure = AgentFailure("protocol", f"the reply cannot be read ({type(error).__name__}: {error})")
        failure.usage = assembly.usage if assembly else None
        raise failure from error


class A2AConversation:
    """One A2A context. The agent names it in its first reply; every later reply must carry the same name."""

    def __init__(self, client: httpx.AsyncClient, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint
        self._context_id = ""
        self._open_task_id = ""
        self._running_task_id = ""
        self._used_task_ids: set[str] = set()

    async def send(self, text: str, *, timeout_s: float) -> Reply:
        """Send ``text`` and return the reply; see :class:`Conversation`.

        A message that found no connection is offered again, twice; one that the agent may have seen never is. A task
        that did not end in time is cancelled at the agent.
        """
        assembly = Assembly()
        try:
            async with asyncio.timeout(timeout_s):
                await self._offer(text, assembly)
        except TimeoutError as error:
            failure = AgentFailure("timeout", f"no complete reply within {timeout_s:g} s")
            failure.usage = await self._cancel() or assembly.usage
            raise failure from error
        except AgentFailure as failure:
            failure.usage = await self._cancel() or assembly.usage
            raise
        self._used_task_ids.add(assembly.task_id)
        self._open_task_id = assembly.task_id if assembly.state == "input-required" else ""
        self._running_task_id = self._open_task_id
        with _reading(assembly):
            return assembly.reply()

    async def close(self) -> None:
        """End the conversation: a task that the agent still works on, or that it left open, is cancelled."""
        await self._cancel()

    async def _cancel(self) -> Usage | None:
        """Ask the agent to stop its work, and return what it says it has spent; no answer is no error."""
        if not self._running_task_id:
            return None
        task_id, self._running_task_id = self._running_task_id, ""
        request_id = str(uuid.uuid4())
        request = agent_dialect.cancel_request(self._endpoint.version, request_id=request_id, task_id=task_id)
        usage: Usage | None = None
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S), aclosing(self._post(request)) as responses:
                async for response in responses:
                    with _reading():
                        usage = agent_dialect.read_response(response, request_id=request_id, polled=True).usage or usage
        except (AgentFailure, TimeoutError):
            pass
        return usage

    async def _offer(self, text: str, assembly: Assembly) -> None:
        for pause_s in (*CONNECT_BACKOFF_S, None):
            try:
                return await self._exchange(text, assembly)
            except AgentFailure as failure:
                if failure.sent or assembly.task_id or pause_s is None:
                    raise
                await asyncio.sleep(pause_s)

    async def _exchange(self, text: str, assembly: Assembly) -> None:
        request = agent_dialect.send_request(
            self._endpoint.version,
            request_id=(request_id := str(uuid.uuid4())),
            message_id=str(uuid.uuid4()),
            text=text,
            context_id=self._context_id,
            task_id=self._open_task_id,
            stream=self._endpoint.stream,
        )
        async with aclosing(self._post(request)) as responses:
            async for response in responses:
                with _reading(assembly):
                    event = agent_dialect.read_response(response, request_id=request_id)
                    self._take(assembly, event)
                if assembly.finished and not self._is_echo(event):
                    return
        if assembly.finished:
            return
        if not assembly.task_id or self._endpoint.stream:
            raise AgentFailure("protocol", f"the response ended before the task did (state {assembly.state!r})")
        await self._poll(assembly)

    def _is_echo(self, event: Event) -> bool:
        """Return whether the event may be the task as it was left open, sent again before the agent works on it."""
        return bool(self._open_task_id) and event.kind == "task" and event.state == "input-required"

    async def _poll(self, assembly: Assembly) -> None:
        """Wait for a task that the agent answered for before finishing it."""
        while not assembly.finished:
            await asyncio.sleep(POLL_INTERVAL_S)
            request_id = str(uuid.uuid4())
            request = agent_dialect.poll_request(
                self._endpoint.version, request_id=request_id, task_id=assembly.task_id
            )
            async with aclosing(self._post(request)) as responses:
                async for response in responses:
                    with _reading(assembly):
                        self._take(assembly, agent_dialect.read_response(response, request_id=request_id, polled=True))

    def _post(self, request: dict[str, Any]) -> AsyncGenerator[Any]:
        headers = agent_dialect.request_headers(self._endpoint.version)
        return agent_http.post_rpc(self._client, self._endpoint.url, request, headers=headers)

    def _take(self, assembly: Assembly, event: Event) -> None:
        """Accept the event into the reply after checking that it belongs here."""
        expected = assembly.task_id or self._open_task_id
        if event.task_id and expected and event.task_id != expected:
            raise AgentFailure("protocol", f"an event of a foreign task: {event.task_id!r} instead of {expected!r}")
        if event.task_id in self._used_task_ids and event.task_id != self._open_task_id and event.task_id:
            raise AgentFailure("protocol", f"a replayed task: {event.task_id!r} was answered before")
        if event.context_id and self._context_id and event.context_id != self._context_id:
            raise AgentFailure(
                "protocol", f"an event of a foreign context: {event.context_id!r} instead of {self._context_id!r}"
            )
        self._context_id = self._context_id or event.context_id
        assembly.task_id = assembly.task_id or event.task_id
        assembly.take(event)
        self._running_task_id = "" if assembly.finished else assembly.task_id
