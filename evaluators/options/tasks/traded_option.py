"""P&L Attribution: trade an option on the paper account, say where its profit came from, and hedge what is left."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

import numpy as np

from evaluators.contract import Json
from evaluators.options.chain import CONTRACT_SIZE, DAYS_PER_YEAR, Holding, Position, draw_size
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement, Values
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
        """Signed shares that the contracts stand for."""
        return self.side * self.contracts * CONTRACT_SIZE

    @cached_property
    def quotes(self) -> list[Quote]:
        """The option at the closes on which it is held, the day of the fill first."""
        contract = [Contract(self.expiration, self.strike, self.kind == "call")]
        found = [contracts.quotes(sample.embedded(), self.ticker, contract, as_of=day)[0] for day in self.days[1:]]
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
                total=self.shares * (after.mid - before.mid),
                spot_change=after.spot - before.spot,
                volatility_change=after.volatility - before.volatility,
                time_passed=before.years - after.years,
                rate_change=after.rate - before.rate,
                **{name: self.shares * greeks[name] for name in GREEKS},
            )
            for before, after, greeks in zip(self.quotes, self.quotes[1:], self.greeks, strict=False)
        ]

    @property
    def fill_price(self) -> float:
        """Ask or bid at the close of the first day after the order, USD a share."""
        first = self.quotes[0]
        return (first.ask if self.side > 0 else first.bid) or 0.0

    def question(self) -> str:
        """Return the text."""
        return (
            f"Trade on the paper account of the trading simulator. Open it with ${self.cash:,.0f}, its clock starting "
            f"on {self.days[0]}, with Regulation T margin; {SIDES[self.side]} {self.contracts} {self.kind}s on "
            f"{self.ticker} struck at {self.strike:g} that expire on {self.expiration}, by one market order, and let "
            f"time pass to {self.days[-1]}. Report what the account made of it, its profit by Greek, the Greeks of the "
            "options at the end, and the stock position which, taken at the end, would make the delta zero.\n"
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
                    "fill_price", "price per share at which the order was filled, in dollars", 0.001, LEVEL_TOLERANCE
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
        first, last, greeks = self.quotes[0], self.quotes[-1], self.greeks[-1]
        total = self.shares * (last.mid - self.fill_price) - FEE * self.contracts
        parts = {name: sum(getattr(move, name) for move in self.moves) for name in ("delta", "gamma", "theta", "vega")}
        assert len(self.quotes) == len(self.days) - 1 and first.ask is not None
        return {
            "fill_price": self.fill_price,
            "total": total,
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
        leg = strategy.Leg(kind=self.kind, quantity=self.side * self.contracts, premium=quote.mid, strike=self.strike)
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
