"""The two A2A versions on the wire, 1.0 and 0.3, read into one shape.

Both are JSON-RPC. They differ in method names, in how a part is written (``{"text": ...}`` and
``{"kind": "text", "text": ...}``), in state names (``TASK_STATE_COMPLETED`` and ``completed``) and in how an event says
what it is (a wrapping key in 1.0, a ``kind`` field in 0.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from engine.agent.failure import AgentFailure
from engine.agent.reply_parts import Part, read_part

Version: TypeAlias = Literal["1.0", "0.3"]

FINISHED_STATES = frozenset({"completed", "failed", "canceled", "rejected", "input-required", "auth-required"})
"""States in which an agent works no further on a message."""


@dataclass(frozen=True)
class Usage:
    """What an answer cost the agent, as it says itself.

    An agent reports it under the key ``usage`` in the ``metadata`` of its final artifact (or of the message, status or
    task), whether the reply succeeded or failed: ``{"input_tokens": int, "output_tokens": int, "cost_usd": float}``.
    Absent tokens count as 0; an absent price is unknown.

    Attributes
    ----------
    input_tokens, output_tokens
        Tokens read and written by the agent's model for this reply.
    cost_usd
        Price of these tokens in US dollars; None when the agent does not say.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True)
class Event:
    """One piece of an agent's response.

    Attributes
    ----------
    kind
        ``task``, ``message``, ``status`` or ``artifact``.
    task_id, context_id
        What it belongs to; empty when the agent did not say.
    state
        State name in the 0.3 spelling (``completed``); empty for messages and artifacts.
    parts
        Parts by artifact id; the key is ``""`` for the parts of a message or a status.
    append
        Whether the parts continue the artifact's earlier ones.
    usage
        Reported usage, or None.
    unavailable
        Whether the agent says that what it depends on cannot be had: metadata
        ``{"traderbench": {"error": "provider_unavailable"}}`` of the status message, the status or the task.
    """

    kind: Literal["task", "message", "status", "artifact"]
    task_id: str
    context_id: str
    state: str
    parts: Mapping[str, tuple[Part, ...]]
    append: bool
    usage: Usage | None
    unavailable: bool = False


def send_request(
    version: Version, *, request_id: str, message_id: str, text: str, context_id: str, task_id: str, stream: bool
) -> dict[str, Any]:
    """Return the JSON-RPC request that sends ``text``; empty ids are left out."""
    message: dict[str, Any] = {"messageId": message_id}
    if context_id:
        message["contextId"] = context_id
    if task_id:
        message["taskId"] = task_id
    params: dict[str, Any]
    if version == "1.0":
        method = "SendStreamingMessage" if stream else "SendMessage"
        message |= {"role": "ROLE_USER", "parts": [{"text": text}]}
        params = {"message": message, "configuration": {"acceptedOutputModes": ["text/plain", "application/json"]}}
    else:
        method = "message/stream" if stream else "message/send"
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": text}]}
        configuration = {"acceptedOutputModes": ["text/plain", "application/json"], "blocking": True}
        params = {"message": message, "configuration": configuration}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def poll_request(version: Version, *, request_id: str, task_id: str) -> dict[str, Any]:
    """Return the JSON-RPC request that asks for the present state of a task."""
    method = "GetTask" if version == "1.0" else "tasks/get"
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"id": task_id}}


def cancel_request(version: Version, *, request_id: str, task_id: str) -> dict[str, Any]:
    """Return the JSON-RPC request that ends the agent's work on a task."""
    method = "CancelTask" if version == "1.0" else "tasks/cancel"
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"id": task_id}}


def request_headers(version: Version) -> dict[str, str]:
    """Return the headers that name the protocol version; 0.3 has none."""
    return {"A2A-Version": "1.0"} if version == "1.0" else {}


def read_response(response: Any, *, request_id: str, polled: bool = False) -> Event:
    """Read one JSON-RPC response of either version.

    Raises
    ------
    AgentFailure
        ``protocol`` when it is not an A2A response to this request, ``agent_error`` when it is a JSON-RPC error.
    """
    envelope = _mapping(response, "a JSON-RPC response")
    error = envelope.get("error")
    if isinstance(error, dict):
        raise AgentFailure("agent_error", f"the agent answered error {error.get('code')}: {error.get('message')}")
    if envelope.get("id") != request_id:
        raise AgentFailure("protocol", f"a response to another request: id {envelope.get('id')!r}")
    result = _mapping(envelope.get("result"), "the result")
    if polled:
        return _task(result)
    if "kind" in result:
        return _read(str(result["kind"]), result)
    for name, value in result.items():
        if name in _READERS:
            return _read(name, _mapping(value, name))
    raise AgentFailure("protocol", f"a result that is no A2A event, with the keys {sorted(result)[:5]}")


