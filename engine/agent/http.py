"""HTTP to a peer that is not trusted: every exchange is bounded in time, in bytes and in JSON depth.

Nothing is retried here, whatever ``Retry-After`` says: how often an agent may fail is the run's decision.
"""

from __future__ import annotations

import json
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from engine.agent import token as agent_token
from engine.agent.failure import AgentFailure

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_JSON_DEPTH = 64


@cache
def certificates() -> ssl.SSLContext:
    """Return the authorities that are trusted, read once a process: reading them takes longer than a short exchange."""
    return httpx.create_ssl_context(trust_env=False)


def new_client(token: str | None = None) -> httpx.AsyncClient:
    """Return a client that follows no redirect and takes no proxy or credentials from the environment.

    ``token`` is sent as bearer token with every request. The client has no timeouts of its own apart from connecting:
    the caller holds the total deadline.
    """
    return httpx.AsyncClient(
        # a cookie would tell an agent which tasks belong to one run
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        trust_env=False,
        verify=certificates(),
        timeout=httpx.Timeout(None, connect=10.0),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
        headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {}),
    )


class _Inflater:
    """Undo a content encoding without ever holding more than ``cap + 1`` decoded bytes."""

    def __init__(self, encoding: str) -> None:
        encoding = encoding.strip().lower()
        if encoding in ("", "identity"):
            self._decompress = None
        elif encoding in ("gzip", "x-gzip", "deflate"):
            self._decompress = zlib.decompressobj(wbits=47 if "gzip" in encoding else 15)
        else:
            raise AgentFailure(
                "protocol", f"the agent answered with the content encoding {encoding!r}, asked: identity"
            )

    def decode(self, raw: bytes, room: int) -> bytes:
        """Return the decoded bytes of ``raw``, at most ``room + 1``."""
        if self._decompress is None:
            return raw
        try:
            return self._decompress.decompress(raw, room + 1)
        except zlib.error as error:
            raise AgentFailure("protocol", f"the agent's compressed body is damaged: {error}") from error


async def _bounded_chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    inflater = _Inflater(response.headers.get("content-encoding", ""))
    room = MAX_BODY_BYTES
    async for raw in response.aiter_raw():
        chunk = inflater.decode(raw, room)
        room -= len(chunk)
        if room < 0:
            raise AgentFailure("too_large", f"the agent sent more than {MAX_BODY_BYTES} bytes")
        yield chunk


@asynccontextmanager
async def _exchange(
    client: httpx.AsyncClient, method: str, url: str, *, body: dict[str, Any] | None, headers: dict[str, str]
) -> AsyncIterator[httpx.Response]:
    try:
        async with client.stream(method, url, json=body, headers=headers) as response:
            if response.is_redirect:
                target = response.headers.get("location", "")
                raise AgentFailure("protocol", f"the agent redirects {url} to {target!r}; redirects are refused")
            yield response
    except httpx.ConnectError as error:
        raise AgentFailure("unreachable", f"no agent answers at {url}: {error}", sent=False) from error
    except httpx.TimeoutException as error:
        raise AgentFailure("unreachable", f"connecting to {url} took too long", sent=False) from error
    except httpx.RemoteProtocolError as error:
        raise AgentFailure("unreachable", f"the connection to {url} broke: {error}") from error
    except (httpx.TransportError, httpx.InvalidURL, httpx.StreamError, UnicodeError) as error:
        raise AgentFailure(
            "unreachable", f"the exchange with {url} failed: {str(error) or type(error).__name__}"
        ) from error


async def _read_all(response: httpx.Response) -> bytes:
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and len(declared) < 20 and int(declared) > MAX_BODY_BYTES:
        raise AgentFailure("too_large", f"the agent announces {declared} bytes, the cap is {MAX_BODY_BYTES}")
    return b"".join([chunk async for chunk in _bounded_chunks(response)])


def way_in(status: int) -> str:
    """Return what to set where an agent asks who we are, as the end of a sentence."""
    return f"; {agent_token.VARIABLE} holds the bearer token that the agent is sent" if status == 401 else ""


async def get_json(client: httpx.AsyncClient, url: str) -> tuple[int, Any]:
    """Fetch ``url``; return the status and, for status 200, the parsed body (None otherwise)."""
    async with _exchange(client, "GET", url, body=None, headers={"Accept": "application/json"}) as response:
        if response.status_code != 200:
            return response.status_code, None
        return 200, parse_json(await _read_all(response))


async def post_rpc(
    client: httpx.AsyncClient, url: str, body: dict[str, Any], *, headers: dict[str, str]
) -> AsyncGenerator[Any]:
    """Post a JSON-RPC request; yield the parsed response, or one parsed event at a time of an event stream.

    Raises
    ------
    AgentFailure
        For anything but well-formed JSON within the limits. HTTP 401, 429 and 5xx are ``unreachable`` (the agent, or
        what stands before it, is not there to answer), any other HTTP error is an ``agent_error``.
    """
    accept = {"Accept": "text/event-stream, application/json"}
    async with _exchange(client, "POST", url, body=body, headers=headers | accept) as response:
        if response.status_code != 200:
            status = response.status_code
            raise AgentFailure(
                "unreachable" if status in (401, 429) or status >= 500 else "agent_error",
                f"the agent answered HTTP {status} {response.reason_phrase}{way_in(status)}",
            )
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            async for data in _events(_bounded_chunks(response)):
                yield parse_json(data)
        else:
            yield parse_json(await _read_all(response))


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each server-sent event; comments (keep-alive pings) and other fields carry nothing."""
    data: list[bytes] = []
    async for line in _lines(chunks):
        if not line:
            if data:
                yield b"\n".join(data)
            data = []
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
    if data:
        yield b"\n".join(data)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    pending: list[bytes] = []
    async for chunk in chunks:
        head, *rest = chunk.split(b"\n")
        pending.append(head)
        for piece in rest:
            yield b"".join(pending).removesuffix(b"\r")
            pending = [piece]
    yield b"".join(pending).removesuffix(b"\r")


def parse_json(raw: bytes) -> Any:
    """Parse strict JSON: UTF-8, no NaN or infinities, no duplicate keys, at most ``MAX_JSON_DEPTH`` levels.

    Raises
    ------
    AgentFailure
        Kind ``protocol``, naming what is wrong.
    """
    try:
        value = json.loads(
            raw.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError as error:
        raise AgentFailure("protocol", f"the agent's JSON is nested deeper than {MAX_JSON_DEPTH} levels") from error
    except ValueError as error:
        raise AgentFailure("protocol", f"the agent's reply is not valid JSON: {error}") from error
    _check_depth(value)
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is out of range")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("an object has the same key twice")
    return result


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    raise AgentFailure("protocol", f"the agent's JSON is nested deeper than {MAX_JSON_DEPTH} levels")
