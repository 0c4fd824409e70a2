"""Answer questions about options that ask for a typed answer.

Every figure of the answer schema is worked out from its name and description: prices and Greeks per share of the first
listed series, figures of a position from its legs. What is not understood is left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp_toolbox import Toolbox, ToolFailure

from desks import structures
from desks.position import (
    SHARES_A_CONTRACT,
    Leg,
    Underlying,
    at_expiry,
    first_number,
    greeks,
    implied_volatility,
    quote,
    read_leg,
    read_underlying,
    shock,
)
from reading.message import context_of
from reading.schema import asked_figures, put

MAX_TRIALS = 12
NORMAL_95 = 1.645


class Desk:
    """One question: its series, the position it holds, the position to be built."""

    def __init__(self, body: dict[str, Any], market: Underlying, toolbox: Toolbox) -> None:
        self.context = context_of(body)
        self.text = str(body.get("question", ""))
        self.market = market
        self.toolbox = toolbox
        listed = self.context.get("options") or [self.context.get("option")]
        self.series = [read_leg(row) for row in listed if isinstance(row, dict)]
        self.chain = [read_leg(row) for row in self.context.get("chain", []) if isinstance(row, dict)]
        sold = first_number(self.context, "contracts_sold")
        self.contracts = first_number(self.context, "contracts", "contracts_held") or (-sold if sold else 1.0)
        self.built: list[Leg] = []
        self._quote: dict[str, Any] = {}

    async def first_quote(self) -> dict[str, Any]:
        """Return model price and Greeks per share of the first listed series."""
        if not self._quote:
            self._quote = await quote(self.series[0], self.market, self.toolbox)
        return self._quote

    async def held(self) -> list[Leg]:
        """Return the position that figures are about: the built one, or the first series bought at its value."""
        if self.built:
            return self.built
        price = (await self.first_quote())["price"]
        first = self.series[0]
        return [Leg(first.kind, self.contracts, first.strike, first.days_to_expiry, price, first.volatility)]

    async def build(self) -> list[Leg]:
        """Return the legs that the question asks for; empty when its structure is not known here."""
        listed = self.context.get("legs") or self.context.get("positions")
        if isinstance(listed, list) and listed and all(isinstance(row, dict) for row in listed):
            return [read_leg(row) for row in listed]
        if self.chain:
            return await self._choose(structures.candidates(self.text, self.chain, self.market))
        if self.series and "only leg is the hedge" in self.text:
            delta = (await self.first_quote())["delta"] * self.contracts * SHARES_A_CONTRACT
            return [Leg("stock", -round(delta), price=self.market.spot)]
        if self.series and self.series[0].price is not None and "hedge" in self.text:
            return await self._delta_neutral()
        return structures.synthetic_stock(self.text, self.series)

    async def _delta_neutral(self) -> list[Leg]:
        """Trade the first series on the side of the model against its quote, hedged with stock."""
        first, model = self.series[0], await self.first_quote()
        side = 1.0 if model["price"] > (first.price or 0.0) else -1.0
        option = Leg(first.kind, side * self.contracts, first.strike, first.days_to_expiry, first.price)
        return [option, Leg("stock", -round(option.shares * model["delta"]), price=self.market.spot)]

    async def _choose(self, found: list[list[Leg]]) -> list[Leg]:
        """Return the first structure that meets the limits of the question, the likeliest to profit first."""
        most_loss = structures.bound(self.text, "lose at most|loss of at most|risk at most")
        least_credit = structures.bound(self.text, "credit of at least|receive at least")
        most_cost = structures.bound(self.text, "cost at most|pay at most|debit of at most")
        fitting = [
            legs
            for legs in found
            if (most_loss is None or -structures.payoff_range(legs)[0] <= most_loss)
            and (least_credit is None or structures.credit(legs) >= least_credit)
            and (most_cost is None or -structures.credit(legs) <= most_cost)
        ]
        least_chance = structures.bound(self.text, "probability of at least|probability above")
        if least_chance is None:
            return fitting[0] if fitting else []
        fitting.sort(key=structures.credit)
        for legs in fitting[:MAX_TRIALS]:
            if ((await at_expiry(legs, self.market, self.toolbox))["probability_of_profit"] or 0.0) >= least_chance:
                return legs
        return fitting[0] if fitting else []


Figure: TypeAlias = Callable[[Desk, str], Awaitable[float | None]]
"""Works one figure out; gets its description."""


def _percent_in(description: str) -> float | None:
    match = re.search(r"(\d+(?:\.\d+)?)%", description)
    return float(match.group(1)) / 100.0 if match else None


def _of_kind(kind: str) -> Figure:
    async def price(desk: Desk, description: str) -> float | None:
        leg = next((leg for leg in desk.series if leg.kind == kind), None)
        return None if leg is None else float((await quote(leg, desk.market, desk.toolbox))["price"])

    return price


def _greek(name: str) -> Figure:
    async def greek(desk: Desk, description: str) -> float | None:
        if "per share" in description and desk.series:
            return float((await desk.first_quote())[name])
        return float((await greeks(await desk.held(), desk.market, desk.toolbox))[name])

    return greek


def _outcome(name: str) -> Figure:
    async def outcome(desk: Desk, description: str) -> float | None:
        value = (await at_expiry(await desk.held(), desk.market, desk.toolbox))[name]
        return None if value is None else float(value)

    return outcome


def _breakeven(place: int) -> Figure:
    async def breakeven(desk: Desk, description: str) -> float | None:
        found = sorted((await at_expiry(await desk.held(), desk.market, desk.toolbox))["breakevens"])
        return float(found[place]) if found else None

    return breakeven


def _move(sign: float) -> Figure:
    async def move(desk: Desk, description: str) -> float | None:
        size = _percent_in(description)
        return None if size is None else await shock(await desk.held(), desk.market, sign * size, desk.toolbox)

    return move


async def _model_value(desk: Desk, description: str) -> float | None:
    return float((await desk.first_quote())["price"]) if desk.series else None


async def _implied(desk: Desk, description: str) -> float | None:
    if not desk.series or desk.series[0].price is None:
        return None
    return await implied_volatility(desk.series[0], desk.market, desk.toolbox)


async def _value_gap(desk: Desk, description: str) -> float | None:
    if not desk.series or desk.series[0].price is None:
        return None
    gap = (await desk.first_quote())["price"] - desk.series[0].price
    return float(gap * desk.contracts * SHARES_A_CONTRACT)


async def _value_at_risk(desk: Desk, description: str) -> float | None:
    """Return the delta-normal value at risk of one day at 95%."""
    if desk.market.volatility is None:
        return None
    delta = (await greeks(await desk.held(), desk.market, desk.toolbox))["delta"]
    return float(NORMAL_95 * abs(delta) * desk.market.spot * desk.market.volatility / math.sqrt(252.0))


async def _return_on_risk(desk: Desk, description: str) -> float | None:
    result = await at_expiry(await desk.held(), desk.market, desk.toolbox)
    return float(result["max_profit"] / result["max_loss"]) if result["max_profit"] and result["max_loss"] else None


async def _profit_at_end(desk: Desk, description: str) -> float | None:
    match = re.search(r"ends at \$?([\d,.]*\d)", description)
    if match is None:
        return None
    end = float(match.group(1).replace(",", ""))
    legs = await desk.held()
    return sum(leg.shares * (structures.intrinsic(leg, end) - (leg.price or 0.0)) for leg in legs)


FIGURES: tuple[tuple[str, Figure], ...] = (
    (r"call_(?:price|value)", _of_kind("call")),
    (r"put_(?:price|value)", _of_kind("put")),
    (r"(?:(?:model|fair)_)?value|option_price", _model_value),
    (r"implied_volatility", _implied),
    (r"value_gap", _value_gap),
    (r"delta", _greek("delta")),
    (r"gamma", _greek("gamma")),
    (r"theta_per_day", _greek("theta_per_day")),
    (r"vega_per_point", _greek("vega_per_point")),
    (r"rho_per_point", _greek("rho_per_point")),
    (r"max_profit", _outcome("max_profit")),
    (r"max_loss", _outcome("max_loss")),
    (r"probability_of_profit", _outcome("probability_of_profit")),
    (r"breakeven(?:_low)?", _breakeven(0)),
    (r"breakeven_high", _breakeven(-1)),
    (r"return_on_risk|reward_to_risk", _return_on_risk),
    (r"cost|net_cost", _outcome("net_cost")),
    (r"profit_at_end_price", _profit_at_end),
    (r"profit_after_fall", _move(-1.0)),
    (r"profit_after_rise", _move(1.0)),
    (r"value_at_risk", _value_at_risk),
)


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply as JSON; None when the question gives no market to price in."""
    schema, market = body.get("answer_schema"), read_underlying(context_of(body))
    if not isinstance(schema, dict) or market is None:
        return None
    desk = Desk(body, market, toolbox)
    strategy = await _tried(desk.build()) or []
    reply: dict[str, Any] = {}
    for path, description in asked_figures(schema).items():
        # Figures of a built position say so; the others are about the first series, held as it is.
        desk.built = strategy if "your position" in description or not desk.series else []
        if "hedge together" in description and desk.series:
            desk.built = [*await desk.held(), *strategy]
        work = next((figure for pattern, figure in FIGURES if re.fullmatch(pattern, path[-1])), None)
        value = await _tried(work(desk, description)) if work and (desk.built or desk.series) else None
        if value is not None:
            put(reply, path, value)
    if strategy:
        put(reply, ("strategy", "legs"), [leg.written() for leg in strategy])
    return json.dumps(reply) if reply else None


async def _tried(work: Awaitable[Any]) -> Any:
    """Return the result of ``work``, None when a tool refuses it."""
    try:
        return await work
    except ToolFailure:
        return None
