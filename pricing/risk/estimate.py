"""Value at risk and expected shortfall of a sample of profits, with their standard errors.

The sample may be history or the output of a simulation. Losses are positive: a book that cannot lose at the given
confidence has a negative value at risk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.signature import checked


class Estimate(NamedTuple):
    """A number from a sample, with its precision.

    Attributes
    ----------
    value
        In the unit of the profits; positive for a loss.
    standard_error
        Of ``value``, for independent outcomes; NaN where the sample is too small to tell.
    """

    value: float
    standard_error: float


@checked
def value_at_risk(profit_and_loss: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Loss that is exceeded with probability ``1 - confidence``.

    Parameters
    ----------
    profit_and_loss
        Outcomes over the horizon, shape ``[scenarios]``, profits positive, at least 2.
    confidence
        Between 0 and 1, exclusive.

    Returns
    -------
    The sample quantile (linear between order statistics), and the distance between the order statistics one binomial
    standard deviation to each side of it, halved.

    Raises
    ------
    ValueError
        When the confidence is out of range, or outcomes are too few or not finite.

    Examples
    --------
    >>> value_at_risk([-5.0, -1.0, 0.0, 1.0, 2.0], confidence=0.75).value
    1.0
    """
    losses = -_outcomes(profit_and_loss, confidence)
    tail = Tail.of(losses.size, confidence)
    return tail.value_at_risk(np.partition(losses, sorted(set(tail.ranks)))[list(tail.ranks)])


@checked
def expected_shortfall(profit_and_loss: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Mean loss in the worst ``1 - confidence`` of the outcomes.

    Arguments and errors are those of :func:`value_at_risk`. The outcome at the edge of the tail counts with the
    fraction of its weight that lies inside (Acerbi and Tasche 2002). The error counts the noise of the edge too:
    sqrt((variance of tail losses + confidence * (mean - edge)^2) / tail size).
    """
    losses = -_outcomes(profit_and_loss, confidence)
    tail = Tail.of(losses.size, confidence)
    first = losses.size - tail.whole
    ordered = np.partition(losses, [tail.edge, min(first, losses.size - 1)])
    worst = ordered[first:]
    squares = float(((worst - worst.mean()) ** 2).sum()) if tail.whole else 0.0
    return tail.expected_shortfall(float(ordered[tail.edge]), float(worst.sum()), squares)


class Tail(NamedTuple):
    """What the estimates need of a sample of losses: some order statistics, and sums over the worst.

    Attributes
    ----------
    confidence
        Between 0 and 1, exclusive.
    low, below, above, high
        Ranks: of the error to the left, beside the quantile, and of the error to the right, of which the outer ones may
        lie outside of the sample.
    last
        Rank of the largest loss.
    weight
        Of the order statistic above in the quantile.
    edge
        Rank of the loss that counts in part.
    whole, fraction
        Number of losses that count as a whole, and the part of the edge that counts.
    """

    confidence: float
    low: int
    below: int
    above: int
    high: int
    last: int
    weight: float
    edge: int
    whole: int
    fraction: float

    @classmethod
    def of(cls, size: int, confidence: float) -> Tail:
        """Return the tail of a sample of ``size`` losses."""
        last = size - 1
        position = confidence * last
        spread = math.sqrt(size * confidence * (1.0 - confidence))
        below = math.floor(position)
        beyond = size * (1.0 - confidence)
        # A tail of 5.000000000000004 outcomes is one of 5: the product above is rounded.
        whole = math.floor(beyond + 1e-9 * size)
        return cls(
            confidence=confidence,
            low=math.floor(position - spread),
            below=below,
            above=min(below + 1, last),
            high=math.ceil(position + spread),
            last=last,
            weight=position - below,
            edge=max(size - whole - 1, 0),
            whole=whole,
            fraction=max(beyond - whole, 0.0),
        )

    @property
    def ranks(self) -> tuple[int, int, int, int]:
        """Ranks within the sample of what :meth:`value_at_risk` takes."""
        return max(self.low, 0), self.below, self.above, min(self.high, self.last)

    def value_at_risk(self, ordered: Sequence[float] | NDArray[np.floating]) -> Estimate:
        """Return the estimate from the losses at :attr:`ranks`."""
        low, below, above, high = map(float, ordered)
        value = (1.0 - self.weight) * below + self.weight * above
        return Estimate(value, math.nan if self.low < 0 or self.high > self.last else (high - low) / 2.0)

    def expected_shortfall(self, edge: float, total: float, squares: float) -> Estimate:
        """Return the estimate from the edge, the sum of the whole losses, and that of their squared deviations."""
        value = (total + self.fraction * edge) / (self.whole + self.fraction)
        if self.whole < 2:
            return Estimate(value, math.nan)
        variance = squares / self.whole + self.confidence * (value - edge) ** 2
        return Estimate(value, math.sqrt(variance / self.whole))


def _outcomes(profit_and_loss: ArrayLike, confidence: float) -> NDArray[np.floating]:
    require_confidence(confidence)
    outcomes = np.asarray(profit_and_loss)
    if not np.issubdtype(outcomes.dtype, np.floating):
        outcomes = outcomes.astype(np.float64)
    if outcomes.ndim != 1 or outcomes.size < 2:
        raise ValueError(f"profit_and_loss must be one list of at least 2 outcomes, got shape {outcomes.shape}")
    finite = np.isfinite(outcomes)
    if not finite.all():
        raise ValueError(f"profit_and_loss must be finite, got {outcomes[~finite][0]} at index {int(finite.argmin())}")
    return outcomes


def require_confidence(confidence: float) -> None:
    """Raise ``ValueError`` unless the confidence lies strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, for example 0.95, got {confidence!r}")
