"""A server on this machine that speaks the exchange's API to the real ccxt, with its moods."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import numpy as np

HOUR = 3_600_000
LISTED = int(datetime(2024, 1, 10, tzinfo=UTC).timestamp() * 1000)
NOW = int(datetime(2024, 3, 5, 12, 30, tzinfo=UTC).timestamp() * 1000)


def price(hour: int) -> float:
    return round(40_000.0 + 500.0 * np.sin(hour / 40.0), 2)


def kline(open_time: int) -> list[Any]:
    hour = open_time // HOUR
    first, last = price(hour), price(hour + 1)
    high, low = max(first, last) + 10.0, min(first, last) - 10.0
    prices = [f"{value:.2f}" for value in (first, high, low, last)]
    return [open_time, *prices, "12.5", open_time + HOUR - 1, "1", 10, "1", "1", "0"]


def filters() -> list[dict[str, str]]:
    return [
        {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000", "tickSize": "0.01"},
        {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
    ]


def exchange_info(future: bool) -> dict[str, Any]:
    row = {
        "symbol": "BTCUSDT",
        "pair": "BTCUSDT",
        "status": "TRADING",
        "baseAsset": "BTC",
        "quoteAsset": "USDT",
        "marginAsset": "USDT",
        "baseAssetPrecision": 8,
        "quotePrecision": 8,
        "orderTypes": ["LIMIT", "MARKET"],
        "filters": filters(),
        "permissions": ["SPOT"],
        "isSpotTradingAllowed": True,
    }
    if future:
        row |= {"contractType": "PERPETUAL", "deliveryDate": 4_133_404_800_000, "onboardDate": LISTED}
    return {"timezone": "UTC", "serverTime": NOW, "rateLimits": [], "exchangeFilters": [], "symbols": [row]}


BOOK = {
    "lastUpdateId": 1,
    "bids": [["40000.10", "0.5"], ["40000.00", "1.5"]],
    "asks": [["40000.20", "0.25"], ["40001.00", "2"]],
}
MOODS: dict[int, Any] = {
    403: "<html>Forbidden</html>",
    429: {"code": -1003, "msg": "Too many requests."},
    503: "Service Unavailable",
}
SLOW_S = 1.0


class Exchange(BaseHTTPRequestHandler):
    """Public end points of the kline API.

    ``plan`` lists what befalls the next requests for candles, rates and books: a status, ``slow``, or an answer that
    never comes (``cut``), breaks off (``half``) or is no JSON (``garbage``). ``manner`` is how candles are cut to a
    page: the first of the range that is asked for, ``backwards``, its ``newest 100``, or the ``last 720`` of all,
    whatever is asked for.
    """

    plan: ClassVar[list[int | str]] = []
    manner: ClassVar[str] = "first"
    lost: ClassVar[set[int]] = set()
    asked: ClassVar[list[str]] = []
    book: ClassVar[dict[str, Any]] = BOOK

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        name = url.path.rsplit("/", 1)[1]
        if name in ("klines", "fundingRate", "depth"):
            type(self).asked.append(self.path)
            mood = type(self).plan.pop(0) if type(self).plan else 200
            if mood != 200:
                return self.fail(mood)
        answers = {
            "time": lambda: {"serverTime": NOW},
            "exchangeInfo": lambda: exchange_info("fapi" in url.path),
            "klines": lambda: self.klines(query),
            "fundingRate": lambda: self.funding(query),
            "depth": lambda: type(self).book,
        }
        self.answer(200, answers[name]())
        return None

    def fail(self, mood: int | str) -> None:
        if isinstance(mood, int):
            self.answer(mood, MOODS[mood])
        elif mood == "half":
            self.answer(200, [kline(LISTED)], lost=20)
        elif mood == "garbage":
            self.answer(200, "<html>busy")
        else:
            if mood == "slow":
                threading.Event().wait(SLOW_S)
            self.connection.close()

    def klines(self, query: dict[str, str]) -> list[Any]:
        start, limit = int(query["startTime"]), int(query["limit"])
        end = min(int(query.get("endTime", NOW)), NOW)
        first = max(-(-start // HOUR) * HOUR, LISTED)
        times: list[int] = list(range(first, end + 1, HOUR))[:limit]
        if type(self).manner == "newest 100":
            times = [time for time in times if time < start + limit * HOUR][-100:]
        if type(self).manner == "last 720":
            times = [NOW // HOUR * HOUR - back * HOUR for back in range(720)][::-1]
        if type(self).manner == "backwards":
            times = times[::-1]
        return [kline(time) for time in times if time not in type(self).lost]

    def funding(self, query: dict[str, str]) -> list[Any]:
        start, limit = int(query["startTime"]), int(query["limit"])
        first = max(-(-start // (8 * HOUR)) * 8 * HOUR, LISTED)
        times = range(first, min(int(query.get("endTime", NOW)), NOW) + 1, 8 * HOUR)[:limit]
        return [
            {"symbol": "BTCUSDT", "fundingTime": t + 3, "fundingRate": "0.00010000", "markPrice": "1"} for t in times
        ]

    def answer(self, status: int, body: Any, *, lost: int = 0) -> None:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) - lost])
        self.close_connection = bool(lost)
