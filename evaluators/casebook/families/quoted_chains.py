"""Options Pricing, Strategy Construction, Volatility Trading: on the quoted option chains of the run's own lake.

What is asked follows from quotes and the surface fitted to them, which the options server shows; a listed price is
never the answer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from lake import providers
from lake.option_market import OptionMarket, option_market
from lake.quoted.snapshot import Snapshot
from lake.sample import Lake
from lake.settings import LakeSettings
from pricing import black_scholes
from pricing import surface as surfaces
from pricing.strategy import TerminalDistribution

FAMILIES = ("unlisted-strike", "quoted-vertical", "wings")
CONTRACT_SIZE = 100
FAR_AHEAD = date(9999, 12, 31)
MOST_LOOKED_AT = 40
LEAST_BID = 0.25
"""Of a cheaper option a tick is much of its price."""
SURFACE = (
    "The surface is the one that the options server fits to the quotes (get_iv_surface, model svi): total variance by "
    "the curve of the expiration, k = log(strike / forward). Options are taken as European here; forward and rate are "
    "those of the surface, time is calendar days from the quotes over 365."
)
NO_QUOTES = (
    "quotes: the run's lake has no option quotes; name some, as in lake: {options: folder, path: data} with your "
    "end-of-day files data/options/TICKER.csv, or {options: yfinance} after traderbench data pull options"
)


@lru_cache(maxsize=4)
def _lake(settings: LakeSettings) -> tuple[Lake, tuple[str, ...]]:
    """Return the lake, and the tickers of which it has quotes; ``ValueError`` where there are none."""
    lake = providers.open_lake(settings)
    tickers = lake.option_quotes.keys(as_of=FAR_AHEAD) if lake.has_option_quotes else ()
    if not tickers:
        raise ValueError(NO_QUOTES)
    return lake, tickers


@lru_cache(maxsize=64)
def _market(settings: LakeSettings, ticker: str, day: date) -> OptionMarket | str:
    """Return the market; where its quotes are too few for a surface, why."""
    try:
        market = option_market(_lake(settings)[0], ticker, as_of=day)
    except ValueError as error:
        return str(error)
    return market if len(market.expirations) > 1 else f"{ticker} has one expiration with a surface on {day}"


def _any_market(settings: LakeSettings, rng: random.Random) -> tuple[OptionMarket, Snapshot]:
    """Return a market that can be asked about, and its quotes.

    Raises
    ------
    ValueError
        There is none; the message says why the last was not one.
    """
    why = ""
    lake, tickers = _lake(settings)
    for _ in range(MOST_LOOKED_AT):
        ticker = rng.choice(tickers)
        day = rng.choice(sorted(set(lake.option_quotes.known(ticker, as_of=FAR_AHEAD).known_on)))
        found = _market(settings, ticker, day)
        if not isinstance(found, str) and found.fit is not None:
            return found, found.fit.snapshot
        why = found if isinstance(found, str) else "its chain is simulated"
    raise ValueError(f"quotes: no chain of the run's lake can be asked about; the last: {why}")


def unlisted_strike(settings: LakeSettings, rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Value an option at a strike between two listed ones; later its hedge, a dealer's offer and a probability."""
    market, quotes = _any_market(settings, rng)
    row = rng.randrange(len(market.expirations))
    listed = sorted(
        _two_sided(quotes, market.expirations[row], "call") | _two_sided(quotes, market.expirations[row], "put")
    )
    forward, years = float(market.forward[row]), float(market.years[row])
    width = float(market.volatility(np.array([forward]), market.years[row : row + 1])[0]) * math.sqrt(years)
    near = [strike for strike in listed if abs(math.log(strike / forward)) < width]
    below, above = rng.choice([*pairwise(near)] or [(listed[0], listed[-1])])
    strike = round(below + rng.uniform(0.2, 0.8) * (above - below), 2)
    kind = rng.choice(("call", "put"))
    volatility = float(market.volatility(np.array([strike]), market.years[row : row + 1])[0])
    price, greeks = black_scholes.price_and_greeks(
        spot=market.spot,
        strike=strike,
        time_to_expiry=years,
        rate=market.rate,
        dividend_yield=market.dividend_yield(row),
        volatility=volatility,
        is_call=kind == "call",
    )
    value, delta, contracts = float(price), float(greeks.delta), rng.randint(7, 80)
    offer = round(value * rng.choice((-1, 1)) * rng.uniform(0.03, 0.12) + value, 2)
    asked: list[Figure | Verdict] = [
        Figure("volatility_pct", f"the surface's volatility at {strike:g}, percent a year", 100 * volatility, 0.02),
        Figure("value_usd", f"value of one {kind} on one share, dollars", value, 0.02),
    ]
    task = f"value a {kind} struck at {strike:.2f}, which is not listed, for {market.expirations[row]}"
    if difficulty != "easy":
        task += f", and hedge {contracts} sold contracts of {CONTRACT_SIZE} shares by its Black-Scholes-Merton delta"
        shares = contracts * CONTRACT_SIZE * delta
        asked.append(Figure("hedge_shares", "shares to hold against them, negative for short", shares, 1.0))
    if difficulty == "expert":
        task += f". A dealer makes one price, {offer:.2f} a share, at which {contracts} contracts can be traded"
        gain = contracts * CONTRACT_SIZE * abs(value - offer)
        asked.append(Figure("gain_usd", "what trading them on the right side is worth, dollars", gain, 5.0, 0.02))
        above_it = 100 * (1 - _law(market, row).probability_below(strike))
        meaning = f"risk-neutral probability, in percent, that the share ends above {strike:g}, by the slope of the "
        asked.append(Figure.of_probability("above_pct", meaning + "surface's prices in strike", above_it))
        asked.append(Verdict("side", "what to do", ("buy" if value > offer else "sell",), ("buy", "sell")))
    return _drawn(market, task, SURFACE, asked, row=row, strike=strike, kind=kind, contracts=contracts, offer=offer)


