"""The tools of the trading simulator."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from lake import sample
from lake.sample import Lake
from mcp_servers import caller, toolset
from mcp_servers.bounds import MAX_PRICE
from mcp_servers.handouts import Handouts
from mcp_servers.toolset import Effect
from mcp_servers.trading import answers, fills
from mcp_servers.trading.account import MarginRule
from mcp_servers.trading.answers import (
    AccountEvents,
    AccountState,
    MarginReport,
    OrderColumns,
    OrderReport,
    Performance,
    ProfitBySource,
)
from mcp_servers.trading.desk import Desk
from mcp_servers.trading.history import HistoryTools
from mcp_servers.trading.instrument import OptionType
from mcp_servers.trading.orders import OrderType, Side, check_prices

WARM_UP_DAY = date(2013, 3, 1)
ID_LENGTH = 64

OrderId = Annotated[
    str,
    Field(description="Your own id of the order; the same id never trades twice", min_length=1, max_length=ID_LENGTH),
]
AnyOrderId = Annotated[
    str,
    Field(
        description="The id that you gave; of an exit of a bracket, that of the entry with :take_profit or :stop_loss",
        min_length=1,
        max_length=ID_LENGTH + len(":take_profit"),
    ),
]
Price = Annotated[float, Field(description="USD a share or coin", gt=0, le=MAX_PRICE)]
Quantity = Annotated[
    float,
    Field(description="Shares, whole option contracts of 100 shares, or coins", gt=0, le=1e9, allow_inf_nan=False),
]
Expiration = Annotated[date, Field(description="Of an option: its last day, ISO")]
Strike = Annotated[float, Field(description="Of an option: exercise price, USD", gt=0, le=MAX_PRICE)]
Ticker = Annotated[
    str,
    Field(
        description="Share (SIM-TECH), the underlying of an option, or a crypto market quoted in dollars: BTC/USDT the "
        "coin, BTC/USDT:USDT the perpetual future"
    ),
]


class TradingTools:
    """The tools, over the accounts of one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def open_account(
        self,
        cash: Annotated[float, Field(description="USD", ge=1_000, le=1e9, allow_inf_nan=False)] = 100_000.0,
        start: Annotated[
            date | None, Field(description="First day of the clock, ISO; default: 90 days before the simulation date")
        ] = None,
        margin: Annotated[
            MarginRule,
            Field(
                description="regulation_t: half the value of shares (a quarter to keep), strategy-based for options; "
                "portfolio: the worst loss of each underlying with its options in a grid of stresses"
            ),
        ] = "regulation_t",
    ) -> AccountState:
        """Open this task's paper account. There is one; opening it again in the same way returns it.

        Money is USD; positions are shares, contracts or coins, > 0 long and < 0 short. For example
        `{"cash": 100000, "start": "2013-01-02"}`.
        """
        if start is not None:
            caller.require_known(start, "start")
        with self._desk.lock:
            arguments = {"cash": cash, "start": start and start.isoformat(), "margin": margin}
            return answers.state(self._desk.execute({"name": "open", "arguments": arguments}))

    def get_account(self) -> AccountState:
        """Return cash, equity, profit and positions.

        Money is USD; positions are shares, contracts or coins, > 0 long and < 0 short.
        """
        with self._desk.lock:
            return answers.state(self._desk.account())

    def place_order(
        self,
        client_order_id: OrderId,
        ticker: Ticker,
        side: Annotated[Side, Field(description="buy or sell; selling what is not held goes short (but no coins)")],
        quantity: Quantity,
        order_type: Annotated[
            OrderType,
            Field(
                description="market: next open plus slippage; limit: when the price trades through it; stop: when it "
                "is reached, at the worse of stop and open plus slippage; bracket: a market order, or a limit order "
                "with limit_price, that leaves two exits, of which one cancels the other. Options: at bid or ask of "
                "the close, once it is no worse than the limit, or has reached the stop"
            ),
        ] = "market",
        limit_price: Price | None = None,
        stop_price: Price | None = None,
        take_profit_price: Annotated[
            float | None, Field(description="Of a bracket: limit of one exit, USD", gt=0, allow_inf_nan=False)
        ] = None,
        stop_loss_price: Annotated[
            float | None, Field(description="Of a bracket: stop of the other exit, USD", gt=0, allow_inf_nan=False)
        ] = None,
        expiration: Expiration | None = None,
        strike: Strike | None = None,
        option_type: Annotated[OptionType | None, Field(description="Of an option: call or put")] = None,
    ) -> OrderReport:
        """Place an order. It meets the trading days after the account's clock: call advance to let them pass.

        An order gets at most a quarter of a day's volume and waits with the rest. An option takes expiration, strike
        and option_type, of the chain on the account's clock. Quantities are shares, contracts or coins; prices are USD
        a share or coin, fees USD. For example
        `{"client_order_id": "a", "ticker": "SIM-TECH", "side": "buy", "quantity": 100}`.
        """
        check_prices(
            order_type,
            side,
            limit_price=limit_price,
            stop_price=stop_price,
            take_profit_price=take_profit_price,
            stop_loss_price=stop_loss_price,
        )
        arguments = {
            "client_order_id": client_order_id,
            "ticker": ticker.strip().upper(),
            "side": side,
            "quantity": quantity,
            "order_type": order_type,
            "limit_price": limit_price,
            "stop_price": stop_price,
        }
        further = {
            "take_profit_price": take_profit_price,
            "stop_loss_price": stop_loss_price,
            "expiration": expiration and expiration.isoformat(),
            "strike": strike,
            "option_type": option_type,
        }
        arguments |= {name: value for name, value in further.items() if value is not None}
        with self._desk.lock:
            account = self._desk.execute({"name": "place", "arguments": arguments})
            return answers.report(account.orders[client_order_id])

    def cancel_order(self, client_order_id: AnyOrderId) -> OrderReport:
        """Cancel an order that waits; what it has bought or sold so far stays.

        Quantities are shares, contracts or coins; prices are USD a share or coin, fees USD. For example
        `{"client_order_id": "a"}`.
        """
        with self._desk.lock:
            account = self._desk.execute({"name": "cancel", "arguments": {"client_order_id": client_order_id}})
            return answers.report(account.orders[client_order_id])

    def list_orders(self) -> OrderColumns:
        """List every order of the account.

        Quantities are shares, contracts or coins; prices are USD a share or coin, fees USD.
        """
        with self._desk.lock:
            return answers.orders(self._desk.account())

    def exercise_option(
        self,
        ticker: Annotated[str, Field(description="Underlying")],
        expiration: Expiration,
        strike: Strike,
        option_type: Annotated[OptionType, Field(description="call or put")],
        quantity: Annotated[float, Field(description="Contracts held, whole", gt=0, le=1e9, allow_inf_nan=False)],
    ) -> AccountState:
        """Exercise American options that are held, at the account's clock: shares change hands at the strike.

        Listed options are American; simulated ones are European and are exercised by themselves on their last day,
        when they are in the money. Sold ones are assigned in the same ways. Money is USD. For example
        `{"ticker": "AAPL", "expiration": "2013-03-16", "strike": 450, "option_type": "call", "quantity": 1}`.
        """
        arguments = {
            "ticker": ticker.strip().upper(),
            "expiration": expiration.isoformat(),
            "strike": strike,
            "option_type": option_type,
            "quantity": quantity,
        }
        with self._desk.lock:
            return answers.state(self._desk.execute({"name": "exercise", "arguments": arguments}))

    def advance(
        self,
        days: Annotated[int | None, Field(description="Calendar days to let pass; give this or `to`", ge=1)] = None,
        to: Annotated[date | None, Field(description="Day up to which time passes, ISO, its close included")] = None,
    ) -> AccountState:
        """Let time pass on the account: orders are filled, positions marked. Never beyond the simulation date.

        Splits, dividends, funding, assignments and expiries happen on their days (`list_events`). Money is USD;
        positions are shares, contracts or coins, > 0 long and < 0 short. For example `{"days": 5}`.
        """
        with self._desk.lock:
            account = self._desk.account()
            if (days is None) == (to is None):
                raise ValueError("give either days or to")
            if days is not None:
                left = (caller.as_of() - account.clock).days
                if days > left:
                    raise ValueError(f"the clock stands on {account.clock} and {left} days are left; got days={days}")
            target = to or account.clock + timedelta(days=days or 0)
            caller.require_known(target, "to")
            if target < account.clock:
                raise ValueError(f"to={target} is before the clock, {account.clock}; time does not run backwards")
            return answers.state(self._desk.execute({"name": "advance", "arguments": {"to": target.isoformat()}}))

    def get_performance(self) -> Performance:
        """Return total return, drawdown, turnover and the equity curve.

        Return and drawdown are decimals: 0.01 is 1%. Turnover is in initial cash; equity and fees are USD.
        """
        with self._desk.lock:
            return answers.performance(self._desk.account())

    def get_profit_by_source(self) -> ProfitBySource:
        """Split the profit of every position, USD: price moves by Greek, their unexplained rest, trading, income, fees.

        Moves of shares and coins count as delta; each day's move of an option is split by the Black-Scholes-Merton
        Greeks of the close before, second order included.
        """
        with self._desk.lock:
            return answers.by_source(self._desk.account())

    def get_margin(self) -> MarginReport:
        """Return what own money the positions need by underlying, USD, and the stress or rule that asks for it."""
        with self._desk.lock:
            return answers.margin_report(self._desk.account())

    def list_events(self) -> AccountEvents:
        """List dividends, funding, splits, exercises, assignments and expiries.

        Quantities are shares, contracts or coins; cash is USD.
        """
        with self._desk.lock:
            return answers.events(self._desk.account())


