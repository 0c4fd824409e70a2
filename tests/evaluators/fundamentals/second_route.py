"""Gold answers computed again: from the raw rows of the lake and the texts of filings, by formulas written here."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np

from evaluators.fundamentals.question import Drawn
from lake import sample
from lake.fundamentals import LINE_ITEMS

LAKE = sample.embedded()
FIRST_OF = {"Q2": ("6M", "Q1"), "Q3": ("9M", "6M"), "Q4": ("FY", "9M")}
Rows = list[tuple[date, str, int, str, float, str]]


def rows_of(ticker: str, as_of: date) -> Rows:
    table = LAKE.facts.known(ticker, as_of=as_of)
    columns = (table.known_on, table.concept, table.fiscal_year, table.fiscal_period, table.value, table.accession)
    return list(zip(*columns, strict=True))


class Raw:
    """One company's raw rows, scanned for each figure."""

    def __init__(self, ticker: str, as_of: date, version: str = "latest") -> None:
        self.rows, self.first = rows_of(ticker, as_of), version == "original"

    def found(self, item: str, year: int, period: str) -> tuple[date, str, int, str, float, str] | None:
        rows = [row for row in self.rows if row[1] in LINE_ITEMS[item] and row[2:4] == (year, period)]
        if not rows:
            return None
        day = min(row[0] for row in rows) if self.first else max(row[0] for row in rows)
        return min((row for row in rows if row[0] == day), key=lambda row: LINE_ITEMS[item].index(row[1]))

    def get(self, item: str, year: int, period: str = "FY") -> float:
        if period.startswith("T"):
            quarters = ["Q1", "Q2", "Q3", "Q4"]
            last = int(period[1])
            late = [self.get(item, year, quarter) for quarter in quarters[:last]]
            return sum(late) + sum(self.get(item, year - 1, quarter) for quarter in quarters[last:])
        row = self.found(item, year, period)
        if row is not None:
            return row[4]
        whole, part = FIRST_OF[period]
        if self.found(item, year, part) is None:
            return self.get(item, year, whole) - sum(self.get(item, year, quarter) for quarter in ("Q1", "Q2", "Q3"))
        return self.get(item, year, whole) - self.get(item, year, part)


def measured(name: str, raw: Raw, year: int, period: str, inputs: Any) -> float:
    """Return a measure by name."""

    def flow(item: str, when: int = year) -> float:
        return raw.get(item, when, period)

    item, span = inputs.get("item", ""), inputs.get("span", 1)
    if name == "margin":
        return flow(item) / flow("Revenue")
    if name == "margin-change":
        return flow(item) / flow("Revenue") - flow(item, year - 1) / flow("Revenue", year - 1)
    if name == "return-on-equity":
        return 2 * raw.get("NetIncome", year) / (raw.get("Equity", year) + raw.get("Equity", year - 1))
    if name == "free-cash-flow":
        return flow("OperatingCashFlow") - flow("CapitalExpenditure")
    if name == "current-ratio":
        return raw.get("CurrentAssets", year, period) / raw.get("CurrentLiabilities", year, period)
    if name == "cash-conversion":
        return flow("OperatingCashFlow") / flow("NetIncome")
    if name in ("revenue-growth", "compound-growth"):
        return float(np.exp(np.log(flow(item) / flow(item, year - span)) / span) - 1)
    if name == "cumulative-flow":
        return float(np.sum([raw.get(item, year - back) for back in range(span)]))
    if name == "fourth-quarter":
        return raw.get(item, year, "Q4")
    if name == "effective-tax-rate":
        return 1 - flow("NetIncome") / (flow("NetIncome") + flow("IncomeTax"))
    if name == "sustainable-growth":
        return (raw.get("NetIncome", year) - raw.get("Dividends", year)) / raw.get("Equity", year - 1)
    assert name == "incremental-margin", name
    added = [flow(each) - flow(each, year - 1) for each in ("OperatingIncome", "Revenue")]
    return added[0] / added[1]


