"""The text alone gives every input back: what counts, in its unit, after corrections, sources and changes."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from evaluators.contract import DIFFICULTIES, Difficulty
from evaluators.professional.dataset import TEMPLATES
from evaluators.professional.sheet import Unit
from evaluators.professional.telling import tell
from tests.evaluators.professional.reader import read

DRAWS = 40


def stored(cell: str | int | float, unit: Unit) -> Decimal | str:
    return str(cell) if unit == "text" or isinstance(cell, str) else Decimal(str(cell))


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_the_text_alone_gives_every_input_back(name: str, difficulty: Difficulty) -> None:
    for draw in range(DRAWS):
        rng = random.Random(f"{name} {difficulty} {draw}")
        sheet = TEMPLATES[name].draw(rng).sheet
        text = tell(rng, sheet, difficulty)
        facts, tables = read(text, sheet)
        assert facts == [stored(fact.value, fact.unit) for fact in sheet.facts], text
        for found, given in zip(tables, sheet.exhibits, strict=True):
            units = [heading.unit for heading in given.headings]
            rows = [[stored(cell, unit) for cell, unit in zip(row, units, strict=True)] for row in given.rows]
            assert [[*map(plain, row)] for row in found] == [[*map(plain, row)] for row in sorted(rows, key=order)], (
                text
            )


def plain(cell: Decimal | str) -> str:
    return cell if isinstance(cell, str) else f"{cell.normalize():f}"


def order(row: list[Decimal | str]) -> list[str]:
    return [plain(cell) for cell in row]
