"""Web servers inside a larger process: several on one event loop, or one in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn


class EmbeddedServer(uvicorn.Server):
    """A web server inside a larger process, which keeps its own signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's signal handlers alone."""
        yield


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