def _read(kind: str, body: dict[str, Any]) -> Event:
    if kind not in _READERS:
        raise AgentFailure("protocol", f"an A2A event of unknown kind {kind[:40]!r}")
    return _READERS[kind](body)


def _task(body: dict[str, Any]) -> Event:
    status = _mapping(body.get("status", {}), "status")
    artifacts = [_mapping(item, "an artifact") for item in _sequence(body.get("artifacts"), "artifacts")]
    parts = {_name(item, position): _parts(item) for position, item in enumerate(artifacts)}
    message = status.get("message")
    if isinstance(message, dict):
        parts[""] = _parts(message)
    sources = [body, *([message] if isinstance(message, dict) else []), *artifacts]
    return Event(
        "task",
        _identifier(body, "id"),
        _identifier(body, "contextId"),
        _state(status),
        parts,
        append=False,
        usage=_usage(*sources),
        unavailable=_says_unavailable(*sources),
    )


def _message(body: dict[str, Any]) -> Event:
    ids = _identifier(body, "taskId"), _identifier(body, "contextId")
    return Event("message", *ids, "", {"": _parts(body)}, append=False, usage=_usage(body))


def _status_update(body: dict[str, Any]) -> Event:
    status = _mapping(body.get("status"), "status")
    message = _mapping(status.get("message") or {}, "status.message")
    parts = {"": _parts(message)} if message else {}
    ids = _identifier(body, "taskId"), _identifier(body, "contextId")
    sources = (body, message)
    unavailable = _says_unavailable(*sources)
    return Event("status", *ids, _state(status), parts, append=False, usage=_usage(*sources), unavailable=unavailable)


def _artifact_update(body: dict[str, Any]) -> Event:
    artifact = _mapping(body.get("artifact"), "artifact")
    ids = _identifier(body, "taskId"), _identifier(body, "contextId")
    parts = {_name(artifact, 0): _parts(artifact)}
    return Event("artifact", *ids, "", parts, append=body.get("append") is True, usage=_usage(body, artifact))


_READERS = {
    "task": _task,
    "message": _message,
    "msg": _message,
    "status-update": _status_update,
    "statusUpdate": _status_update,
    "artifact-update": _artifact_update,
    "artifactUpdate": _artifact_update,
}


def _name(artifact: dict[str, Any], position: int) -> str:
    return _identifier(artifact, "artifactId") or f"artifact {position}"


def _state(status: dict[str, Any]) -> str:
    state = status.get("state", "")
    if not isinstance(state, str):
        raise AgentFailure("protocol", f"a task state that is no text: {str(state)[:40]}")
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def _parts(holder: dict[str, Any]) -> tuple[Part, ...]:
    return tuple(read_part(_mapping(part, "a part")) for part in _sequence(holder.get("parts"), "parts"))


def _usage(*holders: dict[str, Any]) -> Usage | None:
    for holder in holders:
        metadata = holder.get("metadata")
        if isinstance(metadata, dict) and "usage" in metadata:
            usage = _mapping(metadata["usage"], "metadata.usage")
            return Usage(
                input_tokens=int(_amount(usage, "input_tokens")),
                output_tokens=int(_amount(usage, "output_tokens")),
                cost_usd=None if usage.get("cost_usd") is None else _amount(usage, "cost_usd"),
            )
    return None


def _says_unavailable(*holders: dict[str, Any]) -> bool:
    for holder in holders:
        metadata = holder.get("metadata")
        said = metadata.get("traderbench") if isinstance(metadata, dict) else None
        if isinstance(said, dict) and said.get("error") == "provider_unavailable":
            return True
    return False


def _amount(usage: dict[str, Any], field: str) -> float:
    value = usage.get(field, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15 or math.isnan(value):
        raise AgentFailure("protocol", f"metadata.usage.{field} must be a number from 0, got {str(value)[:40]}")
    return float(value)


def _identifier(body: dict[str, Any], field: str) -> str:
    value = body.get(field) or ""
    if not isinstance(value, str) or len(value) > 256:
        raise AgentFailure("protocol", f"{field} must be a text of at most 256 characters, got {str(value)[:40]}")
    return value


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AgentFailure("protocol", f"{what} must be a JSON object, got {type(value).__name__}")
    return value


def _sequence(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise AgentFailure("protocol", f"{what} must be a JSON array, got {type(value).__name__}")
    return value
