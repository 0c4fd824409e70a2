"""P&L Attribution: trade an option on the paper account, say where its profit came from, and hedge what is left."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Literal

import numpy as np

from evaluators.contract import Difficulty, Json
from evaluators.options.chain import CONTRACT_SIZE, DAYS_PER_YEAR, Holding, Position, draw_size
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement, Values
from evaluators.options.telling.requote import Pair
from evaluators.options.telling.terms import MONTHS, Terms
from evaluators.options.wording import greek_figures
from lake import chains, contracts, sample
from lake.contracts import Contract, Quote
from pricing import black_scholes, greek_units, risk, strategy
from pricing.padding import padded

FEE = 0.65
"""USD a contract. It is the simulator's, which a test confirms."""
FALL, RISE_OF_VOLATILITY = 0.10, 0.05
SIDES = {1: "buy", -1: "sell"}
LEAST_DAYS_LEFT = 10
GREEKS = ("delta", "gamma", "theta", "vega", "rho", "vanna", "volga")


@dataclass(frozen=True, kw_only=True)
class TradedOption(Problem):
    """See the module.

    Attributes
    ----------
    days
        Trading days, from the one after whose close the order is placed to the date of the task.
    side
        1 bought, -1 sold.
    closings
        Parts of the position that are closed again: places in ``days`` after whose close the order is placed, and
        contracts.
    """

    family = "traded_option"
    category = "P&L Attribution"
    stock = True
    servers = ("trading", "options", "risk")

    ticker: str
    days: tuple[date, ...]
    kind: Literal["call", "put"]
    strike: float
    expiration: date
    side: int
    contracts: int
    cash: float
    closings: tuple[tuple[int, int], ...] = ()

    @classmethod
    def draw_at(cls, rng: random.Random, difficulty: Difficulty) -> TradedOption:
        """Draw, besides, one part that is closed again, or at expert two: a third, and half of the rest."""
        drawn = cls.draw(rng)
        if difficulty == "easy":
            return drawn
        last = len(drawn.days) - 2
        contracts_ = max(drawn.contracts, 6)
        closings: tuple[tuple[int, int], ...]
        if difficulty == "hard":
            closings = ((rng.randint(2, last - 1), round(contracts_ * rng.uniform(0.2, 0.8))),)
        else:
            first = contracts_ // 3
            places = sorted(rng.sample(range(1, last), 2))
            closings = ((places[0], first), (places[1], (contracts_ - first) // 2))
        return replace(drawn, contracts=contracts_, cash=drawn.cash * 2, closings=closings)

    @classmethod
    def draw(cls, rng: random.Random) -> TradedOption:
        """Draw a simulated share, some days of its past, and an option of the chain on the first of them."""
        lake = sample.embedded()
        last = date(rng.randint(2014, 2025), rng.randint(1, 12), rng.randint(1, 28))
        ticker = rng.choice([name for name in lake.tickers(as_of=last) if name.startswith(sample.SIMULATED)])
        days = lake.bars_of(ticker, as_of=last)[0].known_on[-rng.randint(6, 16) :]
        chain = chains.chain(lake, ticker, as_of=days[0])
        later = [row for row, day in enumerate(chain.expirations) if (day - days[-1]).days >= LEAST_DAYS_LEFT]
        row, place, contracts_ = rng.choice(later), rng.randint(5, 15), draw_size(rng, 4, 450)
        return cls(
            ticker=ticker,
            days=days,
            kind=rng.choice(("call", "put")),
            strike=float(chain.strikes[row][place]),
            expiration=chain.expirations[row],
            side=rng.choice((1, -1)),
            contracts=contracts_,
            # enough for the margin of a sold option and for any move of it
            cash=math.ceil(contracts_ * CONTRACT_SIZE * chain.spot / 10_000.0) * 10_000.0,
        )

    def day(self) -> date:
        """Return the date of the task: the account's clock stops there."""
        return self.days[-1]

    @property
    def shares(self) -> int:
        """Signed shares that the contracts held at the end stand for."""
        return self.held[-1]

    @cached_property
    def held(self) -> list[int]:
        """Signed shares that the contracts stand for after each of these closes, the day of the fill first."""
        closed = [sum(count for place, count in self.closings if place <= day) for day in range(len(self.days) - 1)]
        return [self.side * (self.contracts - count) * CONTRACT_SIZE for count in closed]

    @cached_property
    def quotes(self) -> list[Quote]:
        """The option at the closes on which it is held, the day of the fill first."""
        contract = Contract(self.expiration, self.strike, self.kind == "call")
        found = contracts.closes(sample.embedded(), self.ticker, contract, days=self.days[1:])
        return [quote for quote in found if quote is not None]

    @cached_property
    def greeks(self) -> list[dict[str, float]]:
        """Price and Greeks of one share of the option at each of these closes."""
        columns = {
            "spot": [quote.spot for quote in self.quotes],
            "time_to_expiry": [quote.years for quote in self.quotes],
            "rate": [quote.rate for quote in self.quotes],
            "volatility": [quote.volatility for quote in self.quotes],
        }
        table = black_scholes.all_greeks(
            **{name: np.asarray(padded(np.asarray(column), least=16)) for name, column in columns.items()},
            strike=self.strike,
            is_call=self.kind == "call",
        )
        rows = {name: np.asarray(values).tolist() for name, values in table._asdict().items()}
        return [{name: row[index] for name, row in rows.items()} for index in range(len(self.quotes))]

    @cached_property
    def moves(self) -> list[risk.Attribution]:
        """What each day's move made, by the Greeks of the close before."""
        return [
            risk.attribution(
                total=shares * (after.mid - before.mid),
                spot_change=after.spot - before.spot,
                volatility_change=after.volatility - before.volatility,
                time_passed=before.years - after.years,
                rate_change=after.rate - before.rate,
                **{name: shares * greeks[name] for name in GREEKS},
            )
            for before, after, greeks, shares in zip(self.quotes, self.quotes[1:], self.greeks, self.held, strict=False)
        ]

    @property
    def fill_price(self) -> float:
        """Ask or bid at the close of the first day after the order, USD a share."""
        return self._price(self.quotes[0], self.side)

    def _price(self, quote: Quote, side: int) -> float:
        return (quote.ask if side > 0 else quote.bid) or 0.0

    @property
    def _profit(self) -> float:
        """What the account makes: cash of every fill less fees, and the mid of what is left."""
        cash = -self.side * self.contracts * CONTRACT_SIZE * self.fill_price
        for place, count in self.closings:
            cash += self.side * count * CONTRACT_SIZE * self._price(self.quotes[place], -self.side)
        fees = FEE * (self.contracts + sum(count for _, count in self.closings))
        return cash - fees + self.shares * self.quotes[-1].mid

    def question(self) -> str:
        """Return the text."""
        raise NotImplementedError("the paper account is in no published bank")

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {
            "cash": f"${self.cash:,.0f}",
            "start": f"{self.days[0]}",
            "end": f"{self.days[-1]}",
            "orders": "The order is told below." if not self.closings else "The orders are told below.",
        }

    def told(self, terms: Terms, pair: Pair | None, rng: random.Random) -> str:
        """Return the orders and the conventions; at expert the expiry and the parts closed stand by their rules."""
        expiry = f"{self.expiration}"
        if terms.difficulty == "expert":
            expiry = f"the third Friday of {MONTHS[self.expiration.month - 1]} {self.expiration.year}"
        orders = [
            f"By one market order {SIDES[self.side]} {self.contracts} {self.kind}s on {self.ticker} struck at "
            f"{self.strike:g} that expire on {expiry}."
        ]
        for row, (place, count) in enumerate(self.closings):
            size = f"{count} of them"
            if terms.difficulty == "expert":
                size = ("a third of them", "half of what is then left")[row] + ", rounded down to whole contracts,"
            orders.append(f"When the clock stands at {self.days[place]}, close {size} by another market order.")
        return (
            " ".join(orders) + "\n\n"
            "Conventions: an order for options is filled at bid or ask of the close of the first trading day after it "
            f"was placed and pays ${FEE:g} a contract of 100 shares; options are marked at the mid. Each day's move "
            "after that is split by the Black-Scholes-Merton Greeks of the close before, at the volatility that the "
            "mid implies, without dividends, 365 days a year, continuously compounded rate."
        )

    def context(self) -> dict[str, Json]:
        """Return the order."""
        return {
            "cash": self.cash,
            "start": self.days[0].isoformat(),
            "end": self.days[-1].isoformat(),
            "ticker": self.ticker,
            "side": SIDES[self.side],
            "contracts": self.contracts,
            "option_type": self.kind,
            "strike": self.strike,
            "expiration": self.expiration.isoformat(),
            "closings": [{"day": self.days[place].isoformat(), "contracts": count} for place, count in self.closings],
        }

    def legs_wanted(self) -> str:
        """Return what the leg is."""
        return 'The only leg is the hedge in "stock", in whole shares.'

    def figures(self) -> Figures:
        """Return the result of the trade, the Greeks at the end, and margin and stress of what is held then."""
        fall = f"the share falls by {FALL:.0%} and volatility rises by {100 * RISE_OF_VOLATILITY:g} points at once"
        by_greek = {
            name: Figure(f"{name}_pnl", f"part of the moves due to {name}, summed over the days, in dollars", 2.0)
            for name in ("delta", "gamma", "theta", "vega")
        }
        return {
            "pnl": (
                Figure(
                    "fill_price",
                    "price per share at which the first order was filled, in dollars",
                    0.001,
                    LEVEL_TOLERANCE,
                ),
                Figure("total", "profit of the account after fees, in dollars, with its sign", 2.0),
                *by_greek.values(),
            ),
            "greeks": greek_figures("the options at the end", self.contracts, of_legs=False),
            "risk": (
                Figure("margin", "initial margin that the account reports at the end, in dollars", 2.0),
                Figure("profit_in_fall", f"change of the value of the options, in dollars, if {fall}", 5.0),
                Figure("hedged_in_fall", "the same of options and your stock hedge together", 5.0, of_legs=True),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the options."""
        last, greeks = self.quotes[-1], self.greeks[-1]
        parts = {name: sum(getattr(move, name) for move in self.moves) for name in ("delta", "gamma", "theta", "vega")}
        assert len(self.quotes) == len(self.days) - 1 and self.quotes[0].ask is not None
        return {
            "fill_price": self.fill_price,
            "total": self._profit,
            **{f"{name}_pnl": part for name, part in parts.items()},
            "delta": self.shares * greeks["delta"],
            "gamma": self.shares * greeks["gamma"],
            "theta_per_day": greek_units.theta_per_calendar_day(self.shares * greeks["theta"]),
            "vega_per_point": greek_units.vega_per_point(self.shares * greeks["vega"]),
            "margin": self._margin(last),
            "profit_in_fall": self._in_fall(last),
        }

    def _margin(self, quote: Quote) -> float:
        """Return the initial margin; what the options are worth is in the account's equity, so it is added."""
        leg = strategy.Leg(kind=self.kind, quantity=self.shares // CONTRACT_SIZE, premium=quote.mid, strike=self.strike)
        return strategy.margin([leg], spot=quote.spot).buying_power

    def _in_fall(self, quote: Quote) -> float:
        fallen = black_scholes.price(
            spot=quote.spot * (1.0 - FALL),
            strike=self.strike,
            time_to_expiry=(self.expiration - self.days[-1]).days / DAYS_PER_YEAR,
            rate=quote.rate,
            volatility=quote.volatility + RISE_OF_VOLATILITY,
            is_call=self.kind == "call",
        )
        return self.shares * (float(fallen) - quote.mid)

    def of_legs(self, position: Position) -> Values:
        """Return what the hedge leaves of the fall."""
        stock = sum(holding.quantity for holding in position)
        return {"hedged_in_fall": self._in_fall(self.quotes[-1]) - stock * FALL * self.quotes[-1].spot}

    def _left(self, position: Position) -> float:
        return abs(self.shares * self.greeks[-1]["delta"] + sum(holding.quantity for holding in position))

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a hedge."""
        held = abs(self.shares * self.greeks[-1]["delta"])
        return [Requirement("at least halves the delta", self._left(position) <= held / 2)]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a good one."""
        allowed = 0.02 * abs(self.shares * self.greeks[-1]["delta"]) + 1
        return [Requirement("leaves at most 2% of the delta", self._left(position) <= allowed)]

    def solution(self) -> Position:
        """Return minus the delta."""
        return (Holding(None, -round(self.shares * self.greeks[-1]["delta"])),)
