"""The market that candles make with the funding rates of the same future; only from candles without a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lake.candles.candles import Candles, Floats, Funding, moment
from lake.candles.faults import examine

if TYPE_CHECKING:
    from backtest.market import Market


def market(candles: Candles, funding: Funding | None = None) -> Market:
    """Return candles without a fault as a market ``[bars]``.

    Parameters
    ----------
    funding
        Rates of the same future; 0 everywhere when omitted. See :func:`funding_of_bars`.

    Raises
    ------
    ValueError
        With the report, when there is any fault.
    """
    report = examine(candles)
    if report.faults:
        raise ValueError(f"these candles have faults; use their faultless stretches, or mend the source:\n{report}")
    import jax.numpy as jnp

    from backtest.market import Market

    fields = (candles.time, candles.open, candles.high, candles.low, candles.close, candles.volume)
    rates = np.zeros(len(candles)) if funding is None else funding_of_bars(funding, candles.time, candles.seconds)
    return Market(*(jnp.asarray(field) for field in (*fields, rates)))


def funding_of_bars(funding: Funding, time: Floats, seconds: float) -> Floats:
    """Return the funding exchanged in each bar, ``[bars]``: the sum of the rates with open <= time < open + length.

    A rate stamped some milliseconds after the hour falls into the bar that opens on the hour.

    Raises
    ------
    ValueError
        When no rate falls into any bar, with both spans: the two are of different times.
    """
    bar = np.searchsorted(time, funding.time, side="right") - 1
    inside = (bar >= 0) & (funding.time < time[bar.clip(0)] + seconds)
    if not inside.any():
        raise ValueError(
            f"{funding.source}: no funding rate falls into the candles: rates from {moment(funding.time[0])} to "
            f"{moment(funding.time[-1])}, candles from {moment(time[0])} to {moment(time[-1])}"
        )
    rates = np.zeros(len(time))
    np.add.at(rates, bar[inside], funding.rate[inside])
    return rates


def has_funding(funding: Funding, time: Floats) -> npt.NDArray[np.bool_]:
    """Return whether the rates cover each bar, ``[bars]``: the last one is no older than the usual time between two."""
    usual = np.median(np.diff(funding.time)) if len(funding.time) > 1 else 0.0
    # A rate stamped some milliseconds after the open of its bar covers the bar all the same.
    opened = time + 1.0
    last = np.searchsorted(funding.time, opened, side="right") - 1
    return np.asarray((last >= 0) & (opened - funding.time[last.clip(0)] < usual))
