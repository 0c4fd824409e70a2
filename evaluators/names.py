"""Names for whoever a case is about; none of them is anybody."""

from __future__ import annotations

import random

_FIRST = (
    "Alder", "Birchwood", "Calloway", "Dunmore", "Eastgate", "Fairlight", "Granby", "Harrow", "Ivory", "Juniper",
    "Kestrel", "Langdale", "Meridian", "Northcote", "Orchard", "Pemberton", "Quarry", "Redfern", "Saltash", "Thornbury",
    "Umber", "Verity", "Westmere", "Yarrow",
)  # fmt: skip
_LAST = ("Components", "Foods", "Freight", "Instruments", "Labs", "Marine", "Materials", "Media", "Networks", "Optics",
         "Packaging", "Pharma", "Power", "Retail", "Software", "Textiles")  # fmt: skip
_PEOPLE = (
    "Amara", "Bastien", "Carmen", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Kavita", "Luca",
    "Mei", "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Sven", "Tariq", "Uma", "Viktor", "Wanda", "Yusuf",
)  # fmt: skip
_STYLES = ("carry", "gap-fade", "pairs", "breakout", "month-end", "post-earnings-drift", "reversal", "value",
           "momentum", "calendar-spread", "late-session", "seasonality")  # fmt: skip


def company(rng: random.Random) -> str:
    """Return an invented company."""
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def companies(rng: random.Random, count: int) -> list[str]:
    """Return invented companies that differ in their first word."""
    return [f"{first} {rng.choice(_LAST)}" for first in rng.sample(_FIRST, count)]


def people(rng: random.Random, count: int) -> list[str]:
    """Return different first names."""
    return rng.sample(_PEOPLE, count)


def strategy(rng: random.Random) -> str:
    """Return a kind of strategy."""
    return rng.choice(_STYLES)
