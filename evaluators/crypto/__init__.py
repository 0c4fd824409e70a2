"""Crypto trading: anonymised episodes under transforms, scored by timing skill."""

from evaluators.crypto.dataset import DATASET

__all__ = ["DATASET"]
