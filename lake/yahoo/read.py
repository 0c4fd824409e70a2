"""From what yfinance returns to records: prices as traded, and the day on which each row became known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from lake.clock import NEW_YORK, day_in
from lake.point_in_time import ProviderUnavailable
from lake.records import Actions, Bars, Earnings, Estimates, News, OptionQuotes, StatementLines

T = TypeVar("T")
ATTEMPTS = 3
STATEMENTS = {"income": "get_income_stmt", "balance": "get_balance_sheet", "cash_flow": "get_cash_flow"}
FREQUENCIES = {"annual": "yearly", "quarterly": "quarterly"}
PRICE_DECIMALS = 4
"""Yahoo divides prices by later splits in single precision; multiplied back, they are right to this."""


class Yahoo:
    """One ticker at Yahoo.

    Parameters
    ----------
    ticker
        As Yahoo writes it.
    session
        Of :mod:`lake.yahoo.session`.
    now
        When it is read; what Yahoo shows without a date is known from this day.
    """

    def __init__(self, ticker: str, *, session: Any, cache: Path, now: datetime | None = None) -> None:
        import yfinance

        # yfinance keeps cookies and time zones in files of the user, and hides errors as empty tables
        cache.mkdir(parents=True, exist_ok=True)
        yfinance.set_tz_cache_location(str(cache))
        yfinance.config.debug.hide_exceptions = False
        self.ticker = ticker
        self.now = now or datetime.now(UTC)
        self.today = day_in(NEW_YORK, self.now)
        self._session = session

    def _asked(self, what: str, question: Callable[[Any], T]) -> T:
        """Return an answer of yfinance; one that is cut short is asked for again.

        Raises
        ------
        ProviderUnavailable
            Yahoo refuses, is away, or answers something else than it used to.
        ValueError
            Yahoo knows nothing of the ticker.
        """
        import yfinance
        from curl_cffi.requests.exceptions import RequestException
        from yfinance import exceptions
        from yfinance.data import YfData

        said = ""
        for _ in range(ATTEMPTS):
            # yfinance remembers answers, broken ones too
            YfData.cache_get.cache_clear()
            try:
                return question(yfinance.Ticker(self.ticker, session=self._session))
            except (exceptions.YFPricesMissingError, exceptions.YFTzMissingError) as error:
                raise ValueError(f"Yahoo Finance has no {what} of {self.ticker}: {_line(error)}") from error
            except exceptions.YFRateLimitError as error:
                raise ProviderUnavailable(
                    f"Yahoo Finance did not give the {what} of {self.ticker}: {_line(error)}"
                ) from error
            except RequestException as error:
                if getattr(error.response, "status_code", None) == 404:
                    raise ValueError(f"Yahoo Finance has no {what} of {self.ticker}: {_line(error)}") from error
                said = _line(error)
            except (json.JSONDecodeError, exceptions.YFException, LookupError, TypeError, AttributeError) as error:
                said = f"{type(error).__name__}: {_line(error)}"
        raise ProviderUnavailable(
            f"Yahoo Finance gave no readable {what} of {self.ticker} in {ATTEMPTS} attempts: {said}"
        )

    def prices(self, since: date | None) -> tuple[Bars, Actions]:
        """Return bars and actions as they were on their day.

        Yahoo divides prices, dividends and volumes by all splits since; they are multiplied back, so that all splits
        up to now are fetched whatever the span. The bar of the exchange's own today may not be over and is left out.
        """
        span: dict[str, Any] = {"period": "max"} if since is None else {"start": since.isoformat()}
        options = {"interval": "1d", "auto_adjust": False, "actions": True} | span
        frame = self._asked("prices", lambda ticker: ticker.history(**options))
        if not len(frame):
            raise ValueError(f"Yahoo Finance has no prices of {self.ticker}")
        zone = str(frame.index.tz)
        rows = [(moment.date(), row) for moment, row in zip(frame.index, frame.to_dict("records"), strict=True)]
        splits = [(day, float(row["Stock Splits"])) for day, row in rows if row["Stock Splits"] > 0]
        closed = [(day, row) for day, row in rows if day < day_in(zone, self.now) and not math.isnan(row["Close"])]

        def factor(day: date) -> float:
            return math.prod(ratio for when, ratio in splits if when > day)

        bars = []
        for day, row in closed:
            by = factor(day)
            prices = [round(float(row[name]) * by, PRICE_DECIMALS) for name in ("Open", "High", "Low", "Close")]
            # single precision may put the close a hair above the high
            opened, high, low, close = prices
            high, low = max(high, opened, close), min(low, opened, close)
            bars.append((day, opened, high, low, close, float(round(row["Volume"] / by))))
        paid = [
            (day, "dividend", round(row["Dividends"] * factor(day), 6)) for day, row in rows if row["Dividends"] > 0
        ]
        actions = [*((day, "split", ratio) for day, ratio in splits), *paid]
        return Bars.of(bars), Actions.of(sorted(actions))

    def earnings(self) -> Earnings:
        """Return announcements with what was expected and reported, and the dates of those to come."""
        frame = self._asked("earnings dates", lambda ticker: ticker.get_earnings_dates(limit=100))
        rows = []
        for moment, row in zip(*_rows(frame), strict=True):
            announced = moment.to_pydatetime()
            reported = _number(row.get("Reported EPS"))
            known = day_in(NEW_YORK, announced) if reported is not None else self.today
            rows.append((known, announced.astimezone(UTC), _number(row.get("EPS Estimate")), reported))
        return Earnings.of(sorted(rows, key=lambda row: row[:2]))

    def estimates(self) -> Estimates:
        """Return what analysts expect now."""
        rows = []
        for measure, year_ago in (("eps", "yearAgoEps"), ("revenue", "yearAgoRevenue")):
            name = "earnings_estimate" if measure == "eps" else "revenue_estimate"
            frame = self._asked("estimates", attrgetter(name))
            for period, row in zip(*_rows(frame), strict=True):
                numbers = [_number(row.get(column)) for column in ("avg", "low", "high", year_ago)]
                analysts = _number(row.get("numberOfAnalysts"))
                rows.append((self.today, measure, str(period), *numbers, None if analysts is None else int(analysts)))
        return Estimates.of(rows)

    def statements(self) -> StatementLines:
        """Return the lines of annual and quarterly statements as they are shown now."""
        rows = []
        for statement, name in STATEMENTS.items():
            for frequency, freq in FREQUENCIES.items():
                frame = self._asked(f"{frequency} {statement} statement", _method(name, freq=freq))
                for item, row in zip(*_rows(frame), strict=True):
                    values = ((moment.date(), _number(value)) for moment, value in row.items())
                    known = [(end, value) for end, value in values if value is not None]
                    rows += [(self.today, statement, frequency, end, str(item), value) for end, value in sorted(known)]
        return StatementLines.of(rows)

    def news(self) -> News:
        """Return the headlines that are shown now, each with its time of publication."""
        rows = []
        for article in self._asked("news", _method("get_news", count=50)):
            content = article.get("content") or {}
            if not content.get("pubDate") or not content.get("title"):
                continue
            published = datetime.fromisoformat(content["pubDate"].replace("Z", "+00:00"))
            publisher = (content.get("provider") or {}).get("displayName") or ""
            url = (content.get("canonicalUrl") or {}).get("url") or ""
            row = (day_in(NEW_YORK, published), published.astimezone(UTC), content["title"], publisher)
            rows.append((*row, content.get("summary") or "", url))
        return News.of(sorted(rows, key=lambda row: row[1:3]))

    def options(self) -> OptionQuotes:
        """Return the quotes of every listed expiration, as they are now."""
        rows: list[tuple[Any, ...]] = []
        for text in self._asked("option expirations", lambda ticker: ticker.options):
            chain = self._asked(f"options of {text}", _method("option_chain", text))
            spot = _number((chain.underlying or {}).get("regularMarketPrice"))
            for kind, frame in (("call", chain.calls), ("put", chain.puts)):
                rows += (
                    (self.today, self.now, spot, date.fromisoformat(text), kind, float(row["strike"]), *_quote(row))
                    for _, row in zip(*_rows(frame), strict=True)
                )
        return OptionQuotes.of(rows)


def _quote(row: Any) -> Iterator[float | None]:
    """Yield the columns of a quote; a bid or an ask of 0 is none, as in a file of one's own."""
    for name in ("lastPrice", "bid", "ask", "volume", "openInterest", "impliedVolatility"):
        number = _number(row.get(name))
        yield None if name in ("bid", "ask") and number == 0.0 else number


def _method(name: str, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda ticker: getattr(ticker, name)(*arguments, **options)


def _rows(frame: Any) -> tuple[Iterable[Any], list[dict[Any, Any]]]:
    """Return index and rows of a table; yfinance gives None for one that Yahoo does not have."""
    return ([], []) if frame is None else (list(frame.index), frame.to_dict("records"))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
