"""What can be traded: shares, listed options, coins and perpetual futures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["share", "option", "coin", "perpetual"]
OptionType: TypeAlias = Literal["call", "put"]

CONTRACT_SHARES = 100.0
DOLLARS = ("USD", "USDT", "USDC")
"""Quote currencies that count as dollars."""


@dataclass(frozen=True)
class Instrument:
    """Something with a price.

    Attributes
    ----------
    ticker
        Of the share, or the symbol of the market (``BTC/USDT`` a coin, ``BTC/USDT:USDT`` a perpetual future); of an
        option, its underlying.
    expiration, strike, option_type
        Of an option; None otherwise. USD a share.
    multiplier
        Shares a contract of an option; 1 otherwise.
    """

    ticker: str
    expiration: date | None = None
    strike: float | None = None
    option_type: OptionType | None = None
    multiplier: float = 1.0

    @property
    def kind(self) -> Kind:
        """What it is, told by its terms and its ticker."""
        if self.option_type is not None:
            return "option"
        if "/" not in self.ticker:
            return "share"
        return "perpetual" if ":" in self.ticker else "coin"

    @property
    def name(self) -> str:
        """The ticker, or the symbol of the option as exchanges write it: ``AAPL130316C00450000``."""
        if self.expiration is None or self.strike is None or self.option_type is None:
            return self.ticker
        return (
            f"{self.ticker}{self.expiration:%y%m%d}{self.option_type[0].upper()}{round(self.strike * 1000):08d}"
            f"{'' if self.multiplier == CONTRACT_SHARES else f'x{self.multiplier:g}'}"
        )

    @property
    def underlying(self) -> str:
        """What positions are margined together by: a coin and the perpetual future on it have one."""
        return self.ticker.partition(":")[0]

    def exercise_value(self, spot: float) -> float:
        """Return what exercising yields a share, USD; 0 for what is no option."""
        if self.strike is None:
            return 0.0
        return max(spot - self.strike if self.option_type == "call" else self.strike - spot, 0.0)


def instrument_of(
    ticker: str, *, expiration: date | None, strike: float | None, option_type: OptionType | None
) -> Instrument:
    """Return the instrument that an order names.

    Raises
    ------
    ValueError
        Some terms of an option are missing, or a market is not quoted in dollars.
    """
    terms = {"expiration": expiration, "strike": strike, "option_type": option_type}
    missing = [name for name, term in terms.items() if term is None]
    if len(missing) == len(terms):
        quote = ticker.partition(":")[0].partition("/")[2]
        if quote and quote not in DOLLARS:
            raise ValueError(f"ticker {ticker!r} is quoted in {quote}; the account is in dollars: {', '.join(DOLLARS)}")
        return Instrument(ticker)
    if missing:
        raise ValueError(f"an option takes expiration, strike and option_type; missing: {', '.join(missing)}")
    if "/" in ticker:
        raise ValueError(f"ticker {ticker!r}: options are on shares")
    return Instrument(ticker, expiration, strike, option_type, CONTRACT_SHARES)
