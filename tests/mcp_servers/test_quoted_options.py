"""Chains, surfaces and figures of real quotes: a made chain of known truth, and Google's of December 2015 over HTTP."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from lake import sample
from lake.point_in_time import PointInTime
from lake.records import OptionQuotes
from mcp_servers import options
from tests.lake.quoted.made_chain import DAYS, DIVIDENDS, PARAMETERS, RATE, SPOT, rows, true_volatility

Ask = Callable[..., Any]
DAY = date(2024, 3, 4)
HISTORY = 24


def lake(quotes: list[Any], ticker: str = "SPX") -> sample.Lake:
    table = {ticker: OptionQuotes.of(quotes)}
    return replace(sample.embedded(), option_quotes=PointInTime("made quotes", lambda: table))


@pytest.fixture(scope="module")
def european() -> Any:
    return options.build_server(lake=lake(rows(DAY, exercise="european")))


@pytest.fixture(scope="module")
def american() -> Any:
    return options.build_server(lake=lake(rows(DAY), "ACME"))


def test_expirations_count_strikes_and_quotes_of_the_last_snapshot(ask: Ask, american: Any) -> None:
    answer = ask(american, "get_option_expirations", as_of=DAY + timedelta(days=1), ticker="acme")
    assert answer["expiration"] == [str(DAY + timedelta(days=days)) for days in DAYS]
    assert answer["time_to_expiry"] == [days / 365 for days in DAYS]
    assert (answer["quoted_on"], answer["exercise"], answer["source"]) == (str(DAY), "american", "made quotes")
    assert answer["strikes"] == [25, 25, 25] and answer["calls"][0] < 25


def test_a_quoted_chain_shows_the_quotes_their_volatilities_and_american_greeks(ask: Ask, american: Any) -> None:
    import QuantLib as ql

    expiration = DAY + timedelta(days=DAYS[1])
    chain = ask(american, "get_options_chain", as_of=DAY, ticker="ACME", expiration=str(expiration))
    assert chain["strike"] == np.arange(70.0, 130.1, 2.5).tolist() and chain["not_fitted"] == ""
    quoted = {(row[4], row[5]): row for row in rows(DAY) if row[3] == expiration}
    assert chain["put_bid"] == [quoted["put", strike][7] for strike in chain["strike"]]
    assert chain["call_open_interest"] == [10.0] * 25
    years = DAYS[1] / 365
    fitted = np.array(chain["fitted_volatility"])
    np.testing.assert_allclose(fitted, true_volatility(np.array(chain["strike"]), years), atol=0.004)
    at = chain["strike"].index(120.0)
    # QuantLib's American put deep in the money, where early exercise matters
    today = ql.Date(4, 3, 2024)
    ql.Settings.instance().evaluationDate = today
    curve = [
        ql.YieldTermStructureHandle(ql.FlatForward(today, rate, ql.Actual365Fixed()))
        for rate in (chain["dividend_yield"], chain["rate"])
    ]
    volatility = ql.BlackVolTermStructureHandle(
        ql.BlackConstantVol(today, ql.NullCalendar(), float(fitted[at]), ql.Actual365Fixed())
    )
    process = ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(SPOT)), *curve, volatility)
    option = ql.VanillaOption(
        ql.PlainVanillaPayoff(ql.Option.Put, 120.0), ql.AmericanExercise(today, today + ql.Period(DAYS[1], ql.Days))
    )
    option.setPricingEngine(ql.FdBlackScholesVanillaEngine(process, 800, 800))
    assert chain["put_delta"][at] == pytest.approx(option.delta(), abs=2e-3)


def test_nothing_quoted_after_the_simulation_date_is_seen(ask: Ask) -> None:
    tomorrow = [(*row[:2], 200.0, *row[3:]) for row in rows(DAY + timedelta(days=1), shift=0.2)]
    both = options.build_server(lake=lake(rows(DAY) + tomorrow, "ACME"))
    alone = options.build_server(lake=lake(rows(DAY), "ACME"))
    for tool in ("get_option_expirations", "get_options_chain", "get_iv_surface", "analyze_volatility"):
        assert ask(both, tool, as_of=DAY, ticker="ACME") == ask(alone, tool, as_of=DAY, ticker="ACME")
    assert ask(both, "get_options_chain", as_of=DAY + timedelta(days=1), ticker="ACME")["spot"] == 200.0
    before = ask(alone, "get_options_chain", as_of=DAY - timedelta(days=1), ticker="ACME")
    assert "no prices of 'ACME' were known on 2024-03-03" in before


def test_quotes_that_cannot_be_fitted_are_shown_with_the_reason(ask: Ask) -> None:
    closed = [(*row[:7], None, None, *row[9:]) for row in rows(DAY)]
    server = options.build_server(lake=lake(closed, "ACME"))
    chain = ask(server, "get_options_chain", as_of=DAY, ticker="ACME")
    assert set(chain["call_bid"]) == set(chain["call_delta"]) == {None} and chain["rate"] is None
    assert "snapshots read outside of trading hours have none" in chain["not_fitted"]
    assert "has a bid and an ask" in ask(server, "get_iv_surface", as_of=DAY, ticker="ACME")
    listed = ask(server, "get_options_chain", as_of=DAY, ticker="ACME", expiration="2024-05-05")
    assert listed.endswith("ACME has no options that expire on 2024-05-05; listed: 2024-04-01, 2024-06-03, 2024-09-02")


@pytest.mark.parametrize("model", ["svi", "ssvi"])
def test_the_surface_tells_its_error_and_its_curves_give_its_volatilities(ask: Ask, european: Any, model: str) -> None:
    surface = ask(european, "get_iv_surface", as_of=DAY, ticker="SPX", model=model)
    fit = surface["fit"]
    assert fit["is_free_of_arbitrage"] and fit["smallest_density"] >= 0.0
    for row, (forward, years) in enumerate(zip(surface["forward"], surface["time_to_expiry"], strict=True)):
        k = np.log(np.array(surface["strikes"][row]) / forward)
        if model == "svi":
            c = surface["curves"][row]
            total = c["a"] + c["b"] * (c["rho"] * (k - c["m"]) + np.hypot(k - c["m"], c["sigma"]))
        else:
            s = surface["ssvi"]
            theta = s["theta"][row]
            phi = s["eta"] / (theta ** s["gamma"] * (1 + theta) ** (1 - s["gamma"])) * k
            total = theta / 2 * (1 + s["rho"] * phi + np.sqrt((phi + s["rho"]) ** 2 + 1 - s["rho"] ** 2))
        np.testing.assert_allclose(np.sqrt(total / years), surface["fitted_volatility"][row], rtol=1e-9)
    fitted, bid, ask_, mid = (
        np.concatenate(surface[f"{name}_volatility"]) for name in ("fitted", "bid", "ask", "implied")
    )
    assert fit["inside_spread"] == np.mean((bid <= fitted) & (fitted <= ask_)) and fit["quotes"] == fitted.size
    assert fit["median_error"] == pytest.approx(np.median(np.abs(fitted - mid)))
    if model == "svi":
        assert fit["inside_spread"] > 0.97 and fit["priced_inside_spread"] > 0.97


def test_rank_and_percentile_place_today_among_the_days_before(ask: Ask) -> None:
    days = [DAY - timedelta(days=back) for back in range(HISTORY, -1, -1)]
    rng = np.random.default_rng(3)
    shifts = [*rng.permutation(np.linspace(0.0, 0.10, HISTORY)).tolist(), 0.08]
    quotes = [
        row for day, shift in zip(days, shifts, strict=True) for row in rows(day, exercise="european", shift=shift)
    ]
    answer = ask(options.build_server(lake=lake(quotes)), "analyze_volatility", as_of=DAY, ticker="SPX")
    assert answer["history_days"] == HISTORY
    assert answer["iv_rank"] == pytest.approx(80.0, abs=1.0)
    assert answer["iv_percentile"] == pytest.approx(100 * np.mean(np.array(shifts[:-1]) < 0.08))
    assert answer["history_high"] - answer["history_low"] == pytest.approx(0.10, abs=5e-4)
    few = ask(options.build_server(lake=lake(quotes[-10 * 150 :])), "analyze_volatility", as_of=DAY, ticker="SPX")
    assert (few["history_days"], few["iv_rank"], few["iv_percentile"]) == (9, None, None)


def test_skew_and_risk_reversal_are_those_of_the_true_smile(ask: Ask, european: Any) -> None:
    answer = ask(european, "analyze_volatility", as_of=DAY, ticker="SPX")
    for row, years in enumerate(np.array(DAYS) / 365):
        forward = SPOT * math.exp((RATE - DIVIDENDS) * years)
        step = 1e-4
        up, down = (float(true_volatility(forward * math.exp(move), years)) for move in (step, -step))
        assert answer["at_the_money_volatility"][row] == pytest.approx(0.5 * (up + down), abs=0.002)
        assert answer["skew"][row] == pytest.approx((up - down) / (2 * step), abs=0.02)
        call, put = answer["call_25_strike"][row], answer["put_25_strike"][row]
        assert put < forward < call
        true = float(true_volatility(call, years)) - float(true_volatility(put, years))
        assert answer["risk_reversal_25"][row] == pytest.approx(true, abs=0.004)
        assert answer["risk_reversal_25"][row] == pytest.approx(
            answer["call_25_volatility"][row] - answer["put_25_volatility"][row]
        )
    assert answer["realised_volatility"] is None


def test_the_probability_of_a_strategy_is_the_integral_of_the_smiles_density(ask: Ask, european: Any) -> None:
    legs = [
        {"option_type": "put", "quantity": -1, "premium": 2.0, "strike": 95.0},
        {"option_type": "put", "quantity": 1, "premium": 0.8, "strike": 90.0},
    ]
    expiration = str(DAY + timedelta(days=DAYS[1]))
    answer = ask(european, "analyze_strategy", as_of=DAY, legs=legs, ticker="SPX", expiration=expiration)
    assert answer["breakevens"] == [93.8] and "fitted surface of SPX on 2024-03-04" in answer["distribution"]
    years = DAYS[1] / 365
    forward, discount = SPOT * math.exp((RATE - DIVIDENDS) * years), math.exp(-RATE * years)

    def put(strike: float) -> float:
        from statistics import NormalDist

        deviation = float(true_volatility(strike, years)) * math.sqrt(years)
        d1 = math.log(forward / strike) / deviation + 0.5 * deviation
        cdf = NormalDist().cdf
        return discount * (strike * cdf(deviation - d1) - forward * cdf(-d1))

    def density(strike: float, step: float = 0.05) -> float:
        return (put(strike + step) - 2 * put(strike) + put(strike - step)) / step**2 / discount

    above, _ = integrate.quad(density, 93.8, 250.0, limit=200)
    assert answer["probability_of_profit"] == pytest.approx(above, abs=0.01)
    flat = ask(european, "analyze_strategy", legs=legs, spot=SPOT, time_to_expiry=years, volatility=0.2236, rate=RATE)
    assert abs(flat["probability_of_profit"] - above) > 0.01 and flat["distribution"] == "lognormal"


def test_a_market_is_either_given_or_read_from_the_surface(ask: Ask, european: Any) -> None:
    legs = [{"option_type": "call", "quantity": 1, "premium": 2.0, "strike": 100.0}]
    both = ask(european, "analyze_strategy", as_of=DAY, legs=legs, ticker="SPX", spot=100.0, rate=0.0)
    assert both.endswith("spot, rate is taken from the surface of SPX: leave it out, or ticker")
    assert "expiration needs ticker" in ask(european, "analyze_strategy", legs=legs, expiration="2024-04-01")
    early = [legs[0] | {"time_to_expiry": 0.01}]
    text = ask(european, "analyze_strategy", as_of=DAY, legs=early, ticker="SPX")
    assert "legs[0] expires after 0.01 years, before 2024-04-01" in text


def test_a_later_leg_takes_its_volatility_from_the_surface(ask: Ask, european: Any) -> None:
    legs = [
        {"option_type": "call", "quantity": -1, "premium": 2.0, "strike": 100.0},
        {"option_type": "call", "quantity": 1, "premium": 4.0, "strike": 100.0, "time_to_expiry": DAYS[1] / 365},
    ]
    told = ask(european, "analyze_strategy", as_of=DAY, legs=legs, ticker="SPX")
    stated = [legs[0], legs[1] | {"volatility": float(true_volatility(100.0, DAYS[1] / 365))}]
    assert told["structure"] == "long call calendar"
    by_hand = ask(european, "analyze_strategy", as_of=DAY, legs=stated, ticker="SPX")
    assert told["vega"] == pytest.approx(by_hand["vega"], rel=0.02)
    assert told["max_profit"] == pytest.approx(by_hand["max_profit"], rel=0.05)


def test_the_heston_that_made_the_quotes_is_found_and_prices_them(ask: Ask) -> None:
    server = options.build_server(lake=lake(rows(DAY, exercise="heston")))
    found = ask(server, "calibrate_heston", as_of=DAY, ticker="SPX")
    assert found["quotes"] == 40 and found["root_mean_square_error"] < 0.002
    assert found["volatility"] == pytest.approx(math.sqrt(PARAMETERS.initial_variance), abs=0.01)
    assert found["heston"]["correlation"] == pytest.approx(PARAMETERS.correlation, abs=0.1)
    option = {"spot": SPOT, "strike": 90.0, "rate": RATE, "dividend_yield": DIVIDENDS, "option_type": "put"}
    model = {"model": "heston", "volatility": found["volatility"], "heston": found["heston"]}
    priced = ask(server, "calculate_option_price", **option, **model, time_to_expiry=DAYS[1] / 365)
    quotes = [row for row in rows(DAY, exercise="heston") if row[4:6] == ("put", 90.0)]
    assert priced["price"] == pytest.approx(quotes[1][6], abs=0.03)


def test_a_chain_that_is_no_heston_is_an_error_and_not_a_parameter(ask: Ask, european: Any) -> None:
    text = ask(european, "calibrate_heston", as_of=DAY, ticker="SPX")
    assert "Heston's model does not fit the options on SPX: its best parameters mean nothing" in text


@pytest.mark.shared_data
def test_googles_chain_over_http_lies_within_the_spread_and_is_free_of_arbitrage(
    shared_data: Path, tmp_path: Path
) -> None:
    program = Path(__file__).parents[2] / "benchmarks" / "goog_chain.py"
    spec = importlib.util.spec_from_file_location("goog_chain", program)
    assert spec is not None and spec.loader is not None
    goog_chain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(goog_chain)

    archive = shared_data / "options" / "daily_goog_2015_quote_american.zip"
    assert goog_chain.write(archive, tmp_path / "options" / "GOOG.csv") == 4250
    goog = {"ticker": "GOOG"}
    calls = [("get_iv_surface", goog), ("get_option_expirations", goog), ("get_options_chain", goog)]
    (surface, listed, chain), _ = goog_chain.ask(tmp_path, calls)
    fit = surface["fit"]
    assert len(surface["expirations"]) == 10 and fit["quotes"] > 500 and fit["two_sided_quotes"] > 1_600
    assert fit["inside_spread"] >= 0.98 and fit["priced_inside_spread"] >= 0.95
    assert fit["median_error"] < 0.5 * fit["median_half_spread"] and fit["is_free_of_arbitrage"]
    # Google paid no dividend; the three-month Treasury bill stood near 0.2%, one-year Libor near 1.2%
    assert 0.002 < surface["rate"] < 0.012 and surface["spot"] == 750.31
    assert surface["left_out"] == {"2015-12-24": "1 days to expiry, fewer than 7"}
    assert listed["expiration"][0] == "2015-12-24" and listed["exercise"] == "american"
    assert chain["expiration"] == "2015-12-24" and "1 days to expiry" in chain["not_fitted"]
