"""Value and Greeks of an option book and the share trade that makes it delta neutral."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.professional import briefs_risk
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import EXACT, Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

CONTRACT_SHARES = 100
COLUMNS = (
    Column("position", "key", "is the position, in order"),
    Column("value", "money", "is its market value, negative when sold"),
    Column("delta", "number", "is its delta in shares"),
    Column("gamma", "number", "is its gamma in shares per dollar", decimals=4),
    Column("vega", "number", "is its vega in dollars per percentage point of volatility"),
)


class Market(NamedTuple):
    """The share and what is earned on cash and on the share, continuously compounded."""

    spot: float
    rate: float
    dividend_yield: float


class Position(NamedTuple):
    """Contracts of a European option, negative when sold; volatility and time as the model takes them."""

    position: str
    contracts: int
    option_type: str
    strike: float
    days_to_expiry: int
    volatility: float


class Sensitivities(NamedTuple):
    """Of a whole position, in dollars and shares; vega per percentage point of volatility."""

    value: float
    delta: float
    gamma: float
    vega: float


def sensitivities(position: Position, market: Market) -> Sensitivities:
    """Return value and Greeks of a position by Black-Scholes-Merton."""
    from pricing import black_scholes

    terms = {
        **market._asdict(),
        "strike": position.strike,
        "time_to_expiry": position.days_to_expiry / 365,
        "volatility": position.volatility,
        "is_call": position.option_type == "call",
    }
    price, greeks = float(black_scholes.price(**terms)), black_scholes.greeks(**terms)
    units = position.contracts * CONTRACT_SHARES
    return Sensitivities(
        units * price, units * float(greeks.delta), units * float(greeks.gamma), units * float(greeks.vega) / 100
    )


def _draw(rng: random.Random) -> tuple[Market, list[Position]]:
    spot = round(rng.uniform(60, 240), 2)
    positions = [
        Position(
            position=f"O{number}",
            contracts=rng.choice((-1, 1)) * rng.randrange(5, 80),
            option_type=rng.choice(("call", "put")),
            strike=float(round(spot * rng.uniform(0.85, 1.15))),
            days_to_expiry=rng.randrange(20, 300),
            volatility=round(rng.uniform(0.16, 0.48), 3),
        )
        for number in range(1, rng.randint(6, 9))
    ]
    return Market(spot, round(rng.uniform(0.01, 0.05), 4), round(rng.uniform(0.0, 0.03), 4)), positions


def _sheet(rng: random.Random, market: Market, positions: Sequence[Position], limit: float) -> Sheet:
    table = Exhibit(
        titles=("the book", "the option positions", "positions of the book"),
        headings=(
            Heading(("position",)),
            Heading(("contracts (negative when sold)", "contracts (sold ones negative)")),
            Heading(("type", "call or put"), "text"),
            Heading(("strike", "strike price"), "price"),
            Heading(("days to expiry", "days left")),
            Heading(("volatility", "implied volatility"), "fraction"),
        ),
        rows=tuple(positions),
        spare=tuple(f"O{number}" for number in range(20, 30)),
        beside=(
            column(rng, Heading(("premium a share when opened",), "price"), positions, 1, 30, 2),
            column(rng, Heading(("open interest",)), positions, 200, 9000),
        ),
    )
    facts = (
        Fact(("spot", "price of the share"), market.spot, "price"),
        Fact(("rate", "interest rate"), market.rate, "fraction"),
        Fact(("dividend yield", "dividend yield of the share"), market.dividend_yield, "fraction"),
        Fact(("delta limit", "limit on the delta in dollars"), limit, "dollars"),
    )
    beside = (
        Fact(("volatility of the share over the past year",), round(rng.uniform(0.16, 0.48), 3), "fraction"),
        Fact(("price of the share a month ago",), round(market.spot * rng.uniform(0.9, 1.1), 2), "price"),
        Fact(("limit on the vega",), rng.randrange(5, 60) * 1000, "dollars"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a book and a limit near its dollar delta."""
    (market, positions), as_of = _draw(rng), any_day(rng)
    each = [sensitivities(position, market) for position in positions]
    net = Sensitivities(*(sum(column) for column in zip(*each, strict=True)))
    exposure = abs(net.delta) * market.spot
    limit = limit_near(rng, exposure)
    memo = Memo(
        recipient="Head of Risk",
        subject="option book hedge",
        written_on=as_of,
        figures=(
            Figure("Book value", net.value, "currency"),
            Figure("Net delta", net.delta, "number", "in shares", unit="shares"),
            Figure("Net gamma", net.gamma, "number", "in shares per dollar", unit="shares"),
            Figure("Net vega", net.vega, "currency", "per percentage point of volatility"),
            Figure("Hedge trade", float(-round(net.delta)), "number",
                   "whole shares to trade for delta neutrality, negative for a sale", EXACT, "shares"),
        ),
        verdicts=("HEDGE", "HOLD"),
        verdict="HEDGE" if exposure > limit else "HOLD",
        verdict_rule="HEDGE if the absolute net delta times the spot exceeds the delta limit, else HOLD.",
        summary="The book was valued position by position with the model of the desk.",
        finding="This compares the dollar delta of the book with its limit.",
    )  # fmt: skip
    cells = tuple((position.position, *values) for position, values in zip(positions, each, strict=True))
    inputs = {
        **market._asdict(),
        "delta_limit_dollars": limit,
        "positions": [position._asdict() for position in positions],
    }
    sheet = _sheet(rng, market, positions, limit)
    return Assignment(
        {"contract": str(CONTRACT_SHARES)}, inputs, sheet, Table("greeks.csv", COLUMNS, cells), memo, as_of
    )


TEMPLATE = Template("option-hedge", "Risk Management", assign, briefs_risk.OPTIONS)