class _Vertical(NamedTuple):
    """A spread on one expiration, by the row of the market, and its prices a share."""

    market: OptionMarket
    row: int
    kind: str
    bought: float
    sold: float
    natural: float
    mid: float


def _any_vertical(settings: LakeSettings, rng: random.Random) -> _Vertical:
    """Return a vertical that costs something, and less than it can pay.

    Raises
    ------
    ValueError
        There is none.
    """
    for _ in range(MOST_LOOKED_AT):
        market, quotes = _any_market(settings, rng)
        row, kind = rng.randrange(len(market.expirations)), rng.choice(("call", "put"))
        listed = _two_sided(quotes, market.expirations[row], kind)
        strikes = sorted(strike for strike, (bid, _) in listed.items() if bid >= LEAST_BID)
        if len(strikes) < 2:
            continue
        low, high = sorted(rng.sample(strikes, 2))
        bought, sold = (low, high) if kind == "call" else (high, low)
        natural, mid = listed[bought][1] - listed[sold][0], _mid(listed[bought]) - _mid(listed[sold])
        if 0.0 < mid < natural < high - low:
            return _Vertical(market, row, kind, bought, sold, natural, mid)
    raise ValueError(
        f"quotes: {MOST_LOOKED_AT} expirations of the run's lake had no two strikes with a bid of {LEAST_BID} or more "
        "between which a spread costs less than it can pay"
    )


