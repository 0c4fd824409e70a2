"""Tools that read a ticker's volatility surface as a desk does: rank, skew, term structure, a calibrated model."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from lake.option_market import OptionMarket
from lake.quoted import history
from lake.sample import Lake
from mcp_servers import caller
from mcp_servers.options.chains import ChainTools
from mcp_servers.options.models import HestonTerms
from mcp_servers.options.terms import Ticker

CALIBRATED_QUOTES = 40
"""Every calibration takes as many, evenly from all, so that one program serves all."""
REALISED_DAYS = 21


class VolatilityAnalysis(BaseModel):
    """Volatilities are decimals per year; columns have one entry an expiration with a curve."""

    ticker: str
    as_of: date
    quoted_on: date = Field(description="Day of the quotes; times to expiry count from here")
    thirty_day_volatility: float | None = Field(description="At the money, interpolated to 30 days, decimal per year")
    iv_rank: float | None = Field(
        description="Percent of the way from the lowest to the highest of the year before; null under 20 days"
    )
    iv_percentile: float | None = Field(description="Percent of those days that were lower; null under 20 days")
    history_days: int = Field(description="Days of the year before whose quotes tell a 30-day volatility")
    history_low: float | None = Field(description="Lowest of them, decimal per year")
    history_high: float | None = Field(description="Highest of them, decimal per year")
    realised_volatility: float | None = Field(
        description="Of the last 21 daily log returns, decimal per year; null where prices are not known"
    )
    expirations: list[date]
    time_to_expiry: list[float] = Field(description="Years")
    at_the_money_volatility: list[float] = Field(description="Term structure, decimal per year")
    forward_volatility: list[float] = Field(description="From the expiration before (or now) to this one, decimal")
    skew: list[float] = Field(
        description="Slope of volatility in log(strike / forward) at the money, decimal per 1.00; < 0: puts cost more"
    )
    put_25_strike: list[float] = Field(description="Strike of the put with forward delta -0.25, USD")
    put_25_volatility: list[float] = Field(description="Decimal per year")
    call_25_strike: list[float] = Field(description="Strike of the call with forward delta 0.25, USD")
    call_25_volatility: list[float] = Field(description="Decimal per year")
    risk_reversal_25: list[float] = Field(description="Call less put volatility, decimal per year")
    butterfly_25: list[float] = Field(description="Mean of both less at the money, decimal per year")
    source: str


class Calibration(BaseModel):
    """Parameters of Heston's model that fit the quotes best; `heston` goes into calculate_option_price as it is."""

    ticker: str
    as_of: date
    quoted_on: date
    volatility: float = Field(description="Square root of the variance now, decimal per year")
    heston: HestonTerms = Field(description="Of the variance process")
    quotes: int = Field(description="Quotes out of the money that were fitted")
    root_mean_square_error: float = Field(description="Of volatility, decimal per year")
    largest_error: float = Field(description="Of volatility, decimal per year")
    feller_ratio: float = Field(description="2 kappa theta / xi^2; variance never reaches 0 from 1 on; no unit")
    source: str


