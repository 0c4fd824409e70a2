"""Read the text of an options task as a person would: its market, quotes and holdings, in canonical units.

What follows from quotes is worked out by QuantLib and bisection, not by the engine.
"""

from __future__ import annotations

import json
import math
import re
from datetime import date, timedelta

import QuantLib as ql
from scipy.optimize import brentq

MONTHS = dict(
    zip(
        "January February March April May June July August September October November December".split(),
        range(1, 13),
        strict=True,
    )
)
DAY = r"\d{1,2} [A-Z][a-z]+ \d{4}"
FRIDAY = r"the third Friday of [A-Z][a-z]+ \d{4}"
EXPIRY = rf"(?:{FRIDAY}|the Wednesday 30 days before {FRIDAY}|{DAY}|\d+ days)"
NAME = r"([\d.]+) (call|put)"
VOLATILITY = r"([\d.]+)% a (year|trading day)"
PRICE = r"\$([\d,]+(?:\.\d+)?)"


def number(text):
    return float(text.replace(",", ""))


def day_of(text):
    day, month, year = text.split()
    return date(int(year), MONTHS[month], int(day))


def third_friday(text):
    month, year = text.split()[-2:]
    return next(
        day for day in (date(int(year), MONTHS[month], 1) + timedelta(n) for n in range(14, 21)) if day.weekday() == 4
    )


class Sheet:
    """The inputs of one task's text."""

    def __init__(self, text):
        self.text = text
        found = re.search(rf"Quotes are of the close of ({DAY})", text)
        self.today = day_of(found[1]) if found else None
        self.per_contract = bool(re.search(r"\d a contract\b|dollars a contract", text))

    def days(self, text):
        if text.endswith("days"):
            return int(text.split()[0])
        day = day_of(text) if re.fullmatch(DAY, text) else third_friday(text)
        if text.startswith("the Wednesday"):
            day -= timedelta(30)
        return (day - self.today).days

    def price(self, text):
        return number(text) / (100 if self.per_contract else 1)

    @staticmethod
    def volatility(value, unit):
        return float(value) / 100 * (math.sqrt(252) if unit == "trading day" else 1)

    def rate(self):
        found = re.search(
            r"(?:rate is|rate of|Interest:|[Mm]oney costs) ([\d.]+)% a year(?:, compounded (once a year|monthly))?",
            self.text,
        )
        rate = float(found[1]) / 100
        return {None: rate, "once a year": math.log1p(rate), "monthly": 12 * math.log1p(rate / 12)}[found[2]]

    def underlying(self):
        spot = float(re.search(r"(?:stands at|Spot:|spot is|underlying trades at) \$([\d.]*\d)", self.text)[1])
        rate = self.rate()
        pair = re.search(
            rf"struck at \$([\d.]+) (?:that expires on|with expiry on) ({EXPIRY})(?: costs|, call) {PRICE}.*? put "
            rf"(?:of that strike and day )?{PRICE}",
            self.text,
        )
        if pair is None:
            dividends = float(re.search(r"[Dd]ividend yield(?: of|:)? ([\d.]+)%", self.text)[1]) / 100
            volatility = self.volatility(*re.search(rf"[Vv]olatility(?: of|:)? {VOLATILITY}", self.text).groups())
        else:
            strike, years = float(pair[1]), self.days(pair[2]) / 365
            call, put = self.price(pair[3]), self.price(pair[4])
            dividends = -math.log((call - put + strike * math.exp(-rate * years)) / spot) / years
            volatility = implied(call, "call", strike, years, spot, rate, dividends)
        return {"spot": spot, "rate": rate, "dividend_yield": dividends, "volatility": volatility}

    def options(self):
        rows = []
        for kind, strike, expiry, quote in re.findall(
            rf"A (call|put) is struck at \$([\d.]+), expires (?:in|on) ({EXPIRY})(?:, and is quoted at {PRICE})?",
            self.text,
        ):
            row = {"option_type": kind, "strike": float(strike), "days_to_expiry": self.days(expiry)}
            rows.append(row | ({"quote": self.price(quote)} if quote else {}))
        return rows

    def chain(self, underlying):
        if "Quoted series" not in self.text:
            return []
        section = self.text.split("Quoted series")[1].split("\n\n")[0]
        lines = section.split("\n")
        notes = [line for line in lines if re.search(r"withdraws|entered wrongly|cannot be traded", line)]
        table = "\n".join(line for line in lines[1:] if line not in notes)
        starts = [*re.finditer(NAME, table)]
        rows = {}
        for place, start in enumerate(starts):
            piece = table[start.start() : starts[place + 1].start() if place + 1 < len(starts) else None]
            expiry = re.search(EXPIRY, piece)[0]
            price, volatility = re.search(PRICE, piece), re.search(VOLATILITY, piece)
            rows[start[2], float(start[1]), self.days(expiry)] = [
                self.price(price[1]) if price else None,
                self.volatility(*volatility.groups()) if volatility else None,
            ]
        for note in notes:
            gone = re.search(rf"Series that expire on ({EXPIRY}) cannot", note)
            if gone:
                rows = {key: value for key, value in rows.items() if key[2] != self.days(gone[1])}
                continue
            name = re.search(rf"{NAME} of ({EXPIRY})", note)
            key = name[2], float(name[1]), self.days(name[3])
            right = re.search(r"(?:quote is|wrongly as [^;]+;) (.+)$", note)[1]
            assert key in rows
            if "$" in right:
                rows[key][0] = self.price(re.search(PRICE, right)[1])
            else:
                rows[key][1] = self.volatility(*re.search(VOLATILITY, right).groups())
        return [self.priced(key, *quotes, underlying) for key, quotes in rows.items()]

    @staticmethod
    def priced(key, price, volatility, underlying):
        kind, strike, days = key
        terms = kind, strike, days / 365, underlying["spot"], underlying["rate"], underlying["dividend_yield"]
        if volatility is None:
            volatility = implied(price, *terms)
        if price is None:
            price = value(volatility, *terms)
        names = ("option_type", "strike", "days_to_expiry", "price", "volatility")
        return dict(zip(names, (kind, strike, days, price, volatility), strict=True))

    def book(self):
        found = re.search(r"The book \(contracts[^)]*\): (.+)\.", self.text)
        rows = []
        for side, count, strike, kind, expiry in re.findall(
            rf"(long |short |)(-?\d+) of the {NAME} of ({EXPIRY})", found[1] if found else ""
        ):
            quantity = int(count) * (-1 if side == "short " else 1)
            rows.append(
                {
                    "option_type": kind,
                    "strike": float(strike),
                    "days_to_expiry": self.days(expiry),
                    "quantity": quantity,
                }
            )
        return rows

    def closes(self):
        found = re.search(r"Daily closes, the (oldest|newest) first(?:; [^:]+)?: (.+)\.", self.text)
        if found is None:
            return None
        closes = [
            float(item) for item in found[2].split(", ") if "exchange shut" not in item and "repeated" not in item
        ]
        return closes if found[1] == "oldest" else closes[::-1]


