"""Option tools against QuantLib and closed forms, and chains that a market maker could stand behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest
import QuantLib as ql

from lake import chains, sample
from mcp_servers import options

SERVER = options.build_server()
AS_OF = date(2012, 9, 19)
LAKE = sample.embedded()
Ask = Callable[..., Any]

TERMS = {"spot": 100.0, "strike": 105.0, "rate": 0.03, "volatility": 0.25, "time_to_expiry": 0.75}


@pytest.mark.parametrize("option_type", ["call", "put"])
def test_price_and_greeks_equal_those_of_quantlib_with_the_dividend_term(ask: Ask, option_type: str) -> None:
    answer = ask(SERVER, "calculate_option_price", **TERMS, option_type=option_type, dividend_yield=0.02)
    years = TERMS["time_to_expiry"]
    kind = ql.Option.Call if option_type == "call" else ql.Option.Put
    forward = TERMS["spot"] * math.exp((TERMS["rate"] - 0.02) * years)
    oracle = ql.BlackCalculator(
        ql.PlainVanillaPayoff(kind, TERMS["strike"]),
        forward,
        TERMS["volatility"] * math.sqrt(years),
        math.exp(-TERMS["rate"] * years),
    )
    spot = TERMS["spot"]
    assert answer["price"] == pytest.approx(oracle.value())
    assert answer["delta"] == pytest.approx(oracle.delta(spot))
    assert answer["gamma"] == pytest.approx(oracle.gamma(spot))
    assert answer["theta"] == pytest.approx(oracle.theta(spot, years))
    assert answer["theta_per_day"] == pytest.approx(oracle.theta(spot, years) / 365)
    assert answer["vega"] == pytest.approx(oracle.vega(years))
    assert answer["vega_per_point"] == pytest.approx(oracle.vega(years) / 100)
    assert answer["rho"] == pytest.approx(oracle.rho(years))
    assert answer["rho_per_point"] == pytest.approx(oracle.rho(years) / 100)


def test_implied_volatility_turns_a_price_back(ask: Ask) -> None:
    price = ask(SERVER, "calculate_option_price", **TERMS, option_type="put")["price"]
    terms = {name: value for name, value in TERMS.items() if name != "volatility"}
    answer = ask(SERVER, "calculate_implied_volatility", price=price, **terms, option_type="put")
    assert answer["implied_volatility"] == pytest.approx(0.25)
    too_low = ask(SERVER, "calculate_implied_volatility", price=0.0, **terms | {"spot": 300.0}, option_type="call")
    assert "below the intrinsic value" in too_low


def test_greeks_that_do_not_exist_are_an_error_and_not_a_number(ask: Ask) -> None:
    text = ask(SERVER, "calculate_option_price", **TERMS | {"strike": 100.0, "time_to_expiry": 0}, option_type="call")
    assert "not defined" in text


@pytest.mark.parametrize(
    ("change", "field"), [({"spot": -1.0}, "spot"), ({"volatility": 25.0}, "volatility"), ({"strike": 0.0}, "strike")]
)
def test_a_bad_argument_is_named(ask: Ask, change: dict[str, float], field: str) -> None:
    assert field in ask(SERVER, "calculate_option_price", **TERMS | change, option_type="call")


def test_the_bull_call_spread_of_the_paper_wins_5_loses_5_and_breaks_even_at_105(ask: Ask) -> None:
    legs = [
        {"option_type": "call", "quantity": 1, "premium": 8, "strike": 100, "multiplier": 1},
        {"option_type": "call", "quantity": -1, "premium": 3, "strike": 110, "multiplier": 1},
    ]
    answer = ask(SERVER, "analyze_strategy", legs=legs)
    assert (answer["max_profit"], answer["max_loss"], answer["breakevens"]) == (5.0, 5.0, [105.0])
    assert answer["delta"] is None and answer["structure"] == "bull call spread"
    assert ask(SERVER, "analyze_strategy", legs=legs, spot=100)["margin"] == 0.0


def test_a_short_put_needs_a_fifth_of_the_stock_less_what_it_is_out_of_the_money_plus_its_premium(ask: Ask) -> None:
    legs = [{"option_type": "put", "quantity": -1, "premium": 2, "strike": 95}]
    # Regulation T: 100 * (2 + max(0.20 * 100 - 5, 0.10 * 95))
    assert ask(SERVER, "analyze_strategy", legs=legs, spot=100)["margin"] == pytest.approx(1_700)


def test_a_naked_call_has_an_unbounded_loss(ask: Ask) -> None:
    answer = ask(
        SERVER, "analyze_strategy", legs=[{"option_type": "call", "quantity": -1, "premium": 2, "strike": 100}]
    )
    assert answer["max_loss"] is None and answer["loss_is_unbounded"] and answer["max_profit"] == 200.0


def test_a_chain_quotes_bids_below_asks_around_model_prices(ask: Ask) -> None:
    chain = ask(SERVER, "get_options_chain", as_of=AS_OF, ticker="aapl")
    assert chain["spot"] == 702.10 and "SIMULATED" in chain["source"]
    for kind in ("call", "put"):
        assert all(0 <= bid < offer for bid, offer in zip(chain[f"{kind}_bid"], chain[f"{kind}_ask"], strict=True))
    middle = 10
    priced = ask(
        SERVER,
        "calculate_option_price",
        spot=chain["spot"],
        strike=chain["strike"][middle],
        rate=chain["rate"],
        volatility=chain["implied_volatility"][middle],
        time_to_expiry=chain["time_to_expiry"],
        option_type="put",
    )
    assert chain["put_bid"][middle] <= priced["price"] + 0.005 and priced["price"] - 0.005 <= chain["put_ask"][middle]
    assert chain["put_delta"][middle] == pytest.approx(priced["delta"])
    assert chain["put_theta"][middle] == pytest.approx(priced["theta"])


def test_expirations_are_third_fridays_after_the_simulation_date(ask: Ask) -> None:
    listed = ask(SERVER, "get_options_chain", as_of=AS_OF, ticker="IBM")["expirations"]
    assert listed[:4] == ["2012-10-19", "2012-11-16", "2012-12-21", "2013-01-18"]
    text = ask(SERVER, "get_options_chain", as_of=AS_OF, ticker="IBM", expiration="2012-10-20")
    assert "IBM has no options that expire on 2012-10-20; listed: 2012-10-19" in text


def test_options_on_stale_prices_are_refused(ask: Ask) -> None:
    assert "the last price known on 2020-01-02 is of 2013-03-01" in ask(SERVER, "get_iv_surface", ticker="AAPL")


def test_the_surface_is_the_one_of_the_chain(ask: Ask) -> None:
    surface = ask(SERVER, "get_iv_surface", as_of=AS_OF, ticker="MSFT")
    chain = ask(SERVER, "get_options_chain", as_of=AS_OF, ticker="MSFT", expiration=surface["expirations"][3])
    assert surface["implied_volatility"][3] == chain["implied_volatility"]
    assert surface["strikes"][3] == chain["strike"]


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "GOOG", "SIM-TECH", "SIM-INDEX"])
@pytest.mark.parametrize("as_of", [date(2008, 10, 15), AS_OF])
def test_chains_hold_no_static_arbitrage(ticker: str, as_of: date) -> None:
    chain = chains.chain(LAKE, ticker, as_of=as_of)
    steps = np.diff(chain.strikes, axis=1)
    slope = np.diff(chain.call, axis=1) / steps
    discount = np.exp(-chain.rate * chain.years)[:, None]
    assert (slope <= 1e-12).all() and (slope >= -discount - 1e-12).all()
    assert (np.diff(slope, axis=1) >= -1e-10).all()
    parity = chain.call - chain.put - (chain.spot - chain.strikes * discount)
    assert np.abs(parity).max() < 1e-9 * chain.spot
    forward_moneyness = np.linspace(-0.4, 0.4, 81)[None, :]
    bars = LAKE.bars_of(ticker, as_of=as_of)[0]
    variance = chains.at_the_money_variance(bars, chain.years)
    total = chains.ssvi_volatility(forward_moneyness, variance[:, None], chain.years[:, None]) ** 2
    assert (np.diff(total * chain.years[:, None], axis=0) >= 0).all(), "calendar arbitrage"


def test_the_rate_is_the_last_bill_known_and_says_when_it_is_assumed() -> None:
    # 5.25% on a discount basis over 91 of 360 days.
    rate, origin = chains.risk_free_rate(LAKE, as_of=date(2024, 6, 3))
    assert rate == pytest.approx(-math.log(1 - 0.0525 * 91 / 360) * 365 / 91)
    assert "2024-05-31" in origin
    assert chains.risk_free_rate(LAKE, as_of=date(2012, 6, 1)) == (
        0.02,
        "assumed: no bill rate was known on 2012-06-01",
    )
