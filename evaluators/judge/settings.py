"""Which model judges, as the run's config says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from evaluators.contract import Json
from evaluators.judge.purse import Payer
from evaluators.records import Record, WrongRecord

PROMPT_VERSION = "1"
"""Counts up with every change of the prompt or of the rules on verdicts: a verdict depends on them."""
SINCE_A_PANEL = ("panel", "max_calls_per_task", "budget_usd")
"""Keys that runs of former versions have not; they are the same benchmark as runs of this one without."""


class JudgeMember(Record):
    """A model at an OpenAI-compatible endpoint that answers single rubric criteria.

    Attributes
    ----------
    base_url
        None for the provider's own address.
    api_key_env
        Name of the environment variable that holds the key; the key itself is in no config and no record.
    """

    model: Annotated[str, Field(min_length=1)]
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0)] = 0.0


class JudgeSettings(JudgeMember):
    """The judge of datasets that cannot be scored by code alone, or the first of a panel of them.

    Attributes
    ----------
    timeout_s
        Of one call.
    attempts
        Calls for one criterion before it stays unscored.
    concurrency
        Calls at a time for one reply.
    panel
        Further judges of the same criteria (:mod:`evaluators.judge.panel`).
    max_calls_per_task
        Verdicts that one task may need, of all judges; one that needs more stays unjudged. None: any number.
    budget_usd
        What all calls of the run may cost; once it is spent, what is left stays unjudged. None: any amount.
    """

    timeout_s: Annotated[float, Field(gt=0)] = 60.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    panel: tuple[JudgeMember, ...] = ()
    max_calls_per_task: Annotated[int, Field(ge=1)] | None = None
    budget_usd: Annotated[float, Field(gt=0)] | None = None
    _purse: Payer | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _no_judge_twice(self) -> JudgeSettings:
        names = [(member.model, member.base_url) for member in (self, *self.panel)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"panel: {name[0]!r} judges twice; a panel is of different models")
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told: dict[str, Any] = write(self)
        return {name: value for name, value in told.items() if name not in SINCE_A_PANEL or value}

    @property
    def purse(self) -> Payer | None:
        """What its calls are paid from; None where nobody counts."""
        return self._purse

    def paid_from(self, purse: Payer | None) -> JudgeSettings:
        """Return the same judge, or panel, whose calls are paid from ``purse``."""
        paid = self.model_copy()
        paid._purse = purse
        return paid

    def members(self) -> tuple[JudgeSettings, ...]:
        """Return each judge of the panel alone, this one first; all have its patience and its purse."""
        alone = self.model_copy(update={"panel": ()})
        return (alone, *(alone.model_copy(update=dict(member)) for member in self.panel))

    def identity(self) -> dict[str, Json]:
        """Return what a verdict depends on: not the address, not the patience."""
        alone: dict[str, Json] = {"model": self.model, "temperature": self.temperature, "prompt": PROMPT_VERSION}
        return alone | {"panel": [member.identity() for member in self.members()[1:]]} if self.panel else alone


def read_settings(given: JudgeSettings | Mapping[str, Json]) -> JudgeSettings:
    """Return the judge that a run's config describes.

    Raises
    ------
    WrongRecord
        One line that names the key, the value and what would be right.
    """
    try:
        return JudgeSettings.model_validate(given)
    except ValidationError as error:
        raise WrongRecord(error, JudgeSettings) from error