def criterion(words: str, raw: Raw, year: int) -> float:
    """Return what a company or year is chosen by, told by the first words."""
    now = {item: raw.get(item, year) for item in ("Revenue", "NetIncome", "OperatingIncome", "CapitalExpenditure")}
    if words.startswith("net margin"):
        return now["NetIncome"] / now["Revenue"]
    if words.startswith("operating margin"):
        return now["OperatingIncome"] / now["Revenue"]
    if words.startswith("growth of revenue"):
        return now["Revenue"] / raw.get("Revenue", year - 1)
    if words.startswith("current ratio"):
        return raw.get("CurrentAssets", year) / raw.get("CurrentLiabilities", year)
    if words.startswith("share of revenue spent"):
        return now["CapitalExpenditure"] / now["Revenue"]
    assert words.startswith("ratio of total liabilities"), words
    return raw.get("Liabilities", year) / raw.get("Assets", year)


def chosen(drawn: Drawn) -> tuple[str, int]:
    """Return the company and the year that an expert question describes."""
    given, version = drawn.inputs, str(drawn.inputs.get("version", "original"))
    sign = 1 if given["most"] else -1
    raws = {ticker: Raw(ticker, drawn.as_of, version) for ticker in given["companies"]}
    ticker = max(raws, key=lambda each: sign * criterion(given["by"], raws[each], given["judged"]))
    sign = 1 if given["greatest"] else -1
    return ticker, max(given["years"], key=lambda year: sign * criterion(given["when"], raws[ticker], year))


def sections(ticker: str, year: int, as_of: date) -> dict[str, str]:
    """Return the texts of the first annual report on a fiscal year, by section."""
    raw = Raw(ticker, as_of, "original")
    row = raw.found("NetIncome", year, "FY")
    assert row is not None
    found = LAKE.sections.select("accession = ?", [row[5]], key=ticker, as_of=as_of)
    return dict(zip(found.section, found.text, strict=True))


def amount(text: str) -> float:
    """Return the dollars of an amount in words, or of a cell of a table."""
    match = re.search(r"\$?([\d,]+(?:\.\d+)?)(?: (million|billion))?", text)
    assert match is not None, text
    return float(match[1].replace(",", "")) * {"million": 1e6, "billion": 1e9, None: 1.0}[match[2]]


def amounts(pattern: str, text: str) -> float:
    match = re.search(pattern, text, re.DOTALL)
    assert match is not None, (pattern, text)
    return amount(match[1])


def numbers(pattern: str, text: str) -> list[float]:
    match = re.search(pattern, text)
    assert match is not None, (pattern, text)
    return [float(each) for each in match.groups()]


