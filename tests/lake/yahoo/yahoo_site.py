"""A web server on this machine that speaks Yahoo's paths to the real yfinance, with its moods."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from lake.yahoo import session

# Apple around its four-for-one split of 2020-08-31, as Yahoo shows it now: divided by the split, in single precision.
# Volumes in shares of today. Raw closes: 444.45, 500.04, 499.23, 129.04, 134.18.
BARS = {
    date(2020, 8, 7): (113.205002, 113.675003, 110.292503, 111.112503, 198_045_600),
    date(2020, 8, 27): (127.142502, 127.485001, 123.832497, 125.010002, 155_552_400),
    date(2020, 8, 28): (126.012497, 126.442497, 124.577499, 124.807503, 187_630_000),
    date(2020, 8, 31): (127.580002, 131.0, 126.0, 129.039993, 225_702_700),
    date(2020, 9, 1): (132.759995, 134.800003, 130.529999, 134.179993, 151_948_100),
}
NOW = datetime(2020, 9, 2, 15, tzinfo=UTC)
ZONE = ZoneInfo("America/New_York")


def opening(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, 9, 30, tzinfo=ZONE).timestamp())


def chart(bars: dict[date, tuple[float, ...]] = BARS) -> dict[str, Any]:
    names = ("open", "high", "low", "close", "volume")
    quote = {name: [row[column] for row in bars.values()] for column, name in enumerate(names)}
    period = {
        "timezone": "EDT",
        "start": opening(date(2020, 9, 1)),
        "end": opening(date(2020, 9, 1)),
        "gmtoffset": -14400,
    }
    meta = {
        "currency": "USD", "symbol": "AAPL", "exchangeName": "NMS", "instrumentType": "EQUITY",
        "exchangeTimezoneName": "America/New_York", "timezone": "EDT", "gmtoffset": -14400, "priceHint": 2,
        "dataGranularity": "1d", "range": "max", "validRanges": ["1d", "5d", "max"],
        "regularMarketTime": opening(date(2020, 9, 1)),
        "firstTradeDate": opening(date(2020, 8, 7)), "regularMarketPrice": 134.18,
        "currentTradingPeriod": {"pre": period, "regular": period, "post": period},
    }  # fmt: skip
    events = {
        "dividends": {"a": {"amount": 0.205, "date": opening(date(2020, 8, 7))}},
        "splits": {"b": {"date": opening(date(2020, 8, 31)), "numerator": 4, "denominator": 1, "splitRatio": "4:1"}},
    }
    indicators = {"quote": [quote], "adjclose": [{"adjclose": quote["close"]}]}
    result = {"meta": meta, "timestamp": [opening(day) for day in bars], "events": events, "indicators": indicators}
    return {"chart": {"result": [result], "error": None}}


UNKNOWN = {
    "chart": {"result": None, "error": {"code": "Not Found", "description": "No data found, symbol may be delisted"}}
}
EARNINGS = """<html><body><table><thead><tr><th>Symbol</th><th>Company</th><th>Earnings Date</th><th>EPS Estimate</th>
<th>Reported EPS</th><th>Surprise (%)</th></tr></thead><tbody>
<tr><td>AAPL</td><td>Apple Inc.</td><td>October 29, 2020 at 4 PM EDT</td><td>0.70</td><td>-</td><td>-</td></tr>
<tr><td>AAPL</td><td>Apple Inc.</td><td>July 30, 2020 at 4 PM EDT</td><td>0.51</td><td>0.65</td><td>26.51</td></tr>
</tbody></table></body></html>"""


def trend(average: float) -> dict[str, Any]:
    def raw(**values: float) -> dict[str, Any]:
        return {name: {"raw": value} for name, value in values.items()}

    eps = raw(avg=average, low=0.6, high=0.8, yearAgoEps=0.76, numberOfAnalysts=31)
    revenue = raw(avg=6.3e10, low=6.0e10, high=6.6e10, yearAgoRevenue=6.4e10, numberOfAnalysts=29)
    row = {"period": "0q", "earningsEstimate": eps, "revenueEstimate": revenue}
    return {"quoteSummary": {"result": [{"earningsTrend": {"trend": [row]}}], "error": None}}


def series(kind: str, prefix: str) -> dict[str, Any]:
    line = {"income": "TotalRevenue", "balance": "TotalAssets", "cash": "OperatingCashFlow"}[kind]
    end = "2019-09-28" if prefix == "annual" else "2020-06-27"
    value = {"income": 260_174e6, "balance": 338_516e6, "cash": 69_391e6}[kind] / (1 if prefix == "annual" else 4)
    row = {"asOfDate": end, "reportedValue": {"raw": value}}
    stamp = int(datetime.fromisoformat(f"{end}T00:00:00+00:00").timestamp())
    return {"timeseries": {"result": [{"meta": {}, "timestamp": [stamp], prefix + line: [row]}], "error": None}}


def article(title: str, published: str) -> dict[str, Any]:
    content = {"title": title, "pubDate": published, "provider": {"displayName": "Wire"}, "summary": "More of it."}
    return {"id": title, "content": content | {"canonicalUrl": {"url": "https://example.com/a"}}}


NEWS = [article("Split takes effect", "2020-08-31T13:30:00Z"), article("Night shift", "2020-09-01T02:00:00Z")]


def chain() -> dict[str, Any]:
    expiry = int(datetime(2020, 9, 18, tzinfo=UTC).timestamp())

    def quote(kind: str, bid: float, ask: float) -> dict[str, Any]:
        return {
            "contractSymbol": f"AAPL200918{kind}", "strike": 130.0, "currency": "USD", "lastPrice": 7.0, "bid": bid,
            "ask": ask, "volume": 10, "openInterest": 20, "impliedVolatility": 0.45, "lastTradeDate": expiry,
        }  # fmt: skip

    options = [{"expirationDate": expiry, "calls": [quote("C", 6.9, 7.1)], "puts": [quote("P", 2.8, 2.9)]}]
    result = {"expirationDates": [expiry], "quote": {"regularMarketPrice": 134.18}, "options": options}
    return {"optionChain": {"result": [result], "error": None}}


def chain_of(rows: Sequence[Sequence[Any]], asked: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return rows of ``OptionQuotes`` as Yahoo answers: every expiration by name, the quotes of the one asked for."""

    def seconds(day: date) -> int:
        return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())

    every = sorted({seconds(row[3]) for row in rows})
    wanted = int(asked["date"][0]) if "date" in asked else every[0]
    listed: dict[str, list[dict[str, Any]]] = {"call": [], "put": []}
    for _, read_at, _, expiration, kind, strike, last, bid, ask, volume, interest, _ in rows:
        if seconds(expiration) == wanted:
            listed[kind].append({
                "contractSymbol": f"X{expiration:%y%m%d}{kind[0].upper()}{strike:g}", "strike": strike,
                "currency": "USD", "lastPrice": last, "bid": bid or 0.0, "ask": ask or 0.0, "volume": volume,
                "openInterest": interest, "impliedVolatility": 0.3, "lastTradeDate": int(read_at.timestamp()),
            })  # fmt: skip
    options = [{"expirationDate": wanted, "calls": listed["call"], "puts": listed["put"]}]
    result = {"expirationDates": every, "quote": {"regularMarketPrice": rows[0][2]}, "options": options}
    return {"optionChain": {"result": [result], "error": None}}


