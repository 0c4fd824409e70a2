"""Strategy Construction and Risk Management with two-legged positions: a vertical within limits, a sized put spread."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluators.options.chain import Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement
from evaluators.options.valuation import Shock, greeks, payoff, probability_of_profit, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, percent, position_greeks, shock_figure
from pricing import implied_volatility


def draw_market(rng: random.Random) -> tuple[Underlying, int, float]:
    """Return an underlying, days to expiry, and the step of the strikes of its chain."""
    market = Underlying(
        spot=float(rng.randint(60, 700)),
        rate=rng.randint(6, 22) / 400,
        dividend_yield=rng.randint(0, 10) / 400,
        volatility=rng.randint(16, 45) / 100,
    )
    days = rng.randint(25, 75)
    step = max(1.0, float(round(market.spot * market.volatility * math.sqrt(days / 365) / 4)))
    return market, days, step


def draw_chain(
    rng: random.Random, market: Underlying, *, kind: Kind, days: int, step: float, low: int, high: int
) -> tuple[Series, ...]:
    """Return a chain of one kind with strikes ``low`` to ``high`` steps around the spot."""
    centre = round(market.spot / step) * step
    strikes = [centre + step * k for k in range(low, high + 1)]
    count = len(strikes)
    slope = -rng.uniform(0.05, 0.2)
    return quoted_series(market, kinds=[kind] * count, strikes=strikes, days=[days] * count, slope=slope)


def with_implied_volatility(market: Underlying, series: Series) -> Series:
    """Return the series with the volatility, to four digits, that its price implies."""
    solved = implied_volatility.solve(
        price=series.price,
        spot=market.spot,
        strike=series.strike,
        time_to_expiry=series.time_to_expiry,
        rate=market.rate,
        dividend_yield=market.dividend_yield,
        is_call=series.kind == "call",
    )
    return replace(series, volatility=round(float(solved.value), 4))


@dataclass(frozen=True, kw_only=True)
class DebitSpread:
    """Buy a call spread or a put spread within limits on cost, breakeven and reward."""

    market: Underlying
    series: tuple[Series, ...]
    contracts: int
    bought: int
    sold: int
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> DebitSpread:
        """Draw a market, a chain of calls or puts, and the spread that sets the limits."""
        market, days, step = draw_market(rng)
        kind: Kind = rng.choice(("call", "put"))
        series = draw_chain(rng, market, kind=kind, days=days, step=step, low=-5, high=5)
        near, far = 5 + rng.randint(-1, 2), rng.randint(2, 3)
        bought = near if kind == "call" else 10 - near
        return cls(
            market=market,
            series=series,
            contracts=rng.randint(3, 30),
            bought=bought,
            sold=bought + (far if kind == "call" else -far),
            move=rng.randint(3, 9) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, contracts, kind = self.market, self.contracts, self.series[0].kind
        days = self.series[0].days
        solution = (
            Holding(self.series[self.bought], contracts),
            Holding(self.series[self.sold], -contracts),
        )
        reference = payoff(solution, market)
        cost_limit = math.ceil(1.03 * reference.max_loss / 5) * 5
        ratio_floor = math.floor(97 * reference.max_profit / reference.max_loss) / 100
        rising = kind == "call"
        name = f"{'bull call' if rising else 'bear put'} spread"

        def truth(position: Position | None) -> Figures:
            if position is None:
                return {}
            result = payoff(position, market)
            down, up = profits(position, market, [Shock(spot_change=-self.move), Shock(spot_change=self.move)])
            figures = {
                "cost": result.cost,
                "max_profit": result.max_profit,
                "probability_of_profit": probability_of_profit(position, market, days),
                **greeks(position, market)._asdict(),
                "max_loss": result.max_loss,
                "profit_after_fall": down,
                "profit_after_rise": up,
                "reward_to_risk": result.max_profit / result.max_loss if result.max_loss > 0 else math.nan,
            }
            if len(result.breakevens) == 1:
                figures["breakeven"] = result.breakevens[0]
            return figures

        def structure(position: Position) -> Sequence[Requirement]:
            held = sorted((h.series.strike, h.quantity) for h in position if h.series)
            wanted = [contracts, -contracts] if rising else [-contracts, contracts]
            return [
                Requirement("two series of different strikes", len({strike for strike, _ in held}) == len(held) == 2),
                Requirement(f"a {name} of {contracts} contracts", [quantity for _, quantity in held] == wanted),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            result = payoff(position, market)
            ratio = result.max_profit / result.max_loss if result.max_loss > 0 else 0.0
            return [
                Requirement(f"costs at most ${cost_limit:,}", result.max_loss <= cost_limit),
                Requirement(f"reward at least {ratio_floor:g} times the risk", ratio >= ratio_floor),
            ]

        return Problem(
            family="debit_spread",
            category="Strategy Construction",
            question=(
                f"You expect a stock, now at ${market.spot:g}, to {'rise' if rising else 'fall'} within {days} days. "
                f"From the quoted {kind}s build a {name} of {contracts} contracts (buy one strike, sell another "
                f"further {'up' if rising else 'down'}) that costs at most ${cost_limit:,} and whose largest profit is "
                f"at least {ratio_floor:g} times its largest loss. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [item.context() for item in self.series],
                "contracts": contracts,
                "move": self.move,
            },
            legs_wanted=f"The legs are your {name}.",
            figures={
                "pnl": (
                    Figure("cost", "cash paid for the position in dollars", 1.0, of_legs=True),
                    Figure("max_profit", "largest profit at expiry in dollars", 1.0, of_legs=True),
                    Figure("breakeven", "stock price at expiry of no profit", 0.01, LEVEL_TOLERANCE, of_legs=True),
                    Figure(
                        "probability_of_profit",
                        "risk-neutral probability of a profit at expiry as a decimal fraction (lognormal price with "
                        f"the volatility {percent(market.volatility)}, drift rate less dividend yield)",
                        0.005,
                        of_legs=True,
                    ),
                ),
                "greeks": position_greeks(contracts),
                "risk": (
                    Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                    Figure("reward_to_risk", "largest profit divided by largest loss", 0.002, of_legs=True),
                    shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                    shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )


def printed_debit_spread() -> DebitSpread:
    """Return the published trade: 185/190 calls for $2.30 with the stock at $182. The two quotes are ours."""
    market = Underlying(spot=182.0, rate=0.05, dividend_yield=0.0, volatility=0.25)
    quotes = ((185.0, 4.10), (190.0, 1.80))
    series = tuple(
        with_implied_volatility(market, Series(kind="call", strike=k, days=30, price=price, volatility=0.0))
        for k, price in quotes
    )
    return DebitSpread(market=market, series=series, contracts=1, bought=0, sold=1, move=0.05)


@dataclass(frozen=True, kw_only=True)
class SpreadSizing:
    """Sell as many put spreads as the risk budget of an account allows."""

    market: Underlying
    series: tuple[Series, ...]
    account: float
    risk_fraction: float
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> SpreadSizing:
        """Draw a market and two puts below the spot."""
        market, days, step = draw_market(rng)
        chain = draw_chain(rng, market, kind="put", days=days, step=step, low=-6, high=-1)
        short = rng.randint(3, 5)
        pair = (chain[short - rng.randint(1, 2)], chain[short])
        return cls(
            market=market,
            series=pair,
            account=float(rng.randint(8, 90) * 10_000),
            risk_fraction=rng.randint(4, 12) / 200,
            move=rng.randint(5, 12) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, (low, high) = self.market, self.series
        budget = self.account * self.risk_fraction
        one = payoff((Holding(high, -1), Holding(low, 1)), market)
        size = math.floor(budget / one.max_loss + 1e-9)
        solution = (Holding(high, -max(size, 1)), Holding(low, max(size, 1)))

        def truth(position: Position | None) -> Figures:
            fixed = {
                "credit_per_spread": -one.cost,
                "breakeven": one.breakevens[0],
                "max_loss_per_spread": one.max_loss,
                "spreads": float(size),
                "buying_power": size * one.max_loss,
                "risk_budget": budget,
            }
            if position is None:
                return fixed
            fall = profits(position, market, [Shock(spot_change=-self.move, volatility_change=0.05)])[0]
            return {
                **fixed,
                "total_credit": -payoff(position, market).cost,
                **greeks(position, market)._asdict(),
                "profit_after_crash": fall,
            }

        def structure(position: Position) -> Sequence[Requirement]:
            held = {h.series.strike: h.quantity for h in position if h.series}
            sold, bought = held.get(high.strike, 0), held.get(low.strike, 0)
            return [Requirement("sells the upper put and buys as many of the lower", bought == -sold > 0)]

        def limits(position: Position) -> Sequence[Requirement]:
            loss = payoff(position, market).max_loss
            return [
                Requirement(f"loss at most ${budget:,.0f}", loss <= budget),
                Requirement("one more spread would exceed the budget", loss + one.max_loss > budget),
            ]

        return Problem(
            family="spread_sizing",
            category="Risk Management",
            question=(
                f"An account of ${self.account:,.0f} may lose at most {percent(self.risk_fraction)} of itself on one "
                f"trade. A put spread is to be sold on a stock at ${market.spot:g}: short the {high.strike:g} put at "
                f"${high.price:.2f}, long the {low.strike:g} put at ${low.price:.2f}, both with {high.days} days to "
                f"expiry. Sell as many whole spreads as the limit allows; the broker blocks the largest loss of each "
                f"as buying power. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [item.context() for item in self.series],
                "account": self.account,
                "risk_fraction": self.risk_fraction,
                "fall": self.move,
            },
            legs_wanted="The legs are all the spreads that you sell.",
            figures={
                "pnl": (
                    Figure("credit_per_spread", "cash received for one spread in dollars", 0.5),
                    Figure("breakeven", "stock price at expiry of no profit", 0.01, LEVEL_TOLERANCE),
                    Figure("total_credit", "cash received for your position in dollars", 1.0, of_legs=True),
                ),
                "greeks": position_greeks(max(size, 1)),
                "risk": (
                    Figure("max_loss_per_spread", "largest loss of one spread at expiry in dollars", 0.5),
                    Figure("spreads", "number of spreads that the limit allows", 0.0, 0.0),
                    Figure("buying_power", "buying power that they block, in dollars", 1.0),
                    Figure(
                        "profit_after_crash",
                        "change of the value of your position in dollars, with its sign, if the stock falls by "
                        f"{percent(self.move)} and every volatility rises by 5 percentage points at once",
                        5.0,
                        of_legs=True,
                    ),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )


def printed_spread_sizing() -> SpreadSizing:
    """Return the published case: 370/360 puts for a credit of $2.50, $100,000 at 2%. The two quotes are ours."""
    market = Underlying(spot=380.0, rate=0.05, dividend_yield=0.0, volatility=0.22)
    series = tuple(
        with_implied_volatility(market, Series(kind="put", strike=k, days=30, price=price, volatility=0.0))
        for k, price in ((360.0, 3.10), (370.0, 5.60))
    )
    return SpreadSizing(market=market, series=series, account=100_000.0, risk_fraction=0.02, move=0.08)
