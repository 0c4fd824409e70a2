"""The way to a judge: an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TypeAlias

from evaluators.judge.settings import JudgeSettings

Ask: TypeAlias = Callable[[str, str], str]
"""System text and user text in, the model's text out."""


class JudgeUnavailable(RuntimeError):
    """No verdict can be had. A failure of the harness: the task stays unscored, it never counts 0."""


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
    judge, key = settings, _key(settings)
    import openai

    with openai.OpenAI(api_key=key, base_url=judge.base_url, timeout=judge.timeout_s, max_retries=0) as client:

        def ask(system: str, user: str) -> str:
            try:
                answer = client.chat.completions.create(
                    model=judge.model,
                    temperature=judge.temperature,
                    messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                )
            except openai.AuthenticationError as error:
                raise JudgeUnavailable(f"the judge {judge.model} refuses the key in {judge.api_key_env}") from error
            except openai.OpenAIError as error:
                said = f"{type(error).__name__}: {str(error)[:160]}"
                raise JudgeUnavailable(f"the judge {judge.model} does not answer: {said}") from error
            return (answer.choices[0].message.content or "") if answer.choices else ""

        yield ask