class VolatilityTools:
    """The tools that analyse a surface, over the lake that its history is in."""

    def __init__(self, lake: Lake, chains: ChainTools) -> None:
        self._lake = lake
        self._chains = chains

    def analyze_volatility(self, ticker: Ticker) -> VolatilityAnalysis:
        """Read a ticker's options as a desk does: IV rank and percentile, term structure, skew, risk reversals.

        Volatilities are decimals per year, rank and percentile percent of the year before, times years, strikes USD.
        Example: `{"ticker": "SIM-TECH"}`.
        """
        import numpy as np

        from pricing import surface as surfaces

        market = self._chains.market(ticker)
        days, past = history.thirty_day_volatility(self._lake, market.ticker, as_of=caller.as_of())
        # today's is the last of them, and is ranked among those before it
        current = float(past[-1]) if days and days[-1] == market.day else None
        before = past[:-1] if current is not None else past
        ranked = current is not None and before.size >= history.LEAST_DAYS
        rank = surfaces.iv_rank(current, before) if ranked and current is not None else None
        at_the_money = np.asarray(surfaces.at_the_money_volatility(market.surface, market.years))
        total = np.diff(at_the_money**2 * market.years, prepend=0.0)
        return VolatilityAnalysis(
            ticker=market.ticker,
            as_of=market.as_of,
            quoted_on=market.day,
            thirty_day_volatility=current,
            iv_rank=None if rank is None or rank != rank else rank,
            iv_percentile=surfaces.iv_percentile(current, before) if ranked and current is not None else None,
            history_days=int(before.size),
            history_low=float(before.min()) if before.size else None,
            history_high=float(before.max()) if before.size else None,
            realised_volatility=self._realised(market),
            expirations=list(market.expirations),
            time_to_expiry=market.years.tolist(),
            at_the_money_volatility=at_the_money.tolist(),
            forward_volatility=np.sqrt(total / np.diff(market.years, prepend=0.0)).tolist(),
            source=market.origin,
            **_skews(market, at_the_money),
        )

    def calibrate_heston(self, ticker: Ticker) -> Calibration:
        """Fit Heston's stochastic volatility to a ticker's options, for prices and paths under it.

        Forty quotes are fitted, drawn evenly from all expirations. Volatilities and errors are decimals per year.
        Example: `{"ticker": "SIM-TECH"}`.
        """
        import numpy as np

        from pricing import calibration

        market = self._chains.market(ticker)
        strike, years, volatility = _quotes(market)
        chosen = np.round(np.linspace(0, strike.size - 1, CALIBRATED_QUOTES)).astype(int)
        income = dict(
            zip(market.years.tolist(), [market.dividend_yield(row) for row in range(market.years.size)], strict=True)
        )
        found = calibration.fit_heston(
            spot=market.spot,
            strike=strike[chosen],
            time_to_expiry=years[chosen],
            rate=market.rate,
            dividend_yield=np.array([income[time] for time in years[chosen].tolist()]),
            volatility=volatility[chosen],
        )
        variance, kappa, theta, xi, rho = (float(np.asarray(value)) for value in found.parameters)
        error = np.asarray(found.volatility_error)
        try:
            terms = HestonTerms(
                mean_reversion=kappa, long_run_volatility=theta**0.5, volatility_of_variance=xi, correlation=rho
            )
        except ValidationError:
            raise ValueError(
                f"Heston's model does not fit the options on {market.ticker}: its best parameters mean nothing (mean "
                f"reversion {kappa:.3g} a year, long-run volatility {theta**0.5:.3g}, volatility of variance {xi:.3g})"
            ) from None
        return Calibration(
            ticker=market.ticker,
            as_of=market.as_of,
            quoted_on=market.day,
            volatility=variance**0.5,
            heston=terms,
            quotes=int(np.unique(chosen).size),
            root_mean_square_error=float(np.sqrt(np.mean(error**2))),
            largest_error=float(np.abs(error).max()),
            feller_ratio=float(found.feller_ratio),
            source=market.origin,
        )

    def _realised(self, market: OptionMarket) -> float | None:
        from lake import chains
        from lake.point_in_time import UnknownKey

        try:
            bars, _ = self._lake.bars_of(market.ticker, as_of=market.as_of)
        except UnknownKey:
            return None
        fresh = bars.known_on[-1] >= market.day and len(bars) > REALISED_DAYS
        return chains.realised_variance(bars.close, REALISED_DAYS) ** 0.5 if fresh else None


def _skews(market: OptionMarket, at_the_money: Any) -> dict[str, list[float]]:
    import numpy as np

    from pricing import surface as surfaces

    surface, times = market.surface, [float(time) for time in market.years]
    strikes = {
        name: np.array([float(surfaces.strike_at_delta(surface, delta, time)) for time in times])
        for name, delta in (("put", -0.25), ("call", 0.25))
    }
    volatility = {name: market.volatility(at, market.years) for name, at in strikes.items()}
    return {
        "skew": [float(surfaces.skew(surface, time)) for time in times],
        "put_25_strike": strikes["put"].tolist(),
        "put_25_volatility": volatility["put"].tolist(),
        "call_25_strike": strikes["call"].tolist(),
        "call_25_volatility": volatility["call"].tolist(),
        "risk_reversal_25": [float(surfaces.risk_reversal(surface, time)) for time in times],
        "butterfly_25": (0.5 * (volatility["put"] + volatility["call"]) - at_the_money).tolist(),
    }


def _quotes(market: OptionMarket) -> tuple[Any, Any, Any]:
    """Return strike, years and volatility of the mid of every quote, by expiration."""
    import numpy as np

    if market.fit is not None:
        return market.fit.quotes.strike, market.fit.quotes.time_to_expiry, market.fit.mid
    chain = market.simulated
    assert chain is not None
    return chain.strikes.ravel(), np.repeat(chain.years, chain.strikes.shape[1]), chain.volatility.ravel()
