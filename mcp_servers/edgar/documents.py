"""The texts of filings: their sections, parts of them, and a search, as public on the simulation date."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lake.records import Sections
from lake.sample import Lake
from mcp_servers import caller

Ticker = Annotated[str, Field(description="Ticker symbol, for example AAPL")]
Accession = Annotated[
    str | None, Field(description="Accession number, for example 0000320193-23-000106; default: the latest of `form`")
]
Form = Annotated[Literal["10-K", "10-Q", "8-K"], Field(description="Form, where no accession is given")]
AROUND = 200
"""Characters of an excerpt before and behind what was found."""
MAX_CHARACTERS = 40_000
LISTED = 5
ORDER = "known_on, accession, number"


class FilingText(BaseModel):
    """One filing and the columns of its sections; one entry a section."""

    ticker: str
    as_of: dt.date
    form: str
    accession: str
    filed: dt.date = Field(description="Day on which it became public")
    section: list[str] = Field(
        description="1A of a 10-K; I-2 (part, item) of a 10-Q; 2.02 of an 8-K; EX-99.1 of an exhibit; empty: the cover"
    )
    title: list[str]
    characters: list[int]


class SectionText(BaseModel):
    """A part of the text of one section."""

    ticker: str
    as_of: dt.date
    form: str
    accession: str
    filed: dt.date = Field(description="Day on which it became public")
    section: str
    title: str
    start: int = Field(description="Where the text begins within the section, characters")
    text: str
    characters: int = Field(description="Of the whole section")
    next_start: int | None = Field(description="Where to go on; null at the end of the section")


class Found(BaseModel):
    """Columns; one entry a section that holds the words, the latest filing first."""

    as_of: dt.date
    query: str
    ticker: list[str]
    form: list[str]
    accession: list[str]
    filed: list[dt.date] = Field(description="Day on which it became public")
    section: list[str]
    occurrences: list[int]
    position: list[int] = Field(description="Of the first occurrence within the section, characters")
    excerpt: list[str]


def texts_of(lake: Lake, ticker: str) -> frozenset[str]:
    """Return the accession numbers of the filings whose text is here and was public on the simulation date."""
    return frozenset(lake.sections.distinct("accession", key=ticker, as_of=caller.as_of()))


class DocumentTools:
    """The tools, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def _filing(self, ticker: str, accession: str | None, form: str) -> Sections:
        """Return the sections of one filing.

        Raises
        ------
        ValueError
            It is not here, or was not public yet: the message is the same.
        """
        today, texts = caller.as_of(), self._lake.sections
        if accession is None:
            of_form = texts.distinct("accession", "form = ?", [form], key=ticker, as_of=today)
            accession = of_form[-1] if of_form else ""
        rows = texts.select("accession = ?", [accession], key=ticker, as_of=today, order=ORDER)
        if not len(rows):
            there = texts.distinct("accession", key=ticker, as_of=today)[-LISTED:][::-1]
            known = f"the latest here: {', '.join(there)}" if there else texts.unknown(ticker, today)
            raise ValueError(f"no text of {ticker} {accession or form} was public on {today}; {known}")
        return rows

    def get_filing(self, ticker: Ticker, accession: Accession = None, form: Form = "10-K") -> FilingText:
        """Return one filing with the list of its sections; get_filing_section gives their text.

        For example `{"ticker": "AAPL", "form": "10-K"}`.
        """
        rows = self._filing(ticker.upper(), accession, form)
        return FilingText(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            form=rows.form[0],
            accession=rows.accession[0],
            filed=rows.known_on[0],
            section=list(rows.section),
            title=list(rows.title),
            characters=[len(text) for text in rows.text],
        )

    def get_filing_section(
        self,
        ticker: Ticker,
        section: Annotated[
            str,
            Field(
                description="As get_filing names it: 1A, 7, 7A, 8 of a 10-K; I-2 of a 10-Q; 2.02 or EX-99.1 of an 8-K"
            ),
        ],
        accession: Accession = None,
        form: Form = "10-K",
        start: Annotated[int, Field(description="First character; next_start of the part before", ge=0)] = 0,
        length: Annotated[int, Field(description="Number of characters", ge=1, le=MAX_CHARACTERS)] = 12_000,
    ) -> SectionText:
        """Return a part of the text of one section; `next_start` says where to go on.

        For example `{"ticker": "AAPL", "section": "7", "form": "10-K"}`.
        """
        rows = self._filing(ticker.upper(), accession, form)
        wanted = section.strip().upper().removeprefix("ITEM").strip()
        # part and item of a quarterly report; the part may be left out where one of its items has that number
        numbers = [row for row, name in enumerate(rows.section) if wanted == name.upper()] or [
            row for row, name in enumerate(rows.section) if wanted == name.upper().partition("-")[2]
        ]
        if len(numbers) != 1:
            which = "stands in two parts" if numbers else "is not"
            there = ", ".join(name for name in rows.section if name)
            raise ValueError(f"section {section!r} {which} in {rows.form[0]} {rows.accession[0]}; it has {there}")
        row = numbers[0]
        text = rows.text[row]
        if start >= len(text):
            raise ValueError(
                f"start={start} is behind the end of section {rows.section[row]}, of {len(text)} characters"
            )
        end = start + length
        return SectionText(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            form=rows.form[row],
            accession=rows.accession[row],
            filed=rows.known_on[row],
            section=rows.section[row],
            title=rows.title[row],
            start=start,
            text=text[start:end],
            characters=len(text),
            next_start=end if end < len(text) else None,
        )

    def search_filings(
        self,
        query: Annotated[str, Field(description="Words that stand in this order, in any case; 3 to 200 characters")],
        ticker: Annotated[
            str | None, Field(description="Only this company; default: all that were pulled, without simulated filers")
        ] = None,
        form: Annotated[Literal["10-K", "10-Q", "8-K", "all"], Field(description="Form type")] = "all",
        limit: Annotated[int, Field(description="Number of sections", ge=1, le=50)] = 10,
    ) -> Found:
        """Search the texts of filings and return the sections that hold the words, the latest filing first.

        Positions are in characters. For example `{"query": "supply constraints", "ticker": "AAPL"}`.
        """
        words = " ".join(query.split())
        if not 3 <= len(words) <= 200:
            raise ValueError(f"query must have 3 to 200 characters, got {len(words)}")
        key = ticker.upper() if ticker else None
        condition = "contains(lower(text), lower(?)) AND (? = 'all' OR form = ? OR form = ? || '/A')"
        found = self._lake.sections.select(
            condition, [words, form, form, form], key=key, as_of=caller.as_of(), order=ORDER, last=limit
        )
        rows = range(len(found) - 1, -1, -1)
        texts = [found.text[row] for row in rows]
        places = [text.lower().find(words.lower()) for text in texts]
        return Found(
            as_of=caller.as_of(),
            query=words,
            ticker=[found.ticker[row] for row in rows],
            form=[found.form[row] for row in rows],
            accession=[found.accession[row] for row in rows],
            filed=[found.known_on[row] for row in rows],
            section=[found.section[row] for row in rows],
            occurrences=[text.lower().count(words.lower()) for text in texts],
            position=places,
            excerpt=[
                text[max(0, place - AROUND) : place + len(words) + AROUND]
                for text, place in zip(texts, places, strict=True)
            ],
        )
