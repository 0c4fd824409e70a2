"""Risk Management: put a floor under a stock holding and pay for it with upside."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import CONTRACT_SIZE, Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement
from evaluators.options.spread_tasks import draw_market
from evaluators.options.valuation import Shock, daily_value_at_risk, greeks, payoff, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, VALUE_AT_RISK, percent, shock_figure


@dataclass(frozen=True, kw_only=True)
class Collar:
    """Protect a holding with bought puts and sold calls within limits on loss, cost and upside."""

    market: Underlying
    series: tuple[Series, ...]
    lots: int
    put: int
    call: int
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> Collar:
        """Draw a market, a chain of puts below and calls above the spot, and the collar that sets the limits."""
        market, days, step = draw_market(rng)
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in (*range(-7, 0), *range(1, 8))]
        kinds: list[Kind] = ["put"] * 7
        kinds += ["call"] * 7
        return cls(
            market=market,
            series=quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * 14, slope=-rng.uniform(0.05, 0.2)),
            lots=rng.randint(3, 60),
            put=rng.randint(2, 5),
            call=rng.randint(8, 11),
            move=rng.randint(8, 16) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, lots = self.market, self.lots
        stock = Holding(None, lots * CONTRACT_SIZE)
        solution = (Holding(self.series[self.put], lots), Holding(self.series[self.call], -lots))
        reference = payoff((stock, *solution), market)
        cost = payoff(solution, market).cost
        loss_limit = math.ceil(1.03 * reference.max_loss / 10) * 10
        profit_floor = math.floor(0.97 * reference.max_profit / 10) * 10
        cost_limit = math.ceil((cost + 0.03 * abs(cost)) / 10) * 10

        def truth(position: Position | None) -> Figures:
            bare = daily_value_at_risk(stock.shares, market.spot, market.volatility)
            fixed = {"value_at_risk_unhedged": bare}
            if position is None:
                return fixed
            whole = (stock, *position)
            result, values = payoff(whole, market), greeks(whole, market)
            figures = {
                **fixed,
                "collar_cost": payoff(position, market).cost,
                "max_profit": result.max_profit,
                "max_loss": result.max_loss,
                **values._asdict(),
                "value_at_risk": daily_value_at_risk(values.delta, market.spot, market.volatility),
                "profit_after_fall": profits(whole, market, [Shock(spot_change=-self.move)])[0],
            }
            if len(result.breakevens) == 1:
                figures["breakeven"] = result.breakevens[0]
            return figures

        def structure(position: Position) -> Sequence[Requirement]:
            held = [(h.series.kind, h.series.strike, h.quantity) for h in position if h.series]
            bought = [strike for kind, strike, quantity in held if kind == "put" and quantity == lots]
            sold = [strike for kind, strike, quantity in held if kind == "call" and quantity == -lots]
            return [
                Requirement("two legs", len(position) == 2),
                Requirement(f"buys {lots} puts and sells {lots} calls", len(bought) == len(sold) == 1),
                Requirement("put strike below call strike", bool(bought and sold and bought[0] < sold[0])),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            result = payoff((stock, *position), market)
            return [
                Requirement(f"loss at most ${loss_limit:,}", result.max_loss <= loss_limit),
                Requirement(f"collar costs at most ${cost_limit:,}", payoff(position, market).cost <= cost_limit),
                Requirement(f"profit of up to ${profit_floor:,} kept", result.max_profit >= profit_floor),
            ]

        price = f"cost at most ${cost_limit:,}" if cost_limit > 0 else f"bring in at least ${-cost_limit:,}"
        whole = "stock and collar together"
        return Problem(
            family="collar",
            category="Risk Management",
            question=(
                f"You hold {lots * CONTRACT_SIZE} shares bought today at ${market.spot:g}. Protect them until the "
                f"options of the chain expire in {self.series[0].days} days with a collar: buy {lots} puts of one "
                f"strike and sell {lots} calls of a higher strike. Stock and collar together may lose at most "
                f"${loss_limit:,} at expiry, the collar must {price}, and a profit of at least ${profit_floor:,} must "
                f"stay possible. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "shares_held": lots * CONTRACT_SIZE,
                "chain": [item.context() for item in self.series],
                "fall": self.move,
            },
            legs_wanted="The legs are the two options of the collar, without the shares.",
            figures={
                "pnl": (
                    Figure("collar_cost", "cash paid for the collar, negative when received", 1.0, of_legs=True),
                    Figure("max_profit", f"largest profit of {whole} at expiry in dollars", 1.0, of_legs=True),
                    Figure("breakeven", f"stock price at expiry at which {whole} break even", 0.01, LEVEL_TOLERANCE,
                           of_legs=True),
                ),
                "greeks": tuple(
                    Figure(name, f"{meaning}, {whole}", margin * lots, of_legs=True)
                    for name, meaning, margin in (
                        ("delta", "delta in shares", 0.05),
                        ("gamma", "gamma in shares per 1.00 of spot", 0.0005),
                        ("theta_per_day", "theta in dollars per calendar day", 0.02),
                        ("vega_per_point", "vega in dollars per percentage point", 0.02),
                    )
                ),
                "risk": (
                    Figure("max_loss", f"largest loss of {whole} at expiry in dollars", 1.0, of_legs=True),
                    Figure("value_at_risk_unhedged", VALUE_AT_RISK + ", of the shares alone", 5.0),
                    Figure("value_at_risk", f"the same for {whole}", 5.0, of_legs=True),
                    shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}", of=whole),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )  # fmt: skip
