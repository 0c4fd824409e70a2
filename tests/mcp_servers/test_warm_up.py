"""After a server's warm-up, calls of the common sizes compile nothing, and the harness waits for that."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from engine.run.tool_access import ToolAccess
from mcp_servers import catalog, warm_up
from mcp_servers.access import new_key
from mcp_servers.server_set import start_servers
from mcp_servers.warm_up import WarmUp

COUNTED = """
import json
from datetime import date
import jax
from mcp_servers import caller, edgar, yfinance
from mcp_servers.options import server as options
from mcp_servers.risk import server as risk
from mcp_servers.risk.stress import StressScenario
from mcp_servers.trading import server as trading

found = {}
def count(name, seconds, **_):
    if name.endswith("backend_compile_duration"):
        found[label] = found.get(label, 0) + 1
jax.monitoring.register_event_duration_secs_listener(count)
def option(strike, **more):
    terms = {"option_type": "put", "quantity": -2, "spot": 100, "strike": strike, "time_to_expiry": 0.25}
    return risk.Position(**(terms | {"volatility": 0.3, "underlying": "B"} | more))
def leg(strike, kind="put", **more):
    return options.StrategyLeg(option_type=kind, quantity=-1, premium=2, strike=strike, **more)
stock = risk.Position(option_type="stock", quantity=10, spot=100, underlying="B")
heston = options.HestonTerms(
    mean_reversion=3.0, long_run_volatility=0.3, volatility_of_variance=0.5, correlation=-0.4
)
jumps = options.JumpTerms(intensity=1.0, mean=-0.05, deviation=0.2)
own = [StressScenario(name=str(n), spot_change=-0.1) for n in range(3)]

label = "warm-up"
for module in (options, risk, trading, yfinance, edgar):
    module.warm_up()
options.warm_up_later()
with caller.acting_as(caller.standalone_grant(date(2012, 6, 1))):
    chains = options.ChainTools(options.sample.embedded())
    strategies = options.StrategyTools(chains)
    label = "chain"
    chains.get_options_chain("AAPL")
    chains.get_iv_surface("SIM-TECH")
    label = "price"
    options.calculate_option_price(90.0, 100.0, 0.01, 0.4, 2.0, "put", 0.02)
    options.calculate_implied_volatility(12.0, 90.0, 100.0, 0.01, 2.0, "put")
    label = "other models"
    for more in ({"exercise": "american"}, {"model": "heston", "heston": heston}, {"model": "merton", "jumps": jumps}):
        options.calculate_option_price(90.0, 100.0, 0.01, 0.4, 2.0, "put", 0.02, **more)
    options.calculate_implied_volatility(14.0, 90.0, 100.0, 0.01, 2.0, "put", 0.0, "american")
    options.price_path_dependent_option("asian", 90.0, 100.0, 0.01, 0.4, 2.0, "put")
    label = "volatility"
    options.VolatilityTools(options.sample.embedded(), chains).analyze_volatility("IBM")
    strategies.analyze_strategy([leg(190.0)], ticker="IBM")
    for number in (1, 2, 3, 4):
        label = f"{number} legs"
        legs = [leg(90.0 + n) for n in range(number)]
        strategies.analyze_strategy(legs, spot=100.0, time_to_expiry=0.5, volatility=0.2)
        if number > 1:
            later = [leg(90.0 + n, time_to_expiry=0.5 + n) for n in range(number)]
            strategies.analyze_strategy(later, spot=100.0, volatility=0.3)
    for number in (1, 2, 5, 7):
        label = f"{number} options and a share"
        book = [option(90.0 + n) for n in range(number)] + [stock]
        risk.calculate_portfolio_greeks(book)
        risk.run_stress_test(risk.Portfolio(positions=book))
        risk.run_stress_test(risk.Portfolio(positions=book), own)
        risk.calculate_portfolio_var(book, {"B": 0.3})
        risk.calculate_portfolio_var(book, method="historical", returns={"B": [0.01, -0.02] * 50})
        risk.calculate_portfolio_var(book, {"B": 0.3}, method="delta_normal")
    label = "returns"
    for number in (5, 60):
        returns = [0.01, -0.02] * number
        for method in ("historical", "parametric", "monte_carlo"):
            risk.calculate_var(returns, method=method)
        risk.calculate_sharpe_ratio(returns), risk.calculate_sortino_ratio(returns)
    label = "account"
    tools = trading.TradingTools(trading.Desk(trading.sample.embedded()))
    tools.open_account()
    tools.place_order("a", "IBM", "sell", 5.0, "limit", 1.0)
    tools.place_order("b", "SIM-TECH", "buy", 5.0)
    tools.advance(days=10)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def compiled() -> dict[str, int]:
    done = subprocess.run([sys.executable, "-c", COUNTED], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_calls_of_common_sizes_compile_nothing_after_the_warm_up(compiled: dict[str, int]) -> None:
    assert compiled.pop("warm-up") > 0
    assert compiled == {}


def test_the_harness_waits_until_every_server_is_warm() -> None:
    with start_servers(("edgar", "yfinance"), ports="auto") as servers:
        access = ToolAccess({}, new_key(), channels=servers.channels)
        assert asyncio.run(access.warmed(timeout_s=60.0)) == []


def test_a_server_that_does_not_get_warm_is_named_and_holds_the_run_up_no_longer() -> None:
    # port 9 (discard) answers nothing here
    access = ToolAccess({}, new_key(), channels={"edgar": "http://127.0.0.1:9"})
    assert asyncio.run(access.warmed(timeout_s=0.0)) == ["edgar"]


def test_a_warm_up_that_fails_is_told_and_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise RuntimeError("no kernel")

    ran = threading.Event()
    modules = {
        "mcp_servers.edgar": SimpleNamespace(warm_up=broken),
        "mcp_servers.risk": SimpleNamespace(warm_up=ran.set),
    }
    monkeypatch.setattr(warm_up.importlib, "import_module", modules.__getitem__)
    warming = WarmUp(["edgar", "risk"])
    assert not warming.is_done("edgar")
    warming.start()
    assert ran.wait(10.0)
    assert warming.is_done("edgar")
    told = capfd.readouterr().err
    assert "the edgar server could not be warmed" in told and "RuntimeError: no kernel" in told


def test_every_server_that_compiles_states_its_warm_up() -> None:
    import importlib

    stated = {name for name, row in catalog.SERVERS.items() if hasattr(importlib.import_module(row.module), "warm_up")}
    # the sandbox is warm from its start: every call is a fork of a process that has imported everything
    assert stated == set(catalog.SERVERS) - {"sandbox"}
