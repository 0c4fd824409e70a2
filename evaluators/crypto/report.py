"""The verdict on a task, with everything a report shows beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from backtest.account import Account
from evaluators.contract import Json, Score
from evaluators.crypto.hindsight import Array, Available
from evaluators.crypto.play import Measured
from evaluators.crypto.published import annual_sharpe, as_published, max_drawdown, paper_product
from evaluators.crypto.skill import judge, per_episode, window_points

YEAR_SECONDS = 365.0 * 86_400.0
CURVE_POINTS = 60
PASS_POINTS = 50.0


def scored(
    measured: Measured,
    account: Account,
    *,
    available: Available,
    window: npt.NDArray[np.int64],
    families: tuple[str, ...],
    mirrored: npt.NDArray[np.bool_],
    time: Array,
    info: Mapping[str, Json],
    start_equity: float = 10_000.0,
) -> Score:
    """Return the score of one task from the measures of its episodes, fields ``[bars, episodes]``."""
    timing, cost = per_episode(np.asarray(measured.timing), np.asarray(measured.cost), np.asarray(measured.largest))
    points = window_points(timing, cost, available, window)
    skill = judge(points, families)
    equity = np.concatenate([np.full((1, timing.size), start_equity), np.asarray(measured.equity)])
    bars_per_year = YEAR_SECONDS / float(np.median(np.diff(time[0])))
    plain = plain_metrics(equity, account, bars_per_year)
    plain |= {
        "exposure": float(np.mean(np.abs(measured.exposure))),
        "cost": float(np.mean(np.sum(measured.cost, axis=0))),
    }
    low = skill.value - 1.96 * skill.se
    details: dict[str, Json] = {
        **info,
        "skill": skill.value,
        "se": skill.se,
        "timing_points": skill.timing,
        "cost_points": skill.cost,
        "windows": len(families),
        "episodes": int(timing.size),
        "samples": [
            {"family": family, "value": float(value)} for family, value in zip(families, skill.samples, strict=True)
        ],
        "points": points.tolist(),
        **plain,
        "equity_curves": curves(equity, window, mirrored),
    }
    reason = (
        f"skill {skill.value:.1f} ± {1.96 * skill.se:.1f} over {len(families)} windows: "
        f"timing {skill.timing:.1f} points, costs {skill.cost:.1f}"
    )
    return Score(
        value=skill.value,
        passed=skill.value >= PASS_POINTS and low > 0.0,
        parts={"skill": max(0.0, skill.value)},
        details=details,
        reason=reason,
    )


def plain_metrics(equity: Array, account: Account, bars_per_year: float) -> dict[str, Json]:
    """Return means over episodes of the plain and the published metrics.

    Parameters
    ----------
    equity
        ``[bars + 1, episodes]``.
    account
        After the last bar, fields ``[episodes]``; a position that is still open counts as a closed trade.
    """
    total = equity[-1] / equity[0] - 1.0
    sharpe = annual_sharpe(equity, bars_per_year=bars_per_year)
    drawdown = max_drawdown(equity)
    still_open = np.asarray(account.position) != 0.0
    trades = np.asarray(account.ledger.trades) + still_open
    wins = np.asarray(account.ledger.wins) + (still_open & (np.asarray(account.equity) > account.trade_equity))
    win_rate = np.where(trades > 0.0, wins / np.maximum(trades, 1.0), 0.0)
    rows = list(zip(total.tolist(), sharpe.tolist(), drawdown.tolist(), win_rate.tolist(), strict=True))
    product = [paper_product(total_return=r, sharpe=s, max_drawdown=d) for r, s, d, _ in rows]
    weighted = [as_published(total_return=r, sharpe=s, max_drawdown=d, win_rate=w) for r, s, d, w in rows]
    return {
        "paper_product": float(np.mean(product)),
        "as_published": float(np.mean(weighted)),
        "total_return": float(np.mean(total)),
        "sharpe": float(np.mean(sharpe)),
        "max_drawdown": float(np.mean(drawdown)),
        "win_rate": float(np.sum(wins) / np.sum(trades)) if np.sum(trades) > 0.0 else None,
        "trades": float(np.mean(trades)),
    }


def curves(equity: Array, window: npt.NDArray[np.int64], mirrored: npt.NDArray[np.bool_]) -> dict[str, Json]:
    """Return equity curves relative to their start, downsampled: mean, and of each window the unmirrored one."""
    points = np.unique(np.linspace(0, len(equity) - 1, min(CURVE_POINTS, len(equity))).round().astype(int))
    relative = equity / equity[0]
    shown = np.flatnonzero(~mirrored)
    return {
        "bar": points.tolist(),
        "mean": [round(float(value), 6) for value in relative[points].mean(axis=1)],
        "windows": {
            f"w{int(window[index]):02d}": [round(float(value), 6) for value in relative[points, index]]
            for index in shown[:8]
        },
    }
