"""A local endpoint that speaks the chat API and a local MCP server, both over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

import uvicorn
from mcp.server import MCPServer
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Said: TypeAlias = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]
"""A message of the model, or ``status`` with ``error`` and ``headers``; or what makes one from the request."""


def tool_call(name: str, arguments: str, number: int = 1) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}


class Endpoint:
    """A chat endpoint that says what it is told to say, one entry a request; the last entry is repeated."""

    def __init__(self, script: Sequence[Said]) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.sizes: list[int] = []
        self.hold_from = 0
        self.released = asyncio.Event()

    async def complete(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.sizes.append(len(await request.body()))
        if self.hold_from and len(self.requests) >= self.hold_from:
            await self.released.wait()
        said = self.script[min(len(self.requests), len(self.script)) - 1]
        if callable(said):
            said = said(self.requests[-1])
        if "status" in said:
            error = {"message": said.get("error", "no such model")}
            return JSONResponse({"error": error}, status_code=said["status"], headers=said.get("headers"))
        await asyncio.sleep(said.get("seconds", 0.0))
        told = {name: said[name] for name in ("content", "tool_calls") if name in said}
        message = {"role": "assistant", "content": None} | told
        written = said.get("completion_tokens", 10)
        body = {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "local",
            "choices": [] if "no_choice" in said else [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": written, "total_tokens": 1000 + written},
        }
        return JSONResponse(body)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.complete, methods=["POST"])])


def desk() -> Any:
    server = MCPServer("desk")

    def double(value: float) -> dict[str, float]:
        """Double a number."""
        return {"doubled": 2.0 * value}

    server.tool()(double)
    return server.streamable_http_app(streamable_http_path="/mcp", stateless_http=True, json_response=True)


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    running = asyncio.create_task(server.serve([listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()


class Conversation(NamedTuple):
    """What came of a conversation: answers, the requests that the endpoint saw, what the agent told meanwhile."""

    answers: list[Any]
    requests: list[dict[str, Any]]
    told: list[str]


def converse(dialogue: Any, script: Sequence[Said], *bodies: dict[str, Any], **options: Any) -> Conversation:
    """Hold a conversation with the language-model agent of the module ``dialogue``."""
    endpoint = Endpoint(script)
    patience = dialogue.Patience(*(options.get(name, 60.0) for name in ("message_s", "task_s", "request_s")))
    tokens = int(options.get("output_tokens", 0))
    limits = dialogue.Limits(int(options.get("model_calls", 16)), options.get("cost_usd", 1.0), tokens, patience)
    prices = dialogue.Prices(options.get("input_usd", 0.0), options.get("output_usd", 0.0))
    told: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    async def run() -> list[Any]:
        async with (
            serving(endpoint.app()) as api,
            serving(desk()) as tools,
            AsyncOpenAI(api_key="test", base_url=f"{api}/v1") as client,
        ):
            provider = dialogue.Provider(client, "local", **options.get("wanted", {}))
            if options.get("check"):
                told.extend(await provider.check())
            agent = dialogue.Dialogues(provider, limits=limits, prices=prices, servers=options.get("servers"))
            first = {"mcp_servers": {"desk": f"{tools}/mcp"}, "MCP_DESK_URL": f"{tools}/mcp"}
            texts = [json.dumps(body | first if row == 0 else body) for row, body in enumerate(bodies)]
            return [await agent.reply(text, "conversation", dialogue.Progress(tell)) for text in texts]

    return Conversation(asyncio.run(run()), endpoint.requests, told)
