"""SEC EDGAR (port 8101): filings, XBRL facts and statements, as they were known on the simulation date."""

from __future__ import annotations

import calendar
from collections import Counter
from datetime import date, timedelta
from typing import Annotated, Literal, NamedTuple

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from lake import sample
from lake.edgar import across, figures, ratios
from lake.fundamentals import LINE_ITEMS, STATEMENTS, Company
from lake.point_in_time import UnknownKey
from lake.records import Facts, FilingIndex
from lake.sample import Lake
from mcp_servers import caller, toolset
from mcp_servers.edgar.documents import DocumentTools, Ticker, texts_of

FiscalPeriod = Literal["FY", "Q1", "Q2", "Q3", "Q4", "6M", "9M"]
PeriodField = Annotated[
    FiscalPeriod,
    Field(
        description="FY (annual), Q1-Q4, or 6M and 9M from the start of the year; "
        "a quarter that was not filed is derived from filed periods and has the form 'derived'"
    ),
]
Form = Literal["10-K", "10-Q", "8-K", "all"]
YearField = Annotated[
    int, Field(description="Fiscal year, named after the calendar year in which it ends", ge=1990, le=2100)
]
LISTED_COMPANIES = 10
FILING_CALENDAR_SLACK = timedelta(days=10)


class CompanyColumns(BaseModel):
    """Columns; one entry a company."""

    ticker: list[str]
    name: list[str]
    cik: list[str]
    exchange: list[str]
    sic: list[str] = Field(description="Standard Industrial Classification code")
    industry: list[str]
    fiscal_year_end_month: list[int] = Field(description="1 to 12")


class Filings(BaseModel):
    """Columns; one entry a filing, the latest first."""

    ticker: str
    as_of: date
    form: list[str]
    accession: list[str]
    filed: list[date] = Field(description="Day on which it became public")
    period_of_report: list[date | None] = Field(description="Last day of the period reported on")
    items: list[str] = Field(description="Items of an 8-K, such as 2.02,9.01")
    facts: list[int] = Field(description="Number of figures of this filing that can be queried here")
    has_text: list[bool] = Field(description="Whether get_filing serves its text")


class FactColumns(BaseModel):
    """Columns; one entry a figure, in order of filing."""

    ticker: str
    as_of: date
    concept: list[str] = Field(description="us-gaap tag as filed")
    fiscal_year: list[int]
    fiscal_period: list[str]
    period_start: list[date | None]
    period_end: list[date]
    value: list[float] = Field(description="In `unit`, never scaled")
    unit: list[str] = Field(description="USD, USD/shares or shares")
    form: list[str]
    accession: list[str]
    filed: list[date]


class Statement(BaseModel):
    """Columns; one entry a line item that was known."""

    ticker: str
    as_of: date
    statement: str
    fiscal_year: int
    fiscal_period: str
    period_end: date
    line_item: list[str]
    concept: list[str]
    value: list[float] = Field(description="In `unit`, never scaled")
    unit: list[str] = Field(description="USD, USD/shares or shares")
    accession: list[str]
    filed: list[date]
    not_reported: list[str] = Field(description="Line items without a known figure for this period")


class Ratios(BaseModel):
    """Columns; one entry a ratio whose line items were known."""

    ticker: str
    as_of: date
    fiscal_year: int
    ratio: list[str]
    value: list[float] = Field(description="Fraction")
    formula: list[str] = Field(description="In line items of the fiscal year")
    accessions: list[list[str]] = Field(description="Filings that the figures stand in")


class Comparison(BaseModel):
    """Columns; one entry a company that had filed the figure, the largest value first."""

    as_of: date
    concept: str
    fiscal_year: int
    fiscal_period: str
    companies: int = Field(description="Number of companies that had filed it")
    ticker: list[str]
    period_end: list[date]
    value: list[float] = Field(description="In `unit`, never scaled")
    unit: list[str] = Field(description="USD, USD/shares or shares")
    form: list[str]
    accession: list[str]
    filed: list[date]


class LineItems(BaseModel):
    """Columns; one entry a line item."""

    line_item: list[str]
    statement: list[str]
    concepts: list[list[str]] = Field(description="us-gaap tags, the preferred one first")


def _filers(lake: Lake) -> frozenset[str]:
    """Return the tickers of companies that had filed something by the simulation date."""
    today = caller.as_of()
    return frozenset(lake.facts.keys(as_of=today) + lake.filings.keys(as_of=today))


