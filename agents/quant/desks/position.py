"""Option positions: the legs, and what the pricing and risk tools say about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_toolbox import Toolbox

DAYS_A_YEAR = 365.0
SHARES_A_CONTRACT = 100.0


@dataclass(frozen=True)
class Underlying:
    """Market data; rates and volatility are decimals per year."""

    spot: float
    rate: float
    dividend_yield: float
    volatility: float | None


@dataclass(frozen=True)
class Leg:
    """One leg.

    Attributes
    ----------
    kind
        ``call``, ``put`` or ``stock``.
    quantity
        Contracts, or shares of stock; positive bought, negative sold.
    price
        Price per share at which it is opened; None when it is not known.
    """

    kind: str
    quantity: float
    strike: float | None = None
    days_to_expiry: float | None = None
    price: float | None = None
    volatility: float | None = None

    @property
    def shares(self) -> float:
        """Shares that the leg is on."""
        return self.quantity * (1.0 if self.kind == "stock" else SHARES_A_CONTRACT)

    def written(self) -> dict[str, Any]:
        """Return the leg as answers write it."""
        if self.kind == "stock":
            return {"option_type": "stock", "quantity": round(self.quantity)}
        return {
            "option_type": self.kind,
            "quantity": round(self.quantity),
            "strike": self.strike,
            "days_to_expiry": round(self.days_to_expiry or 0),
        }


def read_underlying(context: dict[str, Any]) -> Underlying | None:
    """Return the market data of a question; None when it gives no spot price."""
    data = context.get("underlying")
    data = data if isinstance(data, dict) else context
    if not isinstance(data.get("spot"), int | float):
        return None
    return Underlying(
        float(data["spot"]),
        float(data.get("rate", 0.0)),
        float(data.get("dividend_yield", 0.0)),
        None if data.get("volatility") is None else float(data["volatility"]),
    )


def first_number(data: dict[str, Any], *keys: str) -> float | None:
    """Return the first number under any of these keys."""
    return next((float(data[key]) for key in keys if isinstance(data.get(key), int | float)), None)


def read_leg(data: dict[str, Any], *, quantity: float = 0.0) -> Leg:
    """Return the option or stock that a question lists."""
    return Leg(
        kind=str(data.get("option_type", data.get("type", "call"))),
        quantity=first_number(data, "quantity", "contracts", "shares") or quantity,
        strike=first_number(data, "strike"),
        days_to_expiry=first_number(data, "days_to_expiry", "days"),
        price=first_number(data, "price", "quote", "premium"),
        volatility=first_number(data, "volatility"),
    )


async def quote(leg: Leg, market: Underlying, toolbox: Toolbox, *, volatility: float | None = None) -> dict[str, Any]:
    """Return model price and Greeks per share."""
    return await toolbox.call(
        "options",
        "calculate_option_price",
        spot=market.spot,
        strike=leg.strike,
        rate=market.rate,
        volatility=volatility or leg.volatility or market.volatility,
        time_to_expiry=(leg.days_to_expiry or 0.0) / DAYS_A_YEAR,
        option_type=leg.kind,
        dividend_yield=market.dividend_yield,
    )


async def implied_volatility(leg: Leg, market: Underlying, toolbox: Toolbox) -> float:
    """Return the volatility that the price of the leg implies."""
    result = await toolbox.call(
        "options",
        "calculate_implied_volatility",
        price=leg.price,
        spot=market.spot,
        strike=leg.strike,
        rate=market.rate,
        time_to_expiry=(leg.days_to_expiry or 0.0) / DAYS_A_YEAR,
        option_type=leg.kind,
        dividend_yield=market.dividend_yield,
    )
    return float(result["implied_volatility"])


def _held(legs: list[Leg], market: Underlying) -> list[dict[str, Any]]:
    rows = []
    for leg in legs:
        row: dict[str, Any] = {
            "option_type": leg.kind,
            "quantity": leg.quantity,
            "spot": market.spot,
            "underlying": "underlying",
        }
        if leg.kind != "stock":
            row |= {
                "strike": leg.strike,
                "time_to_expiry": (leg.days_to_expiry or 0.0) / DAYS_A_YEAR,
                "volatility": leg.volatility or market.volatility,
            }
        rows.append(row)
    return rows


async def greeks(legs: list[Leg], market: Underlying, toolbox: Toolbox) -> dict[str, Any]:
    """Return the Greeks of the whole position, in shares and dollars."""
    return await toolbox.call(
        "risk",
        "calculate_portfolio_greeks",
        positions=_held(legs, market),
        rate=market.rate,
        dividend_yield=market.dividend_yield,
    )


async def shock(legs: list[Leg], market: Underlying, spot_change: float, toolbox: Toolbox) -> float:
    """Return the change of value in dollars when the spot moves by a fraction at once."""
    result = await toolbox.call(
        "risk",
        "run_stress_test",
        portfolio={
            "positions": _held(legs, market),
            "rate": market.rate,
            "dividend_yield": market.dividend_yield,
        },
        scenarios=[{"name": "move", "spot_change": spot_change}],
    )
    return float(result["profit_and_loss"][0])


async def at_expiry(legs: list[Leg], market: Underlying, toolbox: Toolbox) -> dict[str, Any]:
    """Return maximum profit and loss, breakevens and probability of profit of a position with one expiry."""
    days = next((leg.days_to_expiry for leg in legs if leg.days_to_expiry), None)
    rows = [
        {"option_type": leg.kind, "quantity": leg.quantity, "premium": leg.price or 0.0}
        | ({} if leg.kind == "stock" else {"strike": leg.strike})
        for leg in legs
    ]
    arguments: dict[str, Any] = {"legs": rows, "rate": market.rate, "dividend_yield": market.dividend_yield}
    if days and market.volatility:
        arguments |= {"spot": market.spot, "time_to_expiry": days / DAYS_A_YEAR, "volatility": market.volatility}
    return await toolbox.call("options", "analyze_strategy", **arguments)
