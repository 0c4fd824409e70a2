"""Words and figures that several templates ask for in the same way."""

from __future__ import annotations

from evaluators.options.problem import Figure

CONVENTIONS = (
    "Conventions: European options on 100 shares a contract, Black-Scholes-Merton with the continuously compounded "
    "rate and dividend yield given, 365 days a year for option time, volatility per year."
)
CHAIN_CONVENTIONS = (
    "You trade at the quoted prices; Greeks and revaluations use the volatility of each series, which it keeps. "
    + CONVENTIONS
)
VALUE_AT_RISK = (
    "one-day 95% delta-normal value at risk: 1.645 x |delta in shares| x spot x volatility / sqrt(252), in dollars"
)
PER_SHARE_GREEKS = (
    Figure("delta", "delta per share", 0.002),
    Figure("gamma", "gamma per share, per 1.00 of spot", 0.0001),
    Figure("theta_per_day", "theta per share and calendar day", 0.001),
    Figure("vega_per_point", "vega per share and percentage point of volatility", 0.001),
    Figure("rho_per_point", "rho per share and percentage point of the rate", 0.001),
)


def position_greeks(contracts: int) -> tuple[Figure, ...]:
    """Return the Greeks of a chosen position of about ``contracts`` contracts, with margins of that size."""
    return (
        Figure("delta", "delta of your position in shares", 0.05 * contracts, of_legs=True),
        Figure("gamma", "gamma of your position in shares per 1.00 of spot", 0.0005 * contracts, of_legs=True),
        Figure("theta_per_day", "theta of your position in dollars per calendar day", 0.02 * contracts, of_legs=True),
        Figure("vega_per_point", "vega of your position, dollars per percentage point", 0.02 * contracts, of_legs=True),
    )


def shock_figure(name: str, event: str, *, of: str = "your position", margin: float = 5.0) -> Figure:
    """Return the revaluation of the chosen position under a sudden ``event``; what was paid for it is left out."""
    return Figure(
        name,
        f"change of the value of {of} in dollars, with its sign, if {event} at once and nothing else changes",
        margin,
        of_legs=True,
    )


def percent(value: float) -> str:
    """Return a decimal fraction as the questions print it."""
    return f"{value * 100:.6g}%"
