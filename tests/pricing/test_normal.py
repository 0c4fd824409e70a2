"""The Mills ratio against 40 digits, in both precisions."""

from __future__ import annotations

import jax
import mpmath as mp
import numpy as np
import pytest

from pricing import normal

POINTS = np.concatenate([np.linspace(0.0, 8.0, 161), np.geomspace(8.0, 60.0, 40)])


def mills(x: float) -> mp.mpf:
    with mp.workdps(40):
        return mp.erfc(x / mp.sqrt(2)) * mp.sqrt(mp.pi / 2) * mp.exp(mp.mpf(x) ** 2 / 2)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 6e-16), (np.float32, 3e-7)])
def test_the_mills_ratio_is_right_to_a_few_units_in_the_last_place(dtype: type, tolerance: float) -> None:
    x = POINTS.astype(dtype)
    found = np.asarray(jax.jit(normal.mills_ratio)(x))
    assert found.dtype == dtype
    worst = max(abs(mp.mpf(float(value)) / mills(float(at)) - 1) for at, value in zip(x, found, strict=True))
    assert worst < tolerance


@pytest.mark.parametrize(("terms", "error"), [(normal._MILLS_WIDE, 1.25e-16), (normal._MILLS_NARROW, 2.75e-8)])
def test_the_terms_of_each_precision_leave_less_than_it_rounds_away(terms: tuple[float, ...], error: float) -> None:
    """The polynomial alone, in 40 digits: what the docstring says of the fit."""
    with mp.workdps(40):
        worst = max(
            abs(mp.polyval(terms, (x - 2) / (x + 4), asc=True) / (x + 4) / mills(x) - 1) for x in map(mp.mpf, POINTS)
        )
    assert worst < error


def test_both_tables_are_one_chebyshev_series_cut_at_two_lengths() -> None:
    with mp.workdps(40):
        low, high, nodes = -mp.mpf(1) / 2, mp.mpf(58) / 64, 64
        angles = [mp.pi * (k + mp.mpf(1) / 2) / nodes for k in range(nodes)]
        middle, half = (low + high) / 2, (high - low) / 2
        values = []
        for angle in angles:
            t = middle + half * mp.cos(angle)
            x = (2 + 4 * t) / (1 - t)
            values.append((x + 4) * mills(x))
        for terms in (normal._MILLS_WIDE, normal._MILLS_NARROW):
            series = [
                2 / mp.mpf(nodes) * sum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True))
                for j in range(len(terms))
            ]
            for t in (low, mp.mpf(0), middle, high):
                s = (t - middle) / half
                wanted = sum(c * mp.chebyt(j, s) for j, c in enumerate(series)) - series[0] / 2
                assert abs(mp.polyval(terms, t, asc=True) - wanted) < 1e-14
