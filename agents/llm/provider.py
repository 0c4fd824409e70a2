"""The endpoint of the model: one look at what it takes before the agent serves, and its outages told from failures."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import openai
from a2a_service import ProviderUnavailable
from clock import Clock, Patience
from refusal import is_reply_cut_short, reason, retry_after_s, words

REMEDIES = {401: "set OPENAI_API_KEY", 403: "set OPENAI_API_KEY", 404: "set OPENAI_MODEL or --model, and check the URL"}
OUTAGES = (401, 402, 403, 404, 429)
"""Statuses that say nothing about the question: the key, the money, the model or the rate. So do all from 500."""
PAUSES_S = (0.5, 1.5)
"""Before a request that found nobody, or an endpoint out of order, is sent again."""
MAX_TRIES = 10
"""Of a request, where the endpoint says itself how long to wait."""
SHORT = 16
WAYS: tuple[dict[str, int], ...] = ({"max_tokens": SHORT}, {"max_completion_tokens": SHORT}, {})
"""Ways to ask for a short reply. Hosted reasoning models refuse the first; servers of one's own ignore the second."""
FIRST_WORD_S = 140.0
"""For the first reply: a model of one's own is loaded by it."""


class ModelTooSlow(Exception):
    """The model did not answer in the time that the question leaves it."""


class Provider:
    """A model behind an OpenAI-compatible endpoint; the client's own retries are off, because they know no deadline.

    Parameters
    ----------
    client, model
        Where to ask, and whom.
    wanted
        ``temperature`` and ``seed``, where they are to be sent.
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str, **wanted: float) -> None:
        self._client = client.with_options(max_retries=0)
        self._model = model
        self._wanted = wanted
        self._settings = dict(wanted)
        self._limit: str | None = next(iter(WAYS[0]))

    def through(self, client: openai.AsyncOpenAI) -> Provider:
        """Return the same endpoint, with what was found out about it, for another event loop."""
        other = Provider(client, self._model, **self._wanted)
        other._settings, other._limit = self._settings, self._limit
        return other

    async def complete(self, *, output_tokens: int, clock: Clock, **request: Any) -> Any:
        """Return the model's completion of at most ``output_tokens`` tokens (0: no limit).

        Raises
        ------
        ProviderUnavailable
            When the endpoint is down, refuses the key or the model, or is out of rate or money for longer than the
            question can wait.
        ContextFull, ToolsRefused, ModelTooSlow
            As they say. A request that is refused for another reason raises the client's own error.
        """
        limit = {self._limit: output_tokens} if self._limit and output_tokens else {}
        return await self._send(self._settings | limit | request, clock)

    async def check(self) -> list[str]:
        """Ask the model for a word, and find out which parameters the endpoint takes; return what it does not take.

        Raises
        ------
        ProviderUnavailable
            When no reply came; it names the address, the model and what to set.
        """
        refusal = ""
        for way in WAYS:
            for settings in [self._wanted, {}] if self._wanted else [{}]:
                refusal = await self._refusal(way | settings)
                if not refusal:
                    self._limit = next(iter(way), None)
                    self._settings = settings or await self._each_alone(way)
                    return self._left_out()
        raise self._unavailable(refusal)

    async def _each_alone(self, way: dict[str, int]) -> dict[str, float]:
        taken: dict[str, float] = {}
        for name, value in self._wanted.items():
            if not await self._refusal(way | taken | {name: value}):
                taken[name] = value
        return taken

    def _left_out(self) -> list[str]:
        said = [f"{name} {value:g} is refused by the endpoint and left out" for name, value in self._wanted.items()]
        told = [text for name, text in zip(self._wanted, said, strict=True) if name not in self._settings]
        return told if self._limit else [*told, "the endpoint takes no limit of output tokens"]

    async def _refusal(self, parameters: dict[str, float]) -> str:
        """Return why the endpoint does not take a request with ``parameters``; empty where it does."""
        message = {"role": "user", "content": "Reply with OK."}
        patience = Patience(FIRST_WORD_S, FIRST_WORD_S, FIRST_WORD_S)
        try:
            said = await self._send({"messages": [message]} | parameters, Clock(patience, began=time.monotonic()))
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if is_reply_cut_short(error):
                return ""
            return f"HTTP {error.status_code} ({words(error)[:120]})"
        except ProviderUnavailable:
            raise
        except Exception as error:
            raise self._unavailable(str(error)) from error
        length = getattr(said.usage, "completion_tokens", 0) or 0
        is_limited = any(name.startswith("max") for name in parameters)
        return f"{length} tokens where {SHORT} were asked for" if is_limited and length > 2 * SHORT else ""

    async def _send(self, request: dict[str, Any], clock: Clock) -> Any:
        for number in range(1, MAX_TRIES + 1):
            began = time.monotonic()
            try:
                async with asyncio.timeout(clock.call_s()):
                    return await self._client.chat.completions.create(
                        model=self._model, timeout=clock.call_s() + 1.0, **request
                    )
            except openai.APIConnectionError as error:
                if isinstance(error, openai.APITimeoutError) and not _found_nobody(error):
                    raise self._too_slow(began) from error
                cause = error.__cause__ or error
                what = f"no connection ({cause}); is it up, and --base-url (OPENAI_BASE_URL) right?"
                failure, wait_s, last = self._unavailable(what), None, error
            except TimeoutError as error:
                raise self._too_slow(began) from error
            except openai.APIStatusError as error:
                if known := reason(error, with_tools="tools" in request):
                    raise known from error
                if error.status_code not in OUTAGES and error.status_code < 500:
                    raise
                remedy = REMEDIES.get(error.status_code)
                what = f"HTTP {error.status_code} ({words(error)[:120]})" + (f"; {remedy}" if remedy else "")
                failure, last = self._unavailable(what, error.status_code), error
                if error.status_code != 429 and error.status_code < 500:
                    raise failure from error
                wait_s = retry_after_s(error.response.headers)
            if wait_s is not None and wait_s >= clock.left_s():
                left = f"it asks to wait {wait_s:.0f} s, and this message has {max(0.0, clock.left_s()):.0f} s left"
                raise ProviderUnavailable(f"{failure}; {left}", status=failure.status) from last
            if wait_s is None:
                wait_s = PAUSES_S[number - 1] if number <= len(PAUSES_S) else None
            if wait_s is None or wait_s >= clock.left_s() or number == MAX_TRIES:
                raise failure from last
            await asyncio.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def _too_slow(self, began: float) -> ModelTooSlow:
        seconds = time.monotonic() - began
        return ModelTooSlow(
            f"model {self._model!r} gave no answer within {seconds:.1f} s (--request-timeout, turn time)"
        )

    def _unavailable(self, what: str, status: int | None = None) -> ProviderUnavailable:
        address = self._client.base_url.copy_with(username=None, password=None)
        return ProviderUnavailable(f"model {self._model!r} at {address}: {what}", status=status)


def _found_nobody(error: BaseException) -> bool:
    """Return whether a time-out passed while connecting. By name: the client brings a transport of its own."""
    return type(error.__cause__).__name__ in ("ConnectTimeout", "PoolTimeout")
