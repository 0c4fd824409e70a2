"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.judge.options import RubricOptions


class Options(RubricOptions):
    """The user's own file at ``path``."""

    type: Literal["gdpval"] = "gdpval"
