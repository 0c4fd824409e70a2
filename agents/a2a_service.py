"""Serve a function (text in, text out) as an A2A agent: versions 1.0 and 0.3 on one address.

The programs in this folder share this file and nothing else. It knows A2A and no finance; it imports nothing of the
project, so a program may be copied out together with it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import logging
import re
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    Task,
    TaskState,
)
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

Usage: TypeAlias = dict[str, float | None]

NO_MODEL: Usage = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
"""The usage of an agent that asks no model."""
MAX_FINISHED_TASKS = 64
PROTOCOL_VERSIONS = ("1.0", "0.3")
CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
FINISHED = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_REJECTED,
)


@dataclass(frozen=True)
class Answer:
    """What an agent says.

    Attributes
    ----------
    text
        Sent as one text part.
    usage
        ``{"input_tokens", "output_tokens", "cost_usd"}`` (None for an unknown price), sent as metadata ``usage`` of the
        artifact, or None.
    rejected
        Whether the request was refused; ``text`` says why.
    """

    text: str
    usage: Usage | None = None
    rejected: bool = False


class ProviderUnavailable(Exception):
    """What the agent depends on, such as its model, could not be had: the task fails and says that it is an outage.

    Parameters
    ----------
    message
        What happened.
    status
        HTTP status of the provider, or None where there was no connection.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Progress:
    """Told what an agent is doing (by a call) and what it has used so far (``usage``).

    A task that fails or is cancelled reports the ``usage`` that stands here by then.
    """

    def __init__(self, tell: Callable[[str], Awaitable[None]]) -> None:
        self._tell = tell
        self.usage: Usage | None = None

    async def __call__(self, text: str) -> None:
        """Tell the other side."""
        await self._tell(text)


Respond: TypeAlias = Callable[[str, str, Progress], Awaitable[Answer]]
"""``respond(text, context_id, progress)``: answer the message ``text`` of the conversation ``context_id``."""


@dataclass(frozen=True)
class Profile:
    """What an agent's card says about it."""

    name: str
    description: str
    skill: str
    version: str = "1.0.0"


def agent_card(profile: Profile, *, url: str, guarded: bool = False) -> AgentCard:
    """Return the card of an agent that serves every protocol version at ``url``; ``guarded`` asks for a token."""
    bearer = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="Bearer"))
    return AgentCard(
        security_schemes={"bearer": bearer} if guarded else {},
        security_requirements=[SecurityRequirement(schemes={"bearer": StringList()})] if guarded else [],
        name=profile.name,
        description=profile.description,
        version=profile.version,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in PROTOCOL_VERSIONS
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        skills=[AgentSkill(id=profile.skill, name=profile.skill, description=profile.description, tags=["finance"])],
    )


def describe_error(error: BaseException) -> str:
    """Return type and message of an error; of the first real one inside nested exception groups."""
    error = innermost(error)
    return f"{type(error).__name__}: {error}"


def innermost(error: BaseException) -> BaseException:
    """Return the first real error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Executor(AgentExecutor):
    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._running: dict[str, Progress] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.message is None:
            raise ValueError("a request without a message")
        task = context.current_task or new_task_from_user_message(context.message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)

        def said(text: str) -> Message:
            return new_text_message(text, context_id=task.context_id, task_id=task.id)

        async def tell(text: str) -> None:
            await updater.start_work(said(text))

        await updater.start_work()
        progress = self._running[task.id] = Progress(tell)
        try:
            answer = await self._respond(context.get_user_input(), task.context_id, progress)
        except Exception as error:
            logging.getLogger("agent").exception("the agent failed")
            await updater.failed(_with_metadata(said(describe_error(error)), progress.usage, _outage(error)))
            return
        finally:
            del self._running[task.id]
        if answer.rejected:
            await updater.reject(said(answer.text))
            return
        metadata = {"usage": answer.usage} if answer.usage else None
        await updater.add_artifact([new_text_part(answer.text)], name="answer", metadata=metadata, last_chunk=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.task_id and context.context_id:
            running = self._running.get(context.task_id)
            note = new_text_message("cancelled", context_id=context.context_id, task_id=context.task_id)
            note = _with_metadata(note, running.usage if running else None)
            await TaskUpdater(event_queue, context.task_id, context.context_id).cancel(note)


def _with_metadata(message: Message, usage: Usage | None, outage: dict[str, Any] | None = None) -> Message:
    metadata = {name: value for name, value in (("usage", usage), ("traderbench", outage)) if value}
    if metadata:
        message.metadata.update(metadata)
    return message


def _outage(error: BaseException) -> dict[str, Any] | None:
    """Return what tells an outage from a failure of the agent's own."""
    error = innermost(error)
    if not isinstance(error, ProviderUnavailable):
        return None
    return {"error": "provider_unavailable", "status": error.status}


