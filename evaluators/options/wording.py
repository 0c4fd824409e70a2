"""Words and figures that several templates ask for in the same way."""

from __future__ import annotations

from evaluators.options.problem import PROBABILITY_TOLERANCE, Figure

CONVENTIONS = (
    "Conventions: European options on 100 shares a contract, Black-Scholes-Merton with the continuously compounded "
    "rate and dividend yield given, 365 days a year for option time, volatility per year."
)
CHAIN_CONVENTIONS = (
    "You trade at the quoted prices; Greeks and revaluations use the volatility of each series, "
    "unchanged where the task changes nothing. " + CONVENTIONS
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


def greek_figures(of: str, contracts: int, *, of_legs: bool = True, with_rho: bool = False) -> tuple[Figure, ...]:
    """Return the Greeks of a whole position of about ``contracts`` contracts, with margins of that size."""
    rows = (
        ("delta", f"delta of {of} in shares", 0.05),
        ("gamma", f"gamma of {of} in shares per 1.00 of spot", 0.0005),
        ("theta_per_day", f"theta of {of} in dollars per calendar day", 0.02),
        ("vega_per_point", f"vega of {of} in dollars per percentage point of volatility", 0.02),
        ("rho_per_point", f"rho of {of} in dollars per percentage point of the rate", 0.02),
    )
    return tuple(
        Figure(name, meaning, margin * contracts, of_legs=of_legs) for name, meaning, margin in rows[: 4 + with_rho]
    )


def attribution_figures(of: str) -> tuple[Figure, ...]:
    """Return the profit of a position and its parts by Greek."""
    return (
        Figure("total", f"exact profit of {of} in dollars, with its sign", 2.0),
        Figure("delta_pnl", "part due to delta, in dollars", 2.0),
        Figure("gamma_pnl", "part due to gamma, in dollars", 2.0),
        Figure("theta_pnl", "part due to theta, in dollars", 2.0),
        Figure("vega_pnl", "part due to vega, in dollars", 2.0),
    )


def probability_figure(name: str, meaning: str) -> Figure:
    """Return a probability of the chosen position, right within an absolute margin."""
    return Figure(name, meaning, PROBABILITY_TOLERANCE, 0.0, of_legs=True, probability=True)


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
