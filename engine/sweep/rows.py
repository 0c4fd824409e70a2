"""One row of a sweep: a strategy, a transform or a metric by name, with its parameters."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from pydantic import Field, field_validator, model_validator

from backtest import naming, strategies
from backtest.episode import Strategy
from backtest.market import YEAR_SECONDS, Market
from backtest.metrics import own as own_metrics
from backtest.metrics.measures import MEASURES, Measure
from backtest.naming import Parameters
from backtest.strategies import own
from engine.errors import ConfigError
from evaluators.crypto.strategy_program import program
from evaluators.crypto.strategy_rules import read_strategy
from evaluators.records import Record
from transforms import pipeline, registry
from transforms.record import Transform, Transformed

KEYS = ("transform", "severity", "window", "seed", "strategy")
"""Columns of the results that name a cell; the others are measures."""
Texts: TypeAlias = Mapping[str, str]
"""What the own files of a sweep say, by their paths as the YAML writes them."""


class Row(Record):
    """A registered name, or ``path/to/mine.py:name``, with its parameters.

    Attributes
    ----------
    label
        Name in results; default :attr:`title`.
    """

    name: str
    label: str = ""
    params: dict[str, Any] = Field(default_factory=dict)

    @field_validator("params")
    @classmethod
    def _plain(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name, given in value.items():
            if not isinstance(given, bool | int | float | str) or (isinstance(given, float) and math.isnan(given)):
                raise ValueError(f"{name} must be a number, a word, true or false, got {given!r}")
        return value

    @property
    def title(self) -> str:
        """Name in results: ``macd(fast=24)``, ``mine.py:make(fast=12)``."""
        # of a path the last part is enough: what then is called alike must be given labels
        short = "+".join(part.rsplit("/", 1)[-1] if naming.is_own(part) else part for part in self.name.split("+"))
        shown = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return self.label or (f"{short}({shown})" if shown else short)

    @property
    def pairs(self) -> Parameters:
        """The parameters in a form that can be compared and kept."""
        return tuple(sorted(self.params.items()))

    @property
    def files(self) -> list[str]:
        """Paths of the own files that the row names."""
        return [naming.parts(part.strip())[0] for part in self.name.split("+") if naming.is_own(part)]


class StrategyRow(Row):
    """A strategy: a reference one, one of an own file, or one that is declared.

    Attributes
    ----------
    declared
        The JSON that agents answer with in ``mode: strategy`` of the crypto section; ``name`` is then its name in
        results. A name that ends in ``.json`` reads it from that file.
    """

    declared: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _of_one_kind(self) -> StrategyRow:
        if self.params and (self.declared is not None or self.name.endswith(".json")):
            raise ValueError(f"params: the declared strategy {self.name!r} takes none; write the numbers into it")
        return self

    @property
    def files(self) -> list[str]:
        """Paths of the own files that the row names: one at most."""
        if self.declared is not None:
            return []
        return [naming.parts(self.name)[0]] if naming.is_own(self.name) else []


def named(value: Any) -> Any:
    """Return rows in which a bare name stands for a row of that name."""
    return [{"name": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


def texts_of(rows: Sequence[Row], *, what: str, folder: Path) -> dict[str, str]:
    """Return what the own files of some rows say; paths are seen from ``folder``, or else the working directory."""
    return {path: naming.read(path, what=what, folders=[folder]) for row in rows for path in row.files}


def with_declared(row: StrategyRow, *, folder: Path) -> StrategyRow:
    """Return a row with the strategy that its JSON file declares."""
    if row.declared is not None or not row.name.endswith(".json"):
        return row
    text = naming.read(row.name, what="strategy", folders=[folder])
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"strategy file {row.name!r} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"strategy file {row.name!r} must hold a JSON object, got a {type(document).__name__}")
    return row.model_copy(update={"declared": document})


def strategy_of(row: StrategyRow, texts: Texts, *, bar_seconds: float) -> Strategy:
    """Return the strategy of a row, the same one each time.

    Raises
    ------
    ValueError
        For whatever is wrong with it, in one line.
    """
    if row.declared is not None:
        try:
            return program(read_strategy(row.declared), bars_per_year=YEAR_SECONDS / bar_seconds)
        except ValueError as error:
            raise ValueError(f"strategy {row.title!r}: {error}") from error
    if not naming.is_own(row.name):
        if row.name.endswith(".py"):
            raise ValueError(f"strategy {row.name!r} is a file; say which of its strategies: {row.name}:NAME")
        return strategies.get(row.name, **row.params)
    return own.from_file(row.name, texts[naming.parts(row.name)[0]], row.pairs)


def transforms_of(row: Row, texts: Texts) -> tuple[Transform, ...]:
    """Return the transforms of a row in the order in which they are applied; errors as :func:`strategy_of`."""
    names = [part.strip() for part in row.name.split("+")]
    parts = [
        registry.from_file(name, texts[naming.parts(name)[0]]) if naming.is_own(name) else registry.get(name)
        for name in names
    ]
    pipeline.check_params(row.name, parts, row.params)
    return tuple(parts)


def metric_of(row: Row, texts: Texts) -> Measure:
    """Return the measure of a row; errors as :func:`strategy_of`."""
    if naming.is_own(row.name):
        return own_metrics.from_file(row.name, texts[naming.parts(row.name)[0]], row.pairs)
    if row.name not in MEASURES:
        known = f"there are: {', '.join(MEASURES)}, or path/to/mine.py:name"
        raise ValueError(f"unknown metric {row.name!r}{naming.nearest(row.name, MEASURES)}; {known}")
    if row.params or row.label:
        raise ValueError(f"metric {row.name!r}: one that is built in takes no params and no label")
    return MEASURES[row.name]


def trace_transform(row: Row, parts: tuple[Transform, ...], *, bars: int) -> None:
    """Trace the transforms of a row on a market of ``bars`` bars; ``ValueError`` in one line where that fails."""

    def applied(key: jax.Array, market: Market, severity: jax.Array) -> Transformed:
        return pipeline.compose(parts, key, market, severity=severity, params=row.params)

    market = Market(*(jnp.zeros(bars) for _ in Market._fields))
    try:
        after = jax.eval_shape(applied, jax.random.key(0), market, jnp.ones(()))
    except Exception as error:
        raise ValueError(f"transform {row.title!r} fails: {naming.said(error)}") from error
    for name, field in zip(Market._fields, after.observed, strict=True):
        if field.shape != (bars,):
            raise ValueError(f"transform {row.title!r} gives {name} the shape {field.shape}, not ({bars},)")


def require_titles(rows: Sequence[Row], *, what: str) -> None:
    """Refuse two rows that results could not tell apart."""
    titles = [row.title for row in rows]
    for title in titles:
        if titles.count(title) > 1:
            raise ValueError(f"{what}: two are called {title!r}; give one a label")