def _known_companies(lake: Lake, query: str) -> list[Company]:
    """Return the first companies found; there are none before their first filing."""
    filers, limit = _filers(lake), LISTED_COMPANIES
    while True:
        found = lake.companies.search(query, limit=limit)
        known = [company for company in found if company.ticker in filers]
        if len(known) >= LISTED_COMPANIES or len(found) < limit:
            return known[:LISTED_COMPANIES]
        limit *= 4


def company_of(lake: Lake, ticker: str) -> Company:
    """Return the company with this ticker; ``ValueError`` names some that there are.

    One that had filed nothing yet is not there: that it will would be news of the future.
    """
    company = lake.companies.find(ticker.upper())
    if company is None or company.ticker not in _filers(lake):
        some = ", ".join(row.ticker for row in _known_companies(lake, "")) or "none"
        raise ValueError(f"no company with ticker {ticker!r} here; available: {some}")
    return company


def period_end(company: Company, fiscal_year: int, fiscal_period: str) -> date:
    """Return the month end next to the end of a fiscal period; 52-week calendars differ by days."""
    quarters_before_end = {"FY": 0, "Q4": 0, "Q3": 1, "9M": 1, "Q2": 2, "6M": 2, "Q1": 3}[fiscal_period]
    months = fiscal_year * 12 + company.fiscal_year_end_month - 1 - 3 * quarters_before_end
    year, month = divmod(months, 12)
    return date(year, month + 1, calendar.monthrange(year, month + 1)[1])


def _require_begun_to_be_known(company: Company, fiscal_year: int, fiscal_period: str) -> None:
    """Refuse, as a look-ahead, a period that ends after the simulation date."""
    end = period_end(company, fiscal_year, fiscal_period) - FILING_CALENDAR_SLACK
    caller.require_known(end, f"{company.ticker} {fiscal_period} {fiscal_year} period end")


def _columns(ticker: str, facts: Facts) -> FactColumns:
    columns = {name: list(column) for name, column in facts.columns()}
    return FactColumns(ticker=ticker, as_of=caller.as_of(), filed=columns.pop("known_on"), **columns)


class Filing(NamedTuple):
    """A filing; ``facts`` is the number of figures that stand in it."""

    filed: date
    accession: str
    form: str
    period_of_report: date | None
    items: str
    facts: int


def _filings(facts: Facts) -> list[Filing]:
    """Return the filings that the facts stand in, the latest first."""
    ends: dict[tuple[date, str, str], list[date]] = {}
    for filed, accession, form, end in zip(facts.known_on, facts.accession, facts.form, facts.period_end, strict=True):
        ends.setdefault((filed, accession, form), []).append(end)
    return sorted((Filing(*filing, max(days), "", len(days)) for filing, days in ends.items()), reverse=True)


def _listed(index: FilingIndex, facts: Facts | None) -> list[Filing]:
    """Return the filings of the SEC's own list, the latest first."""
    held = Counter(facts.accession if facts else ())
    columns = (index.known_on, index.accession, index.form, index.period_of_report, index.items)
    rows = [Filing(*row, held[row[1]]) for row in zip(*columns, strict=True)]
    return rows[::-1]


