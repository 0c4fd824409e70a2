"""Fetching a company's filings, texts and figures into tables: each document once, going on where a pull ended."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from lake import company_facts, sec, whole_file
from lake.edgar import index, page_text, sections
from lake.edgar.provider import COMPANIES, Tables, tables
from lake.fundamentals import Company
from lake.point_in_time import ProviderUnavailable
from lake.records import FilingIndex, Sections
from lake.sec import SecClient

FORMS = ("10-K", "10-Q", "8-K")
RESULTS = ("2.02", "7.01", "8.01")
"""Items of an 8-K whose news stand in exhibit 99, not in the form."""
_EXHIBIT = re.compile(r"ex[-_]?(99)[-_.]?0?(\d?)", re.IGNORECASE)


@dataclass(frozen=True)
class Pulled:
    """What there is of one company after a pull.

    Attributes
    ----------
    filings, documents, figures
        Filings in the list, those whose text is here, figures.
    new_documents
        Texts that this pull brought.
    missing
        One line for each document that the SEC did not give.
    """

    ticker: str
    filings: int
    documents: int
    figures: int
    new_documents: int
    missing: tuple[str, ...]


def pull(
    folder: Path,
    client: SecClient,
    ticker: str,
    *,
    forms: Collection[str] = FORMS,
    since: date = date.min,
    until: date = date.max,
    documents: bool = True,
    accessions: Collection[str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Pulled:
    """Fetch one company: the list of its filings, its XBRL figures, and the texts of some forms.

    Parameters
    ----------
    folder
        Of the kind ``filings``, within the lake's path.
    forms
        Whose texts are fetched; ``10-K`` stands for ``10-K/A`` too.
    since, until
        First and last filing date of texts.
    documents
        Whether texts are fetched at all.
    accessions
        Those filings alone whose texts are fetched; None: all.
    progress
        Is told one line a document.

    Raises
    ------
    ValueError
        The SEC knows no such ticker.
    ProviderUnavailable
        It did not give the list or the figures. Texts that it does not give are in ``missing``.
    """
    company = sec.LiveCompanies(client).find(ticker)
    if company is None:
        raise ValueError(f"the SEC knows no ticker {ticker!r}; class shares are written with a hyphen, such as BRK-B")
    filer = client.submissions(company.cik)
    older = [client.older_submissions(page["name"]) for page in filer["filings"].get("files", ())]
    listed = index.read([filer["filings"]["recent"], *older])
    public = dict(zip(listed.accession, listed.known_on, strict=True))
    facts = company_facts.read_all(
        client.company_facts(company.cik), fiscal_year_end_month=company.fiscal_year_end_month, public=public
    )
    held = tables(folder)
    source = f"SEC EDGAR, CIK {company.cik}"
    held.filings.write(ticker, listed, source=source)
    held.facts.write(ticker, facts, source=source)
    _remember(folder, company)
    wanted = _wanted(listed, forms, since, until) if documents else []
    if accessions is not None:
        wanted = [row for row in wanted if listed.accession[row] in accessions]
    before, new, missing = _texts(held, client, company, listed, wanted, progress)
    return Pulled(ticker, len(listed), before + new, len(facts), new, tuple(missing))


def _remember(folder: Path, company: Company) -> None:
    with whole_file.one_writer(folder):
        path = folder / COMPANIES
        known: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
        known[company.ticker] = asdict(company)
        whole_file.replace(path, json.dumps(dict(sorted(known.items())), indent=1).encode())


def _wanted(listed: FilingIndex, forms: Collection[str], since: date, until: date) -> list[int]:
    return [
        row
        for row, form in enumerate(listed.form)
        if form.removesuffix("/A") in forms and since <= listed.known_on[row] <= until and listed.document[row]
    ]


def _texts(
    held: Tables,
    client: SecClient,
    company: Company,
    listed: FilingIndex,
    wanted: Iterable[int],
    progress: Callable[[str], None],
) -> tuple[int, int, list[str]]:
    """Fetch the texts that are not here; return how many were here, how many came, and what did not."""
    entry = held.sections.entries().get(company.ticker)
    here: set[str] = set(entry["accessions"]) if entry else set()
    rows: list[tuple[Any, ...]] = []
    came, missing = [], []
    for row in wanted:
        accession, form = listed.accession[row], listed.form[row]
        if accession in here:
            continue
        try:
            rows += _rows(client, company, listed, row)
        except ProviderUnavailable as error:
            missing.append(f"{company.ticker} {form} {accession}: {error}")
            continue
        came.append(accession)
        progress(f"{company.ticker}: {form} of {listed.known_on[row]}")
    if came:
        source = f"SEC EDGAR, CIK {company.cik}"
        held.sections.add(company.ticker, Sections.of(rows), source=source, accessions=sorted({*here, *came}))
    return len(here), len(came), missing


def _rows(client: SecClient, company: Company, listed: FilingIndex, row: int) -> list[tuple[Any, ...]]:
    accession, form, known = listed.accession[row], listed.form[row], listed.known_on[row]
    lines = page_text.lines(client.document(company.cik, accession, listed.document[row]))
    parts = sections.split(lines, form)
    if form.startswith("8-K") and set(listed.items[row].split(",")) & set(RESULTS):
        parts += _exhibits(client, company, accession)
    about = (known, company.ticker, accession, form)
    return [(*about, number, part.name, part.title, part.text) for number, part in enumerate(parts)]


def _exhibits(client: SecClient, company: Company, accession: str) -> list[sections.Section]:
    found = []
    files: Iterable[Mapping[str, Any]] = client.files_of(company.cik, accession)["directory"]["item"]
    for name in sorted(str(file["name"]) for file in files):
        exhibit = _EXHIBIT.search(name)
        if exhibit is None or not name.lower().endswith((".htm", ".html", ".txt")):
            continue
        lines = page_text.lines(client.document(company.cik, accession, name))
        found.append(sections.Section(f"EX-99.{exhibit[2] or 1}", lines[0][:200] if lines else name, "\n".join(lines)))
    return found
