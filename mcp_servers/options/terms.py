"""Arguments that several tools of the options server take, each with its unit and its bounds."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from mcp_servers.bounds import MAX_PRICE, MAX_RATE, MAX_VOLATILITY, MAX_YEARS, MIN_RATE

Ticker = Annotated[str, Field(description="Underlying, for example SIM-TECH; the error message names what is quoted")]
Expiration = Annotated[date | None, Field(description="Expiration, ISO; default: the nearest listed")]
OptionType = Annotated[Literal["call", "put"], Field(description="call or put")]
Exercise = Annotated[
    Literal["european", "american"], Field(description="european: at expiry only; american: at any time")
]
Spot = Annotated[float, Field(description="Price of the underlying, currency units", gt=0, le=MAX_PRICE)]
Strike = Annotated[float, Field(description="Exercise price, currency units", gt=0, le=MAX_PRICE)]
Years = Annotated[float, Field(description="Time to expiry in years (calendar days / 365)", ge=0, le=MAX_YEARS)]
Volatility = Annotated[
    float, Field(description="Per year, as a decimal: 0.25 is 25%", ge=0, le=MAX_VOLATILITY, allow_inf_nan=False)
]
Rate = Annotated[
    float, Field(description="Continuously compounded, per year, decimal: 0.05 is 5%", ge=MIN_RATE, le=MAX_RATE)
]
DividendYield = Annotated[
    float, Field(description="Continuously compounded, per year, decimal", ge=MIN_RATE, le=MAX_RATE)
]