def quoted_vertical(settings: LakeSettings, rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Cost a vertical inside bid and ask; later the way there and back, its breakeven, and its odds by the surface."""
    market, row, kind, bought, sold, natural, mid = _any_vertical(settings, rng)
    contracts, patience = rng.randint(3, 60), rng.randint(15, 85)
    shares = contracts * CONTRACT_SIZE
    paid = mid + patience / 100 * (natural - mid)
    task = f"buy {contracts} {kind} verticals for {market.expirations[row]}: {bought:g} bought, {sold:g} sold"
    rules = (
        "The natural price buys at the ask and sells at the bid; the order is expected to fill at the mid of the "
        f"spread plus {patience}% of the way from there to the natural price. A contract is {CONTRACT_SIZE} shares."
    )
    asked: list[Figure | Verdict] = [
        Figure("natural_usd", "cost of the whole order at the natural price, dollars", shares * natural, 1.0),
        Figure("expected_usd", "cost of the whole order where it is expected to fill, dollars", shares * paid, 1.0),
    ]
    breakeven = bought + paid if kind == "call" else bought - paid
    if difficulty != "easy":
        away = 100 * (breakeven / market.spot - 1)
        lost = 2 * shares * (paid - mid)
        asked.append(
            Figure("round_trip_usd", "what opening and closing at such fills loses against the mid, dollars", lost, 1.0)
        )
        asked.append(
            Figure("breakeven_pct", "how far the breakeven lies from the share's price, percent, + above", away, 0.02)
        )
    if difficulty == "expert":
        below = 100 * _law(market, row).probability_below(breakeven)
        odds = 100 - below if kind == "call" else below
        worth = _value(market, row, bought, kind) - _value(market, row, sold, kind)
        rules += " " + SURFACE
        meaning = "risk-neutral probability of a profit at expiry by the slope of the surface's prices, percent"
        asked.append(Figure.of_probability("profit_pct", meaning, odds))
        asked.append(
            Figure(
                "edge_usd",
                "value of the order on the surface less its expected cost",
                shares * (worth - paid),
                10,
                0.02,
            )
        )
        choice = "trade" if worth > paid else "pass"
        asked.append(Verdict("decision", "trade where the edge is positive", (choice,), ("trade", "pass")))
    terms = {"row": row, "kind": kind, "bought": bought, "sold": sold, "contracts": contracts, "patience": patience}
    return _drawn(market, task, rules, asked, **terms)


def wings(settings: LakeSettings, rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Read the smile at a delta of no table; later the forward volatility, and which of two smiles is steeper."""
    market, _ = _any_market(settings, rng)
    near, far = sorted(rng.sample(range(len(market.expirations)), 2))
    share, vega = rng.randint(11, 42), rng.randint(40, 900)
    deltas = {row: _smile_at(market, row, share / 100) for row in (near, far)}
    task = f"compare the smiles of {market.expirations[near]} and {market.expirations[far]} at {share} delta"
    rules = (
        f"{SURFACE} Deltas are forward deltas, N(d1) and N(d1) - 1; the strike of a delta has that delta at the "
        "surface's own volatility there. A risk reversal is the volatility of the call less that of the put; at the "
        "money is strike = forward."
    )
    reversal = {row: 100 * (call[1] - put[1]) for row, (call, put) in deltas.items()}
    asked: list[Figure | Verdict] = [
        Figure("put_strike", f"strike of the {share}-delta put of the first expiration", deltas[near][1][0], 0.02),
        Figure("reversal_near_pts", "its risk reversal, volatility points", reversal[near], 0.03, 0.01),
    ]
    middle = {row: float(surfaces.at_the_money_volatility(market.surface, market.years[row])) for row in (near, far)}
    if difficulty != "easy":
        variance = middle[far] ** 2 * market.years[far] - middle[near] ** 2 * market.years[near]
        forward = math.sqrt(variance / (market.years[far] - market.years[near]))
        meaning = "at-the-money volatility between the two expirations, percent a year"
        asked.append(Figure("forward_volatility_pct", meaning, 100 * forward, 0.03))
        call, put = deltas[far]
        wing = 100 * (0.5 * (call[1] + put[1]) - middle[far])
        meaning = "butterfly of the second expiration (mean of both wings less at the money), volatility points"
        asked.append(Figure("butterfly_far_pts", meaning, wing, 0.03, 0.01))
    if difficulty == "expert":
        task += f", with {vega} dollars a point of vega in each leg"
        change = reversal[far] - reversal[near]
        meaning = (
            "gain in dollars of being long the first and short the second risk reversal if the first comes to equal "
            "the second, negative for a loss"
        )
        asked.append(Figure("gain_usd", meaning, vega * change, max(1.0, 0.03 * vega), 0.01))
        steeper = str(market.expirations[near if abs(reversal[near]) > abs(reversal[far]) else far])
        both = (str(market.expirations[near]), str(market.expirations[far]))
        asked.append(Verdict("steeper", "expiration with the larger risk reversal in size", (steeper,), both))
    return _drawn(market, task, rules, asked, near=near, far=far, share=share, vega=vega)


def _drawn(market: OptionMarket, task: str, rules: str, asked: list[Figure | Verdict], **inputs: object) -> Drawn:
    return Drawn(
        {"ticker": market.ticker, "day": str(market.day), "task": task, "rules": rules},
        tuple(asked),
        inputs={"ticker": market.ticker, **inputs},
        servers=("options",),
        as_of=market.as_of,
    )


def _two_sided(quotes: Snapshot, expiration: date, kind: str) -> dict[float, tuple[float, float]]:
    """Return bid and ask of the options of one kind that have both, by strike."""
    table = quotes.rows
    return {
        table.strike[row]: (float(table.bid[row] or 0.0), float(table.ask[row] or 0.0))
        for row in quotes.two_sided()
        if table.expiration[row] == expiration and table.option_type[row] == kind
    }


def _mid(quote: tuple[float, float]) -> float:
    return 0.5 * (quote[0] + quote[1])


def _law(market: OptionMarket, row: int) -> TerminalDistribution:
    return TerminalDistribution(
        spot=market.spot,
        time=float(market.years[row]),
        rate=market.rate,
        dividend_yield=market.dividend_yield(row),
        volatility=market.smile(row),
    )


def _value(market: OptionMarket, row: int, strike: float, kind: str) -> float:
    price = black_scholes.price(
        spot=market.spot,
        strike=strike,
        time_to_expiry=float(market.years[row]),
        rate=market.rate,
        dividend_yield=market.dividend_yield(row),
        volatility=market.smile(row)(strike),
        is_call=kind == "call",
    )
    return float(price)


def _smile_at(market: OptionMarket, row: int, delta: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return strike and volatility of the call and of the put of a delta."""
    smile, years = market.smile(row), float(market.years[row])
    strikes = [float(surfaces.strike_at_delta(market.surface, signed, years)) for signed in (delta, -delta)]
    call, put = ((strike, smile(strike)) for strike in strikes)
    return call, put


_USUAL = (
    "Options on {ticker}, quotes of {day}: {task}. {rules}",
    "{rules}\n\nWith that, on {day}, for {ticker}: {task}.",
    "The desk wants this for {ticker} as of {day}: {task}. Work from the listed chain. {rules}",
    "As of {day}, take {ticker}'s listed options and {task}.\n\n{rules}",
    "Request from a client about {ticker} ({day}): please {task}. How we do it: {rules}",
)
_HELD_BACK = (
    "{ticker} / {day} / options. To do: {task}.\nMethod: {rules}",
    "Using nothing but the quotes of {day} on {ticker}, {task}. {rules}",
)
_DRAWS: dict[str, tuple[str, Callable[[LakeSettings, random.Random, Difficulty], Drawn]]] = {
    "unlisted-strike": ("Options Pricing", unlisted_strike),
    "quoted-vertical": ("Strategy Construction", quoted_vertical),
    "wings": ("Volatility Trading", wings),
}


def templates(settings: LakeSettings | None) -> dict[str, Template]:
    """Return the families, by name, over a run's lake.

    Raises
    ------
    ValueError
        It has no quotes.
    """
    if settings is None:
        raise ValueError(NO_QUOTES)
    _lake(settings)
    return {
        name: Template(name, category, partial(draw, settings), _USUAL, _HELD_BACK)
        for name, (category, draw) in _DRAWS.items()
    }
