"""Who is calling, and up to which date may they look: signed grants in the URL path.

MCP has no session identity of its own, so the identity of a task travels in the path:
``http://host:port/t/<token>/mcp``. The token is the grant, signed with a key that only the harness and the servers
hold. An agent can read its grant but cannot change the date or become another task. No call to the server is needed to
grant access, so the scheme works the same in threads, in Ray actors and across a cluster.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import date
from typing import TypeAlias

KEY_BYTES = 32
Owner: TypeAlias = tuple[str, str]
"""Run and task: by whom state on a server is kept."""


@dataclass(frozen=True)
class Grant:
    """What one task may do on the tool servers.

    Attributes
    ----------
    run_id, task_id
        Identity: state on a server (accounts, call logs) is keyed by it, as the ``owner``.
    as_of
        Simulation date; nothing known later is served.
    seed
        Seed of everything random that a server does for this task.
    max_tool_calls
        Calls each server accepts for this task before it refuses.
    servers
        The servers it is good for; None: all.
    """

    run_id: str
    task_id: str
    as_of: date
    seed: int
    max_tool_calls: int = 200
    servers: tuple[str, ...] | None = None

    @property
    def owner(self) -> Owner:
        """By whom state on a server is kept."""
        return self.run_id, self.task_id

    def admits(self, server: str) -> bool:
        """Return whether the task may call ``server``."""
        return self.servers is None or server in self.servers


class InvalidToken(ValueError):
    """The token was not signed by this harness, or was altered."""


def new_key() -> bytes:
    """Return a fresh signing key."""
    return secrets.token_bytes(KEY_BYTES)


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _sign(key: bytes, payload: bytes) -> bytes:
    return hmac.new(key, payload, hashlib.sha256).digest()[:16]


def issue(grant: Grant, key: bytes) -> str:
    """Return the token for ``grant``: URL-safe, deterministic."""
    fields = asdict(grant) | {"as_of": grant.as_of.isoformat()}
    payload = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    return f"{_encode(payload)}.{_encode(_sign(key, payload))}"


def verify(token: str, key: bytes) -> Grant:
    """Return the grant inside ``token``; raise :class:`InvalidToken` unless ``key`` signed exactly this text."""
    try:
        body, signature = token.split(".")
        payload = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        given = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    except ValueError as error:
        raise InvalidToken("malformed token") from error
    if (body, signature) != (_encode(payload), _encode(given)):
        # Decoding forgives padding, foreign letters and spare bits; what was signed has none of them.
        raise InvalidToken("malformed token")
    if not hmac.compare_digest(given, _sign(key, payload)):
        raise InvalidToken("this token was not issued by the harness of this run")
    fields = json.loads(payload)
    servers = fields["servers"]
    read = {"as_of": date.fromisoformat(fields["as_of"]), "servers": None if servers is None else tuple(servers)}
    return Grant(**(fields | read))


def harness_proof(token: str, key: bytes) -> str:
    """Return the header value by which the harness, and nobody else, reads a task's call log."""
    return _encode(_sign(key, b"harness:" + token.encode()))


def is_harness(proof: str, token: str, key: bytes) -> bool:
    """Return whether ``proof`` is the harness's for this token (compared in constant time)."""
    return hmac.compare_digest(proof.encode(), harness_proof(token, key).encode())
