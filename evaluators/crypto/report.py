"""The verdict on a task, with everything a report shows beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from backtest import metrics
from backtest.account import Account, Ledger
from backtest.market import YEAR_SECONDS
from evaluators.contract import Json, Score
from evaluators.crypto.hindsight import Array
from evaluators.crypto.play import Measured
from evaluators.crypto.published import as_published, paper_product
from evaluators.crypto.skill import Skill

CURVE_POINTS = 60
PASS_POINTS = 50.0


def scored(
    measured: Measured,
    account: Account,
    *,
    skill: Skill,
    window: npt.NDArray[np.int64],
    families: tuple[str, ...],
    mirrored: npt.NDArray[np.bool_],
    time: Array,
    info: Mapping[str, Json],
    trouble: str = "",
    start_equity: float = 10_000.0,
) -> Score:
    """Return the score of one task from the measures of its episodes, fields ``[bars, episodes]``.

    ``skill`` is what they showed (``evaluators.crypto.verdict``); the reason begins with ``trouble``, if there is any.
    """
    episodes = np.asarray(measured.equity).shape[1]
    equity = np.concatenate([np.full((1, episodes), start_equity), np.asarray(measured.equity)])
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
        "episodes": episodes,
        "samples": [
            {"family": family, "value": float(value)} for family, value in zip(families, skill.samples, strict=True)
        ],
        "points": skill.points.tolist(),
        **plain,
        "equity_curves": curves(equity, window, mirrored),
    }
    reason = f"{trouble}; " if trouble else ""
    reason += (
        f"skill {tenths(skill.value)} ± {tenths(1.96 * skill.se)} over {len(families)} windows: "
        f"timing {tenths(skill.timing)} points, costs {tenths(skill.cost)}"
    )
    return Score(
        value=skill.value,
        passed=skill.value >= PASS_POINTS and low > 0.0,
        parts={"skill": max(0.0, skill.value)},
        details=details,
        reason=reason,
    )


def trouble(replies: int, unreadable: Sequence[str], faults: Mapping[str, int]) -> str:
    """Return what was wrong with an agent's replies, in words; empty where nothing was.

    Parameters
    ----------
    replies
        Their number.
    unreadable
        Why a reply held no decision at all, one entry for each such reply.
    faults
        Number of decisions that counted as HOLD, by reason; those of unreadable replies included.
    """
    held = sum(faults.values())
    if unreadable:
        count = f"{len(unreadable)} of {replies} replies" if len(unreadable) < replies else f"all {replies} replies"
        which = f"{'was' if len(unreadable) == 1 else 'were'} unreadable, the first"
        if replies == 1:
            count, which = "the only reply", "was unreadable,"
        return f"{count} {which} because: {unreadable[0]}; {held} decisions counted as HOLD"
    if faults:
        reason, most = max(faults.items(), key=lambda item: item[1])
        return f"{held} decisions were invalid and counted as HOLD, most of them ({most}) because: {reason}"
    return ""


def tenths(value: float) -> str:
    """Return the value with one decimal, without a sign on zero."""
    return f"{round(value, 1) + 0.0:.1f}"


def plain_metrics(equity: Array, account: Account, bars_per_year: float) -> dict[str, Json]:
    """Return means over episodes of the plain and the published metrics.

    Parameters
    ----------
    equity
        ``[bars + 1, episodes]``.
    account
        After the last bar, fields ``[episodes]``; a position that is still open counts as a closed trade.
    """
    measures = jax.device_get(_measures(jnp.asarray(equity.T), account.ledger, bars_per_year))
    total, drawdown = (np.asarray(measures[name]) for name in ("total_return", "max_drawdown"))
    sharpe = np.nan_to_num(np.asarray(measures["sharpe"]))
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
        **{name: mean_known(np.asarray(values)) for name, values in measures.items()},
        "win_rate": float(np.sum(wins) / np.sum(trades)) if np.sum(trades) > 0.0 else None,
        "trades": float(np.mean(trades)),
    }


@partial(jax.jit, static_argnames=("per_year",))
def _measures(equity: jax.Array, ledger: Ledger, per_year: float) -> dict[str, jax.Array]:
    path = metrics.returns(equity)
    return {
        "total_return": metrics.total_return(equity),
        "sharpe": metrics.sharpe(path, bars_per_year=per_year),
        "sortino": metrics.sortino(path, bars_per_year=per_year),
        "calmar": metrics.calmar(equity, bars_per_year=per_year),
        "max_drawdown": metrics.max_drawdown(equity),
        "turnover": metrics.turnover(equity, ledger, bars_per_year=per_year),
    }


def mean_known(values: Array) -> float | None:
    """Return the mean over the episodes in which a measure is defined; None where it is in none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


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
