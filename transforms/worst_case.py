"""The worst market within a budget, found by gradient ascent on the losses of soft strategies."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import Market
from transforms.candles import deviate_closes, previous
from transforms.record import Events, mark, transform
from transforms.soft_followers import best_growth


def project(deviation: jax.Array, *, per_bar: float | jax.Array, total: float | jax.Array) -> jax.Array:
    """Return the deviation within the budget: no drift (mean 0), at most ``per_bar`` in a bar, ``total`` on average."""
    cut = jnp.clip(deviation, -per_bar, per_bar)
    level = cut - jnp.mean(cut)
    tiny = 1e-300
    shrink_peak = per_bar / jnp.maximum(jnp.max(jnp.abs(level)), tiny)
    shrink_total = total / jnp.maximum(jnp.mean(jnp.abs(level)), tiny)
    return level * jnp.minimum(1.0, jnp.minimum(shrink_peak, shrink_total))


def _search(
    key: jax.Array, market: Market, *, per_bar: jax.Array, total: jax.Array, steps: int, restarts: int, real: bool
) -> jax.Array:
    """Return the best deviation of the log closes over random restarts, ``[bars]``."""
    log_open, log_close = jnp.log(market.open), jnp.log(market.close)
    unit = jnp.sqrt(jnp.mean(jnp.diff(log_close) ** 2) + 1e-12)

    def growth(deviation: jax.Array) -> jax.Array:
        seen = log_close + deviation
        if not real:
            return best_growth(seen, log_open, log_close, unit)
        return best_growth(seen, log_open + previous(deviation, first=0.0), seen, unit)

    slope = jax.grad(growth)

    def climb(start: jax.Array) -> tuple[jax.Array, jax.Array]:
        def step(number: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            deviation, momentum = carry
            downhill = -slope(deviation)
            downhill = downhill / jnp.maximum(jnp.max(jnp.abs(downhill)), 1e-300)
            momentum = 0.7 * momentum + downhill
            rate = 0.5 * per_bar * (1.0 - number / steps)
            return project(deviation + rate * momentum, per_bar=per_bar, total=total), momentum

        found = lax.fori_loop(0, steps, step, (start, jnp.zeros_like(start)))[0]
        return found, growth(found)

    shape = (restarts, market.close.shape[0])
    starts = 0.3 * per_bar * jax.random.normal(key, shape, jnp.float32).astype(market.close.dtype)
    starts = jax.vmap(lambda each: project(each, per_bar=per_bar, total=total))(starts.at[0].set(0.0))
    found, results = lax.map(climb, starts)
    best: jax.Array = found[jnp.argmin(results)]
    return best


def _worst(
    key: jax.Array,
    market: Market,
    severity: float | jax.Array,
    *,
    per_bar: float,
    total: float,
    steps: int,
    restarts: int,
    real: bool,
) -> tuple[Market, Events]:
    if steps < 1 or restarts < 1:
        raise ValueError(f"steps and restarts must be at least 1, got {steps} and {restarts}")
    scaled = jnp.asarray(severity, market.close.dtype)
    deviation = _search(
        key, market, per_bar=scaled * per_bar, total=scaled * total, steps=steps, restarts=restarts, real=real
    )
    deviation = jnp.where(scaled > 0.0, lax.stop_gradient(deviation), 0.0)
    return deviate_closes(market, deviation), mark("worst_case", deviation != 0.0, deviation)


@transform(channel="observed", looks_ahead=None)
def worst_case(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    per_bar: float = 0.02,
    total: float = 0.01,
    steps: int = 40,
    restarts: int = 2,
) -> tuple[Market, Events]:
    """Show the feed that costs followers of moving averages, MACD and RSI most, within a budget.

    Projected gradient descent with momentum and random restarts through soft versions of the reference strategies
    (Madry et al. 2018, applied to a price path). Log closes are moved by at most ``per_bar`` in a bar and ``total`` on
    average, both times severity, without drift. It knows the whole market: a stress test, not a level playing field.
    """
    return _worst(key, market, severity, per_bar=per_bar, total=total, steps=steps, restarts=restarts, real=False)


@transform(channel="both", looks_ahead=None)
def worst_path(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    per_bar: float = 0.02,
    total: float = 0.01,
    steps: int = 40,
    restarts: int = 2,
) -> tuple[Market, Events]:
    """Let the market itself take the path that costs the same followers most, within the same budget; it is traded."""
    return _worst(key, market, severity, per_bar=per_bar, total=total, steps=steps, restarts=restarts, real=True)
