"""What one day shows the account: bars, quotes, splits, dividends and funding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from mcp_servers.trading.orders import Bar
from mcp_servers.trading.position import Valued


class OptionQuote(NamedTuple):
    """The quote of an option at a close.

    Attributes
    ----------
    bid, ask, mid
        USD a share; bid and ask None where nobody quotes.
    volume
        Contracts traded that day.
    valued
        The market that it stands in.
    """

    bid: float | None
    ask: float | None
    mid: float
    volume: float
    valued: Valued


@dataclass(frozen=True)
class Day:
    """One day's market, as far as it matters to an account.

    Attributes
    ----------
    bars
        By ticker, of those that traded.
    quotes
        By the option's name, of those that are quoted.
    splits
        Ticker -> shares that one share becomes before the open.
    dividends
        Ticker -> USD a share, of those whose ex-date it is.
    funding
        Ticker -> sum of the day's funding rates, fractions that a long pays a short.
    """

    date: date
    bars: Mapping[str, Bar]
    quotes: Mapping[str, OptionQuote] = field(default_factory=dict)
    splits: Mapping[str, float] = field(default_factory=dict)
    dividends: Mapping[str, float] = field(default_factory=dict)
    funding: Mapping[str, float] = field(default_factory=dict)
