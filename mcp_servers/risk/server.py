"""The server of risk metrics: its tools, and the calls that compile them."""

from __future__ import annotations

from mcp.server import MCPServer

from mcp_servers import toolset
from mcp_servers.risk.greeks import attribute_profit_and_loss, calculate_portfolio_greeks, explain_market_move
from mcp_servers.risk.ratios import calculate_max_drawdown, calculate_sharpe_ratio, calculate_sortino_ratio
from mcp_servers.risk.sizing import calculate_position_size
from mcp_servers.risk.stress import run_stress_test
from mcp_servers.risk.terms import Portfolio, Position
from mcp_servers.risk.value import backtest_value_at_risk, calculate_portfolio_var, calculate_var


def warm_up() -> None:
    """Compile what calls of up to eight positions need."""
    call = Position(option_type="call", quantity=1, spot=100, strike=100, time_to_expiry=0.5, volatility=0.2)
    book = [call.model_copy(update={"underlying": "A"})]
    calculate_portfolio_greeks(book)
    run_stress_test(Portfolio(positions=book))
    calculate_portfolio_var(book, {"A": 0.2})
    calculate_portfolio_var(book, method="historical", returns={"A": [0.01, -0.01, 0.02]})
    calculate_portfolio_var(book, {"A": 0.2}, method="delta_normal")
    calculate_position_size("volatility_target", 1e6, 50.0, 0.3, target_volatility=0.1)
    calculate_var([0.01, -0.01], method="monte_carlo")
    calculate_sharpe_ratio([0.01, -0.01])


def build_server() -> MCPServer:
    """Return the server. It computes from its arguments and reads no data."""
    return toolset.build(
        "risk",
        title="Risk Metrics",
        instructions=(
            "Risk of returns and of option portfolios: Greeks, value at risk and its parts, tests of forecasts, sizes, "
            "stress, attribution. Losses are positive in value at risk; profits are positive in "
            "stress tests. Rates, volatilities and returns are decimals; theta is per year, vega and rho per 1.00."
        ),
        tools=(
            calculate_portfolio_greeks,
            calculate_var,
            calculate_portfolio_var,
            backtest_value_at_risk,
            calculate_position_size,
            attribute_profit_and_loss,
            explain_market_move,
            run_stress_test,
            calculate_sharpe_ratio,
            calculate_sortino_ratio,
            calculate_max_drawdown,
        ),
        heavy=("calculate_portfolio_var",),
    )