class BoundedTaskStore(TaskStore):
    """Keep the running tasks and the ``capacity`` latest finished ones; a long-lived agent stays small."""

    def __init__(self, capacity: int = MAX_FINISHED_TASKS) -> None:
        self._tasks = InMemoryTaskStore()
        self._finished: OrderedDict[str, ServerCallContext] = OrderedDict()
        self._capacity = capacity

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep ``task``; drop the oldest finished one beyond the capacity."""
        await self._tasks.save(task, context)
        if task.status.state in FINISHED:
            self._finished[task.id] = context
            self._finished.move_to_end(task.id)
        while len(self._finished) > self._capacity:
            oldest, owner = self._finished.popitem(last=False)
            await self._tasks.delete(oldest, owner)

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        """Return the task, or None when it is unknown or dropped."""
        return await self._tasks.get(task_id, context)

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks that are kept."""
        return await self._tasks.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        """Drop a task."""
        self._finished.pop(task_id, None)
        await self._tasks.delete(task_id, context)


class TokenGate:
    """Let through who carries the bearer token; the card, which says that one is needed, is for everybody.

    It stands before the whole application and holds no answer back, so that answers can be streamed.
    """

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or hand the request on."""
        if scope["type"] != "http" or scope["path"] in CARD_PATHS:
            return await self._app(scope, receive, send)
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token):
            return await self._app(scope, receive, send)
        # RFC 6750, section 3: who sent no credentials is told no more than what is needed
        challenge = 'Bearer realm="agent"' + (', error="invalid_token"' if given else "")
        said = (
            "the bearer token is not the right one" if given else "a bearer token is needed (Authorization: Bearer ...)"
        )
        await JSONResponse({"error": said}, 401, {"WWW-Authenticate": challenge})(scope, receive, send)


def checked_token(token: str, source: str) -> str:
    """Return a bearer token without the white space around it.

    Raises
    ------
    ValueError
        When it is empty or holds characters that no token has (RFC 6750, section 2.1); the message names ``source`` and
        not the token.
    """
    if re.fullmatch(r"[A-Za-z0-9\-._~+/]+=*", token.strip()) is None:
        what = "is not one" if token.strip() else "is empty"
        raise ValueError(f"{source}: a token is one word of letters, digits and -._~+/, what is there {what}")
    return token.strip()


def build_app(profile: Profile, respond: Respond, *, url: str, token: str = "") -> Starlette:
    """Return the ASGI application: both card addresses and the JSON-RPC endpoint at ``/``, behind ``token`` if any."""
    card = agent_card(profile, url=url, guarded=bool(token))
    handler = DefaultRequestHandler(agent_executor=_Executor(respond), task_store=BoundedTaskStore(), agent_card=card)
    return Starlette(
        routes=[
            *(route for path in CARD_PATHS for route in create_agent_card_routes(card, card_url=path)),
            *create_jsonrpc_routes(handler, rpc_url="/", enable_v0_3_compat=True),
        ],
        middleware=[Middleware(TokenGate, token=token)] if token else [],
    )


def add_server_flags(parser: argparse.ArgumentParser, *, port: int) -> None:
    """Add the flags that every agent program takes."""
    # a flag of another platform, such as --token, is not to be taken for a longer one of ours
    parser.allow_abbrev = False
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=port, help=f"port to listen on (default {port})")
    parser.add_argument("--card-url", default="", help="URL that the agent card advertises (default http://HOST:PORT/)")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="answer only requests with the bearer token that this file holds",
    )


def parse_flags(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; flags of other platforms are named on stderr and otherwise ignored.

    ``token`` of the result is the bearer token that requests have to carry, or empty.
    """
    flags, unknown = parser.parse_known_args()
    flags.token = ""
    if flags.token_file is not None:
        try:
            flags.token = checked_token(
                flags.token_file.read_text(encoding="utf-8", errors="replace"), str(flags.token_file)
            )
        except (OSError, ValueError) as error:
            parser.error(f"argument --token-file: {error}")
    if unknown:
        logging.getLogger("agent").warning("ignoring unknown arguments: %s", " ".join(unknown))
    return flags


def sources_digest(program: Path) -> str:
    """Return eight hex digits that change with the source of a program or of the files that programs share."""
    digest = hashlib.sha256()
    own = [*sorted(program.glob("*.py")), *sorted(program.glob("*/*.py"))]
    for path in [*own, *sorted(Path(__file__).parent.glob("*.py"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]


def serve(profile: Profile, respond: Respond, flags: argparse.Namespace) -> None:
    """Serve until the process is told to stop. The card's version tells one state of the source from another."""
    url = flags.card_url or f"http://{flags.host}:{flags.port}/"
    program = Path(str(sys.modules["__main__"].__file__)).resolve().parent
    exact = replace(profile, version=f"{profile.version}+{sources_digest(program)}")
    app = build_app(exact, respond, url=url, token=flags.token)
    config = uvicorn.Config(
        app, host=flags.host, port=flags.port, log_level="warning", timeout_graceful_shutdown=2, access_log=False
    )
    asyncio.run(uvicorn.Server(config).serve())
