"""Reference strategies, one family a file; :data:`STRATEGIES` names those that need no key and no foresight."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable

from backtest.episode import Strategy
from backtest.strategies.foresight import hindsight_oracle, noisy_oracle
from backtest.strategies.passive import always, buy_and_hold, flat, from_targets, random_targets, random_walker
from backtest.strategies.premium import carry, volatility_target
from backtest.strategies.protection import with_stop
from backtest.strategies.reversal import bollinger_reversal, grid, rsi_divergence, rsi_reversal
from backtest.strategies.trend import donchian_breakout, macd, moving_average_cross
from pricing.signature import checked


def always_long() -> Strategy:
    """Hold an exposure of +1, corrected at every bar."""
    return always(1.0)


def always_short() -> Strategy:
    """Hold an exposure of -1, corrected at every bar."""
    return always(-1.0)


STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "always_long": always_long,
    "always_short": always_short,
    "bollinger_reversal": bollinger_reversal,
    "buy_and_hold": buy_and_hold,
    "carry": carry,
    "donchian_breakout": donchian_breakout,
    "flat": flat,
    "grid": grid,
    "macd": macd,
    "moving_average_cross": moving_average_cross,
    "random_walker": random_walker,
    "rsi_divergence": rsi_divergence,
    "rsi_reversal": rsi_reversal,
    "volatility_target": volatility_target,
}


@checked
def get(name: str, *, stop: float | None = None, **parameters: float) -> Strategy:
    """Return a reference strategy by name, with its parameters; ``stop`` gives it a stop-loss (:func:`with_stop`).

    Raises
    ------
    ValueError
        For an unknown name, listing those that exist, or an unknown or bad parameter.
    """
    if name not in STRATEGIES:
        there = f"there are: {', '.join(sorted(STRATEGIES))}"
        raise ValueError(f"unknown strategy {name!r}{_nearest(name, STRATEGIES)}; {there}")
    known = [*inspect.signature(STRATEGIES[name]).parameters, "stop"]
    for parameter in parameters:
        if parameter not in known:
            hint = f"{_nearest(parameter, known)}; it takes {', '.join(known)}"
            raise ValueError(f"bad parameters for strategy {name!r}: it has no {parameter!r}{hint}")
    try:
        strategy = STRATEGIES[name](**parameters)
    except TypeError as error:
        raise ValueError(f"bad parameters for strategy {name!r}: {error}") from error
    return strategy if stop is None else with_stop(strategy, stop)


def _nearest(word: str, names: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest of ``names``, or an empty string."""
    close = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


__all__ = [
    "STRATEGIES",
    "always",
    "always_long",
    "always_short",
    "bollinger_reversal",
    "buy_and_hold",
    "carry",
    "donchian_breakout",
    "flat",
    "from_targets",
    "get",
    "grid",
    "hindsight_oracle",
    "macd",
    "moving_average_cross",
    "noisy_oracle",
    "random_targets",
    "random_walker",
    "rsi_divergence",
    "rsi_reversal",
    "volatility_target",
    "with_stop",
]
