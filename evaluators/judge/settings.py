"""Which model judges, as the run's config says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from evaluators.contract import Json

PROMPT_VERSION = "1"
"""Counts up with every change of the prompt or of the rules on verdicts: a verdict depends on them."""


@dataclass(frozen=True)
class JudgeSettings:
    """A model at an OpenAI-compatible endpoint.

    Attributes
    ----------
    base_url
        None for the provider's own address.
    api_key_env
        Name of the environment variable that holds the key; the key itself is in no config and no record.
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
    """

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float = 0.0
    timeout_s: float = 60.0
    attempts: int = 3
    concurrency: int = 4
    panel: tuple[JudgeSettings, ...] = ()
    max_calls_per_task: int | None = None

    def identity(self) -> dict[str, Json]:
        """Return what a verdict depends on: not the address, not the patience."""
        alone: dict[str, Json] = {"model": self.model, "temperature": self.temperature, "prompt": PROMPT_VERSION}
        return alone | {"panel": [member.identity() for member in self.panel]} if self.panel else alone


def read_settings(given: Mapping[str, Json]) -> JudgeSettings:
    """Return the judge that a run's config describes.

    Raises
    ------
    ValueError
        It is not a mapping of the fields of :class:`JudgeSettings`.
    """
    allowed = tuple(asdict(JudgeSettings(model="")))
    if not given.get("model"):
        raise ValueError(f"judge must be a mapping with the key model, got {given!r}")
    unknown = [key for key in given if key not in allowed]
    if unknown:
        raise ValueError(f"judge: unknown key {unknown[0]!r}; allowed: {', '.join(allowed)}")
    members = given.get("panel") or ()
    patience = {key: given[key] for key in ("timeout_s", "attempts", "concurrency") if key in given}
    panel = tuple(read_settings(patience | dict(member)) for member in members)
    return JudgeSettings(**dict(given) | {"panel": panel})
