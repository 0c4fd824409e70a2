"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from evaluators.entry import Entry, Whole


class Options(Entry):
    """Where the markets come from, what is done to them, and how they are traded; see ``settings.Settings``.

    ``hf_dataset`` says where the candles at ``path`` come from; it is not fetched, and nothing without ``path``.
    ``severity`` is for those of ``transforms`` that state none.
    """

    type: Literal["crypto"] = "crypto"
    path: str | None = None
    hf_dataset: str | None = None
    transforms: Annotated[tuple[str | dict[str, Any], ...], Field(min_length=1)] | None = None
    severity: Annotated[float, Field(ge=0)] | None = None
    windows: Annotated[Whole, Field(ge=2, le=4096)] | None = None
    bars: Annotated[Whole, Field(ge=2, le=100_000)] | None = None
    decision_every: Annotated[Whole, Field(ge=1, le=1440)] | None = None
    mode: Literal["interactive", "strategy"] | None = None
    batch: Annotated[Whole, Field(ge=1, le=8192)] | None = None

    @model_validator(mode="after")
    def _is_not_fetched(self) -> Options:
        if self.hf_dataset is not None and self.path is None:
            raise ValueError(
                f"hf_dataset: {self.hf_dataset!r} is not fetched by this dataset; download its candle files and give "
                "their folder as path, or leave both out for simulated markets"
            )
        return self

    @field_validator("transforms")
    @classmethod
    def _are_named(cls, value: tuple[str | dict[str, Any], ...] | None) -> tuple[str | dict[str, Any], ...] | None:
        for item in value or ():
            if isinstance(item, dict) and not isinstance(item.get("name"), str):
                raise ValueError(f"a transform is a name or {{name, severity, ...}}, got {item!r}")
        return value
