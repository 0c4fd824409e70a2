"""The public file format: one JSON object a line, ``messages`` in and ``choices`` out, plain or gzipped."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evaluators.answers import Refusal, parse_date
from evaluators.answers.expected import Expected, ExpectedOrder, ExpectedToken
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import Language
from evaluators.bizfinbench.public_answers import ExpectedDocument, ExpectedSet, ExpectedText, PublicNumber

TASK_TYPES: dict[str, tuple[str, ...]] = {
    "event_logic_reasoning": ("event_logic_reasoning",),
    "financial_quantitative_computation": ("financial_quantitative_computation", "financial_numerical_computation"),
    "counterfactual_inference": ("counterfactual", "conterfactual"),
    "anomaly_information_tracing": ("anomaly_information_tracing",),
    "financial_data_description": ("financial_data_description",),
}
"""Task type -> how its files are named. Types that need a judge, a dialogue or a forecast are not read."""

SETS = ("anomaly_information_tracing", "financial_data_description")
_LANGUAGE = re.compile(r"(?:^|[._/-])(en|cn|zh)(?=[._/-]|$)")


class PublicItem(NamedTuple):
    """An item of a file: ``name`` is stable for the file's content."""

    name: str
    task_type: str
    language: Language
    item: Item


def files(path: str) -> list[Path]:
    """Return the data files at ``path``, a file or a folder, in a fixed order."""
    root = Path(path).expanduser()
    if root.is_file():
        return [root]
    found = sorted(entry for entry in root.rglob("*") if re.search(r"\.jsonl(?:\.gz)?$", entry.name))
    if not found:
        raise ValueError(f"path: no .jsonl or .jsonl.gz file at {path!r}")
    return found


def task_type_of(file: Path) -> str | None:
    """Return the task type that a file's name tells, or None."""
    name = file.name.lower()
    return next((kind for kind, names in TASK_TYPES.items() if any(part in name for part in names)), None)


def content_hash(path: str) -> str:
    """Return the sha256 over the names and contents of the files."""
    digest = hashlib.sha256()
    for file in files(path):
        digest.update(f"{file.name}\n{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def read(path: str, *, task_types: tuple[str, ...], languages: tuple[Language, ...]) -> list[PublicItem]:
    """Return the items of the given types and languages.

    Raises
    ------
    ValueError
        No file there; no file of a type that can be scored; a line that is not in the format, named by file and line.
    """
    known = [(file, kind) for file in files(path) if (kind := task_type_of(file)) is not None]
    if not known:
        raise ValueError(
            f"path: the names of the files at {path!r} tell none of the task types {', '.join(TASK_TYPES)}"
        )
    return [
        entry
        for file, kind in known
        if kind in task_types
        for entry in _read_file(file, kind)
        if entry.language in languages
    ]


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _read_file(file: Path, task_type: str) -> Iterator[PublicItem]:
    for number, line in _lines(file):
        try:
            prompt, gold = _record(json.loads(line))
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ValueError(f"{file.name}:{number}: not in the messages/choices format: {error}") from error
        expected = expected_answer(gold, task_type)
        chance = 100.0 / math.factorial(len(expected.gold)) if isinstance(expected, ExpectedOrder) else 0.0
        digest = hashlib.sha256(line.strip().encode()).hexdigest()[:10]
        item = Item(digest, prompt, expected, chance)
        yield PublicItem(f"{task_type}-{digest}-{number:05d}", task_type, _language(file, prompt), item)


def _text(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return content[0]["text"]


def _record(record: dict[str, Any]) -> tuple[str, Any]:
    prompts = [_text(message["content"]) for message in record["messages"] if message["role"] == "user"]
    if len(prompts) != 1 or not isinstance(prompts[0], str):
        raise ValueError(f"expected one user message of text, found {len(prompts)}")
    return prompts[0], _text(record["choices"][0]["message"]["content"])


def _language(file: Path, prompt: str) -> Language:
    named = _LANGUAGE.search(file.name.lower())
    if named:
        return "en" if named[1] == "en" else "cn"
    return "cn" if re.search(r"[\u4e00-\u9fff]", prompt) else "en"


def expected_answer(gold: Any, task_type: str) -> Expected:
    """Return what a gold value means for a task of this type."""
    if isinstance(gold, dict):
        return ExpectedDocument(gold)
    if isinstance(gold, int | float):
        return PublicNumber(float(gold), percent=False)
    text = str(gold).strip()
    if re.fullmatch(r"\[?[0-9\s,，、]*\]?", text) and (task_type in SETS or re.search(r"[,，、]", text)):
        numbers = [int(number) for number in re.findall(r"[0-9]+", text)]
        return ExpectedSet(frozenset(numbers)) if task_type in SETS else ExpectedOrder(tuple(numbers))
    if (number := re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?)\s*(%?)", text)) and not _is_date(text):
        return PublicNumber(float(number[1]), percent=bool(number[2]))
    stated = parse_date(text)
    if not isinstance(stated, Refusal) and _is_date(text):
        return ExpectedToken(stated.value, "date")
    return ExpectedText(text)


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日|(?:19|20)[0-9]{6}|[0-9]{4}-[0-9]{2}-[0-9]{2}", text))
