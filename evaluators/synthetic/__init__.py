"""Synthetic questions: analytical reasoning with truth computed from drawn inputs."""

from __future__ import annotations

from evaluators.synthetic.dataset import DATASET

__all__ = ["DATASET"]
