"""Tools over the listed options of a ticker: expirations, chains, and the fitted surface, quoted or simulated."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from lake import chains
from lake.chains import Chain
from lake.option_market import OptionMarket, option_market
from lake.quoted import snapshot
from lake.quoted.snapshot import Snapshot
from lake.sample import Lake
from mcp_servers import caller
from mcp_servers.options.terms import Expiration, Ticker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_COMPILED_SIZE = 256
Numbers = list[float | None]


class Expirations(BaseModel):
    """Columns; one entry a listed expiration, ascending."""

    ticker: str
    as_of: date
    quoted_on: date = Field(description="Day of the quotes; times to expiry count from here")
    spot: float = Field(description="USD")
    exercise: Literal["european", "american"]
    expiration: list[date]
    time_to_expiry: list[float] = Field(description="Years (calendar days / 365)")
    strikes: list[int] = Field(description="Number of strikes")
    calls: list[int] = Field(description="Calls with a bid and an ask")
    puts: list[int] = Field(description="Puts with a bid and an ask")
    source: str


class OptionsChain(BaseModel):
    """Columns; one entry a strike, ascending. Prices in USD a share; one contract is 100 shares."""

    ticker: str
    as_of: date
    quoted_at: datetime | None = Field(description="When the quotes were made; null for a simulated chain")
    exercise: Literal["european", "american"] = Field(description="american: may be exercised at any time")
    expiration: date
    expirations: list[date] = Field(description="Every listed expiration")
    time_to_expiry: float = Field(description="Years (calendar days / 365), from the day of the quotes")
    spot: float = Field(description="Price of the underlying with the quotes, or its last close, USD")
    spot_date: date
    forward: float | None = Field(description="Forward of the underlying for this expiration, USD")
    rate: float | None = Field(description="Continuously compounded, per year, decimal")
    rate_source: str
    dividend_yield: float | None = Field(description="Continuously compounded, per year, decimal")
    strike: list[float]
    implied_volatility: Numbers = Field(
        description="Of the mid price of the option out of the money, per year, decimal; null without bid and ask"
    )
    fitted_volatility: Numbers = Field(description="Of the fitted surface, per year, decimal")
    call_bid: Numbers
    call_ask: Numbers
    put_bid: Numbers
    put_ask: Numbers
    call_volume: Numbers = Field(description="Contracts traded that day")
    put_volume: Numbers = Field(description="Contracts traded that day")
    call_open_interest: Numbers = Field(description="Contracts")
    put_open_interest: Numbers = Field(description="Contracts")
    call_delta: Numbers = Field(description="Per 1.00 of spot; all Greeks are at the fitted volatility")
    put_delta: Numbers
    gamma: Numbers = Field(description="Per 1.00 of spot, of the option out of the money")
    vega: Numbers = Field(description="Per 1.00 of volatility, of the option out of the money")
    call_theta: Numbers = Field(description="Per year")
    put_theta: Numbers = Field(description="Per year")
    not_fitted: str = Field(description="Why there are no volatilities and Greeks; empty where there are")
    source: str
    underlying_source: str


class FitQuality(BaseModel):
    """How well the surface goes through the quotes, and whether it is free of arbitrage."""

    quotes: int = Field(description="Liquid quotes out of the money that were fitted")
    inside_spread: float = Field(description="Fraction of them where the surface lies between bid and ask")
    median_error: float = Field(description="Median distance from the volatility of the mid, decimal per year")
    median_half_spread: float = Field(description="Median of half the spread in volatility, decimal per year")
    two_sided_quotes: int = Field(description="All quotes with a bid and an ask at these expirations")
    priced_inside_spread: float = Field(description="Fraction of them whose price on the surface is within the spread")
    smallest_density: float = Field(description="Below 0: a butterfly arbitrage; a pure number, no unit")
    smallest_rise: float = Field(description="Of total variance in time; below 0: a calendar arbitrage; no unit")
    is_free_of_arbitrage: bool = Field(description="On a grid of strikes and times")


class SviCurve(BaseModel):
    """Total variance w(k) = a + b (rho (k - m) + sqrt((k - m)^2 + sigma^2)), k = log(strike / forward); no units."""

    a: float
    b: float
    rho: float
    m: float
    sigma: float


class SsviCurves(BaseModel):
    """Gatheral and Jacquier's surface of three parameters and the at-the-money total variances; no units."""

    theta: list[float] = Field(description="At-the-money total variance by expiration")
    rho: float
    eta: float
    gamma: float


