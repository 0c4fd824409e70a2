"""The books add up exactly, whatever happens in whatever order: in whole millionths of a dollar, as Python ints.

Cash is booked where money changes hands, basis and realised profit where positions change, sources where days end:
three books that have to agree to the last millionth after every step.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mcp_servers.trading import attribution, fills, lifecycle
from mcp_servers.trading.account import Account, MarginRule
from mcp_servers.trading.day import pass_day
from mcp_servers.trading.desk import order_of
from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.money import money, worth
from mcp_servers.trading.orders import Bar, exits
from mcp_servers.trading.position import Position, Valued
from mcp_servers.trading.prices import Day, OptionQuote

FIRST = date(2020, 1, 6)
SHARES, COIN, PERPETUAL = "X", "BTC/USDT", "BTC/USDT:USDT"
STRIKES = (80.0, 100.0, 120.0)
prices = st.floats(1.0, 400.0, allow_nan=False)


class Books(RuleBasedStateMachine):
    """Orders, days, splits, dividends, funding, exercises and expiries in any order."""

    @initialize(margin=st.sampled_from(["regulation_t", "portfolio"]), cash=st.sampled_from([1e3, 1e5, 1e7]))
    def open(self, margin: MarginRule, cash: float) -> None:
        deposit = money(cash)
        self.account = Account(deposit, deposit, FIRST, FIRST, margin_rule=margin)
        self.spot = {SHARES: 100.0, COIN: 50.0, PERPETUAL: 50.0}
        self.orders = 0

    @rule(
        ticker=st.sampled_from([SHARES, COIN, PERPETUAL]),
        option=st.none() | st.tuples(st.sampled_from(STRIKES), st.sampled_from(["call", "put"]), st.integers(1, 9)),
        side=st.sampled_from(["buy", "sell"]),
        quantity=st.floats(0.01, 3000.0) | st.integers(1, 60).map(float),
        kind=st.sampled_from(["market", "limit", "stop", "bracket"]),
        price=prices,
    )
    def place(
        self, ticker: str, option: tuple[float, str, int] | None, side: str, quantity: float, kind: str, price: float
    ) -> None:
        self.orders += 1
        terms = {
            "client_order_id": str(self.orders),
            "ticker": ticker,
            "side": side,
            "quantity": quantity,
            "order_type": kind,
            "limit_price": price if kind == "limit" else None,
            "stop_price": price if kind == "stop" else None,
        }
        if kind == "bracket":
            up, down = 1.1 * price, 0.9 * price
            terms |= {
                "take_profit_price": up if side == "buy" else down,
                "stop_loss_price": down if side == "buy" else up,
            }
        if option is not None and ticker == SHARES:
            strike, option_type, days = option
            expiration = self.account.clock + timedelta(days=days)
            terms |= {"strike": strike, "option_type": option_type, "expiration": expiration.isoformat()}
            terms["quantity"] = float(max(1, int(quantity) % 40))
        order = order_of(terms, placed_on=self.account.clock)
        for each in (order, *(exits(order) if kind == "bracket" else ())):
            self.account.orders[each.client_order_id] = each

    @precondition(lambda self: bool(self.account.waiting()))
    @rule(number=st.integers(1, 30))
    def cancel(self, number: int) -> None:
        order = self.account.orders.get(str(number))
        if order is not None and order.state == "waiting":
            fills.cancel(self.account, order, "by the test")

    @precondition(lambda self: bool(self.account.orders))
    @rule(
        moves=st.tuples(st.floats(0.5, 1.8), st.floats(0.5, 1.8)),
        range_=st.floats(0.0, 0.2),
        volume=st.sampled_from([0.0, 10.0, 1e4, 1e7]),
        ratio=st.sampled_from([1.0] * 6 + [2.0, 1.5, 0.1, 1 / 7]),
        dividend=st.sampled_from([0.0] * 4 + [0.5, 7.123456]),
        funding=st.sampled_from([0.0, 1e-4, -3.3e-4]),
        half_spread=st.sampled_from([0.01, 0.5]),
        time_value=st.sampled_from([0.0, 0.3, 4.0]),
        american=st.booleans(),
    )
    def day(
        self,
        moves: tuple[float, float],
        range_: float,
        volume: float,
        ratio: float,
        dividend: float,
        funding: float,
        half_spread: float,
        time_value: float,
        american: bool,
    ) -> None:
        today = self.account.clock + timedelta(days=1)
        self.spot[SHARES] = self.spot[SHARES] / ratio * moves[0]
        self.spot[COIN] *= moves[1]
        self.spot[PERPETUAL] = self.spot[COIN] * 1.001
        for ticker in self.spot:
            self.spot[ticker] = min(max(self.spot[ticker], 0.05), 1e5)
        bars = {
            ticker: Bar(spot, spot * (1 + range_), spot * (1 - range_), spot * (1 + range_ / 2), volume)
            for ticker, spot in self.spot.items()
        }
        close = bars[SHARES].close
        splits = {SHARES: ratio}
        quotes = {}
        for name, instrument in self._options(ratio).items():
            assert instrument.expiration is not None
            years = max((instrument.expiration - today).days, 0) / 365
            mid = instrument.exercise_value(close) + time_value * (years > 0.0)
            valued = Valued(close, 0.3, 0.02, years, half_spread, american)
            bid = max(mid - half_spread, 0.0) or None
            quotes[name] = OptionQuote(bid, mid + half_spread, mid, volume, valued)
        day = Day(today, bars, quotes, splits, {SHARES: dividend} if dividend else {}, {PERPETUAL: funding})
        pass_day(self.account, day)
        for order in self.account.orders.values():
            if order.filled_quantity:
                event(f"{order.instrument.kind} {order.state}, {order.order_type}")
        for _, what, *_ in self.account.events:
            event(what.partition(" of ")[0])
        event(f"liquidated: {self.account.liquidations > 0}, debt: {self.account.debt_borne > 0}")

    def _options(self, ratio: float) -> dict[str, Instrument]:
        """Return the options that matter, as they are called after the split of the morning."""
        found = {}
        for instrument in self.account.instruments().values():
            if instrument.kind == "option":
                adjusted = Position(instrument)
                if ratio != 1.0:
                    from mcp_servers.trading.corporate_actions import _adjust

                    _adjust(adjusted, ratio)
                found[adjusted.instrument.name] = adjusted.instrument
        return found

    def _exercisable(self) -> list[Position]:
        return [p for p in self.account.held() if p.instrument.kind == "option" and p.quantity > 0 and p.valued]

    @precondition(lambda self: bool(self._exercisable()))
    @rule(number=st.integers(1, 5))
    def exercise(self, number: int) -> None:
        for position in self._exercisable()[:1]:
            contracts = min(position.quantity, Decimal(number))
            assert position.valued is not None
            lifecycle.exercise(
                self.account, position, contracts, position.valued.spot, Day(self.account.clock, {}), "exercised"
            )
            attribution.attribute(self.account, ())

    @invariant()
    def money_is_whole(self) -> None:
        account = getattr(self, "account", None)
        if account is not None:
            sums = [account.cash, account.equity, account.debt_borne]
            sums += [n for p in account.positions.values() for n in (p.basis, p.realised, p.income, p.fees, p.value)]
            assert all(type(number) is int for number in sums)

    @invariant()
    def cash_and_positions_are_the_deposit_and_the_profit(self) -> None:
        account = getattr(self, "account", None)
        if account is None:
            return
        positions = account.positions.values()
        realised = sum(position.realised for position in positions)
        unrealised = sum(position.unrealised for position in positions)
        income, fees = sum(p.income for p in positions), sum(p.fees for p in positions)
        held = sum(worth(p.quantity, p.mark, multiplier=p.instrument.multiplier) for p in positions)
        assert account.cash + held == (account.deposit + realised + unrealised + income - fees + account.debt_borne)

    @invariant()
    def nothing_held_has_no_basis(self) -> None:
        account = getattr(self, "account", None)
        for position in account.positions.values() if account else ():
            assert position.quantity or position.basis == 0
            assert position.quantity * position.basis >= 0 or position.instrument.kind == "option"

    @invariant()
    def the_sources_are_the_profit(self) -> None:
        account = getattr(self, "account", None)
        if account is None:
            return
        for position in account.positions.values():
            assert position.by_source.total() == position.profit
        total = sum(position.by_source.total() for position in account.positions.values())
        assert account.equity - account.deposit == total + account.debt_borne

    @invariant()
    def no_order_trades_more_than_it_says(self) -> None:
        account = getattr(self, "account", None)
        for order in account.orders.values() if account else ():
            assert 0 <= order.filled_quantity <= order.quantity
            done = order.left == 0 and order.filled_quantity > 0
            # an exit that filled in part is done, too, when the other one closes the rest
            assert done if order.state == "filled" else not done or order.state == "cancelled"


def _played(examples: int) -> settings:
    return settings(
        max_examples=examples, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
    )


def test_the_books_agree_whatever_happens() -> None:
    run_state_machine_as_test(Books, settings=_played(50))


@pytest.mark.campaign
@pytest.mark.timeout(600)
def test_the_books_agree_in_many_histories() -> None:
    run_state_machine_as_test(Books, settings=_played(600))
