"""What every spread of one expiry has that is built from a quoted chain within limits: market, chain, size, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.contract import Json
from evaluators.options.chain import Position, Series, Underlying
from evaluators.options.problem import Problem
from evaluators.options.valuation import Shock, greeks, payoff, probability_of_profit, profits


@dataclass(frozen=True, kw_only=True)
class ChainSpread(Problem):
    """See the module. ``move`` is the jump of the risk figures, relative."""

    market: Underlying
    series: tuple[Series, ...]
    contracts: int
    move: float

    @property
    def days(self) -> int:
        """Days to the common expiry."""
        return self.series[0].days

    def tradable(self) -> Sequence[Series]:
        """Return the chain."""
        return self.series

    def context(self) -> dict[str, Json]:
        """Return the market, the chain and the size."""
        return {
            "underlying": self.market.context(),
            "chain": [item.context() for item in self.series],
            "contracts": self.contracts,
            "move": self.move,
        }

    def probability(self, position: Position) -> float:
        """Return the risk-neutral probability of a profit at expiry."""
        return probability_of_profit(position, self.market, self.days)

    def after_jumps(self, position: Position) -> tuple[float, ...]:
        """Return what a fall and a rise by ``move`` do to the value of a position."""
        return profits(position, self.market, [Shock(spot_change=-self.move), Shock(spot_change=self.move)])

    def common_figures(self, position: Position) -> dict[str, float]:
        """Return the figures that are asked of every such spread."""
        result = payoff(position, self.market)
        down, up = self.after_jumps(position)
        return {
            "max_profit": result.max_profit,
            "max_loss": result.max_loss,
            "probability_of_profit": self.probability(position),
            **greeks(position, self.market)._asdict(),
            "profit_after_fall": down,
            "profit_after_rise": up,
        }