class Surface(BaseModel):
    """Implied volatilities by expiration and strike; rows of the nested lists are expirations."""

    ticker: str
    as_of: date
    quoted_on: date = Field(description="Day of the quotes; times to expiry count from here")
    model: Literal["svi", "ssvi"]
    spot: float = Field(description="USD")
    rate: float = Field(description="Continuously compounded, per year, decimal")
    rate_source: str
    expirations: list[date]
    time_to_expiry: list[float] = Field(description="Years")
    forward: list[float] = Field(description="USD")
    at_the_money_volatility: list[float] = Field(description="Where the strike is the forward, per year, decimal")
    strikes: list[list[float]] = Field(description="USD")
    bid_volatility: list[list[float]] | None = Field(description="Of the bid, per year, decimal; null if simulated")
    implied_volatility: list[list[float]] = Field(description="Of the mid, per year, decimal")
    ask_volatility: list[list[float]] | None = Field(description="Of the ask, per year, decimal; null if simulated")
    fitted_volatility: list[list[float]] = Field(description="Of the fitted surface, per year, decimal")
    curves: list[SviCurve] | None = Field(description="By expiration; null for ssvi")
    ssvi: SsviCurves | None = Field(description="null for svi")
    fit: FitQuality | None = Field(description="null for a simulated chain, which lies on its surface")
    left_out: dict[date, str] = Field(description="Expirations that were not fitted, and why")
    source: str


