"""The inputs of a problem in sentences and tables, in the units and with the quotes that its terms name."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.contract import Json
from evaluators.exhibit import show
from evaluators.options.chain import CONTRACT_SIZE, Underlying, log_uniform
from evaluators.options.telling.requote import Pair
from evaluators.options.telling.terms import Terms, written_date, written_expiry
from evaluators.options.valuation import TRADING_DAYS_PER_YEAR

Row = Mapping[str, Any]


def describe(context: Mapping[str, Json], terms: Terms, pair: Pair | None, rng: random.Random) -> str:
    """Return what is known of the market, the options and the holdings of a problem."""
    parts = [market_text(Underlying(**context["underlying"]), terms, pair, rng)]
    for option in context.get("options", [context["option"]] if "option" in context else []):
        parts.append(_contract(option, terms))
    if "closes" in context:
        parts.append(_closes(context["closes"], terms, rng))
    if "chain" in context:
        parts.append(_chain(context["chain"], terms, rng))
    if "book" in context:
        parts.append(_book(context["book"], terms, rng))
    parts.append(conventions(terms, traded="chain" in context))
    return "\n\n".join(parts)


def conventions(terms: Terms, *, traded: bool) -> str:
    """Return what holds in every task of these terms."""
    words = [
        "Conventions: European options on 100 shares a contract, Black-Scholes-Merton with continuous compounding, a "
        "continuous dividend yield and years of 365 calendar days from the day of the quotes to the day of expiry."
    ]
    if not traded:
        pass
    elif terms.quotes == "prices":
        words.append(
            "You trade at the quoted prices; Greeks and revaluations use for each series the volatility that its "
            "price implies, unchanged where the task changes nothing."
        )
    elif terms.quotes == "volatilities":
        words.append(
            "Where series are quoted by volatility you trade at the model values at these, unrounded; each keeps its "
            "volatility where the task changes nothing."
        )
    else:
        words.append(
            "You trade at the quoted prices; Greeks and revaluations use the volatility of each series, unchanged "
            "where the task changes nothing."
        )
    if terms.daily:
        words.append(f"A year has {TRADING_DAYS_PER_YEAR} trading days; a volatility of a day scales by its root.")
    return " ".join(words)


def rate_text(rate: float, terms: Terms) -> str:
    """Return the rate in the compounding of the terms."""
    if terms.compounding == "yearly":
        return f"{100 * math.expm1(rate):.5f}% a year, compounded once a year"
    if terms.compounding == "monthly":
        return f"{1200 * math.expm1(rate / 12):.5f}% a year, compounded monthly"
    return f"{100 * rate:.6g}% a year"


def volatility_text(volatility: float, terms: Terms) -> str:
    """Return a volatility per year or per trading day."""
    if terms.daily:
        return f"{100 * volatility / math.sqrt(TRADING_DAYS_PER_YEAR):.5f}% a trading day"
    return f"{100 * volatility:.6g}% a year"


def price_text(price: float, terms: Terms) -> str:
    """Return a price per share or per contract."""
    return f"${CONTRACT_SIZE * price:,.0f}" if terms.contract_prices else f"${price:,.2f}"


def market_text(market: Underlying, terms: Terms, pair: Pair | None, rng: random.Random) -> str:
    """Return the stock, the rate, and the yield and volatility or the pair that gives them."""
    spot, rate = f"${market.spot:g}", rate_text(market.rate, terms)
    day = "" if terms.expiry == "days" else f"Quotes are of the close of {written_date(terms.today)}. "
    if pair is None:
        dividends, volatility = f"{100 * market.dividend_yield:.6g}%", volatility_text(market.volatility, terms)
        return day + rng.choice(
            (
                f"The underlying stands at {spot}. The rate is {rate}, the dividend yield {dividends} a year and the "
                f"volatility {volatility}.",
                f"Spot: {spot}. Interest: {rate}. Dividend yield: {dividends} a year. Volatility: {volatility}.",
                f"With a volatility of {volatility} and a dividend yield of {dividends} a year, the underlying trades "
                f"at {spot}; money costs {rate}.",
            )
        )
    expiry = written_expiry(terms, pair.days)
    call, put = price_text(pair.call, terms), price_text(pair.put, terms)
    unit = "a contract" if terms.contract_prices else "a share"
    realised = f"{100 * market.volatility * rng.uniform(0.6, 1.6):.1f}%"
    return day + rng.choice(
        (
            f"The underlying stands at {spot} and the rate is {rate}. On the same underlying a call struck at "
            f"${pair.strike:g} that expires on {expiry} costs {call} {unit} and the put of that strike and day {put}: "
            "the dividend yield is the one at which the two keep put-call parity, and the volatility of the "
            f"underlying the one that this call implies with it. Over the past year it moved by {realised}, which "
            "nobody here uses.",
            f"Money costs {rate}; spot is {spot}. Nobody states a dividend yield or a volatility: take the yield from "
            f"put-call parity of the options struck at ${pair.strike:g} with expiry on {expiry}, call {call} and put "
            f"{put} {unit}, and as the volatility of the underlying what the call then implies (not the {realised} of "
            "the past year).",
        )
    )


def _contract(option: Row, terms: Terms) -> str:
    when = written_expiry(terms, option["days_to_expiry"])
    expires = f"expires in {when}" if terms.expiry == "days" else f"expires on {when}"
    unit = "a contract" if terms.contract_prices else "a share"
    quote = f", and is quoted at {price_text(option['quote'], terms)} {unit}" if "quote" in option else ""
    return f"A {option['option_type']} is struck at ${option['strike']:g}, {expires}{quote}."


def _closes(closes: Sequence[float], terms: Terms, rng: random.Random) -> str:
    written = [f"{close:.2f}" for close in closes]
    if terms.difficulty == "easy":
        return f"Daily closes, the oldest first: {', '.join(written)}."
    if terms.noise:
        place = rng.randrange(3, len(written) - 3)
        written.insert(place + 1, f"{written[place]} (exchange shut, the close before repeated)")
        return f"Daily closes, the newest first; a day without trading is no return: {', '.join(reversed(written))}."
    return f"Daily closes, the newest first: {', '.join(reversed(written))}."


def _name(row: Row) -> str:
    return f"{row['strike']:g} {row['option_type']}"


def _chain(chain: Sequence[Row], terms: Terms, rng: random.Random) -> str:
    """Return the quotes; at expert with series of another expiry, a wrong quote, and the line that corrects it."""
    rows = [dict(row) for row in chain]
    notes = []
    if terms.noise:
        row = rng.choice(rows)
        right, key = _quote(row, terms), "price" if terms.quotes == "prices" else "volatility"
        row[key] *= rng.choice((0.7, 0.8, 1.25, 1.4))
        shown = f"{_name(row)} of {written_expiry(terms, row['days_to_expiry'])}"
        notes.append(
            rng.choice(
                (
                    f"A later notice withdraws {_quote(row, terms)} for the {shown}: its quote is {right}.",
                    f"The {shown} was entered wrongly as {_quote(row, terms)}; {right} is what counts.",
                )
            )
        )
        used = max(row["days_to_expiry"] for row in rows)
        for other in rng.sample(rows, min(3, len(rows))):
            factor = log_uniform(rng, 0.8, 1.6)
            later = {"days_to_expiry": used + 91, "price": other["price"] * factor + 0.05}
            rows.append({**other, **later, "volatility": other["volatility"] * rng.uniform(0.85, 1.15)})
        notes.append(f"Series that expire on {written_expiry(terms, used + 91)} cannot be traded here.")
        rng.shuffle(rows)
    columns = ["series", "expiry"]
    columns += ["price"] if terms.quotes != "volatilities" else []
    columns += ["volatility"] if terms.quotes != "prices" else []
    extra = terms.difficulty != "easy"
    table = [
        [
            _name(row),
            written_expiry(terms, row["days_to_expiry"]),
            *([price_text(row["price"], terms)] if terms.quotes != "volatilities" else []),
            *([volatility_text(row["volatility"], terms)] if terms.quotes != "prices" else []),
            *([str(rng.randint(20, 9000))] if extra else []),
        ]
        for row in rows
    ]
    unit = "dollars a contract" if terms.contract_prices else "dollars a share"
    intro = "Quoted series" + (f" (prices in {unit}):" if terms.quotes != "volatilities" else ":")
    return "\n".join([intro, show(rng, [*columns, *(["open interest"] if extra else [])], table), *notes])


def _quote(row: Row, terms: Terms) -> str:
    if terms.quotes == "prices":
        return price_text(row["price"], terms)
    return volatility_text(row["volatility"], terms)


def _book(book: Sequence[Row], terms: Terms, rng: random.Random) -> str:
    """Return what is held: signed, or bought and sold in words."""
    lines = []
    for leg in book:
        count, name = leg["quantity"], f"{_name(leg)} of {written_expiry(terms, leg['days_to_expiry'])}"
        if terms.difficulty == "easy":
            lines.append(f"{count} of the {name}")
        else:
            lines.append(f"{'long' if count > 0 else 'short'} {abs(count)} of the {name}")
    rng.shuffle(lines)
    sign = " (contracts, negative when sold)" if terms.difficulty == "easy" else " (contracts)"
    return f"The book{sign}: {'; '.join(lines)}."
