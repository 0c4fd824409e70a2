"""Options Pricing: fair value with parity, and a quote against a model."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import Holding, Position, Series, Underlying
from evaluators.options.problem import Figure, Figures, Problem, Requirement
from evaluators.options.valuation import Shock, daily_value_at_risk, greeks, profit_at_expiry, profits
from evaluators.options.wording import CONVENTIONS, PER_SHARE_GREEKS, VALUE_AT_RISK, percent, shock_figure
from pricing import black_scholes, implied_volatility


def model_price(underlying: Underlying, series: Series) -> float:
    """Return the Black-Scholes-Merton value per share at the series' own volatility."""
    return float(
        black_scholes.price(
            spot=underlying.spot,
            strike=series.strike,
            time_to_expiry=series.time_to_expiry,
            rate=underlying.rate,
            volatility=series.volatility,
            dividend_yield=underlying.dividend_yield,
            is_call=series.kind == "call",
        )
    )


def per_share_greeks(underlying: Underlying, series: Series) -> dict[str, float]:
    """Return the Greeks of one option per share, under the names of ``PER_SHARE_GREEKS``."""
    of_contract = greeks((Holding(series, 1),), underlying)
    return {name: value / 100 for name, value in of_contract._asdict().items()}


@dataclass(frozen=True, kw_only=True)
class FairValue:
    """Value a call and a put, and build synthetic stock from them."""

    spot: float
    strike: float
    days: int
    rate: float
    dividend_yield: float
    volatility: float
    contracts: int = 8
    synthetic_shares: int = 700
    end_price: float = 195.0
    fall: float = 0.06

    @classmethod
    def draw(cls, rng: random.Random) -> FairValue:
        """Draw the parameters."""
        spot = float(rng.randint(40, 460))
        strike = round(spot * rng.uniform(0.93, 1.09))
        volatility = rng.randint(16, 62) / 100
        days = rng.randint(20, 200)
        reach = 1 + volatility * math.sqrt(days / 365) * rng.uniform(1.1, 1.8)
        return cls(
            spot=spot,
            strike=float(strike),
            days=days,
            rate=rng.randint(4, 22) / 400,
            dividend_yield=rng.randint(0, 12) / 400,
            volatility=volatility,
            contracts=rng.randint(3, 30),
            synthetic_shares=100 * rng.choice([-1, 1]) * rng.randint(3, 25),
            end_price=float(round(strike * reach)),
            fall=rng.randint(4, 12) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market = Underlying(
            spot=self.spot, rate=self.rate, dividend_yield=self.dividend_yield, volatility=self.volatility
        )
        unpriced = [
            Series(kind=kind, strike=self.strike, days=self.days, price=0.0, volatility=self.volatility)
            for kind in ("call", "put")
        ]
        series = [
            Series(kind=s.kind, strike=s.strike, days=s.days, price=model_price(market, s), volatility=s.volatility)
            for s in unpriced
        ]
        call, put = series
        held = (Holding(call, self.contracts),)

        def truth(position: Position | None) -> Figures:
            return {
                "call_price": call.price,
                "put_price": put.price,
                "breakeven": self.strike + call.price,
                "profit_at_end_price": profit_at_expiry(held, market, self.end_price),
                **per_share_greeks(market, call),
                "max_loss": 100 * self.contracts * call.price,
                "profit_after_fall": profits(held, market, [Shock(spot_change=-self.fall)])[0],
                "value_at_risk": daily_value_at_risk(greeks(held, market).delta, self.spot, self.volatility),
            }

        def slope(position: Position, low: float, high: float) -> float:
            gain = profit_at_expiry(position, market, high) - profit_at_expiry(position, market, low)
            return gain / (high - low)

        def structure(position: Position) -> Sequence[Requirement]:
            kinds = {holding.series.kind for holding in position if holding.series}
            return [Requirement("uses both the call and the put", kinds == {"call", "put"})]

        def limits(position: Position) -> Sequence[Requirement]:
            wanted = self.synthetic_shares
            above, below = slope(position, self.strike, 2 * self.strike), slope(position, 0.0, self.strike)
            return [
                Requirement(f"gains {wanted} dollars per dollar above the strike", math.isclose(above, wanted)),
                Requirement(f"gains {wanted} dollars per dollar below the strike", math.isclose(below, wanted)),
            ]

        side = "long" if self.synthetic_shares > 0 else "short"
        contracts = self.synthetic_shares // 100
        return Problem(
            family="fair_value",
            category="Options Pricing",
            question=(
                f"A stock trades at ${self.spot:g}. A call and a put on it are both struck at ${self.strike:g} and "
                f"expire in {self.days} days. The rate is {percent(self.rate)}, the dividend yield "
                f"{percent(self.dividend_yield)} and the volatility {percent(self.volatility)}. Value both options. "
                f"Then take a position long {self.contracts} of the calls, bought at that value, and judge its profit, "
                f"its Greeks per share and its risk. Finally, use this call and this put alone to build a position "
                f"that gains and loses at expiry like {abs(self.synthetic_shares)} shares of stock held {side}. "
                f"{CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "options": [{"kind": s.kind, "strike": s.strike, "days_to_expiry": s.days} for s in series],
                "contracts_held": self.contracts,
                "end_price": self.end_price,
                "fall": self.fall,
            },
            legs_wanted=f"The legs are the synthetic {side} position of {abs(self.synthetic_shares)} shares.",
            figures={
                "pnl": (
                    Figure("call_price", "value of the call per share in dollars", 0.01),
                    Figure("put_price", "value of the put per share in dollars", 0.01),
                    Figure("breakeven", "stock price at expiry at which the long calls break even", 0.02, 0.002),
                    Figure(
                        "profit_at_end_price",
                        f"profit of the long calls in dollars if the stock ends at ${self.end_price:g} at expiry",
                        5.0,
                    ),
                ),
                "greeks": PER_SHARE_GREEKS,
                "risk": (
                    Figure("max_loss", "largest possible loss of the long calls in dollars", 5.0),
                    Figure(
                        "profit_after_fall",
                        f"change of the value of the long calls in dollars, with its sign, if the stock falls by "
                        f"{percent(self.fall)} at once and nothing else changes",
                        5.0,
                    ),
                    Figure("value_at_risk", VALUE_AT_RISK + ", for the long calls", 5.0),
                ),
            },
            series=series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(Holding(call, contracts), Holding(put, -contracts)),
        )


PRINTED_FAIR_VALUE = FairValue(spot=175.0, strike=180.0, days=30, rate=0.05, dividend_yield=0.0, volatility=0.25)


@dataclass(frozen=True, kw_only=True)
class QuotedOption:
    """Judge a quote against a volatility that one believes in, and trade the difference delta-hedged."""

    spot: float
    strike: float
    days: int
    rate: float
    dividend_yield: float
    believed_volatility: float
    quote: float
    contracts: int = 12
    move: float = 0.05

    @classmethod
    def draw(cls, rng: random.Random) -> QuotedOption:
        """Draw the parameters; the quote implies a volatility well away from the believed one."""
        spot = float(rng.randint(60, 620))
        strike = float(round(spot * rng.uniform(0.96, 1.06)))
        believed = rng.randint(22, 60) / 100
        implied = believed + rng.choice([-1, 1]) * rng.uniform(0.05, 0.11)
        days, rate, dividend_yield = rng.randint(25, 120), rng.randint(6, 22) / 400, rng.randint(0, 8) / 400
        market = Underlying(spot=spot, rate=rate, dividend_yield=dividend_yield, volatility=implied)
        series = Series(kind="call", strike=strike, days=days, price=0.0, volatility=implied)
        return cls(
            spot=spot,
            strike=strike,
            days=days,
            rate=rate,
            dividend_yield=dividend_yield,
            believed_volatility=believed,
            quote=round(model_price(market, series), 2),
            contracts=rng.randint(5, 40),
            move=rng.randint(4, 9) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market = Underlying(
            spot=self.spot,
            rate=self.rate,
            dividend_yield=self.dividend_yield,
            volatility=self.believed_volatility,
        )
        call = Series(
            kind="call", strike=self.strike, days=self.days, price=self.quote, volatility=self.believed_volatility
        )
        value = model_price(market, call)
        delta = per_share_greeks(market, call)["delta"]
        side = 1 if value > self.quote else -1
        implied = float(
            implied_volatility.solve(
                price=self.quote,
                spot=self.spot,
                strike=self.strike,
                time_to_expiry=call.time_to_expiry,
                rate=self.rate,
                dividend_yield=self.dividend_yield,
            ).value
        )
        limit = round(0.02 * 100 * self.contracts * delta, 1)

        def truth(position: Position | None) -> Figures:
            fixed = {
                "model_value": value,
                "value_gap": 100 * self.contracts * (value - self.quote),
                "implied_volatility": implied,
                **per_share_greeks(market, call),
            }
            if position is None:
                return fixed
            down, up = profits(position, market, [Shock(spot_change=-self.move), Shock(spot_change=self.move)])
            calmer = profits(position, market, [Shock(volatility_change=implied - self.believed_volatility)])[0]
            return {**fixed, "profit_after_fall": down, "profit_after_rise": up, "profit_at_implied": calmer}

        def options_held(position: Position) -> int:
            return sum(holding.quantity for holding in position if holding.series)

        def structure(position: Position) -> Sequence[Requirement]:
            held = options_held(position)
            return [
                Requirement(f"holds {self.contracts} contracts", abs(held) == self.contracts),
                Requirement("gains if the believed volatility is right", held * side > 0),
                Requirement("is hedged with stock", any(holding.series is None for holding in position)),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            net = greeks(position, market).delta
            return [Requirement(f"position delta within {limit:g} shares of zero", abs(net) <= limit)]

        return Problem(
            family="quoted_option",
            category="Options Pricing",
            question=(
                f"A stock trades at ${self.spot:g}. A call struck at ${self.strike:g} with {self.days} days to expiry "
                f"is quoted at ${self.quote:.2f} per share. The rate is {percent(self.rate)} and the dividend yield "
                f"{percent(self.dividend_yield)}. You are convinced that the right volatility is "
                f"{percent(self.believed_volatility)}. Value the call at that volatility, find the volatility that the "
                f"quote implies, and trade {self.contracts} contracts of the call on the side that gains if you are "
                f"right, hedged with stock so that the delta of the whole, at your volatility, is within {limit:g} "
                f"shares of zero. {CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "option": {"kind": "call", "strike": self.strike, "days_to_expiry": self.days, "quote": self.quote},
                "contracts": self.contracts,
                "move": self.move,
            },
            legs_wanted=f"The legs are the {self.contracts} calls and the stock that hedges them.",
            figures={
                "pnl": (
                    Figure("model_value", "value of the call per share at your volatility, in dollars", 0.01),
                    Figure(
                        "value_gap",
                        f"value less quote of {self.contracts} contracts in dollars, with its sign",
                        5.0,
                    ),
                    Figure("implied_volatility", "volatility implied by the quote, as a decimal fraction", 0.001, 0.01),
                ),
                "greeks": PER_SHARE_GREEKS,
                "risk": (
                    shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                    shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
                    Figure(
                        "profit_at_implied",
                        "change of the model value of your position in dollars, with its sign, if your volatility "
                        "gives way at once to the implied one",
                        20.0,
                        of_legs=True,
                    ),
                ),
            },
            series=[call],
            stock=True,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(
                Holding(call, side * self.contracts),
                Holding(None, -side * round(100 * self.contracts * delta)),
            ),
        )  # fmt: skip


PRINTED_QUOTED_OPTION = QuotedOption(
    spot=450.0, strike=460.0, days=45, rate=0.0525, dividend_yield=0.0, believed_volatility=0.45, quote=18.50
)