def calculator(volatility, kind, strike, years, spot, rate, dividends):
    option = ql.Option.Call if kind == "call" else ql.Option.Put
    forward = spot * math.exp((rate - dividends) * years)
    return ql.BlackCalculator(
        ql.PlainVanillaPayoff(option, strike), forward, volatility * math.sqrt(years), math.exp(-rate * years)
    )


def value(volatility, *terms):
    return calculator(volatility, *terms).value()


def implied(price, *terms):
    return brentq(lambda volatility: value(volatility, *terms) - price, 1e-3, 9.0, xtol=1e-13)


def delta(row, underlying):
    spot, rate, dividends = (underlying[name] for name in ("spot", "rate", "dividend_yield"))
    years = row["days_to_expiry"] / 365
    return calculator(row["volatility"], row["option_type"], row["strike"], years, spot, rate, dividends).delta(spot)


def read_delta_book(text, context):
    """Return the context of a book judged by its delta."""
    sheet = Sheet(text)
    shares = re.search(r"the book is (long|short) (\d+) shares", text)
    read = {"shares": 0 if shares is None else int(shares[2]) * (1 if shares[1] == "long" else -1)}
    if "Quoted series" in text:
        underlying = sheet.underlying()
        chain = {(r["option_type"], r["strike"], r["days_to_expiry"]): r for r in sheet.chain(underlying)}
        rows = [
            (leg["quantity"], delta(chain[leg["option_type"], leg["strike"], leg["days_to_expiry"]], underlying))
            for leg in sheet.book()
        ]
        read |= {"spot": underlying["spot"], "daily_volatility": underlying["volatility"] / math.sqrt(252)}
    else:
        spot, volatility = (
            re.search(r"(?:trades at|Price:) \$([\d.]*\d)", text),
            re.search(r"[Vv]olatility(?: is| of the stock:) ([\d.]+)% a (day|year)", text),
        )
        daily = float(volatility[1]) / 100 / (1 if volatility[2] == "day" else math.sqrt(252))
        read |= {"spot": float(spot[1]), "daily_volatility": daily}
        table = text.split("Options held")[1].split("\n", 1)[1]
        rows = []
        contract = "delta of a contract" in table
        for piece in re.split(rf"(?={NAME}[^0-9])", table):
            if piece and (row := re.match(rf"{NAME}\D*?(long |short |)(-?\d+)\D*?(-?\d+(?:\.\d+)?)(?!\d)", piece)):
                sign = -1 if row[3] == "short " else 1
                rows.append((sign * int(row[4]), float(row[5]) / (100 if contract else 1)))
    assert len(rows) == len(context["options"])
    return read | {"options": [{"contracts": count, "delta_per_share": one} for count, one in rows]}