class ChainTools:
    """The tools that read listed options, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def market(self, ticker: str) -> OptionMarket:
        """Return the options on a ticker as known on the caller's date."""
        return option_market(self._lake, ticker.upper(), as_of=caller.as_of())

    def _snapshot(self, ticker: str) -> Snapshot | None:
        """Return the last quotes of a ticker; None where the lake has none and its chain is simulated."""
        if not snapshot.is_quoted(self._lake, ticker, as_of=caller.as_of()):
            return None
        return snapshot.last(self._lake, ticker, as_of=caller.as_of())

    def get_option_expirations(self, ticker: Ticker) -> Expirations:
        """List the expirations of a ticker's options with their numbers of strikes and of quotes.

        Times are years, the spot is USD. Quotes are the last snapshot that was known on the simulation date, or
        simulated ones, which the source says. Example: `{"ticker": "SIM-TECH"}`.
        """
        found = self._snapshot(ticker.upper())
        if found is None:
            chain = chains.chain(self._lake, ticker.upper(), as_of=caller.as_of())
            count = [len(strikes) for strikes in chain.strikes]
            return Expirations(
                ticker=chain.ticker,
                as_of=chain.as_of,
                quoted_on=chain.as_of,
                spot=chain.spot,
                exercise="european",
                expiration=list(chain.expirations),
                time_to_expiry=chain.years.tolist(),
                strikes=count,
                calls=count,
                puts=count,
                source=chains.ORIGIN,
            )
        days, rows = found.expirations, found.rows
        quoted = found.two_sided()
        return Expirations(
            ticker=found.ticker,
            as_of=caller.as_of(),
            quoted_on=found.day,
            spot=found.spot,
            exercise="american" if found.is_american else "european",
            expiration=list(days),
            time_to_expiry=[found.years_to(day) for day in days],
            strikes=[
                len({strike for strike, at in zip(rows.strike, rows.expiration, strict=True) if at == day})
                for day in days
            ],
            calls=[sum(rows.expiration[r] == day and rows.option_type[r] == "call" for r in quoted) for day in days],
            puts=[sum(rows.expiration[r] == day and rows.option_type[r] == "put" for r in quoted) for day in days],
            source=found.origin,
        )

    def get_options_chain(self, ticker: Ticker, expiration: Expiration = None) -> OptionsChain:
        """Return calls and puts of one expiration on the simulation date: quotes, implied volatility, Greeks.

        Quotes are the last snapshot that was known, or simulated where the lake has none: the source says which. Prices
        are USD a share (a contract is 100 shares), times years, rates and volatilities decimals per year. Delta and
        gamma are per 1.00 of spot, theta per year, vega per 1.00 of volatility. Example: `{"ticker": "SIM-TECH"}`.
        """
        found = self._snapshot(ticker.upper())
        if found is not None:
            return self._quoted_chain(found, expiration or found.expirations[0])
        market = self.market(ticker)
        row = market.row_of(expiration or market.expirations[0])
        assert market.simulated is not None
        return _simulated_chain(market, market.simulated, row)

    def _quoted_chain(self, found: Snapshot, expiration: date) -> OptionsChain:
        if expiration not in found.expirations:
            listed = ", ".join(map(str, found.expirations))
            raise ValueError(f"{found.ticker} has no options that expire on {expiration}; listed: {listed}")
        market, row, why = None, None, ""
        try:
            market = self.market(found.ticker)
            row = market.row_of(expiration)
        except ValueError as error:
            why = str(error)
        cells = _by_strike(found, expiration)
        strikes = sorted(cells)
        columns: dict[str, Numbers] = {
            f"{kind}_{name}": [cells[strike].get((kind, name)) for strike in strikes]
            for kind in ("call", "put")
            for name in ("bid", "ask", "volume", "open_interest")
        }
        if market is not None and row is not None:
            columns |= _quoted_figures(market, found, row, strikes, columns)
        else:
            columns |= {name: [None] * len(strikes) for name in _FIGURES}
        fitted = market is not None and row is not None
        return OptionsChain(
            ticker=found.ticker,
            as_of=caller.as_of(),
            quoted_at=found.read_at,
            exercise="american" if found.is_american else "european",
            expiration=expiration,
            expirations=list(found.expirations),
            time_to_expiry=found.years_to(expiration),
            spot=found.spot,
            spot_date=found.day,
            forward=float(market.forward[row]) if market and fitted and row is not None else None,
            rate=market.rate if market else None,
            rate_source=market.rate_origin if market else "none: the quotes have no surface",
            dividend_yield=market.dividend_yield(row) if market and row is not None else None,
            strike=strikes,
            not_fitted=why,
            source=found.origin,
            underlying_source=found.spot_origin,
            **columns,
        )

    def get_iv_surface(
        self,
        ticker: Ticker,
        model: Annotated[
            Literal["svi", "ssvi"],
            Field(description="svi: one curve an expiration (close); ssvi: three parameters for all (smooth)"),
        ] = "svi",
    ) -> Surface:
        """Return the implied volatility surface of a ticker, fitted to its quotes without arbitrage, and its error.

        Quotes of American options are inverted as such. Volatilities and the rate are decimals per year, times years,
        spot, forwards and strikes USD; errors are volatilities or fractions of the quotes. Example:
        `{"ticker": "SIM-TECH"}`.
        """
        market = self.market(ticker)
        if market.fit is None:
            return _simulated_surface(market, model)
        return _fitted_surface(market, model)


_FIGURES = "implied_volatility fitted_volatility call_delta put_delta gamma vega call_theta put_theta".split()


def _by_strike(found: Snapshot, expiration: date) -> dict[float, dict[tuple[str, str], float | None]]:
    rows, cells = found.rows, dict[float, dict[tuple[str, str], float | None]]()
    for row, day in enumerate(rows.expiration):
        if day == expiration:
            cell = cells.setdefault(rows.strike[row], {})
            for name in ("bid", "ask", "volume", "open_interest"):
                cell[rows.option_type[row], name] = getattr(rows, name)[row]
    return cells


