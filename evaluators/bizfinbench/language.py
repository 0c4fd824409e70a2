"""The languages of own items, and the names that stand in them."""

from __future__ import annotations

import random
from typing import Literal, TypeAlias

from evaluators.exhibit import Rows, piped, show

Language: TypeAlias = Literal["en", "cn"]
LANGUAGES: tuple[Language, ...] = ("en", "cn")

COMPANIES: dict[Language, tuple[str, ...]] = {
    "en": ("Aldermoor", "Brightwater", "Corvane", "Delphane", "Estermont", "Fenwick Works", "Galloway", "Harrowgate"),
    "cn": ("晨曜科技", "远帆股份", "青岚实业", "启衡集团", "云栖制造", "瑞禾控股", "博澜工业", "星陆电子"),
}
BANKS: dict[Language, tuple[str, ...]] = {
    "en": ("Kestrel Bank", "Union Harbour Bank", "Meridian Trust", "Northgate Bank"),
    "cn": ("华澜银行", "东辰银行", "中泽证券", "海岳银行"),
}


def table(rng: random.Random, columns: list[str], rows: Rows, language: Language, *, plain: bool) -> str:
    """Return rows of written cells: as Markdown where ``plain`` or Chinese, otherwise in a form drawn at random."""
    return piped(columns, rows) if plain or language == "cn" else show(rng, columns, rows)


def numbered(lines: list[str]) -> str:
    """Return lines with their numbers, from 1."""
    return "\n".join(f"{place}. {line}" for place, line in enumerate(lines, start=1))
