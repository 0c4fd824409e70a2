"""The records that YAML becomes, and what is told of a wrong one in one line: field, value, what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from lake.vocabulary import nearest

Place = tuple[int | str, ...]


class Record(BaseModel):
    """Base of every record of a config: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class WrongRecord(ValueError):
    """A value that is no record of ``model``; within another record's error it is told with its full place."""

    def __init__(self, error: ValidationError, model: type[BaseModel]) -> None:
        super().__init__(explain(error, model))
        self.error, self.model = error, model


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return every fault of a config in one line: field, value and what would be right.

    A key that is missing because it was misspelt is one fault, not two.
    """
    return "; ".join(_lines(error, model, ()))


def _lines(error: ValidationError, model: type[BaseModel], parents: Place) -> Iterator[str]:
    items = error.errors()
    meant = {
        (*item["loc"][:-1], name)
        for item in items
        if item["type"] == "extra_forbidden" and (name := _meant(item["loc"], model))
    }
    told = [item for item in items if item["type"] != "missing" or tuple(item["loc"]) not in meant]
    # a list whose only item is wrong counts as too short besides
    told = [item for item in told if item["type"] != "too_short" or not item["input"]]
    for item in told:
        inner = item.get("ctx", {}).get("error")
        if isinstance(inner, WrongRecord):
            yield from _lines(inner.error, inner.model, (*parents, *item["loc"]))
        else:
            yield _line(item, model, parents)


def _line(item: Any, model: type[BaseModel], parents: Place) -> str:
    """Turn one pydantic error into field, value and what would be right."""
    place = (*parents, *item["loc"])
    location = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    if item["type"] == "extra_forbidden":
        name = _meant(item["loc"], model)
        known = f" (did you mean {name!r}?)" if name else f"; known: {', '.join(_fields_at(item['loc'][:-1], model))}"
        return f"{location}: unknown key{known}"
    if item["type"] == "missing":
        return f"{location}: this key is required"
    if item["type"] == "too_short":
        return f"{location}: at least one is needed, got none"
    message = item["msg"].removeprefix("Value error, ")
    if item["type"] == "value_error":
        return f"{location}: {message}" if location else message
    shown = repr(item["input"])
    return f"{location}: {message} (got {shown if len(shown) <= 80 else shown[:77] + '...'})"


def _meant(location: Place, model: type[BaseModel]) -> str | None:
    """Return the key that an unknown one is most like, if it is like any."""
    return nearest(str(location[-1]), _fields_at(location[:-1], model))


def _fields_at(parents: Place, model: type[BaseModel]) -> list[str]:
    """Return the keys that exist where an unknown one was found."""
    for part in parents:
        if part in model.model_fields:
            model = _record_in(model.model_fields[str(part)].annotation) or model
    return list(model.model_fields)


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Return the record that a field holds, alone, optional or as the items of a sequence."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((record for inner in get_args(annotation) if (record := _record_in(inner))), None)
