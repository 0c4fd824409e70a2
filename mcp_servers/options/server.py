"""Options (port 8104): listed chains, quoted or simulated, their fitted surface, models, strategies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from mcp.server import MCPServer

from lake import chains, sample
from lake.point_in_time import PointInTime
from lake.records import OptionQuotes
from lake.sample import Lake
from mcp_servers import caller, toolset
from mcp_servers.options.chains import ChainTools
from mcp_servers.options.models import HestonTerms, JumpTerms, calculate_implied_volatility, calculate_option_price
from mcp_servers.options.simulation import price_path_dependent_option
from mcp_servers.options.strategies import StrategyLeg, StrategyTools
from mcp_servers.options.volatility import VolatilityTools

WARM_UP_TICKER, WARM_UP_DAY = "SIM-TECH", date(2013, 3, 1)


def warm_up() -> None:
    """Compile what chains, prices, implied volatilities and strategies of up to four legs need."""
    tools = ChainTools(sample.embedded())
    with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
        tools.get_options_chain(WARM_UP_TICKER)
    calculate_option_price(100.0, 100.0, 0.05, 0.2, 0.5, "call")
    calculate_implied_volatility(5.0, 100.0, 100.0, 0.05, 0.5, "call")
    strategies = StrategyTools(tools)
    near = StrategyLeg(option_type="call", quantity=-1, premium=5, strike=100, time_to_expiry=0.5)
    far = near.model_copy(update={"quantity": 1, "premium": 7, "time_to_expiry": 1.0})
    strategies.analyze_strategy([near], spot=100.0, volatility=0.2)
    strategies.analyze_strategy([near, far], spot=100.0, volatility=0.2)


def warm_up_later() -> None:
    """Compile what fewer calls need: American options, other models, paths, figures of a surface."""
    terms: dict[str, Any] = {"spot": 100.0, "strike": 100.0, "rate": 0.03, "volatility": 0.2}
    option: dict[str, Any] = {**terms, "time_to_expiry": 0.5, "option_type": "put"}
    calculate_option_price(**option, exercise="american")
    calculate_option_price(**option, exercise="american", method="tree")
    del option["volatility"]
    calculate_implied_volatility(6.0, **option, exercise="american")
    option["volatility"] = 0.2
    heston = HestonTerms(mean_reversion=2.0, long_run_volatility=0.2, volatility_of_variance=0.3, correlation=-0.5)
    jumps = JumpTerms(intensity=0.5, mean=-0.1, deviation=0.1)
    calculate_option_price(**option, model="heston", heston=heston)
    calculate_option_price(**option, model="merton", jumps=jumps)
    price_path_dependent_option("asian", **option)
    tools = ChainTools(sample.embedded())
    with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
        VolatilityTools(sample.embedded(), tools).analyze_volatility(WARM_UP_TICKER)


def warm_up_lake(lake: Lake) -> None:
    """Compile what quoted chains need, with a simulated one as if it had been quoted for American options."""
    if not lake.has_option_quotes:
        return
    chain = chains.chain(sample.embedded(), WARM_UP_TICKER, as_of=WARM_UP_DAY)
    read_at = datetime.combine(WARM_UP_DAY, time(21), UTC)
    rows = [
        (WARM_UP_DAY, read_at, chain.spot, day, kind, strike, mid, mid - half, mid + half, None, None, None)
        for row, day in enumerate(chain.expirations)
        for kind, mids in (("call", chain.call[row]), ("put", chain.put[row]))
        for strike, mid, half in zip(chain.strikes[row], mids, chain.half_spread[row], strict=True)
    ]
    held = {WARM_UP_TICKER: OptionQuotes.of(rows)}
    quoted = replace(sample.embedded(), option_quotes=PointInTime("warm-up", lambda: held))
    tools = ChainTools(quoted)
    with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
        tools.get_iv_surface(WARM_UP_TICKER)
        tools.get_iv_surface(WARM_UP_TICKER, "ssvi")
        tools.get_options_chain(WARM_UP_TICKER, chain.expirations[0])
        VolatilityTools(quoted, tools).calibrate_heston(WARM_UP_TICKER)


def build_server(*, lake: Lake | None = None) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default)."""
    held = lake or sample.embedded()
    listed = ChainTools(held)
    volatility = VolatilityTools(held, listed)
    return toolset.build(
        "options",
        title="Options Chain",
        instructions=(
            "Options of a ticker on the simulation date (quoted where the lake has quotes, else simulated and labelled "
            "so): expirations, chains, the fitted surface, IV rank, skew; prices and Greeks of European and American "
            "options by several models, implied volatility, path-dependent options, multi-leg strategies. Rates and "
            "volatilities are decimals per year, times are years, theta is per year, vega and rho are per 1.00."
        ),
        tools=(
            listed.get_option_expirations,
            listed.get_options_chain,
            calculate_option_price,
            calculate_implied_volatility,
            listed.get_iv_surface,
            volatility.analyze_volatility,
            volatility.calibrate_heston,
            price_path_dependent_option,
            StrategyTools(listed).analyze_strategy,
        ),
        heavy=("calibrate_heston", "price_path_dependent_option"),
    )
