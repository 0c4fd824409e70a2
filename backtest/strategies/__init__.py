"""Reference strategies, one family a file; :data:`STRATEGIES` names them."""

from __future__ import annotations

from collections.abc import Callable

from backtest import naming
from backtest.episode import Strategy
from backtest.strategies import own
from backtest.strategies.passive import always, buy_and_hold, flat, random_walker
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
    """Return a strategy by name, with its parameters.

    Parameters
    ----------
    name
        A reference strategy, or ``path/to/mine.py:name``: a strategy of your own, or the factory of one.
    stop
        Gives a reference strategy a stop-loss (:func:`with_stop`).

    Raises
    ------
    ValueError
        For an unknown name, listing those that exist, or an unknown or bad parameter; for a file of your own whatever
        is wrong with it (:func:`backtest.strategies.own.from_file`).
    """
    if naming.is_own(name):
        given = parameters if stop is None else {**parameters, "stop": stop}
        text = naming.read(naming.parts(name)[0], what="strategy")
        return own.from_file(name, text, tuple(sorted(given.items())))
    if name not in STRATEGIES:
        there = f"there are: {', '.join(sorted(STRATEGIES))}, or path/to/mine.py:name"
        raise ValueError(f"unknown strategy {name!r}{naming.nearest(name, STRATEGIES)}; {there}")
    naming.check_parameters("strategy", name, STRATEGIES[name], parameters, besides=["stop"])
    strategy = STRATEGIES[name](**parameters)
    return strategy if stop is None else with_stop(strategy, stop)


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
    "get",
    "grid",
    "macd",
    "moving_average_cross",
    "random_walker",
    "rsi_divergence",
    "rsi_reversal",
    "volatility_target",
    "with_stop",
]
