"""What happens to a market before an agent sees it: key, market -> observed, traded, events."""

from transforms.pipeline import apply, check
from transforms.record import Events, Transform, Transformed, describe, transform

__all__ = ["Events", "Transform", "Transformed", "apply", "check", "describe", "transform"]