def _quoted_figures(
    market: OptionMarket, found: Snapshot, row: int, strikes: list[float], quotes: dict[str, Numbers]
) -> dict[str, Numbers]:
    """Return volatilities and Greeks at all strikes: one call for the one, one for the others."""
    import numpy as np

    from lake.quoted import surface
    from pricing import chain

    strike = np.array(strikes)
    years, forward = float(market.years[row]), float(market.forward[row])
    out = strike >= forward
    bid, ask = (
        np.where(out, _floats(quotes[f"call_{side}"]), _floats(quotes[f"put_{side}"])) for side in ("bid", "ask")
    )
    two_sided = (bid > 0.0) & (bid <= ask)
    parity = chain.Parity(years, 1.0, forward, forward, forward, 0)
    implied = np.full(strike.size, np.nan)
    if two_sided.any():
        wanted = chain.build(
            strike=strike[two_sided],
            time_to_expiry=years,
            is_call=out[two_sided],
            bid=bid[two_sided],
            ask=ask[two_sided],
        )
        implied[two_sided] = surface.implied(
            found, wanted, wanted.mid, market.rate, [parity], least=LEAST_COMPILED_SIZE
        )
    fitted = market.volatility(strike, np.full(strike.size, years))
    delta, gamma, theta, vega = _greeks(market, row, strike, fitted)
    return {
        "implied_volatility": _numbers(implied),
        "fitted_volatility": _numbers(fitted),
        "call_delta": _numbers(delta[0]),
        "put_delta": _numbers(delta[1]),
        "gamma": _numbers(np.where(out, gamma[0], gamma[1])),
        "vega": _numbers(np.where(out, vega[0], vega[1])),
        "call_theta": _numbers(theta[0]),
        "put_theta": _numbers(theta[1]),
    }


