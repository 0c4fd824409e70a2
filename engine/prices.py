"""What tokens cost: a table that the user writes, by the name of a model or of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field

from evaluators.records import Record

PER = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Record):
    """US dollars per million tokens read and written."""

    input_usd: Dollars
    output_usd: Dollars

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of so many tokens in US dollars."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / PER


def price_table(given: Any) -> Any:
    """Return the table as it stands in a config, or the content of the YAML file that a config names.

    Raises
    ------
    ValueError
        When there is no such file, or it holds no mapping.
    """
    if not isinstance(given, str):
        return given
    try:
        read = yaml.safe_load(Path(given).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"the price table {given} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(read, Mapping):
        raise ValueError(
            f"the price table {given} must map names of models or agents to "
            f"{{input_usd: ..., output_usd: ...}}, got {type(read).__name__}"
        )
    return read
