"""What a request chooses of the datasets, and the checks of single values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.config import dataset_entry
from evaluators.records import WrongRecord
from lake.vocabulary import did_you_mean

OPERATORS = ("path", "hf_dataset")
"""Keys of a dataset entry that name files or addresses: a request, which comes from elsewhere, chooses none."""


class BadRequest(ValueError):
    """The request cannot be carried out; the message says what is wrong and what would be right."""


def choose_datasets(config: dict[str, Any], given: dict[str, Any]) -> None:
    """Keep the datasets asked for, with their limits and options.

    ``datasets`` is a list of names, or of entries as in a config (``{"type": "crypto", "windows": 4}``), whose keys
    replace those of the variant. ``NAME_limit`` is another way to write the limit of a dataset.
    """
    entries: list[dict[str, Any]] = config["datasets"]
    kept = list(range(len(entries)))
    if "datasets" in given:
        wanted = given.pop("datasets")
        if not isinstance(wanted, list) or not wanted:
            raise BadRequest(f"datasets must be a list of names or of entries with a type, got {wanted!r}")
        kept = []
        for place, item in enumerate(wanted):
            kept += _chosen(entries, item, f"datasets[{place}]", kept)
    config["datasets"] = [entries[row] for row in sorted(kept)]
    for name in sorted({entry["type"] for entry in config["datasets"]}):
        if f"{name}_limit" in given:
            limit = whole(given.pop(f"{name}_limit"), f"{name}_limit", low=0)
            entries[_only(entries, name, f"{name}_limit")]["limit"] = limit


def _chosen(entries: list[dict[str, Any]], item: Any, field: str, taken: Sequence[int]) -> list[int]:
    """Return the rows of the variant that one item of the request means, changed as it says."""
    entry = {"type": item} if isinstance(item, str) else item
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise BadRequest(
            f'{field} must be a name or an entry such as {{"type": "synthetic", "limit": 3}}, got {item!r}'
        )
    name = entry["type"]
    rows = [row for row, known in enumerate(entries) if known["type"] == name]
    if not rows:
        known = list(dict.fromkeys(entry["type"] for entry in entries))
        raise BadRequest(f"{field}: unknown {name!r}{did_you_mean(name, known)}; this variant has {', '.join(known)}")
    if rows[0] in taken:
        raise BadRequest(f"{field}: {name!r} is named twice; give it one entry")
    if len(entry) > 1:
        entries[_only(entries, name, field)].update(_checked(entry, field))
    return rows


def _only(entries: list[dict[str, Any]], name: str, field: str) -> int:
    """Return the row of a dataset that options can be given to: it has one entry in the variant."""
    rows = [row for row, known in enumerate(entries) if known["type"] == name]
    if len(rows) > 1:
        raise BadRequest(f"{field}: this variant has {len(rows)} entries of {name!r}; choose it by its name alone")
    return rows[0]


def _checked(entry: dict[str, Any], field: str) -> dict[str, Any]:
    """Return an entry's keys after the checks that a config's entry passes."""
    for key in OPERATORS:
        if key in entry:
            raise BadRequest(
                f"{field}.{key} cannot be chosen by a request, got {entry[key]!r}; the operator's config can"
            )
    if ".py:" in json.dumps(entry.get("transforms")):
        raise BadRequest(
            f"{field}.transforms: a request names registered transforms, a file is for the operator's config, got "
            f"{entry['transforms']!r}"
        )
    try:
        dataset_entry(entry)
    except WrongRecord as error:
        raise BadRequest(f"{field}.{error}") from error
    return entry


def whole(value: Any, key: str, *, low: int) -> int:
    """Return a whole number from ``low``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise BadRequest(f"{key} must be a whole number from {low}, got {value!r}")
    return value


def choice(value: Any, key: str, allowed: Sequence[str]) -> str:
    """Return one of the allowed words."""
    if value not in allowed:
        raise BadRequest(f"{key} must be one of {', '.join(allowed)}, got {value!r}")
    return str(value)