def table(text: str, note: str) -> list[list[str]]:
    lines = text.split(note)[1].split("\nNote")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def disclosed(name: str, ticker: str, year: int, as_of: date, segment: str) -> float:
    """Return a figure of an annual report, read from its sections; ``segment``: its name, or empty for the smallest."""
    text, raw = sections(ticker, year, as_of), Raw(ticker, as_of, "original")
    unit = 1e3 if "(in thousands)" in text["8"] else 1e6
    cash = r"(\$[\d,.]*\d (?:million|billion))"
    if name == "segment-margin":
        rows = [row for row in table(text["8"], "Note 2.")[1:] if row[0] != "Corporate costs"]
        rows = [row for row in rows if row[0] == segment] or sorted(rows, key=lambda row: amount(row[1]))[:1]
        sign = -1 if "(" in rows[0][3] else 1
        return sign * amount(rows[0][3].strip("()")) / amount(rows[0][1])
    if name == "customer-revenue":
        if both := re.search(r"sold ([\d.]+)% .* two customers, ([\d.]+)%", text["1A"]):
            share = float(both[1]) - float(both[2])
        else:
            share = amounts(r"largest customer accounted for ([\d.]+)%", text["1A"])
        return share / 100 * raw.get("Revenue", year)
    if name == "lawsuit-exposure":
        accrued = amounts(rf"(?:have accrued|provision for it is) {cash}", text["3"])
        return accrued + amounts(rf"(?:lose up to|as much as) {cash}", text["3"])
    if name == "purchase-commitments":
        return unit * sum(amount(row[1]) for row in table(text["8"], "Note 3.")[2:])
    if name == "covenant-headroom":
        limit = amounts(r"may not exceed ([\d.]+) times", text["7"])
        earned = raw.get("OperatingIncome", year) + raw.get("DepreciationAndAmortization", year)
        return limit * earned - raw.get("LongTermDebt", year)
    if name == "currency-effect":
        steady = numbers(r"(?:changed by|moved by) ([+-][\d.]+)%", text["7"])[0]
        before = sum(amount(row[2]) for row in table(text["8"], "Note 2.")[1:] if row[2] != "-") * unit
        return raw.get("Revenue", year) / before - 1 - steady / 100
    if name == "guided-revenue":
        low, high = numbers(r"(?:grow by|lie between) (-?[\d.]+)% (?:to|and) (-?[\d.]+)%", text["7"])
        return raw.get("Revenue", year) * (1 + (low + high) / 200)
    assert name == "floating-debt", name
    match = re.search(r"([\d.]+)% (bore fixed|of our long-term debt bore interest at floating)", text["7A"])
    assert match is not None
    share = float(match[1]) if "floating" in match[2] else 100 - float(match[1])
    return share / 100 * raw.get("LongTermDebt", year)


def closes(ticker: str, start: str, end: str) -> np.ndarray:
    bars = LAKE.bars_of(ticker, as_of=date.fromisoformat(end))[0]
    return np.array([c for day, c in zip(bars.known_on, bars.close, strict=True) if start <= day.isoformat() <= end])


def priced(name: str, drawn: Drawn) -> float:
    """Return a measure of prices, by numpy."""
    given = drawn.inputs
    series = [closes(ticker, given["start"], given["end"]) for ticker in given["tickers"]]
    first = series[0]
    if name == "price-return":
        return float(first[-1] / first[0] - 1)
    if name == "price-volatility":
        return float(np.std(np.diff(np.log(first)), ddof=1) * np.sqrt(252))
    if name == "price-drawdown":
        return float(np.max(1 - first / np.maximum.accumulate(first)))
    if name == "relative-performance":
        return float(first[-1] / first[0] - series[1][-1] / series[1][0])
    assert name == "return-correlation", name
    return float(np.corrcoef(np.diff(np.log(first)), np.diff(np.log(series[1])))[0, 1])


def surprise(name: str, drawn: Drawn) -> float:
    """Return a surprise from the releases on form 8-K and the consensus in the lake."""
    announced = drawn.inputs["announced"]
    releases = LAKE.sections.select("form = '8-K'", key=drawn.ticker, as_of=drawn.as_of)
    told = {day.isoformat(): text for day, text in zip(releases.known_on, releases.text, strict=True)}
    days = sorted(day for day in told if day <= announced[:10])
    readings = LAKE.estimates.known(drawn.ticker, as_of=drawn.as_of)

    def consensus(measure: str, day: str) -> float:
        rows = [row for row, known in enumerate(readings.known_on) if known.isoformat() < day]
        return float([readings.average[row] for row in rows if readings.measure[row] == measure][-1] or 0.0)

    if name == "earnings-surprise":
        shares = []
        for day in days[-int(drawn.inputs["quarters"]) :]:
            match = re.search(r"diluted earnings of \$(-?[\d.]+) a share", told[day])
            assert match is not None
            shares.append(float(match[1]) / consensus("eps", day) - 1)
        return float(np.mean(shares))
    revenues = [amounts(r"revenue of (\$[\d,.]*\d (?:million|billion))", told[day]) for day in (days[-1], days[-5])]
    if drawn.period.startswith("for the last quarter announced"):
        expected = consensus("revenue", days[-1])
        return (revenues[0] - expected) / (expected - revenues[1])
    return revenues[0] / consensus("revenue", days[-1]) - 1
