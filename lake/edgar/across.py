"""One figure of every company, as known on a date: the SEC's frames, with the days of filing that those lack."""

from __future__ import annotations

from datetime import date

from lake import fundamentals
from lake.edgar import figures
from lake.fundamentals import Version
from lake.layers import Layered
from lake.point_in_time import Source
from lake.records import Facts
from lake.simulated_filers.source import GeneratedFacts
from lake.tables import Table


def figure(
    source: Source[Facts],
    item: str,
    *,
    fiscal_year: int,
    fiscal_period: str,
    as_of: date,
    version: Version = "latest",
) -> dict[str, Facts]:
    """Return by ticker the one row of a line item or tag and period, of all companies that had filed it.

    Of a table on disk only the rows of this tag and year are read, whatever the number of companies.
    """
    found = {}
    for ticker, facts in _facts(source, item, fiscal_year, as_of).items():
        try:
            rows = figures.select(facts, item, fiscal_year=fiscal_year, fiscal_period=fiscal_period, version=version)
        except ValueError:
            # a tag that this company does not use
            continue
        if len(rows):
            found[ticker] = rows
    return found


def _facts(source: Source[Facts], item: str, fiscal_year: int, as_of: date) -> dict[str, Facts]:
    if isinstance(source, Layered):
        found: dict[str, Facts] = {}
        served: set[str] = set()
        for layer in source.sources:
            # a company is served by the first source that knew anything of it, as everywhere
            rows = _facts(layer, item, fiscal_year, as_of)
            found |= {ticker: facts for ticker, facts in rows.items() if ticker not in served}
            served.update(layer.keys(as_of=as_of))
        return found
    if isinstance(source, Table):
        condition = "list_contains(?, concept) AND fiscal_year = ?"
        return source.across(condition, [list(_tags(item)), fiscal_year], as_of=as_of)
    if isinstance(source, GeneratedFacts):
        return source.across(_tags(item), fiscal_year, as_of=as_of)
    return {ticker: source.known(ticker, as_of=as_of) for ticker in source.keys(as_of=as_of)}


def _tags(item: str) -> tuple[str, ...]:
    try:
        return fundamentals.concepts_of(item)
    except ValueError:
        return (item,)
