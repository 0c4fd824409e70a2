"""What a broken or hostile agent puts on the wire instead of an answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

Behaviour = Callable[[asyncio.StreamWriter, dict[str, Any]], Awaitable[None]]
"""Answers one A2A request; the connection is closed afterwards."""

OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
GIGABYTE = 10**9
FOR_EVER_S = 3600.0


def body(content: bytes, *, status: str = "200 OK", more: str = "") -> bytes:
    """Return a whole HTTP answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n{more}\r\n"
    return head.encode() + content


def says(raw: bytes) -> Behaviour:
    """Answer every request with the same bytes."""

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(raw)

    return behave


def task(text: str = "done", *, name: str = "t", context: str = "c", state: str = "COMPLETED") -> dict[str, Any]:
    """Return an A2A task that is over, with one answer."""
    artifacts = [{"artifactId": "a", "parts": [{"text": text}]}]
    return {
        "task": {
            "id": name,
            "contextId": context,
            "status": {"state": f"TASK_STATE_{state}"},
            "artifacts": artifacts,
        }
    }


def answers(*results: dict[str, Any], request_id: str | None = None) -> Behaviour:
    """Stream results as an answer, to the request or to another one."""

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM)
        for result in results:
            event = {"jsonrpc": "2.0", "id": request_id or request["id"], "result": result}
            writer.write(chunk(f"data: {json.dumps(event)}\r\n\r\n".encode()))
        writer.write(b"0\r\n\r\n")

    return behave


def chunk(data: bytes) -> bytes:
    """Return one chunk of a body of unknown length."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def endless(head: bytes, part: bytes, *, pause_s: float) -> Behaviour:
    """Send the same part again and again, until the other side has enough."""

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(head)
        while True:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


async def hang(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Say nothing at all."""
    await asyncio.sleep(FOR_EVER_S)


async def byte_a_second(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Answer rightly, one byte a second."""
    for byte in body(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": task()}).encode()):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1.0)


async def die_in_mid_stream(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Begin an answer and hang up."""
    writer.write(STREAM + b'1000\r\ndata: {"jsonrpc"')
    await writer.drain()


async def reset(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Break the connection off with RST."""
    link = writer.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def work_for_ever(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Say that the task is under way, and nothing more."""
    event = {"jsonrpc": "2.0", "id": request["id"], "result": task(state="WORKING")}
    writer.write(STREAM + chunk(f"data: {json.dumps(event)}\r\n\r\n".encode()))
    await writer.drain()
    await asyncio.sleep(FOR_EVER_S)


async def gzip_bomb(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
    """Unfold 256 MB out of a megabyte."""
    packed = gzip.compress(b" " * 256_000_000, compresslevel=1)
    writer.write(body(packed, more="Content-Encoding: gzip\r\n"))


def refuses(status: str) -> Behaviour:
    """Answer with an HTTP error that asks for patience."""
    return says(body(b"", status=status, more="Retry-After: 99999999\r\n"))


def redirects(target: str) -> Behaviour:
    """Send the harness somewhere else."""
    return says(body(b"", status="307 Temporary Redirect", more=f"Location: {target}\r\n"))
