"""The tool that prices options on a whole path of the price: barriers, Asians and lookbacks, by Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from mcp_servers import caller
from mcp_servers.bounds import MAX_YEARS
from mcp_servers.options.models import HestonTerms, JumpTerms, heston_parameters, jump_parameters, require_model_terms
from mcp_servers.options.terms import DividendYield, OptionType, Rate, Spot, Strike, Volatility

if TYPE_CHECKING:
    import jax

    from pricing.simulation import Paths

PATHS = 1 << 14
STEPS = 52
"""Watched moments: weekly over a year, daily over a quarter. Program and memory are the same for all."""
STILL = 1e-9
"""Volatility of variance of the lognormal model, which is Heston's without any."""
Payoff = Literal["asian", "lookback", "up_and_out", "down_and_out", "up_and_in", "down_and_in"]


class PathPrice(BaseModel):
    """A Monte Carlo estimate, per unit of the underlying."""

    price: float = Field(description="In the currency of the spot")
    standard_error: float = Field(description="Of the price, in the currency of the spot")
    european_price: float = Field(description="Of the plain option on the same paths, currency of the spot")
    probability: float | None = Field(description="That the barrier is touched, 0 to 1; null without a barrier")
    paths: int
    watched: int = Field(description="Moments at which the price counts, equally spaced to expiry")


def price_path_dependent_option(
    payoff: Annotated[
        Payoff,
        Field(description="asian (mean price less strike), lookback (best price less strike), or a barrier option"),
    ],
    spot: Spot,
    strike: Strike,
    rate: Rate,
    volatility: Volatility,
    time_to_expiry: Annotated[float, Field(description="Years, above 0", gt=0, le=MAX_YEARS)],
    option_type: OptionType,
    barrier: Annotated[float | None, Field(description="Of a barrier option, currency units", gt=0)] = None,
    dividend_yield: DividendYield = 0.0,
    model: Annotated[
        Literal["black_scholes", "heston", "bates", "merton"],
        Field(description="As in calculate_option_price, with heston and jumps"),
    ] = "black_scholes",
    heston: Annotated[HestonTerms | None, Field(description="Of heston and bates")] = None,
    jumps: Annotated[JumpTerms | None, Field(description="Of merton and bates")] = None,
) -> PathPrice:
    """Price an Asian, lookback or barrier option by Monte Carlo, with its standard error and the chance of a touch.

    Prices are in the currency of the spot per unit of the underlying; barriers and means are watched at 52 equally
    spaced moments, not continuously. The plain option on the same paths corrects the estimate (control variate). Draws
    are those of the task's seed. Example: `{"payoff": "down_and_out", "spot": 100, "strike": 100, "barrier": 85,
    "rate": 0.03, "volatility": 0.25, "time_to_expiry": 0.5, "option_type": "call"}`.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    from pricing import simulation

    require_model_terms(model, heston, jumps)
    _require_barrier(payoff, barrier, spot)
    if volatility <= 0.0:
        raise ValueError("volatility must be above 0: without it the path is known")
    key = jax.random.key(caller.current().grant.seed)
    paths = _paths(key, model, heston, jumps, spot, time_to_expiry, rate, volatility, dividend_yield)
    discount = np.exp(-rate * time_to_expiry)
    terms = jnp.array([strike, barrier or 0.0, discount, 1.0 if option_type == "call" else -1.0])
    value, plain, touched = _payoffs(paths.spot, terms, payoff)
    control = paths.spot[-1] * discount
    known = spot * np.exp(-dividend_yield * time_to_expiry)
    antithetic = simulation.Draws.ANTITHETIC
    found = simulation.estimate(value, draws=antithetic, control=control, control_mean=known)
    european = simulation.estimate(plain, draws=antithetic, control=control, control_mean=known)
    return PathPrice(
        price=float(found.value),
        standard_error=float(found.standard_error),
        european_price=float(european.value),
        probability=None if barrier is None else float(touched),
        paths=PATHS,
        watched=STEPS,
    )


def _require_barrier(payoff: Payoff, barrier: float | None, spot: float) -> None:
    if payoff in ("asian", "lookback"):
        if barrier is not None:
            raise ValueError(f"barrier belongs to barrier options, not to {payoff}")
        return
    if barrier is None:
        raise ValueError(f"{payoff} needs barrier")
    above = payoff.startswith("up")
    if (barrier <= spot) if above else (barrier >= spot):
        raise ValueError(
            f"barrier of {payoff} must be {'above' if above else 'below'} the spot {spot:g}, got {barrier:g}"
        )


def _paths(
    key: jax.Array,
    model: str,
    heston: HestonTerms | None,
    jumps: JumpTerms | None,
    spot: float,
    time: float,
    rate: float,
    volatility: float,
    dividend_yield: float,
) -> Paths:
    from pricing import simulation

    market: dict[str, Any] = {"spot": spot, "time": time, "rate": rate, "dividend_yield": dividend_yield}
    counts: dict[str, Any] = {"steps": STEPS, "paths": PATHS}
    jump = None if jumps is None else jump_parameters(jumps)
    if heston is not None:
        parameters = heston_parameters(volatility, heston)
        # full truncation holds where the variance hardly moves, and the exponential scheme divides by its movement
        still = heston.volatility_of_variance < 1e-3
        scheme = simulation.Scheme.FULL_TRUNCATION if still else simulation.Scheme.QUADRATIC_EXPONENTIAL
        parameters = parameters._replace(vol_of_vol=max(heston.volatility_of_variance, STILL))
        return simulation.heston(key, **market, parameters=parameters, jumps=jump, **counts, scheme=scheme)
    from pricing.bates import Jumps

    return simulation.merton(key, **market, volatility=volatility, jumps=jump or Jumps(0.0, 0.0, 0.0), **counts)


def _payoffs(spot: jax.Array, terms: jax.Array, payoff: Payoff) -> tuple[jax.Array, jax.Array, jax.Array]:
    import jax

    compiled: tuple[jax.Array, jax.Array, jax.Array] = jax.jit(_discounted, static_argnames="payoff")(
        spot, terms, payoff=payoff
    )
    return compiled


def _discounted(spot: jax.Array, terms: jax.Array, payoff: Payoff) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the payoff and the plain one, discounted, and the share of paths that touch the barrier."""
    import jax.numpy as jnp

    strike, barrier, discount, sign = terms
    watched = spot[1:]
    plain = jnp.maximum(sign * (watched[-1] - strike), 0.0) * discount
    if payoff == "asian":
        value = jnp.maximum(sign * (watched.mean(axis=0) - strike), 0.0) * discount
        return value, plain, jnp.zeros(())
    highest, lowest = watched.max(axis=0), watched.min(axis=0)
    if payoff == "lookback":
        best = jnp.where(sign > 0.0, highest, lowest)
        return jnp.maximum(sign * (best - strike), 0.0) * discount, plain, jnp.zeros(())
    touched = highest >= barrier if payoff.startswith("up") else lowest <= barrier
    alive = touched if payoff.endswith("in") else ~touched
    return jnp.where(alive, plain, 0.0), plain, touched.mean()
