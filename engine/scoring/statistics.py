"""Means with their uncertainty: clustered standard errors, intervals, paired comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from evaluators.clusters import clustered_error

ROUNDING = 1e-12
"""What rounding leaves of a standard error of 0, as a share of the mean."""


class Estimate(NamedTuple):
    """A mean with its uncertainty.

    Attributes
    ----------
    value
        The mean.
    se
        Standard error, clustered by family; None when there are fewer than two families.
    degrees_of_freedom
        Of ``se``; None with it.
    """

    value: float
    se: float | None
    degrees_of_freedom: float | None


class Sample(NamedTuple):
    """One observation: its family (what it shares with others), value and weight in the mean."""

    family: str
    value: float
    weight: float = 1.0


def clustered_mean(samples: Iterable[Sample]) -> Estimate:
    """Return the weighted mean and its standard error, clustered by family.

    Raises
    ------
    ValueError
        Without samples.
    """
    items = list(samples)
    if not items:
        raise ValueError("the mean of no samples does not exist")
    total = math.fsum(item.weight for item in items)
    value = math.fsum(item.weight * item.value for item in items) / total
    se, families = clustered_error((item.family, item.weight / total * (item.value - value)) for item in items)
    return Estimate(value, se, None if se is None else float(families - 1))


def interval(estimate: Estimate, *, low: float = 0.0, high: float = 100.0) -> tuple[float, float] | None:
    """Return the 95% Student-t interval, cut to the scale; None when the standard error is unknown."""
    if estimate.se is None or estimate.degrees_of_freedom is None:
        return None
    half = student_t_quantile(estimate.degrees_of_freedom) * estimate.se
    return min(high, max(low, estimate.value - half)), max(low, min(high, estimate.value + half))


def without_spread(estimate: Estimate) -> bool:
    """Return whether all families had the same mean, but for rounding: Student's t says nothing about such a sample."""
    return estimate.se is not None and estimate.se <= ROUNDING * max(1.0, abs(estimate.value))


def student_t_quantile(degrees_of_freedom: float, probability: float = 0.975) -> float:
    """Return the quantile of Student's t (the normal's for infinite degrees of freedom)."""
    from scipy.special import ndtri, stdtrit

    if math.isinf(degrees_of_freedom):
        return float(ndtri(probability))
    return float(stdtrit(degrees_of_freedom, probability))


class PairedDifference(NamedTuple):
    """Two agents (or two markets) on the same cells.

    Attributes
    ----------
    difference
        Mean of first minus second.
    se, half_width, p_value
        Standard error, half of the 95% interval, and two-sided p value by Student's t; None with fewer than two
        families. Where all families differ by the same amount Student's t says nothing: the half width is None, and
        the p value is that of the sign test.
    n
        Cells compared.
    """

    difference: float
    se: float | None
    half_width: float | None
    p_value: float | None
    n: int


def tested(difference: Estimate, *, n: int) -> PairedDifference:
    """Test whether a mean difference of ``n`` cells is 0."""
    value, se, freedom = difference
    if se is None or freedom is None:
        return PairedDifference(value, None, None, None, n)
    if without_spread(difference):
        # families, one more than the degrees of freedom, all of one sign: 2 x 2^-families
        return PairedDifference(value, se, None, 1.0 if abs(value) <= ROUNDING else 2.0**-freedom, n)
    from scipy.special import stdtr

    p_value = 2.0 * float(stdtr(freedom, -abs(value / se)))
    return PairedDifference(value, se, student_t_quantile(freedom) * se, p_value, n)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p values, in the order given (Holm 1979)."""
    order = np.argsort(np.asarray(p_values, dtype=float), kind="stable")
    adjusted: dict[int, float] = {}
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[int(index)]))
        adjusted[int(index)] = running
    return [adjusted[index] for index in range(len(p_values))]


def minimum_detectable_difference(se: float, *, power: float = 0.8, level: float = 0.05) -> float:
    """Return the true difference that a two-sided test at ``level`` finds with probability ``power``."""
    from scipy.special import ndtri

    return float((ndtri(1.0 - level / 2.0) + ndtri(power)) * se)
