"""Read what the benchmark sends, write what it asks for."""

from __future__ import annotations

import json
from typing import Any

from reading.market_sheet import read_context


def read_message(text: str) -> dict[str, Any]:
    """Return the message body; plain text counts as a question."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"type": "question", "question": text}


def context_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return the data that came with a question; of a typed one without any, what its text tells of a market."""
    context = body.get("context")
    if isinstance(context, dict):
        return context
    return read_context(str(body.get("question", ""))) if wants_json(body) else {}


def wants_json(body: dict[str, Any]) -> bool:
    """Return whether the answer has a schema of its own."""
    return isinstance(body.get("answer_schema"), dict)


def final_answer(answer: str, working: str = "") -> str:
    """Return a reply that states exactly one final answer."""
    return f"{working}\n\nFinal answer: {answer}".strip()