def read_attribution(text):
    """Return the context of the attribution of bought calls."""
    sheet, contract = Sheet(text), "a contract of 100 shares" in text
    prices = [number(found) / (100 if contract else 1) for found in re.findall(rf"{PRICE} a (?:share|contract)", text)]
    spots = re.search(r"stock at \$([\d.]+); .* stock at \$([\d.]*\d)\.", text) or re.search(
        r"cost \$([\d.]+) and .*?, \$([\d.]+) and", text
    )
    strike = float(re.search(r"(?:struck at|strike) \$([\d.]*\d)", text)[1])
    days = re.search(r"(\d+) calendar days later", text)
    if days:
        passed = int(days[1])
    else:
        start, end = (day_of(found) for found in re.findall(rf"on ({DAY})", text)[:2])
        passed = (end - start).days
    read = {
        "before": {"spot": float(spots[1]), "price": prices[0]},
        "after": {"spot": float(spots[2]), "price": prices[1]},
        "days_passed": passed,
    }
    told = re.search(r"delta ([-\d.]+).*?gamma ([-\d.]+).*?theta ([-\d.]+).*?vega ([-\d.]+)", text)
    if "Nobody kept Greeks" not in text:
        points = re.search(r"volatility (rose|fell) by ([\d.]+) percentage", text)
        scales = (100, 100, 36500, 10000) if "Per contract" in text else (1, 1, 1, 1)
        values = [float(part) / scale for part, scale in zip(told.groups(), scales, strict=True)]
        read["volatility_change_points"] = float(points[2]) * (1 if points[1] == "rose" else -1)
    else:
        expiry = day_of(re.search(rf"expire on ({DAY})", text)[1])
        rate, spot, years = sheet.rate(), float(spots[1]), (expiry - start).days / 365
        terms = "call", strike, years, spot, rate, 0.0
        bought = implied(prices[0], *terms)
        now = implied(prices[1], "call", strike, years - passed / 365, float(spots[2]), rate, 0.0)
        of = calculator(bought, *terms)
        values = [of.delta(spot), of.gamma(spot), of.theta(spot, years) / 365, of.vega(years) / 100]
        read["volatility_change_points"] = 100 * (now - bought)
    names = ("delta", "gamma", "theta_per_day", "vega_per_point")
    return read | {"greeks_per_share": dict(zip(names, values, strict=True))}


def read_trade(text):
    """Return the orders of a trade on the paper account."""
    order = re.search(
        r"market order (buy|sell) (\d+) (call|put)s on (\S+) struck at ([\d.]+) that expire on "
        r"(\S+|the third Friday of \w+ \d{4})\.",
        text,
    )
    expiry = third_friday(order[6]).isoformat() if "Friday" in order[6] else order[6]
    names = ("side", "contracts", "option_type", "ticker", "strike", "expiration")
    read = dict(zip(names, (order[1], int(order[2]), order[3], order[4], float(order[5]), expiry), strict=True))
    held, closings = read["contracts"], []
    for day, part in re.findall(r"clock stands at (\S+), close (\d+ of them|a third|half)", text):
        count = {"a third": held // 3, "half": held // 2}.get(part) or int(part.split()[0])
        closings.append({"day": day, "contracts": count})
        held -= count
    return read | {"closings": closings}


def read(text, context):
    """Return ``context`` with everything that the text tells in the place of what it held."""
    if "options" in context and "delta_per_share" in json.dumps(context["options"]):
        return context | read_delta_book(text, context)
    if "before" in context:
        return context | read_attribution(text)
    if "cash" in context:
        return context | read_trade(text)
    sheet = Sheet(text)
    found = {"underlying": sheet.underlying()}
    options, chain, book, closes = sheet.options(), sheet.chain(found["underlying"]), sheet.book(), sheet.closes()
    if options:
        found |= {"options": options} if "options" in context else {"option": options[0]}
    if chain:
        order = {
            (row["option_type"], row["strike"], row["days_to_expiry"]): n for n, row in enumerate(context["chain"])
        }
        assert len(order) == len(chain)
        chain.sort(key=lambda row: order[row["option_type"], row["strike"], row["days_to_expiry"]])
        found["chain"] = chain
    if book:
        assert len(book) == len(context["book"])
        found["book"] = book
    if closes is not None:
        found["closes"] = closes
    assert set(found) == set(context) & {"underlying", "option", "options", "chain", "book", "closes"}
    return context | found
