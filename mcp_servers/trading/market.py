"""What the lake shows an account: one day's bars, quotes and events, of the instruments that matter to it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import date, timedelta

from lake import adjusting, contracts
from lake.contracts import Contract
from lake.point_in_time import UnknownKey
from lake.sample import Lake
from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.orders import Bar
from mcp_servers.trading.position import Valued
from mcp_servers.trading.prices import Day, OptionQuote

TIMEFRAMES = ("1d", "8h", "4h", "2h", "1h", "15m", "5m", "1m")
"""Of candles that make whole UTC days, the longest first: the longest that was pulled is taken."""
KEPT = 32
FRESH = timedelta(days=7)


class Market:
    """Days of one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._lock = threading.Lock()
        self._coins: OrderedDict[tuple[str, date], dict[date, Bar]] = OrderedDict()

    def require_tradable(self, instrument: Instrument, *, on: date, last: date, held: bool) -> None:
        """Refuse an instrument that is not traded on a day; contracts that are ``held`` may be closed, listed or not.

        Raises
        ------
        ValueError, UnknownKey
            It has no fresh price, or no such option is listed.
        """
        ticker = instrument.ticker
        days = self._days(ticker, as_of=on, last=last)
        if on - days[-1] > FRESH:
            raise ValueError(
                f"{ticker} is not traded any more on {on}: its last price is of {days[-1]}; the simulated markets "
                "(SIM-...) are traded on every weekday"
            )
        if instrument.kind != "option" or held:
            return
        there = contracts.listed(self._lake, ticker, as_of=on)
        if _contract(instrument) in there:
            return
        dates = sorted({contract.expiration for contract in there})
        if instrument.expiration not in dates:
            near = ", ".join(map(str, dates)) or "none"
            raise ValueError(f"expiration={instrument.expiration} is not listed on {on}; listed: {near}")
        strikes = sorted({contract.strike for contract in there if contract.expiration == instrument.expiration})
        assert instrument.strike is not None
        nearest = sorted(strikes, key=lambda strike: abs(strike - (instrument.strike or 0.0)))[:6]
        raise ValueError(
            f"strike={instrument.strike:g} of {instrument.expiration} is not listed on {on}; the nearest are "
            f"{', '.join(f'{strike:g}' for strike in sorted(nearest))}"
        )

    def next_day(self, instruments: Mapping[str, Instrument], *, after: date, upto: date, last: date) -> date | None:
        """Return the next day, ``upto`` included, on which one of the instruments has a price."""
        following = []
        for ticker in {instrument.ticker for instrument in instruments.values()}:
            days = self._days(ticker, as_of=upto, last=last)
            following += [day for day in days[-(upto - after).days - 1 :] if day > after][:1]
        return min(following, default=None)

    def day(self, instruments: Mapping[str, Instrument], *, on: date, last: date) -> Day:
        """Return what a day shows of the instruments; nothing that becomes known after it."""
        tickers = sorted({instrument.ticker for instrument in instruments.values()})
        bars = {ticker: bar for ticker in tickers if (bar := self._bar(ticker, on, last)) is not None}
        shares = [ticker for ticker in bars if "/" not in ticker]
        return Day(
            on,
            bars,
            quotes=self._quotes(instruments, on),
            splits={ticker: adjusting.ratio_on(self._lake, ticker, on) for ticker in shares},
            dividends={ticker: amount for ticker in shares if (amount := self._dividend(ticker, on))},
            funding={ticker: rate for ticker in tickers if ":" in ticker and (rate := self._funding(ticker, on))},
        )

    def quote(self, instrument: Instrument, *, on: date) -> OptionQuote | None:
        """Return the quote of an option at the close of a day."""
        return self._quotes({instrument.name: instrument}, on).get(instrument.name)

    def _days(self, ticker: str, *, as_of: date, last: date) -> tuple[date, ...]:
        if "/" not in ticker:
            return self._lake.bars_of(ticker, as_of=as_of)[0].known_on
        days = tuple(day for day in self._coin(ticker, last) if day <= as_of)
        if not days:
            raise UnknownKey(f"no candles of {ticker!r} were known on {as_of}")
        return days

    def _bar(self, ticker: str, on: date, last: date) -> Bar | None:
        if "/" in ticker:
            return self._coin(ticker, last).get(on)
        known = self._lake.bars_of(ticker, as_of=on)[0]
        if known.known_on[-1] != on:
            return None
        return Bar(known.open[-1], known.high[-1], known.low[-1], known.close[-1], known.volume[-1])

    def _coin(self, ticker: str, last: date) -> dict[date, Bar]:
        """Return the UTC days of a market up to ``last`` as bars. A candle is never restated, so days can be kept."""
        with self._lock:
            if (ticker, last) in self._coins:
                self._coins.move_to_end((ticker, last))
                return self._coins[ticker, last]
        found = self._read_coin(ticker, last)
        with self._lock:
            self._coins[ticker, last] = found
            while len(self._coins) > KEPT:
                self._coins.popitem(last=False)
        return found

    def _read_coin(self, ticker: str, last: date) -> dict[date, Bar]:
        refusal: UnknownKey | None = None
        for timeframe in TIMEFRAMES:
            try:
                known = self._lake.crypto_candles.known(f"{ticker} {timeframe}", as_of=last)
            except UnknownKey as error:
                refusal = refusal or error
                continue
            days: dict[date, Bar] = {}
            columns = (known.known_on, known.open, known.high, known.low, known.close, known.volume)
            for day, opened, high, low, close, volume in zip(*columns, strict=True):
                so_far = days.get(day)
                days[day] = (
                    Bar(opened, high, low, close, volume)
                    if so_far is None
                    else Bar(so_far.open, max(so_far.high, high), min(so_far.low, low), close, so_far.volume + volume)
                )
            return days
        assert refusal is not None
        raise refusal

    def _quotes(self, instruments: Mapping[str, Instrument], on: date) -> dict[str, OptionQuote]:
        by_ticker: dict[str, list[Instrument]] = {}
        for instrument in instruments.values():
            if instrument.expiration is not None and instrument.expiration >= on:
                by_ticker.setdefault(instrument.ticker, []).append(instrument)
        found = {}
        for ticker, options in by_ticker.items():
            wanted = [_contract(instrument) for instrument in options]
            for instrument, quote in zip(options, contracts.quotes(self._lake, ticker, wanted, as_of=on), strict=True):
                if quote is not None:
                    half = (quote.ask - quote.mid) if quote.ask is not None else 0.0
                    valued = Valued(quote.spot, quote.volatility, quote.rate, quote.years, half, quote.american)
                    found[instrument.name] = OptionQuote(quote.bid, quote.ask, quote.mid, quote.volume, valued)
        return found

    def _dividend(self, ticker: str, on: date) -> float:
        try:
            actions = self._lake.actions.known(ticker, as_of=on)
        except UnknownKey:
            return 0.0
        rows = zip(actions.known_on, actions.kind, actions.value, strict=True)
        return sum(value for day, kind, value in rows if day == on and kind == "dividend")

    def _funding(self, ticker: str, on: date) -> float:
        try:
            rates = self._lake.funding.known(ticker, as_of=on)
        except UnknownKey:
            return 0.0
        return sum(rate for day, rate in zip(rates.known_on, rates.rate, strict=True) if day == on)


def _contract(instrument: Instrument) -> Contract:
    assert instrument.expiration is not None and instrument.strike is not None
    return Contract(instrument.expiration, instrument.strike, instrument.option_type == "call")