class Site:
    """The server. ``plan`` is what befalls the next data requests: a status, ``cut``, ``garbage`` or ``slow``."""

    def __init__(self) -> None:
        self.plan: list[int | str] = []
        self.broken: set[str] = set()
        self.asked: list[str] = []
        self.chart: dict[str, Any] = chart()
        self.average = 0.7
        self.news = NEWS
        self.option_rows: Sequence[Sequence[Any]] = ()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, asked = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
                if path == "/":
                    self._send(404, b"")
                elif path == "/v1/test/getcrumb":
                    self._send(200, b"crumb")
                else:
                    self._answer(path, asked)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self._answer(urlsplit(self.path).path, {})

            def _answer(self, path: str, asked: dict[str, list[str]]) -> None:
                owner.asked.append(path)
                mood = owner.plan.pop(0) if owner.plan else 200
                if any(path.startswith(start) for start in owner.broken):
                    mood = 503
                if mood == "slow":
                    time.sleep(0.6)
                if isinstance(mood, int) and mood != 200:
                    self._send(mood, b"Too Many Requests" if mood == 429 else b"no")
                    return
                body = owner.page(path, asked)
                self._send(
                    404 if body == json.dumps(UNKNOWN).encode() else 200, b"<html>" if mood == "garbage" else body, mood
                )

            def _send(self, status: int, body: bytes, mood: int | str = 200) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body[: 10 if mood == "cut" else None])
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, *args: Any) -> None:
                pass

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.web.server_port}"

    def page(self, path: str, asked: dict[str, list[str]]) -> bytes:
        if "NIX" in path:
            return json.dumps(UNKNOWN).encode()
        if path.startswith("/calendar"):
            return EARNINGS.encode()
        if path.startswith("/ws/fundamentals"):
            wanted = asked["type"][0]
            prefix = "annual" if wanted.startswith("annual") else "quarterly"
            kinds = {"TotalRevenue": "income", "TotalAssets": "balance", "OperatingCashFlow": "cash"}
            return json.dumps(
                series(next(kind for line, kind in kinds.items() if prefix + line in wanted), prefix)
            ).encode()
        pages = {
            "/v8": self.chart,
            "/v10": trend(self.average),
            "/xhr": {"data": {"tickerStream": {"stream": self.news}}},
            "/v7/finance/options": chain_of(self.option_rows, asked) if self.option_rows else chain(),
        }
        return json.dumps(next((page for start, page in pages.items() if path.startswith(start)), UNKNOWN)).encode()

    def session(self, **options: Any) -> Any:
        return session.new(base_url=self.url, **{"back_off_s": 0.01, "timeout_s": 5.0} | options)


@contextmanager
def yahoo() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.web.shutdown()
        thread.join()
        site.web.server_close()