def _greeks(
    market: OptionMarket, row: int, strike: NDArray[np.float64], volatility: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Return delta, gamma, theta and vega, each of shape ``[2, strikes]``: calls, then puts."""
    import numpy as np

    from pricing import american, black_scholes
    from pricing.padding import padded

    both = {
        "strike": np.concatenate([strike, strike]),
        "volatility": np.concatenate([volatility, volatility]),
        "is_call": np.repeat([True, False], strike.size),
    }
    terms: dict[str, Any] = {
        **{name: padded(column, least=LEAST_COMPILED_SIZE) for name, column in both.items()},
        "spot": market.spot,
        "time_to_expiry": float(market.years[row]),
        "rate": market.rate,
        "dividend_yield": market.dividend_yield(row),
    }
    if market.american:
        _, greeks = american.greeks(**terms, scheme=american.FAST)
    else:
        greeks = black_scholes.greeks(**terms)
    return tuple(
        np.asarray(getattr(greeks, name))[: 2 * strike.size].reshape(2, -1)
        for name in ("delta", "gamma", "theta", "vega")
    )


def _floats(column: Numbers) -> NDArray[np.float64]:
    import numpy as np

    return np.array([np.nan if value is None else value for value in column], float)


def _numbers(column: NDArray[np.float64]) -> Numbers:
    return [value if value == value else None for value in column.tolist()]


def _simulated_chain(market: OptionMarket, chain: Chain, row: int) -> OptionsChain:
    nothing: Numbers = [None] * len(chain.strikes[row])
    volatility = chain.volatility[row].tolist()
    return OptionsChain(
        ticker=chain.ticker,
        as_of=chain.as_of,
        quoted_at=None,
        exercise="european",
        expiration=chain.expirations[row],
        expirations=list(chain.expirations),
        time_to_expiry=float(chain.years[row]),
        spot=chain.spot,
        spot_date=chain.spot_date,
        forward=float(market.forward[row]),
        rate=chain.rate,
        rate_source=chain.rate_origin,
        dividend_yield=chain.dividend_yield,
        strike=chain.strikes[row].tolist(),
        implied_volatility=volatility,
        fitted_volatility=volatility,
        call_volume=nothing,
        put_volume=nothing,
        call_open_interest=nothing,
        put_open_interest=nothing,
        call_delta=chain.call_delta[row].tolist(),
        put_delta=(chain.call_delta[row] - 1.0).tolist(),
        gamma=chain.gamma[row].tolist(),
        vega=chain.vega[row].tolist(),
        call_theta=chain.call_theta[row].tolist(),
        put_theta=chain.put_theta[row].tolist(),
        not_fitted="",
        source=chains.ORIGIN,
        underlying_source=chain.underlying_origin,
        **_simulated_quotes(chain, row),
    )


def _simulated_quotes(chain: Chain, row: int) -> dict[str, Numbers]:
    """Return bid and ask of both types, in whole cents; a bid is never below zero."""
    columns: dict[str, Numbers] = {}
    for kind, mid in (("call", chain.call[row]), ("put", chain.put[row])):
        columns[f"{kind}_bid"] = [max(0.0, round(value, 2)) for value in (mid - chain.half_spread[row]).tolist()]
        columns[f"{kind}_ask"] = [round(value, 2) for value in (mid + chain.half_spread[row]).tolist()]
    return columns


def _common(market: OptionMarket, model: Literal["svi", "ssvi"]) -> dict[str, Any]:
    return {
        "ticker": market.ticker,
        "as_of": market.as_of,
        "quoted_on": market.day,
        "model": model,
        "spot": market.spot,
        "rate": market.rate,
        "rate_source": market.rate_origin,
        "expirations": list(market.expirations),
        "time_to_expiry": market.years.tolist(),
        "forward": market.forward.tolist(),
        "source": market.origin,
    }


def _curves(market: OptionMarket) -> list[SviCurve]:
    return [SviCurve(**{name: float(value) for name, value in c._asdict().items()}) for c in market.curves]


def _simulated_surface(market: OptionMarket, model: Literal["svi", "ssvi"]) -> Surface:
    chain = market.simulated
    assert chain is not None
    ssvi = SsviCurves(theta=chain.variance.tolist(), rho=chains.SKEW, eta=chains.WING, gamma=chains.POWER)
    volatility = chain.volatility.tolist()
    return Surface(
        **_common(market, model),
        at_the_money_volatility=((chain.variance / chain.years) ** 0.5).tolist(),
        strikes=chain.strikes.tolist(),
        bid_volatility=None,
        implied_volatility=volatility,
        ask_volatility=None,
        fitted_volatility=volatility,
        curves=_curves(market) if model == "svi" else None,
        ssvi=ssvi if model == "ssvi" else None,
        fit=None,
        left_out={},
    )


def _fitted_surface(market: OptionMarket, model: Literal["svi", "ssvi"]) -> Surface:
    import numpy as np

    from lake.quoted import ssvi as ssvi_fit
    from pricing import surface as surfaces

    fit = market.fit
    assert fit is not None
    smooth = ssvi_fit.fit(fit) if model == "ssvi" else None
    fitted = fit.fitted if smooth is None else smooth.fitted
    priced_inside = fit.priced_inside if smooth is None else smooth.priced_inside
    inside = (fitted >= fit.bid) & (fitted <= fit.ask)
    arbitrage = fit.arbitrage if smooth is None else smooth.arbitrage
    at = [fit.quotes.time_to_expiry == years for years in fit.years]
    if smooth is None:
        at_the_money = np.asarray(surfaces.at_the_money_volatility(fit.surface, fit.years))
        of_ssvi = None
    else:
        at_the_money = np.sqrt(smooth.theta / fit.years)
        of_ssvi = SsviCurves(theta=smooth.theta.tolist(), rho=smooth.rho, eta=smooth.eta, gamma=smooth.gamma)
    return Surface(
        **_common(market, model),
        at_the_money_volatility=at_the_money.tolist(),
        strikes=[fit.quotes.strike[rows].tolist() for rows in at],
        bid_volatility=[fit.bid[rows].tolist() for rows in at],
        implied_volatility=[fit.mid[rows].tolist() for rows in at],
        ask_volatility=[fit.ask[rows].tolist() for rows in at],
        fitted_volatility=[fitted[rows].tolist() for rows in at],
        curves=_curves(market) if smooth is None else None,
        ssvi=of_ssvi,
        fit=FitQuality(
            quotes=fitted.size,
            inside_spread=float(inside.mean()),
            median_error=float(np.median(np.abs(fitted - fit.mid))),
            median_half_spread=float(np.median(0.5 * (fit.ask - fit.bid))),
            two_sided_quotes=fit.priced.strike.size,
            priced_inside_spread=float(priced_inside.mean()),
            smallest_density=arbitrage.smallest_density,
            smallest_rise=arbitrage.smallest_rise,
            is_free_of_arbitrage=arbitrage.is_free,
        ),
        left_out=fit.left_out,
    )
