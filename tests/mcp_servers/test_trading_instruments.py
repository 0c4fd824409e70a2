"""Options, coins and perpetual futures on the paper account: quotes, ends of contracts, dividends, funding, margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from lake import contracts, sample
from lake.point_in_time import PointInTime
from lake.records import Actions, Bars, CryptoBars, FundingRates, OptionQuotes
from mcp_servers import trading

Ask = Callable[..., Any]
MONDAY = date(2020, 1, 6)
DAYS = [MONDAY + timedelta(days=number) for number in (0, 1, 2, 3, 4, 7, 8)]
AS_OF = DAYS[-1]
CLOSES = (100.0, 100.0, 110.0, 120.0, 121.0, 90.0, 90.0)
EXPIRY = DAYS[4]
LATER = date(2020, 2, 21)
CALL = {"ticker": "X", "strike": 105.0, "option_type": "call", "expiration": EXPIRY.isoformat()}
SYMBOL = "X200110C00105000"


def quote(day: date, option_type: str, strike: float, bid: float | None, ask: float | None, **terms: Any) -> tuple:
    spot = dict(zip(DAYS, CLOSES, strict=True))[day]
    read_at = datetime(day.year, day.month, day.day, 21, tzinfo=UTC)
    expiration, volume = terms.get("expiration", EXPIRY), terms.get("volume", 1000.0)
    return (day, read_at, spot, expiration, option_type, strike, bid, bid, ask, volume, 10.0, 0.2)


QUOTES = [
    quote(DAYS[0], "call", 105.0, 1.9, 2.1),
    quote(DAYS[0], "put", 105.0, 6.0, 6.4),
    quote(DAYS[0], "call", 110.0, 0.9, 1.1),
    quote(DAYS[1], "call", 105.0, 2.0, 2.2),
    quote(DAYS[1], "put", 105.0, 6.0, 6.4),
    quote(DAYS[1], "call", 110.0, 1.0, 1.2, volume=None),
    quote(DAYS[2], "call", 105.0, 5.8, 6.2),
    quote(DAYS[2], "put", 105.0, 0.4, 0.6),
    quote(DAYS[2], "call", 110.0, 2.0, 2.4, volume=100.0),
    quote(DAYS[3], "call", 105.0, 14.8, 15.0),
    quote(DAYS[3], "put", 105.0, None, 0.1),
    quote(DAYS[3], "call", 110.0, 10.2, 10.6),
    quote(DAYS[4], "call", 105.0, 15.9, 16.1),
]


def make_lake(*, dividend: float = 0.0) -> sample.Lake:
    opens = (100.0, *CLOSES[:-1])
    bars = Bars(
        tuple(DAYS),
        opens,
        tuple(max(pair) + 1 for pair in zip(opens, CLOSES, strict=True)),
        tuple(min(pair) - 1 for pair in zip(opens, CLOSES, strict=True)),
        CLOSES,
        (10_000.0,) * len(DAYS),
    )
    hours = [datetime(2020, 1, 6, tzinfo=UTC) + timedelta(hours=hour) for hour in range(24 * 9)]
    candles = CryptoBars.of(
        [(at.date(), at, 100.0 + hour, 103.0 + hour, 99.0 + hour, 101.0 + hour, 10.0) for hour, at in enumerate(hours)]
    )
    paid = [at for at in hours if at.hour % 8 == 0]
    rates = FundingRates.of([(at.date(), at, 0.001) for at in paid])
    actions = Actions((DAYS[3],), ("dividend",), (dividend,)) if dividend else Actions((), (), ())
    return replace(
        sample.embedded(),
        bars=PointInTime("fixture", lambda: {"X": bars}),
        option_quotes=PointInTime("fixture", lambda: {"X": OptionQuotes.of(QUOTES)}),
        actions=PointInTime("fixture", lambda: {"X": actions}),
        crypto_candles=PointInTime("fixture", lambda: {"BTC/USDT 1h": candles, "BTC/USDT:USDT 1h": candles}),
        funding=PointInTime("fixture", lambda: {"BTC/USDT:USDT": rates}),
    )


@pytest.fixture
def desk(ask: Ask) -> Callable[..., Any]:
    def opened(cash: float = 100_000.0, margin: str = "regulation_t", lake: sample.Lake | None = None) -> Any:
        server = trading.build_server(lake=lake or make_lake())

        def call(tool: str, **arguments: Any) -> Any:
            return ask(server, tool, as_of=AS_OF, **arguments)

        call("open_account", cash=cash, start=MONDAY.isoformat(), margin=margin)
        return call

    return opened


def order(name: str, **terms: Any) -> dict[str, Any]:
    return {"client_order_id": name, "side": "buy", "quantity": 1} | terms


def row(state: dict[str, Any], column: str, ticker: str) -> Any:
    return state[column][state["ticker"].index(ticker)]


def test_an_option_is_bought_at_the_ask_of_the_close_and_marked_at_the_mid(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", quantity=3, **CALL))
    state = act("advance", days=1)
    assert state["ticker"] == [SYMBOL] and state["kind"] == ["option"]
    assert state["cash"] == pytest.approx(100_000 - 3 * 100 * 2.2 - 3 * 0.65, abs=1e-9)
    assert state["last_price"] == [pytest.approx(2.1)]
    assert state["equity"] == pytest.approx(100_000 - 3 * 100 * 0.1 - 3 * 0.65, abs=1e-9)


def test_a_thin_option_fills_ten_contracts_a_day_and_a_quarter_of_what_was_traded(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", quantity=60, **(CALL | {"strike": 110.0})))
    act("advance", days=1)
    orders = act("list_orders")
    assert (orders["filled_quantity"], orders["state"]) == ([10], ["waiting"])
    act("advance", days=1)
    orders = act("list_orders")
    assert orders["filled_quantity"] == [35]
    assert orders["fill_price"] == [pytest.approx((10 * 1.2 + 25 * 2.4) / 35)]
    act("advance", days=1)
    assert act("list_orders")["state"] == ["filled"]


def test_a_share_order_gets_a_quarter_of_the_volume_a_day(desk: Any) -> None:
    act = desk(1e6)
    act("place_order", **order("a", ticker="X", quantity=4_000))
    state = act("advance", days=1)
    assert state["shares"] == [2_500] and state["waiting_orders"] == ["a"]
    assert "1500 left: the market was thin" in act("list_orders")["note"][0]
    act("cancel_order", client_order_id="a")
    assert act("advance", days=1)["shares"] == [2_500]


def test_a_call_in_the_money_at_expiry_becomes_shares_at_the_strike(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", quantity=2, **CALL))
    bought = act("advance", days=1)
    state = act("advance", to=EXPIRY.isoformat())
    assert row(state, "shares", "X") == 200 and row(state, "shares", SYMBOL) == 0
    assert state["cash"] == pytest.approx(bought["cash"] - 200 * 105.0, abs=1e-9)
    assert row(state, "position_realised", SYMBOL) == pytest.approx(200 * (121.0 - 105.0 - 2.2), abs=1e-9)
    assert row(state, "position_unrealised", "X") == 0
    assert act("list_events")["event"] == ["exercised at expiry"]
    after = act("advance", to=AS_OF.isoformat())
    assert row(after, "position_unrealised", "X") == pytest.approx(200 * (90.0 - 121.0))


def test_a_put_out_of_the_money_expires_worthless(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", quantity=2, side="sell", **(CALL | {"option_type": "put"})))
    act("advance", days=1)
    state = act("advance", to=EXPIRY.isoformat())
    assert state["shares"] == [0]
    assert state["realised"] == pytest.approx(2 * 100 * 6.0)
    assert act("list_events")["event"] == ["expired worthless"]


def test_a_sold_call_without_time_value_is_assigned_early(desk: Any) -> None:
    act = desk()
    act("place_order", **order("s", ticker="X", quantity=100))
    act("place_order", **order("a", side="sell", **CALL))
    act("advance", to=DAYS[2].isoformat())
    assert act("list_events")["event"] == []
    # on day 3 the mid is 14.90 and the exercise value 15
    state = act("advance", to=DAYS[3].isoformat())
    assert act("list_events")["event"] == ["assigned early"]
    assert row(state, "shares", SYMBOL) == 0 and row(state, "shares", "X") == 0
    assert act("list_events")["cash"] == [105.0 * 100]


def test_a_sold_call_is_assigned_the_evening_before_a_dividend_above_its_time_value(desk: Any) -> None:
    # on day 2 the mid is 6.00, the exercise value 5: a dividend of 1.50 on day 3 is more than what is left
    act = desk(lake=make_lake(dividend=1.5))
    act("place_order", **order("a", side="sell", **CALL))
    act("advance", to=DAYS[3].isoformat())
    events = act("list_events")
    assert events["event"] == ["assigned before the dividend", "dividend of 1.5 a share"]
    assert events["cash"] == [10_500.0, -150.0]


def test_a_holder_receives_the_dividend_on_the_ex_date(desk: Any) -> None:
    act = desk(lake=make_lake(dividend=0.75))
    act("place_order", **order("a", ticker="X", quantity=200))
    before = act("advance", to=DAYS[2].isoformat())
    after = act("advance", to=DAYS[3].isoformat())
    assert after["cash"] - before["cash"] == pytest.approx(150.0, abs=1e-9)
    assert after["income"] == 150.0 and after["position_income"] == [150.0]


def test_a_listed_option_can_be_exercised_early_and_a_simulated_one_cannot(desk: Any, ask: Ask) -> None:
    act = desk()
    act("place_order", **order("a", quantity=2, **CALL))
    before = act("advance", to=DAYS[2].isoformat())
    assert "of the 2 held" in act("exercise_option", quantity=3, **CALL)
    state = act("exercise_option", quantity=1, **CALL)
    assert state["cash"] == pytest.approx(before["cash"] - 10_500.0, abs=1e-9)
    # the time value that the exercise gave away
    assert state["equity"] == pytest.approx(before["equity"] - 100 * (6.0 - 5.0), abs=1e-9)
    server, as_of = trading.build_server(), date(2020, 2, 3)
    chain = contracts.listed(sample.embedded(), "SIM-TECH", as_of=date(2020, 1, 2))
    call = min(contract for contract in chain if contract.is_call)
    terms = {"expiration": call.expiration.isoformat(), "strike": call.strike, "option_type": "call"}
    ask(server, "open_account", as_of=as_of, start="2020-01-02")
    ask(server, "place_order", as_of=as_of, **order("a", ticker="SIM-TECH", **terms))
    ask(server, "advance", as_of=as_of, to="2020-01-06")
    assert "is European" in ask(server, "exercise_option", as_of=as_of, ticker="SIM-TECH", quantity=1, **terms)


def test_what_is_not_listed_is_refused_with_what_is(desk: Any) -> None:
    act = desk()
    assert "not listed on 2020-01-06; listed: 2020-01-10" in act(
        "place_order", **order("a", **(CALL | {"expiration": "2020-03-20"}))
    )
    assert "the nearest are 105, 110" in act("place_order", **order("a", **(CALL | {"strike": 104.0})))
    assert "missing: strike" in act("place_order", **order("a", **{k: v for k, v in CALL.items() if k != "strike"}))
    assert "whole contracts" in act("place_order", **order("a", **(CALL | {"quantity": 1.5})))


def test_the_profit_of_an_option_is_split_by_greek_without_a_rest(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", quantity=10, **CALL))
    act("advance", days=1)
    split = act("get_profit_by_source")
    assert split["trading"] == [pytest.approx(-10 * 100 * 0.1)] and split["fees"] == [-6.5]
    act("advance", days=1)
    split = {name: column[0] for name, column in act("get_profit_by_source").items() if name not in ("clock", "ticker")}
    sources = [split[name] for name in split if name not in ("realised", "unrealised", "profit")]
    assert sum(sources) == pytest.approx(split["profit"], abs=1e-9)
    assert split["profit"] == pytest.approx(10 * 100 * (6.0 - 2.2) - 6.5, abs=1e-6)
    # a rise of 10% in a day: delta and gamma make most of it, a day costs something
    assert split["delta"] > 0 and split["gamma"] > 0 and split["theta"] < 0


def test_a_covered_call_needs_the_margin_of_the_shares_and_a_naked_one_a_fifth_of_their_value(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", side="sell", **CALL))
    act("advance", days=1)
    # 20% of 100 less 5 out of the money, 100 shares: the premium is in cash and in the liability
    assert act("get_margin")["initial"] == pytest.approx(100 * (0.2 * 100 - 5.0))
    act("place_order", **order("s", ticker="X", quantity=100))
    act("advance", days=1)
    # half of 100 shares at 110, and the call's value, which the rules leave out of the equity
    assert act("get_margin")["initial"] == pytest.approx(0.5 * 11_000 - 600.0)


def test_portfolio_margin_is_the_worst_loss_of_the_grid_and_knows_hedges(desk: Any) -> None:
    act = desk(margin="portfolio")
    act("place_order", **order("s", ticker="X", quantity=100))
    act("advance", days=1)
    assert act("get_margin")["needed"] == [pytest.approx(0.15 * 10_000)]
    act("place_order", **order("p", **(CALL | {"option_type": "put"})))
    act("advance", days=1)
    report = act("get_margin")
    assert report["underlying"] == ["X"] and "spot -" in report["worst"][0]
    # the put at 105 below 110: the loss ends near the strike, 5 dollars a share and what the put is worth
    assert report["needed"][0] < 0.15 * 11_000 / 2


def test_a_bracket_leaves_two_exits_of_which_one_cancels_the_other(desk: Any) -> None:
    act = desk()
    terms = {"ticker": "X", "quantity": 50, "order_type": "bracket"}
    assert "profit above and its stop" in act(
        "place_order", **order("b", take_profit_price=90, stop_loss_price=115, **terms)
    )
    act("place_order", **order("b", take_profit_price=115, stop_loss_price=95, **terms))
    assert act("list_orders")["state"] == ["waiting", "held", "held"]
    act("advance", days=1)
    assert act("list_orders")["state"] == ["filled", "waiting", "waiting"]
    state = act("advance", to=DAYS[3].isoformat())
    assert act("list_orders")["state"] == ["filled", "cancelled", "filled"]
    assert act("list_orders")["fill_price"][2] == 115.0
    assert state["shares"] == [0]


def test_the_stop_of_a_bracket_sells_when_the_price_falls(desk: Any) -> None:
    act = desk()
    terms = {"ticker": "X", "quantity": 50, "order_type": "bracket", "limit_price": 111}
    act("place_order", **order("b", take_profit_price=150, stop_loss_price=100, **terms))
    act("advance", to=AS_OF.isoformat())
    orders = act("list_orders")
    assert orders["state"] == ["filled", "filled", "cancelled"]
    assert orders["fill_price"][1] == pytest.approx(100.0, rel=0.005)


def test_a_bar_that_reaches_both_exits_of_a_bracket_stops_it(desk: Any) -> None:
    act = desk()
    terms = {"ticker": "X", "quantity": 50, "order_type": "bracket"}
    act("place_order", **order("b", take_profit_price=110.5, stop_loss_price=99.5, **terms))
    act("advance", days=2)  # the second bar goes from 99 to 111
    assert act("list_orders")["state"] == ["filled", "filled", "cancelled"]
    assert act("list_orders")["client_order_id"] == ["b", "b:stop_loss", "b:take_profit"]


def test_hourly_candles_make_utc_days_and_a_coin_is_not_sold_short(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", ticker="BTC/USDT", quantity=0.3))
    act("place_order", **order("b", ticker="BTC/USDT", quantity=0.5, side="sell"))
    state = act("advance", days=1)
    # the second day opens at 124, and its last hour closes at 148
    assert state["kind"] == ["coin"] and state["last_price"] == [148.0]
    assert act("list_orders")["fill_price"][0] == pytest.approx(124.0, rel=0.005)
    assert "cannot be sold short; 0.3 are held" in act("list_orders")["note"][1]
    assert "quoted in EUR" in act("place_order", **order("c", ticker="BTC/EUR"))


def test_a_short_perpetual_receives_the_funding_of_the_day(desk: Any) -> None:
    act = desk()
    act("place_order", **order("a", ticker="BTC/USDT:USDT", quantity=10, side="sell"))
    state = act("advance", days=1)
    assert state["income"] == pytest.approx(10 * 148.0 * 0.003, abs=1e-6)
    assert state["profit_and_loss"] == pytest.approx(
        state["realised"] + state["unrealised"] + state["income"] - state["fees"], abs=1e-9
    )


def test_simulated_options_keep_their_quotes_when_the_grid_has_moved_on() -> None:
    lake, day = sample.embedded(), date(2020, 1, 2)
    from lake import chains

    chain = chains.chain(lake, "SIM-TECH", as_of=day)
    wanted = [
        contracts.Contract(chain.expirations[2], float(chain.strikes[2][k]), is_call)
        for k in (0, 9)
        for is_call in (True, False)
    ]
    found = contracts.quotes(lake, "SIM-TECH", wanted, as_of=day)
    mids = [chain.call[2][0], chain.put[2][0], chain.call[2][9], chain.put[2][9]]
    assert [quote.mid for quote in found if quote] == pytest.approx(mids, rel=1e-9)
    expiry = chain.expirations[2]
    spot = lake.bars_of("SIM-TECH", as_of=expiry)[0].close[-1]
    last = contracts.quotes(lake, "SIM-TECH", wanted[:1], as_of=expiry)[0]
    assert last is not None and last.mid == pytest.approx(max(spot - wanted[0].strike, 0.0), abs=1e-9)


def test_the_closes_of_many_days_are_the_quotes_of_each() -> None:
    lake, first = sample.embedded(), date(2020, 1, 2)
    contract = next(iter(contracts.listed(lake, "SIM-TECH", as_of=first)))
    days = [first + timedelta(days=count) for count in (0, 7, 3, 3)]
    one_by_one = [contracts.quotes(lake, "SIM-TECH", [contract], as_of=day)[0] for day in days]
    assert None not in one_by_one
    assert contracts.closes(lake, "SIM-TECH", contract, days=days) == one_by_one
    # too early for the short window, and no quote then
    start = lake.simulated_bars.known("SIM-TECH", as_of=first).known_on[5]
    assert contracts.closes(lake, "SIM-TECH", contract, days=[start, first]) == [None, one_by_one[0]]
