"""The way to a judge: an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from evaluators.contract import JudgeUnavailable
from evaluators.judge.settings import JudgeSettings

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion


class Ask(Protocol):
    """System text and user text in, the model's text out."""

    @property
    def temperature_refused(self) -> bool:
        """Whether the endpoint refuses a temperature, so that the judge is asked without."""
        ...

    @property
    def cost_usd(self) -> float:
        """What was paid so far in US dollars; NaN where a call had no known price."""
        ...

    def __call__(self, system: str, user: str) -> str:
        """Ask once; raise :class:`JudgeUnavailable` where the endpoint does not answer."""
        ...


def _key(settings: JudgeSettings) -> str:
    key = os.environ.get(settings.api_key_env, "")
    if key:
        return key
    if settings.base_url is None:
        raise JudgeUnavailable(f"the judge {settings.model} needs its key in the environment as {settings.api_key_env}")
    return "none"


@contextlib.contextmanager
def connected(settings: JudgeSettings | None) -> Iterator[Ask]:
    """Yield a function that asks the judge once.

    Raises
    ------
    JudgeUnavailable
        No judge is configured or its key is missing; from the function: the endpoint does not answer.
    """
    if settings is None:
        raise JudgeUnavailable(
            "no judge is configured; add `judge: {model: ..., base_url: ...}` to the config and run again"
        )
    key = _key(settings)
    import openai

    with openai.OpenAI(api_key=key, base_url=settings.base_url, timeout=settings.timeout_s, max_retries=0) as client:
        yield _Judge(client, settings)


class _Judge:
    def __init__(self, client: OpenAI, settings: JudgeSettings) -> None:
        self._client, self._settings = client, settings
        self.temperature_refused = False
        self.cost_usd = 0.0
        self._counting = threading.Lock()

    def __call__(self, system: str, user: str) -> str:
        import openai

        judge, purse = self._settings, self._settings.purse
        if purse is not None:
            purse.open()
        try:
            answer = self._complete(system, user)
        except openai.AuthenticationError as error:
            raise JudgeUnavailable(f"the judge {judge.model} refuses the key in {judge.api_key_env}") from error
        except openai.OpenAIError as error:
            said = f"{type(error).__name__}: {str(error)[:160]}"
            raise JudgeUnavailable(f"the judge {judge.model} does not answer: {said}") from error
        if purse is not None:
            told = answer.usage
            used = None if told is None else (told.prompt_tokens, told.completion_tokens)
            paid = purse.pay(judge.model, used)
            with self._counting:
                self.cost_usd += paid
        return (answer.choices[0].message.content or "") if answer.choices else ""

    def _complete(self, system: str, user: str) -> ChatCompletion:
        """Ask with the temperature of the settings, and without one where the endpoint refuses it."""
        import openai

        with_temperature = not self.temperature_refused
        try:
            return self._client.chat.completions.create(
                model=self._settings.model,
                temperature=self._settings.temperature if with_temperature else openai.omit,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not with_temperature or "temperature" not in str(error).lower():
                raise
            self.temperature_refused = True
            return self._complete(system, user)
