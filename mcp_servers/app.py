"""The web layer of a tool server: who is calling, and how often."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import anyio
from mcp.server import MCPServer, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_servers import access, addresses, bearer, caller
from mcp_servers.access import Grant
from mcp_servers.addresses import LOOPBACK
from mcp_servers.arrival import Arrival, Pulse
from mcp_servers.call_log import CallLog, CallRecord, describe_arguments
from mcp_servers.intake import GRANT, Intake
from mcp_servers.turns import CALLS_PER_TASK, Turns

ARRIVAL = "traderbench.arrival"
MCP_PATH = "/mcp"
PLACES = f"/t/<token>{MCP_PATH}, and at {MCP_PATH} with the header Authorization: Bearer <token>"


class Recorder:
    """Runs every tool call as its caller, within the caller's limit, and records it."""

    def __init__(self, server_name: str, log: CallLog, fallback: Grant) -> None:
        self.server_name = server_name
        self.log = log
        self.fallback = fallback
        self.turns = Turns(per_task=CALLS_PER_TASK)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle one MCP message."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        scope = getattr(ctx.request, "scope", {})
        grant: Grant = scope.get(GRANT, self.fallback)
        arrival: Arrival = scope[ARRIVAL]
        number = self.log.start(grant)
        with caller.acting_as(grant) as call:

            def record(error: str | None, *, given_up: bool = False) -> CallRecord:
                return self._record(number, ctx.params, call, arrival, error, given_up)

            error: str | None = "the call was broken off"
            given_up = False
            self.log.run(grant, number, lambda: record("not answered when the log was read", given_up=True))
            try:
                result = await self._result(ctx, call_next, number, grant)
                error = _error_of(result)
                if given_up := await arrival.sender_left():
                    error = "the agent's side did not wait for the answer"
            except anyio.get_cancelled_exc_class():
                given_up = True
                raise
            except Exception as failure:
                error = f"{type(failure).__name__}: {failure}"
                raise
            finally:
                self.log.finish(grant, record(error, given_up=given_up))
        return result

    async def _result(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, number: int, grant: Grant
    ) -> HandlerResult:
        if number > grant.max_tool_calls:
            return self._refusal(grant)
        async with self.turns.turn():
            return await call_next(ctx)

    def _refusal(self, grant: Grant) -> CallToolResult:
        text = (
            f"the {self.server_name} server takes {grant.max_tool_calls} calls a task and this task has used them all"
        )
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    def _record(
        self, number: int, params: Any, call: caller.Call, arrival: Arrival, error: str | None, given_up: bool
    ) -> CallRecord:
        params = params or {}
        text, digest = describe_arguments(params.get("arguments"))
        return CallRecord(
            number=number,
            server=self.server_name,
            tool=str(params.get("name", "")),
            arguments=text,
            arguments_sha256=digest,
            ok=error is None,
            error=error,
            lookahead=call.looked_ahead,
            milliseconds=round(arrival.seconds() * 1000, 3),
            agent_milliseconds=round(call.own_seconds() * 1000, 3),
            given_up=given_up,
        )


def _error_of(result: Any) -> str | None:
    """Return the text of an error result, or None for a good one. Results arrive as models or as plain dicts."""
    body = result if isinstance(result, dict) else result.model_dump(by_alias=True)
    if not body.get("isError"):
        return None
    return " ".join(part.get("text", "") for part in body.get("content", ()))


class Gate:
    """ASGI middleware: resolves the token of the path, answers ``/health``, passes ``/mcp`` on.

    ``/t/<token>/mcp``, or ``/mcp`` with the token as a bearer's, is served under the token's grant, where that names
    this server and until the harness closes the task. Plain ``/mcp`` without a token is served under ``standalone``,
    and refused when that is None. The harness has a way of its own (:mod:`mcp_servers.harness_channel`).
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        server_name: str,
        key: bytes,
        standalone: Grant | None,
        log: CallLog,
        is_warm: Callable[[], bool],
        names: Collection[str] = LOOPBACK,
    ) -> None:
        self.app = Intake(app)
        self.names = names
        self.server_name = server_name
        self.key = key
        self.standalone = standalone
        self.log = log
        self.is_warm = is_warm
        self.pulse: Pulse | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI event stream."""
        self.pulse = self.pulse or Pulse()
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope[ARRIVAL] = arrival = Arrival(receive, self.pulse)
        await self._route(scope)(scope, arrival.receive, send)

    def _route(self, scope: Scope) -> ASGIApp:
        """Return what answers: MCP, with the grant put into the scope, or a plain response."""
        path = scope["path"]
        if path == "/health":
            return JSONResponse({"status": "ok", "server": self.server_name, "warm": self.is_warm()})
        headers = Headers(scope=scope)
        if refused := addresses.refusal(headers.get("host", ""), headers.get("origin", ""), self.names):
            return JSONResponse({"error": refused[1]}, status_code=refused[0])
        in_path, _, verb = path.removeprefix("/t/").partition("/")
        if path != MCP_PATH and not (path.startswith("/t/") and verb == "mcp"):
            return JSONResponse({"error": f"no such path; MCP is served at {PLACES}"}, status_code=404)
        try:
            token = bearer.token(None if path == MCP_PATH else in_path, headers.getlist("authorization"))
            if token is None and self.standalone is not None:
                return self._mcp(scope, self.standalone)
            if token is None:
                raise access.InvalidToken(f"no token; MCP is served at {PLACES}")
            grant = access.verify(token, self.key)
        except access.InvalidToken as error:
            return JSONResponse({"error": str(error)}, status_code=401, headers={"WWW-Authenticate": bearer.SCHEME})
        if not grant.admits(self.server_name):
            said = f"the task {grant.task_id} does not use the {self.server_name} server"
            return JSONResponse({"error": said}, status_code=403)
        if self.log.is_closed(grant):
            return JSONResponse({"error": f"the task {grant.task_id} is over"}, status_code=410)
        return self._mcp(scope, grant)

    def _mcp(self, scope: Scope, grant: Grant) -> ASGIApp:
        scope[GRANT] = grant
        # the token goes no further than this
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
        scope["path"] = MCP_PATH
        scope["raw_path"] = MCP_PATH.encode()
        return self.app


def build_app(
    server: MCPServer,
    *,
    server_name: str,
    key: bytes,
    standalone: Grant | None = None,
    log: CallLog | None = None,
    names: Collection[str] = LOOPBACK,
    is_warm: Callable[[], bool] = lambda: True,
) -> ASGIApp:
    """Return the ASGI application of ``server``.

    Parameters
    ----------
    server
        What ``build_server`` of a server module returned; it gets the recorder as middleware here.
    key
        The run's signing key.
    standalone
        Grant of plain ``/mcp``, for a server that runs alone; None refuses calls without a token.
    log
        Where calls are recorded; a log in memory by default.
    names
        Names by which requests may address the server (:func:`mcp_servers.addresses.refusal`).
    is_warm
        What ``/health`` says about the warm-up.
    """
    log = log or CallLog()
    fallback = standalone or caller.standalone_grant()
    server.middleware.append(Recorder(server_name, log, fallback))
    # the gate looks at Host and Origin, and says what to set
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH, stateless_http=True, json_response=True, transport_security=security
    )
    return Gate(app, server_name=server_name, key=key, standalone=standalone, log=log, is_warm=is_warm, names=names)