def warm_up() -> None:
    """Compile what fills, margin and Greeks need, on accounts that nobody sees."""
    for margin in ("regulation_t", "portfolio"):
        tools = TradingTools(Desk(sample.embedded()))
        with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
            tools.open_account(margin="portfolio" if margin == "portfolio" else "regulation_t")
            tools.place_order("bought", "AAPL", "buy", 10.0)
            tools.place_order("sold", "SIM-TECH", "sell", 10.0)
            tools.advance(days=7)
            tools.get_margin()


def build_server(
    *, state_dir: Path | None = None, lake: Lake | None = None, handouts: Handouts | None = None
) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default).

    Parameters
    ----------
    state_dir
        Folder of the journal from which accounts are rebuilt after a restart; None keeps them in memory.
    handouts
        What came before in the markets that tasks trade by messages; none by default.
    """
    tools = TradingTools(Desk(lake or sample.embedded(), None if state_dir is None else state_dir / "accounts.jsonl"))
    shares = fills.SHARES
    return toolset.build(
        "trading",
        title="Trading Simulator",
        instructions=(
            "A paper account on daily prices before the simulation date: shares, listed options, coins and perpetual "
            "futures. Orders placed after a close meet the following days. Fills of shares pay "
            f"{shares.slippage_bps:g} bp half spread, square-root impact of {shares.impact_bps:g} bps at a day's "
            f"volume and {shares.fee_bps:g} bp fee (crypto {fills.CRYPTO.fee_bps:g} bps); options trade at bid and "
            f"ask of the close and pay {fills.OPTION_FEE:g} USD a contract. An order gets at most "
            f"{fills.PARTICIPATION:.0%} of a day's volume (of an option, {fills.QUOTED_CONTRACTS} contracts at least). "
            f"Under margin=regulation_t gross exposure in shares is capped at {shares.max_leverage:g} times equity and "
            f"the account is liquidated at {shares.maintenance_margin:.0%} maintenance margin. Short positions pay no "
            "borrowing fee and cash earns no interest. Splits are applied; dividends that the data have are paid on "
            "the ex-date; perpetual futures exchange the day's funding. Options in the money on their last day are "
            "exercised by themselves. Apart from it, get_history tells what came before in the episodes of a task "
            "whose messages ask for trading decisions."
        ),
        tools=(
            tools.open_account,
            tools.get_account,
            tools.place_order,
            tools.cancel_order,
            tools.list_orders,
            tools.exercise_option,
            tools.advance,
            tools.get_performance,
            tools.get_profit_by_source,
            tools.get_margin,
            tools.list_events,
            HistoryTools(handouts or Handouts()).get_history,
        ),
        changing={
            "open_account": Effect(destructive=False, idempotent=True),
            "place_order": Effect(destructive=False, idempotent=True),
            "cancel_order": Effect(destructive=True, idempotent=True),
            "exercise_option": Effect(destructive=True, idempotent=False),
            "advance": Effect(destructive=True, idempotent=False),
        },
    )
