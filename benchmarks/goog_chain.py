"""Fit the volatility surface of a real chain (Google, 2015-12-23, American options) and draw it.

    python benchmarks/goog_chain.py OPTIONS.zip PICTURE.png

The archive holds one csv a contract, ``goog_quote_american_{call|put}_{strike x 10000}_{yyyymmdd}.csv``, with lines of
date, bid open/high/low/close x 10000, bid size, ask open/high/low/close x 10000, ask size.
"""

from __future__ import annotations

import sys
import zipfile
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from pricing import american, chain, surface

DAY, SPOT = "20151223", 750.31
SLOTS = 160


class Fit(NamedTuple):
    """Everything that came out of one chain.

    Attributes
    ----------
    rate
        Implied by parity, per year.
    parities
        One an expiry.
    quotes
        Out-of-the-money quotes that were fitted.
    bid, mid, ask
        Their implied volatilities.
    curves
        SVI fits by expiry.
    fitted
        Volatility of the curve at each quote.
    """

    rate: float
    parities: list[chain.Parity]
    quotes: chain.Quotes
    bid: np.ndarray
    mid: np.ndarray
    ask: np.ndarray
    curves: list[surface.SVIFit]
    fitted: np.ndarray

    @property
    def surface(self) -> surface.Surface:
        """All curves as one surface."""
        return surface.Surface.of(
            time=[p.time_to_expiry for p in self.parities],
            forward=[p.forward for p in self.parities],
            curves=[fit.curve for fit in self.curves],
        )


def load(archive: Path) -> chain.Quotes:
    """Read closing bid and ask of every contract quoted on both sides that day."""
    rows = []
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            *_, kind, strike, expiry = name.removesuffix(".csv").split("_")
            for line in files.read(name).decode().splitlines():
                cells = line.split(",")
                if cells[0].startswith(DAY) and cells[4] and cells[9]:
                    days = (datetime.strptime(expiry, "%Y%m%d") - datetime.strptime(DAY, "%Y%m%d")).days
                    rows.append((int(strike), days / 365.0, kind == "call", int(cells[4]), int(cells[9])))
    strike, time, is_call, bid, ask = np.array(rows, float).T
    return chain.build(strike=strike / 1e4, time_to_expiry=time, is_call=is_call, bid=bid / 1e4, ask=ask / 1e4)


def fit(quotes: chain.Quotes, *, shortest: float = 0.02) -> Fit:
    """Forward by parity, volatility by American inversion, one curve an expiry; expiries below a week are left out."""
    rate = chain.implied_rate(quotes)
    expiries = [float(time) for time in quotes.expiries if time >= shortest]
    parities = [chain.parity(quotes, time, discount=float(np.exp(-rate * time))) for time in expiries]
    wanted = chain.liquid(quotes, smallest_bid=0.05, largest_relative_spread=0.5)
    wanted &= chain.out_of_the_money(quotes, parities) & np.isin(quotes.time_to_expiry, expiries)
    used = quotes.where(wanted)
    bid, mid, ask = (implied(used, parities, rate, price) for price in (used.bid, used.mid, used.ask))
    known = np.isfinite(bid + mid + ask)
    used, bid, mid, ask = used.where(known), bid[known], mid[known], ask[known]

    curves: list[surface.SVIFit] = []
    fitted = np.empty_like(mid)
    for p in parities:
        rows = np.flatnonzero(used.time_to_expiry == p.time_to_expiry)
        k, time = np.log(used.strike[rows] / p.forward), p.time_to_expiry
        pad = (0, SLOTS - rows.size)
        curves.append(
            surface.fit_svi(
                log_moneyness=np.pad(k, pad),
                total_variance=np.pad(mid[rows] ** 2 * time, pad, constant_values=1.0),
                tolerance=np.pad(mid[rows] * (ask - bid)[rows] * time, pad, constant_values=np.inf),
                earlier=curves[-1].curve if curves else None,
            )
        )
        fitted[rows] = np.sqrt(np.asarray(surface.svi_total_variance(curves[-1].curve, k)) / time)
    return Fit(rate, parities, used, bid, mid, ask, curves, fitted)


def implied(quotes: chain.Quotes, parities: list[chain.Parity], rate: float, price: np.ndarray) -> np.ndarray:
    forward = chain.forwards(quotes, parities)
    return np.asarray(
        american.implied_volatility(
            price=price,
            spot=SPOT,
            strike=quotes.strike,
            time_to_expiry=quotes.time_to_expiry,
            rate=rate,
            dividend_yield=rate - np.log(forward / SPOT) / quotes.time_to_expiry,
            is_call=quotes.is_call,
            scheme=american.FAST,
        )
    )


def draw(result: Fit, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    count = len(result.parities)
    figure, axes = plt.subplots(2, -(-count // 2), figsize=(15, 6), layout="constrained")
    for axis, p, curve in zip(axes.flat, result.parities, result.curves, strict=False):
        rows = result.quotes.time_to_expiry == p.time_to_expiry
        k = np.log(result.quotes.strike[rows] / p.forward)
        axis.vlines(k, 100 * result.bid[rows], 100 * result.ask[rows], color="0.55", linewidth=1.2)
        x = np.linspace(k.min() - 0.03, k.max() + 0.03, 200)
        w = np.asarray(surface.svi_total_variance(curve.curve, x))
        axis.plot(x, 100 * np.sqrt(w / p.time_to_expiry), color="C3", linewidth=1.3)
        axis.set_title(f"{p.time_to_expiry * 365:.0f} days, forward {p.forward:.2f}", fontsize=9)
        axis.tick_params(labelsize=8)
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    figure.suptitle(
        "Google, 2015-12-23: implied volatility in %, bid to ask (grey) and SVI (red), by log(strike/forward)"
    )
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=70)


def main() -> None:
    result = fit(load(Path(sys.argv[1])))
    inside = (result.fitted >= result.bid) & (result.fitted <= result.ask)
    half_spread = 0.5 * (result.ask - result.bid)
    error = np.abs(result.fitted - result.mid)
    print(f"{result.mid.size} quotes, implied rate {result.rate:.4%}")
    print(f"median error {np.median(error):.4%}, median half-spread {np.median(half_spread):.4%}")
    print(f"{inside.mean():.1%} of the quotes have the curve between bid and ask")
    for p, curve in zip(result.parities, result.curves, strict=True):
        print(
            f"{p.time_to_expiry * 365:5.0f} days  forward {p.forward:.3f} in [{p.lowest_forward:.3f}, "
            f"{p.highest_forward:.3f}]  g {float(curve.smallest_density):.4f}  "
            f"calendar {float(curve.smallest_calendar_gap):.2e}"
        )
    fitted = result.surface
    times = np.linspace(fitted.time[0], fitted.time[-1], 40)
    print(surface.check(lambda k, t: surface.total_variance(fitted, k, t), jnp.asarray(times)))
    draw(result, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
