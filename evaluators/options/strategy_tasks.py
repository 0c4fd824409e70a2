"""Strategy Construction: the agent chooses the legs; every figure is computed from the legs that it chose."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement
from evaluators.options.spread_tasks import with_implied_volatility
from evaluators.options.valuation import (
    Shock,
    greeks,
    payoff,
    probability_of_profit,
    profits,
)
from evaluators.options.wording import CHAIN_CONVENTIONS, percent, position_greeks, shock_figure


@dataclass(frozen=True, kw_only=True)
class IronCondor:
    """Sell an iron condor within limits on loss, credit and probability."""

    market: Underlying
    series: tuple[Series, ...]
    contracts: int
    move: float
    solution: tuple[int, int, int, int]
    loss_room: float = 1.15
    probability_room: float = 0.03

    @classmethod
    def draw(cls, rng: random.Random) -> IronCondor:
        """Draw a market, its chain and a condor that sets the limits."""
        market = Underlying(
            spot=float(rng.randint(80, 900)),
            rate=rng.randint(4, 22) / 400,
            dividend_yield=rng.randint(0, 8) / 400,
            volatility=rng.randint(15, 40) / 100,
        )
        days = rng.randint(25, 60)
        deviation = market.volatility * math.sqrt(days / 365)
        step = max(1.0, float(round(market.spot * deviation / 4)))
        centre = round(market.spot / step) * step
        puts = [centre - step * k for k in range(8, 0, -1)]
        calls = [centre + step * k for k in range(1, 9)]
        kinds: list[Kind] = ["put"] * len(puts)
        kinds += ["call"] * len(calls)
        series = quoted_series(
            market,
            kinds=kinds,
            strikes=puts + calls,
            days=[days] * (len(puts) + len(calls)),
            slope=-rng.uniform(0.05, 0.25),
        )
        short_put, short_call = rng.randint(3, 5), 8 + rng.randint(2, 4)
        width = rng.randint(1, 2)
        return cls(
            market=market,
            series=series,
            contracts=rng.randint(2, 20),
            move=round(deviation * rng.uniform(1.0, 1.6), 2),
            solution=(short_put - width, short_put, short_call, short_call + width),
        )

    def _stressed(self, position: Position) -> list[float]:
        return profits(position, self.market, [Shock(spot_change=-self.move), Shock(spot_change=self.move)])

    def problem(self) -> Problem:
        """Return the task."""
        market, contracts, days = self.market, self.contracts, self.series[0].days
        quantities = (contracts, -contracts, -contracts, contracts)
        solution = tuple(
            Holding(self.series[index], quantity) for index, quantity in zip(self.solution, quantities, strict=True)
        )
        reference = payoff(solution, market)
        loss_limit = _round_up(reference.max_loss * self.loss_room)
        credit_floor = _round_down(-reference.cost / self.loss_room)
        probability = probability_of_profit(solution, market, days)
        stress_limit = _round_up(-min(self._stressed(solution)) * self.loss_room)
        probability_floor = math.floor(100 * (probability - self.probability_room)) / 100

        def truth(position: Position | None) -> Figures:
            if position is None:
                return {}
            result = payoff(position, market)
            down, up = self._stressed(position)
            values = greeks(position, market)
            figures = {
                "max_profit": result.max_profit,
                "max_loss": result.max_loss,
                "probability_of_profit": probability_of_profit(position, market, days),
                **values._asdict(),
                "profit_after_fall": down,
                "profit_after_rise": up,
                "return_on_risk": result.max_profit / result.max_loss,
            }
            if len(result.breakevens) == 2:
                figures |= dict(zip(("breakeven_low", "breakeven_high"), result.breakevens, strict=True))
            return figures

        def structure(position: Position) -> Sequence[Requirement]:
            return iron_condor_structure(position, contracts)

        def limits(position: Position) -> Sequence[Requirement]:
            result = payoff(position, market)
            chance = probability_of_profit(position, market, days)
            return [
                Requirement(f"loss at most ${loss_limit:,.0f}", result.max_loss <= loss_limit),
                Requirement(f"credit at least ${credit_floor:,.0f}", -result.cost >= credit_floor),
                Requirement(
                    f"loses at most ${stress_limit:,.0f} in a jump", -min(self._stressed(position)) <= stress_limit
                ),
                Requirement(f"probability of profit at least {probability_floor:.0%}", chance >= probability_floor),
            ]

        return Problem(
            family="iron_condor",
            category="Strategy Construction",
            question=(
                f"You expect an index, now at {market.spot:g}, to stay calm for {days} days. From the quoted series "
                f"build an iron condor of {contracts} contracts: sell a put and a call out of the money, buy a put "
                f"further down and a call further up, the same number of each. It may lose at most ${loss_limit:,.0f} "
                f"at expiry, must not lose more than ${stress_limit:,.0f} of its value if the index jumps by "
                f"{percent(self.move)} either way at once, must bring a credit of at least "
                f"${credit_floor:,.0f}, and must make money with a "
                f"risk-neutral probability of at least {probability_floor:.0%} (lognormal price at expiry with the "
                f"volatility {percent(market.volatility)}, drift rate less dividend yield). {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [item.context() for item in self.series],
                "contracts": contracts,
                "move": self.move,
            },
            legs_wanted="The legs are your iron condor.",
            figures={
                "pnl": (
                    Figure("max_profit", "largest profit at expiry in dollars", 1.0, of_legs=True),
                    Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                    Figure("breakeven_low", "lower breakeven", 0.01, LEVEL_TOLERANCE, of_legs=True),
                    Figure("breakeven_high", "upper breakeven", 0.01, LEVEL_TOLERANCE, of_legs=True),
                    Figure("probability_of_profit", "as a decimal fraction", 0.005, of_legs=True),
                ),
                "greeks": position_greeks(contracts),
                "risk": (
                    shock_figure("profit_after_fall", f"the index falls by {percent(self.move)}"),
                    shock_figure("profit_after_rise", f"the index rises by {percent(self.move)}"),
                    Figure("return_on_risk", "largest profit divided by largest loss", 0.002, of_legs=True),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )


def printed_iron_condor() -> IronCondor:
    """Return the published condor on an index at 4500: quotes 8, 12, 11 and 7. The rate and the days are ours."""
    market = Underlying(spot=4500.0, rate=0.05, dividend_yield=0.015, volatility=0.12)
    quotes: tuple[tuple[Kind, float, float], ...] = (
        ("put", 4400.0, 8.0),
        ("put", 4420.0, 12.0),
        ("call", 4580.0, 11.0),
        ("call", 4600.0, 7.0),
    )
    series = tuple(
        with_implied_volatility(market, Series(kind=kind, strike=strike, days=30, price=price, volatility=0.0))
        for kind, strike, price in quotes
    )
    return IronCondor(market=market, series=series, contracts=1, move=0.03, solution=(0, 1, 2, 3))


def iron_condor_structure(position: Position, contracts: int) -> list[Requirement]:
    """Return what makes a position an iron condor of ``contracts`` contracts."""
    held = sorted(((h.series.strike, h.series.kind, h.quantity) for h in position if h.series), key=lambda row: row[:2])
    kinds = [kind for _, kind, _ in held]
    signs = [quantity for _, _, quantity in held]
    strikes = [strike for strike, _, _ in held]
    return [
        Requirement("two puts below two calls", kinds == ["put", "put", "call", "call"]),
        Requirement("four different strikes", len(set(strikes)) == 4),
        Requirement(
            f"{contracts} contracts each: wings bought, body sold",
            signs == [contracts, -contracts, -contracts, contracts],
        ),
    ]


def _round_up(dollars: float) -> float:
    return math.ceil(dollars / 5) * 5.0


def _round_down(dollars: float) -> float:
    return math.floor(dollars / 5) * 5.0