class EdgarTools:
    """The tools, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def _known(self, company: Company) -> Facts:
        return self._lake.facts.known(company.ticker, as_of=caller.as_of())

    def search_companies(
        self,
        query: Annotated[str, Field(description="Part of a name, ticker or CIK; empty lists the first ten")] = "",
    ) -> CompanyColumns:
        """Find companies whose filings can be read here, for example `{"query": "apple"}`."""
        rows = _known_companies(self._lake, query)
        if not rows:
            some = ", ".join(row.ticker for row in _known_companies(self._lake, ""))
            raise ValueError(f"no company matches {query!r}; available: {some}")
        return CompanyColumns(**{name: [getattr(row, name) for row in rows] for name in CompanyColumns.model_fields})

    def list_line_items(self) -> LineItems:
        """List the line items that can be queried, with their us-gaap tags."""
        rows = [(item, name) for name, items in STATEMENTS.items() for item in items]
        return LineItems(
            line_item=[item for item, _ in rows],
            statement=[name for _, name in rows],
            concepts=[list(LINE_ITEMS[item]) for item, _ in rows],
        )

    def list_filings(
        self,
        ticker: Ticker,
        form: Annotated[Form, Field(description="Form type; amendments, such as 10-K/A, are listed under all")] = "all",
        limit: Annotated[int, Field(description="Number of filings", ge=1, le=200)] = 20,
    ) -> Filings:
        """List the filings of a company that were public on the simulation date, the latest first.

        For example `{"ticker": "AAPL", "form": "10-K", "limit": 5}`.
        """
        company = company_of(self._lake, ticker)
        rows = [row for row in self._filings_of(company) if form in ("all", row.form)][:limit]
        texts = texts_of(self._lake, company.ticker)
        return Filings(
            ticker=company.ticker,
            as_of=caller.as_of(),
            form=[row.form for row in rows],
            accession=[row.accession for row in rows],
            filed=[row.filed for row in rows],
            period_of_report=[row.period_of_report for row in rows],
            items=[row.items for row in rows],
            facts=[row.facts for row in rows],
            has_text=[row.accession in texts for row in rows],
        )

    def _filings_of(self, company: Company) -> list[Filing]:
        """Return the filings of the SEC's list; without one, those that the figures stand in."""
        try:
            index = self._lake.filings.known(company.ticker, as_of=caller.as_of())
        except UnknownKey:
            return _filings(self._known(company))
        try:
            return _listed(index, self._known(company))
        except UnknownKey:
            return _listed(index, None)

    def get_company_facts(
        self,
        ticker: Ticker,
        concept: Annotated[
            str, Field(description="Line item (Revenue, NetIncome, ... see list_line_items) or us-gaap tag")
        ],
        fiscal_year: YearField | None = None,
        fiscal_period: PeriodField | None = None,
        version: Annotated[
            Literal["latest", "original", "all"],
            Field(
                description="latest: last known restatement; original: as first filed; all: every filed value, "
                "without derived quarters"
            ),
        ] = "latest",
    ) -> FactColumns:
        """Return reported figures of one line item or XBRL tag, each with the filing that it stands in.

        Values are in their `unit` (USD, USD/shares or shares), never scaled. For example
        `{"ticker": "AAPL", "concept": "Revenue", "fiscal_year": 2023, "fiscal_period": "Q4"}`.
        """
        company = company_of(self._lake, ticker)
        if fiscal_year is not None:
            _require_begun_to_be_known(company, fiscal_year, fiscal_period or "Q1")
        found = figures.select(
            self._known(company), concept, fiscal_year=fiscal_year, fiscal_period=fiscal_period, version=version
        )
        if not len(found):
            period = f"{fiscal_period or 'any period of'} {fiscal_year or 'any year'}"
            more = "version 'all' tells no derived quarters, latest and original do; " if version == "all" else ""
            raise ValueError(
                f"{company.ticker} had filed no {concept} for {period} by {caller.as_of()}; {more}"
                "leave fiscal_year out to see the periods that were known"
            )
        return _columns(company.ticker, found)

    def get_financial_statement(
        self,
        ticker: Ticker,
        statement: Annotated[Literal["income", "balance", "cash_flow"], Field(description="Which statement")],
        fiscal_year: YearField,
        fiscal_period: PeriodField = "FY",
        version: Annotated[
            Literal["latest", "original"], Field(description="latest known restatement, or as first filed")
        ] = "latest",
    ) -> Statement:
        """Return the main lines of one financial statement of one period.

        Values are in their `unit` (USD, USD/shares or shares), never scaled. For example
        `{"ticker": "AAPL", "statement": "cash_flow", "fiscal_year": 2023}`.
        """
        company = company_of(self._lake, ticker)
        _require_begun_to_be_known(company, fiscal_year, fiscal_period)
        facts = self._known(company)
        chosen = {
            item: figures.select(facts, item, fiscal_year=fiscal_year, fiscal_period=fiscal_period, version=version)
            for item in STATEMENTS[statement]
        }
        found = {item: rows for item, rows in chosen.items() if len(rows)}
        if not found:
            raise ValueError(
                f"{company.ticker} had filed no {statement} figures for {fiscal_period} {fiscal_year} "
                f"by {caller.as_of()}; list_filings shows what was filed"
            )
        return Statement(
            ticker=company.ticker,
            as_of=caller.as_of(),
            statement=statement,
            fiscal_year=fiscal_year,
            fiscal_period=fiscal_period,
            period_end=next(iter(found.values())).period_end[0],
            line_item=list(found),
            concept=[rows.concept[0] for rows in found.values()],
            value=[rows.value[0] for rows in found.values()],
            unit=[rows.unit[0] for rows in found.values()],
            accession=[rows.accession[0] for rows in found.values()],
            filed=[rows.known_on[0] for rows in found.values()],
            not_reported=[item for item in chosen if item not in found],
        )

    def get_ratios(
        self,
        ticker: Ticker,
        fiscal_year: YearField,
        version: Annotated[
            Literal["latest", "original"], Field(description="latest known restatement, or as first filed")
        ] = "latest",
    ) -> Ratios:
        """Return margins, returns, liquidity and leverage of one fiscal year, computed from its filed figures.

        Values are fractions: 0.25 is 25%, or 1 to 4. For example `{"ticker": "AAPL", "fiscal_year": 2023}`.
        """
        company = company_of(self._lake, ticker)
        _require_begun_to_be_known(company, fiscal_year, "FY")
        found = ratios.compute(self._known(company), fiscal_year=fiscal_year, version=version)
        if not found:
            raise ValueError(
                f"{company.ticker} had filed no figures for FY {fiscal_year} by {caller.as_of()}; "
                "list_filings shows what was filed"
            )
        return Ratios(
            ticker=company.ticker,
            as_of=caller.as_of(),
            fiscal_year=fiscal_year,
            ratio=[row.name for row in found],
            value=[row.value for row in found],
            formula=[row.formula for row in found],
            accessions=[list(row.accessions) for row in found],
        )

    def compare_companies(
        self,
        concept: Annotated[
            str, Field(description="Line item (Revenue, NetIncome, ... see list_line_items) or us-gaap tag")
        ],
        fiscal_year: YearField,
        fiscal_period: PeriodField = "FY",
        limit: Annotated[int, Field(description="Number of companies", ge=1, le=200)] = 25,
        offset: Annotated[int, Field(description="How many of them to pass over", ge=0)] = 0,
    ) -> Comparison:
        """Return one figure of all companies that had filed it for a fiscal period, the largest first.

        Values are in their `unit` (USD, USD/shares or shares), never scaled; fiscal years end on different days. For
        example `{"concept": "Revenue", "fiscal_year": 2023}`.
        """
        found = across.figure(
            self._lake.facts, concept, fiscal_year=fiscal_year, fiscal_period=fiscal_period, as_of=caller.as_of()
        )
        if not found:
            raise ValueError(
                f"no company had filed {concept} for {fiscal_period} {fiscal_year} by {caller.as_of()}; "
                "list_line_items names the line items"
            )
        ranked = sorted(found, key=lambda ticker: (-found[ticker].value[0], ticker))[offset : offset + limit]
        rows = [found[ticker] for ticker in ranked]
        return Comparison(
            as_of=caller.as_of(),
            concept=concept,
            fiscal_year=fiscal_year,
            fiscal_period=fiscal_period,
            companies=len(found),
            ticker=ranked,
            period_end=[row.period_end[0] for row in rows],
            value=[row.value[0] for row in rows],
            unit=[row.unit[0] for row in rows],
            form=[row.form[0] for row in rows],
            accession=[row.accession[0] for row in rows],
            filed=[row.known_on[0] for row in rows],
        )


def warm_up() -> None:
    """Read the companies and their figures."""
    tools = EdgarTools(sample.embedded())
    with caller.acting_as(caller.standalone_grant(date(2013, 3, 1))):
        tools.search_companies()
        tools.list_filings("AAPL")


def build_server(*, lake: Lake | None = None) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default)."""
    tools = EdgarTools(lake or sample.embedded())
    documents = DocumentTools(lake or sample.embedded())
    return toolset.build(
        "edgar",
        title="SEC EDGAR",
        instructions=(
            "Company filings, their texts and XBRL figures, as known on the simulation date. Nothing later is served."
        ),
        tools=(
            tools.search_companies,
            tools.list_line_items,
            tools.list_filings,
            tools.get_company_facts,
            tools.get_financial_statement,
            tools.get_ratios,
            tools.compare_companies,
            documents.get_filing,
            documents.get_filing_section,
            documents.search_filings,
        ),
    )
