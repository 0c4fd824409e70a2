"""The standard error of a mean whose observations are not independent: those of one family share something."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable


def clustered_error(residuals: Iterable[tuple[str, float]]) -> tuple[float | None, int]:
    """Return the cluster-robust standard error of a mean, and the number of families; None with fewer than two.

    The variance is ``G/(G-1) * sum_g (sum_{i in g} w_i r_i)^2`` over the ``G`` families, for weights ``w`` that sum to
    1 and residuals ``r`` (Cameron and Miller, "A practitioner's guide to cluster-robust inference", 2015, eq. 11, for a
    mean). Families of one observation each and equal weights give the textbook s/sqrt(n).

    Parameters
    ----------
    residuals
        Family and weighted residual ``w_i r_i`` of each observation.
    """
    sums: dict[str, float] = defaultdict(float)
    for family, residual in residuals:
        sums[family] += residual
    groups = len(sums)
    if groups < 2:
        return None, groups
    return math.sqrt(groups / (groups - 1) * math.fsum(part * part for part in sums.values())), groups
