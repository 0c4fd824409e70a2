"""One day of an account, in the order of the day."""

from __future__ import annotations

from mcp_servers.trading import attribution, corporate_actions, fills, lifecycle, margin
from mcp_servers.trading.account import Account
from mcp_servers.trading.money import money
from mcp_servers.trading.position import Position
from mcp_servers.trading.prices import Day


def pass_day(account: Account, day: Day) -> None:
    """Let a day happen: corporate actions, fills, funding, marks, ends of options, margin call.

    What is owed when everything is closed, the broker bears.
    """
    for ticker, ratio in day.splits.items():
        corporate_actions.split(account, ticker, ratio, day)
    began = attribution.start(account)
    for ticker, amount in day.dividends.items():
        lifecycle.before_the_dividend(account, ticker, amount, day)
        corporate_actions.dividend(account, ticker, amount, day)
    fills.meet(account, day)
    _mark(account, day)
    for ticker, rate in day.funding.items():
        corporate_actions.funding(account, ticker, rate, day)
    lifecycle.assign_early(account, day)
    lifecycle.expire(account, day)
    if account.gross_exposure and account.equity < margin.requirement(account, "maintenance"):
        _liquidate(account, day)
    attribution.attribute(account, began)
    if account.cash < 0 and not any(account.held()):
        account.debt_borne -= account.cash
        account.cash = 0
    account.clock = day.date
    account.curve.append((day.date, account.equity))


def _mark(account: Account, day: Day) -> None:
    for position in account.held():
        instrument = position.instrument
        if instrument.kind != "option":
            if instrument.ticker in day.bars:
                position.mark = day.bars[instrument.ticker].close
            continue
        assert instrument.expiration is not None and position.valued is not None
        if instrument.expiration < day.date:  # its last day had no trading: it settles at the close before
            position.valued = position.valued._replace(years=0.0)
            position.mark = lifecycle.settlement(instrument, position.valued.spot)
        elif (quote := day.quotes.get(instrument.name)) is not None:
            position.mark, position.valued = quote.mid, quote.valued
        elif instrument.expiration == day.date and instrument.ticker in day.bars:
            spot = day.bars[instrument.ticker].close
            position.valued = position.valued._replace(spot=spot, years=0.0)
            position.mark = lifecycle.settlement(instrument, spot)


def _liquidate(account: Account, day: Day) -> None:
    """Close every position at the close, whatever was traded, and cancel what waits."""
    for position in list(account.held()):
        price, fee = _forced_price(position, day)
        account.cash += position.trade(-position.quantity, price) - fee
        position.fees += fee
    account.liquidations += 1
    for order in account.orders.values():
        if order.state in ("waiting", "held"):
            order.cancel(f"the account was liquidated on {day.date}")


def _forced_price(position: Position, day: Day) -> tuple[float, int]:
    instrument, quantity = position.instrument, -float(position.quantity)
    if instrument.kind == "option":
        assert position.valued is not None
        half_spread = position.valued.half_spread
        price = position.mark + half_spread if quantity > 0 else max(position.mark - half_spread, 0.0)
        return price, money(fills.OPTION_FEE * abs(quantity))
    bar = day.bars.get(instrument.ticker)
    return fills.slipped(instrument, quantity, position.mark, bar.volume if bar else 0.0, forced=True)
