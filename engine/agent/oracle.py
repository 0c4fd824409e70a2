"""The agent that knows the answers. It lives in the harness and reads them from the session, which no A2A agent can."""

from __future__ import annotations

import asyncio

from engine.agent.client import Conversation, Insider, Reply, Usage
from evaluators.contract import Session


class Oracle(Insider):
    """Answers every message perfectly: the upper end of the scale, and the proof that 100 can be reached."""

    name = "builtin:oracle"
    digest = "builtin:oracle"

    def answering(self, session: Session) -> Conversation:
        """Return a conversation that answers from the session's own truth."""
        return _OracleConversation(session)

    def conversation(self, task_id: str) -> Conversation:
        """Refuse: without a session there is nothing to read the answers from."""
        raise TypeError(f"the oracle answers sessions, not the bare task id {task_id!r}")

    async def close(self) -> None:
        """Nothing to close."""


class _OracleConversation:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def send(self, text: str, *, timeout_s: float) -> Reply:
        return Reply(await asyncio.to_thread(self._session.oracle), Usage(cost_usd=0.0))

    async def close(self) -> None:
        pass
