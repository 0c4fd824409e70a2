"""The published measures, reported beside the skill for comparison; neither decides anything."""

from __future__ import annotations

import math

RETURN_CAP, SHARPE_CAP, DRAWDOWN_CAP, WIN_RATES = 0.5, 3.0, 0.5, (0.3, 0.7)


def linear(value: float, low: float, high: float) -> float:
    """Return where ``value`` stands between ``low`` and ``high``, cut to [0, 1]."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def as_published(*, total_return: float, sharpe: float, max_drawdown: float, win_rate: float) -> float:
    """Return the published 0-100 weighting of one episode: return 35%, Sharpe 30%, win rate 20%, drawdown 15%.

    Doing nothing earns 47.5.
    """
    return 100.0 * (
        0.35 * linear(total_return, -RETURN_CAP, RETURN_CAP)
        + 0.30 * linear(sharpe, -SHARPE_CAP, SHARPE_CAP)
        + 0.20 * linear(win_rate, *WIN_RATES)
        + 0.15 * (1.0 - linear(max_drawdown, 0.0, DRAWDOWN_CAP))
    )


def paper_product(*, total_return: float, sharpe: float, max_drawdown: float) -> float:
    """Return eq. 13 of the paper for one episode, sign-preserving: ``sign(return) |return x sharpe| (1 - drawdown)``.

    Return and drawdown as fractions, Sharpe per year. As printed, two losses multiply to a gain.
    """
    return math.copysign(abs(total_return * sharpe) * (1.0 - max_drawdown), total_return)
