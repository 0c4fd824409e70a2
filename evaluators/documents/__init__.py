"""Office documents of strangers as text: bounded, without macros, read in a process that has nothing to lose."""

from __future__ import annotations

from evaluators.documents.container import Refused
from evaluators.documents.reading import KINDS, text_of

__all__ = ["KINDS", "Refused", "text_of"]
"""Not a dataset itself."""
