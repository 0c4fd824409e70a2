"""The endpoint of the model: one look at it before the agent serves, and its outages told from the model's failures."""

from __future__ import annotations

from typing import Any

import httpx
import openai
from a2a_service import ProviderUnavailable

REMEDIES = {401: "set OPENAI_API_KEY", 403: "set OPENAI_API_KEY", 404: "set OPENAI_MODEL or --model, and check the URL"}
OUTAGES = (401, 402, 403, 404, 429)
"""Statuses that say nothing about the question: the key, the money, the model or the rate. So do all from 500."""
SMALL: tuple[dict[str, int], ...] = ({"max_tokens": 16}, {"max_completion_tokens": 16}, {})
"""Ways to ask for a short reply: endpoints differ in which of them they refuse."""


class Provider:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(self, client: openai.AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model

    async def complete(self, **request: Any) -> Any:
        """Return the model's completion.

        Raises
        ------
        ProviderUnavailable
            When the endpoint is down, refuses the key or the model, or is out of rate or money. A model that is too
            slow, or a request that it refuses, raises the client's own error.
        """
        try:
            return await self._client.chat.completions.create(model=self._model, **request)
        except openai.APIConnectionError as error:
            if isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, httpx.ConnectTimeout):
                raise
            what = f"no connection ({error.__cause__ or error}); is it up, and --base-url (OPENAI_BASE_URL) right?"
            raise self._unavailable(what) from error
        except openai.APIStatusError as error:
            if error.status_code not in OUTAGES and error.status_code < 500:
                raise
            remedy = REMEDIES.get(error.status_code)
            what = f"HTTP {error.status_code} ({_words(error)})" + (f"; {remedy}" if remedy else "")
            raise self._unavailable(what, error.status_code) from error

    async def check(self) -> None:
        """Ask the model for a word.

        Raises
        ------
        ProviderUnavailable
            When no reply came; it names the address, the model and what to set.
        """
        for limit in SMALL:
            try:
                await self.complete(messages=[{"role": "user", "content": "Reply with OK."}], **limit)
                return
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refusal = f"HTTP {error.status_code} ({_words(error)})"
            except openai.OpenAIError as error:
                raise self._unavailable(str(error)) from error
        raise self._unavailable(refusal)

    def _unavailable(self, what: str, status: int | None = None) -> ProviderUnavailable:
        address = self._client.base_url.copy_with(username=None, password=None)
        return ProviderUnavailable(f"model {self._model!r} at {address}: {what}", status=status)


def _words(error: openai.APIStatusError) -> str:
    """Return what the endpoint said, in one short line."""
    said = error.body.get("message") if isinstance(error.body, dict) else None
    return " ".join(str(said or error.message).split())[:120]
