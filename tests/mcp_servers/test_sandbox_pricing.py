"""Our pricing inside the sandbox: the figures of the options server, in every tier that works here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from mcp_servers import options
from mcp_servers.sandbox import readable, tiers
from mcp_servers.sandbox.outcome import Outcome
from mcp_servers.sandbox.pool import Pool

AS_OF = date(2012, 9, 14)
TERMS = {"spot": 100.0, "strike": 105.0, "time_to_expiry": 0.5, "rate": 0.02, "volatility": 0.25}
ATTEMPTS = 3
"""A call computes for a second or two; on a busy machine that may last longer than its wall clock limit."""
WORKING = [tier for tier in tiers.CANDIDATES if tiers.check(tier, readable.find()).works]


@pytest.fixture(scope="module", params=WORKING, ids=lambda tier: tier.name)
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with Pool(request.param) as started:
        yield started


def quiet(pool: Pool, code: str, data: Any = None) -> Any:
    for _ in range(ATTEMPTS):
        outcome: Outcome = pool.execute(code, data=data, timeout_s=10.0, seed=1)
        if outcome.error_class != "timeout":
            break
    assert outcome.ok, (outcome.error, outcome.stderr)
    assert (outcome.stdout, outcome.stderr) == ("", "")
    return outcome.result


def test_a_european_call_is_the_one_of_the_options_server(pool: Pool, ask: Callable[..., Any]) -> None:
    code = (
        "from pricing import black_scholes\n"
        "result = black_scholes.price_and_greeks(**data, is_call='call')\n"
        "result = [result[0], result[1].delta, result[1].vega]"
    )
    answer = ask(options.build_server(), "calculate_option_price", **TERMS, option_type="call")
    assert quiet(pool, code, TERMS) == pytest.approx([answer[name] for name in ("price", "delta", "vega")], rel=1e-12)


def test_a_whole_chain_has_the_deltas_of_the_options_server(pool: Pool, ask: Callable[..., Any]) -> None:
    chain = ask(options.build_server(), "get_options_chain", as_of=AS_OF, ticker="AAPL")
    names = ("strike", "fitted_volatility", "spot", "rate", "time_to_expiry", "dividend_yield")
    code = (
        "import pandas as pd\nfrom pricing import black_scholes\n"
        "table = pd.DataFrame({name: data.pop(name) for name in ('strike', 'fitted_volatility')})\n"
        "terms = dict(data, strike=table.strike)\n"
        "greeks = black_scholes.greeks(**terms, volatility=table.fitted_volatility, is_call=True)\n"
        "result = [greeks.delta.tolist(), greeks.theta.tolist()]"
    )
    deltas, thetas = quiet(pool, code, {name: chain[name] for name in names})
    assert len(deltas) >= 10
    assert deltas == pytest.approx(chain["call_delta"], rel=1e-9)
    assert thetas == pytest.approx(chain["call_theta"], rel=1e-9)


def test_the_volatility_of_a_price_is_the_one_of_the_options_server(pool: Pool, ask: Callable[..., Any]) -> None:
    code = "from pricing import implied_volatility\nimplied_volatility.solve(**data, is_call=True).value"
    terms = {name: value for name, value in TERMS.items() if name != "volatility"} | {"price": 5.0}
    answer = ask(options.build_server(), "calculate_implied_volatility", **terms, option_type="call")
    assert quiet(pool, code, terms) == pytest.approx(answer["implied_volatility"], rel=1e-9)


def test_an_american_put_fits_into_the_limits_of_a_call(pool: Pool, ask: Callable[..., Any]) -> None:
    code = "from pricing import american\namerican.price(**data, is_call=False)"
    terms = TERMS | {"strike": 120.0, "rate": 0.06}
    answer = ask(options.build_server(), "calculate_option_price", **terms, option_type="put", exercise="american")
    assert quiet(pool, code, terms) == pytest.approx(answer["price"], rel=1e-9)


def test_a_session_keeps_prices_for_its_next_call(pool: Pool) -> None:
    first = pool.execute("from pricing import normal\nx = normal.cdf(0.0)", seed=1, state=b"")
    assert first.ok and first.left is not None, first.stderr
    assert pool.execute("x", seed=1, state=first.left.state).result == pytest.approx(0.5)


@pytest.mark.parametrize("package", ["evaluators", "engine", "lake", "mcp_servers.access", "backtest"])
def test_no_other_package_of_ours_is_there(pool: Pool, package: str) -> None:
    outcome = pool.execute(f"import {package}", seed=1)
    assert (outcome.ok, outcome.error_class) == (False, "user_error") and "No module named" in str(outcome.error)
