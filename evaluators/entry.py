"""One dataset of a run, as a config names it. Each dataset adds its own options in its folder (``options.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from evaluators.contract import Given, Json
from evaluators.records import Record, WrongRecord
from evaluators.registry import DATASETS
from lake.published.sources import folder_of
from lake.vocabulary import did_you_mean

Whole = Annotated[int, Field(strict=True)]
"""A whole number; no text, truth value or decimal fraction is read as one."""


class Entry(Record):
    """Which dataset, and how much of it is drawn; the fields that a dataset adds are its options.

    ``categories`` leaves only tasks of these, whatever the dataset; ``limit_per_task`` is then of each.
    """

    type: str
    limit: Annotated[int, Field(ge=0)] | None = None
    limit_per_task: Annotated[int, Field(ge=1)] | None = None
    categories: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, raw: Any) -> Any:
        """Leave out keys without a value: YAML writes nothing as null, and so do runs stored by former versions."""
        if not isinstance(raw, Mapping):
            return raw
        return {key: value for key, value in raw.items() if value is not None or key == "type"}

    @model_validator(mode="before")
    @classmethod
    def _where_it_was_pulled(cls, raw: Any) -> Any:
        """Read a bank that is named by its repository where ``traderbench data pull`` put it."""
        named = isinstance(raw, Mapping) and "hf_dataset" in cls.model_fields and "path" in cls.model_fields
        if not named or raw.get("path") is not None or not isinstance(raw.get("hf_dataset"), str):
            return raw
        place = folder_of(raw["hf_dataset"])
        rest = {key: value for key, value in raw.items() if key != "hf_dataset"}
        return raw if place is None else rest | {"path": place}

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in DATASETS:
            there = ", ".join(DATASETS)
            raise ValueError(f"unknown dataset {value!r}{did_you_mean(value, DATASETS)}; available: {there}")
        return value

    @classmethod
    def read(cls, given: Given) -> Self:
        """Return the record of plain data; one that is a record already is returned as it is.

        Raises
        ------
        WrongRecord
            One line that names the key, the value and what would be right.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise WrongRecord(error, cls) from error

    def options(self) -> dict[str, Json]:
        """Return the dataset's own options that were given, as plain data."""
        return self.model_dump(mode="json", exclude_none=True, exclude=set(Entry.model_fields))
