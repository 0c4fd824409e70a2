"""What an endpoint means when it refuses a request: the words of many servers, read into few reasons."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

import openai

_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size)|(?:prompt|input|request|messages?) (?:is|are) too (?:long|large)"
    r"|reduce the length|too many (?:input )?tokens|token(?: count|s)?\b[^.]{0,60}\bexceed"
    r"|exceed[^.]{0,60}\b(?:context|tokens)\b",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|tool[_ -]choice|function[_ -]call", re.IGNORECASE)
_CUT_SHORT = re.compile(r"could not finish|output limit was reached", re.IGNORECASE)
_PROMPT_TOKENS = re.compile(r"(\d+) in the messages|(?:has|contains) (?:at least )?(\d+) (?:input|prompt) tokens")
_CONTEXT_TOKENS = re.compile(r"maximum context length (?:is|of) (\d+)")


class ContextFull(Exception):
    """The request is longer than the model's context.

    Attributes
    ----------
    room
        Tokens that the endpoint has left for the reply to this request, where it says so: then only the reply that was
        asked for is too long.
    """

    def __init__(self, message: str, *, room: int | None = None) -> None:
        super().__init__(message)
        self.room = room


class ToolsRefused(Exception):
    """The endpoint takes no functions."""


def words(error: openai.APIStatusError) -> str:
    """Return what the endpoint said, in one line."""
    said = error.body.get("message") if isinstance(error.body, dict) else None
    return " ".join(str(said or error.message).split())


def reason(error: openai.APIStatusError, *, with_tools: bool) -> Exception | None:
    """Return what can be mended by asking for less; None for everything else.

    The status does not tell: servers of one's own answer 500 where others answer 400 or 413.
    """
    said = words(error)
    if error.status_code in (400, 413, 422) or error.status_code >= 500:
        if _CONTEXT.search(said):
            return ContextFull(said[:200], room=_room(said))
        if with_tools and error.status_code in (400, 422) and _TOOLS.search(said):
            return ToolsRefused(said[:200])
    return None


def _room(said: str) -> int | None:
    prompt, context = _PROMPT_TOKENS.search(said), _CONTEXT_TOKENS.search(said)
    if not prompt or not context:
        return None
    return int(context[1]) - int(prompt[1] or prompt[2])


def is_reply_cut_short(error: openai.APIStatusError) -> bool:
    """Return whether a model had begun and met the limit of the reply: then the endpoint takes that limit."""
    return bool(_CUT_SHORT.search(words(error)))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return for how many seconds the endpoint asks to be left alone; None where it does not say."""
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / divisor)
        except (KeyError, ValueError):
            continue
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
