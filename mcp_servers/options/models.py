"""Tools that price one option: by model, by exercise, and back from a price to a volatility."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_YEARS
from mcp_servers.options.terms import DividendYield, Exercise, OptionType, Rate, Spot, Strike, Volatility, Years

if TYPE_CHECKING:
    import jax

    from pricing.bates import Jumps
    from pricing.black_scholes import Greeks
    from pricing.heston import Parameters

COMPILED_SIZE = 256
"""American Greeks of one option are computed by the program that computes those of a chain."""
DIVIDENDS = 4
"""Cash dividends are filled up to a multiple of this with dividends of nothing."""
Model = Literal["black_scholes", "american", "heston", "bates", "merton", "black76", "bachelier"]
Method = Literal["collocation", "tree", "bjerksund_stensland"]


class HestonTerms(BaseModel):
    """How the variance moves (Heston 1993). The variance now is the square of `volatility`."""

    mean_reversion: float = Field(description="Speed kappa, per year", gt=0, le=100)
    long_run_volatility: float = Field(description="Square root of theta, per year, decimal", gt=0, le=5)
    volatility_of_variance: float = Field(description="xi, per year", ge=0, le=10)
    correlation: float = Field(description="Between price and variance", ge=-1, le=1)


class JumpTerms(BaseModel):
    """Lognormal jumps of the price (Merton 1976)."""

    intensity: float = Field(description="Expected jumps a year", ge=0, le=100)
    mean: float = Field(description="Mean of the log of a jump: -0.1 is about -10%", ge=-3, le=3)
    deviation: float = Field(description="Standard deviation of the log of a jump", ge=0, le=3)


class Dividend(BaseModel):
    """A cash dividend."""

    amount: float = Field(description="Per share, currency units", ge=0, allow_inf_nan=False)
    time: float = Field(description="Years until it is paid", ge=0, le=MAX_YEARS)


class OptionPrice(BaseModel):
    """Value of one option, per unit of the underlying."""

    model: str
    exercise: str
    price: float = Field(description="In the currency of the spot")
    delta: float = Field(description="Per 1.00 of spot")
    gamma: float = Field(description="Delta change per 1.00 of spot")
    theta: float = Field(description="Per year of time passing")
    theta_per_day: float = Field(description="Per calendar day: theta / 365")
    vega: float = Field(description="Per 1.00 of volatility")
    vega_per_point: float = Field(description="Per percentage point of volatility: vega / 100")
    rho: float = Field(description="Per 1.00 of rate")
    rho_per_point: float = Field(description="Per percentage point of rate: rho / 100")
    early_exercise_premium: float | None = Field(
        description="Price less that of the European option, currency of the spot; null for European exercise"
    )
    exercise_boundary: float | None = Field(
        description="Spot at which exercise now is best (puts: at or below), currency; null where that is at no price"
    )


class Implied(BaseModel):
    """Volatility at which the model price equals the given one."""

    implied_volatility: float = Field(description="Per year, decimal")


def calculate_option_price(
    spot: Spot,
    strike: Strike,
    rate: Rate,
    volatility: Volatility,
    time_to_expiry: Years,
    option_type: OptionType,
    dividend_yield: DividendYield = 0.0,
    exercise: Exercise = "european",
    model: Annotated[
        Model,
        Field(
            description="black_scholes; american (black_scholes with exercise american); heston, bates (give heston, "
            "jumps; volatility is the one now); merton (give jumps; volatility between jumps); black76 and bachelier "
            "(spot is a forward; bachelier's normal volatility is volatility times the forward)"
        ),
    ] = "black_scholes",
    method: Annotated[
        Method,
        Field(description="American options: collocation (accurate), tree (cash dividends), or the closed lower bound"),
    ] = "collocation",
    heston: Annotated[HestonTerms | None, Field(description="Of heston and bates")] = None,
    jumps: Annotated[JumpTerms | None, Field(description="Of merton and bates")] = None,
    dividends: Annotated[
        list[Dividend] | None, Field(description="Cash dividends; needs method tree", max_length=40)
    ] = None,
) -> OptionPrice:
    """Price an option (European Black-Scholes-Merton unless told otherwise) and return all its Greeks.

    All are per unit of the underlying. Delta and gamma are per 1.00 of spot, theta is per year (theta_per_day per
    calendar day), vega and rho are per 1.00 of volatility and of rate (vega_per_point, rho_per_point per percentage
    point). Example: `{"spot": 100, "strike": 95, "rate": 0.03, "volatility": 0.25, "time_to_expiry": 0.5,
    "option_type": "put", "exercise": "american"}`.
    """
    american = exercise == "american" or model == "american"
    name = "black_scholes" if model == "american" else model
    _require_fitting(name, american, method, heston, jumps, dividends)
    terms: dict[str, Any] = {
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "volatility": volatility,
        "dividend_yield": dividend_yield,
        "is_call": option_type == "call",
    }
    premium = boundary = None
    if method == "tree":
        figures = _by_tree(terms, dividends or [], american=american)
    elif american:
        figures = _american(terms, method)
    elif name in ("black76", "bachelier"):
        figures = _on_forward(terms, name)
    elif name == "black_scholes":
        figures = _black_scholes(terms)
    else:
        figures = _by_derivatives(terms, name, heston, jumps)
    if not all(map(math.isfinite, figures.values())):
        raise ValueError("the Greeks are not defined at the strike when no time or no volatility is left")
    if american:
        european = (_by_tree(terms, dividends or [], american=False) if method == "tree" else _black_scholes(terms))[
            "price"
        ]
        premium = figures["price"] - european
        boundary = None if dividends else _boundary(terms)
    return _answer(figures, name, "american" if american else "european", premium, boundary)


def calculate_implied_volatility(
    price: Annotated[float, Field(description="Price of the option, per unit of the underlying", ge=0)],
    spot: Spot,
    strike: Strike,
    rate: Rate,
    time_to_expiry: Years,
    option_type: OptionType,
    dividend_yield: DividendYield = 0.0,
    exercise: Exercise = "european",
) -> Implied:
    """Find the volatility that an option price implies: per year, as a decimal (0.25 is 25%).

    Example: `{"price": 5, "spot": 100, "strike": 100, "rate": 0.03, "time_to_expiry": 0.25, "option_type": "call"}`.
    """
    from pricing import american, implied_volatility

    terms: dict[str, Any] = {
        "price": price,
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "dividend_yield": dividend_yield,
        "is_call": option_type == "call",
    }
    if exercise == "american":
        found = float(american.implied_volatility(**terms))
        if not math.isfinite(found):
            raise ValueError(
                f"a price of {price} has no implied volatility between 0.5% and 800%: it is at or below what immediate "
                "exercise pays, above the upper bound, or no time is left"
            )
        return Implied(implied_volatility=found)
    answer = implied_volatility.solve(**terms)
    status = implied_volatility.Status(int(answer.status))
    if status is not implied_volatility.Status.SOLVED:
        reasons = {"BELOW_INTRINSIC": "it is below the intrinsic value", "ABOVE_BOUND": "it is above the upper bound"}
        raise ValueError(f"a price of {price} has no implied volatility: {reasons.get(status.name, 'no time is left')}")
    return Implied(implied_volatility=float(answer.value))


def require_model_terms(model: str, heston: HestonTerms | None, jumps: JumpTerms | None) -> None:
    """Raise ``ValueError`` where a model lacks its parameters, or is given those of another."""
    for field, given, models in (("heston", heston, ("heston", "bates")), ("jumps", jumps, ("merton", "bates"))):
        if model in models and given is None:
            raise ValueError(f"model {model} needs {field}")
        if model not in models and given is not None:
            raise ValueError(f"{field} belongs to the models {' and '.join(models)}, not to {model}")


def heston_parameters(volatility: Any, terms: HestonTerms) -> Parameters:
    """Return the parameters of the kernel, with the variance of a volatility now."""
    from pricing.heston import Parameters

    return Parameters(
        initial_variance=volatility * volatility,
        mean_reversion=terms.mean_reversion,
        long_run_variance=terms.long_run_volatility**2,
        vol_of_vol=terms.volatility_of_variance,
        correlation=terms.correlation,
    )


def jump_parameters(terms: JumpTerms) -> Jumps:
    """Return the parameters of the kernel."""
    from pricing.bates import Jumps

    return Jumps(terms.intensity, terms.mean, terms.deviation)


def _require_fitting(
    model: str,
    american: bool,
    method: Method,
    heston: HestonTerms | None,
    jumps: JumpTerms | None,
    dividends: list[Dividend] | None,
) -> None:
    if american and model != "black_scholes":
        raise ValueError(f"exercise american is priced by model black_scholes only, got model {model}")
    if method == "bjerksund_stensland" and not american:
        raise ValueError("method bjerksund_stensland prices American options: give exercise american")
    if method == "tree" and model != "black_scholes":
        raise ValueError(f"method tree prices by model black_scholes only, got model {model}")
    if dividends and method != "tree":
        raise ValueError(f"cash dividends need method tree, got method {method}")
    require_model_terms(model, heston, jumps)


def _answer(
    figures: dict[str, float], model: str, exercise: str, premium: float | None, boundary: float | None
) -> OptionPrice:
    from pricing import greek_units

    return OptionPrice(
        **figures,
        model=model,
        exercise=exercise,
        theta_per_day=greek_units.theta_per_calendar_day(figures["theta"]),
        vega_per_point=greek_units.vega_per_point(figures["vega"]),
        rho_per_point=greek_units.rho_per_point(figures["rho"]),
        early_exercise_premium=premium,
        exercise_boundary=boundary,
    )


def _figures(price: Any, greeks: Greeks) -> dict[str, float]:
    return {"price": float(price), **{name: float(value) for name, value in greeks._asdict().items()}}


def _black_scholes(terms: dict[str, Any]) -> dict[str, float]:
    from pricing import black_scholes

    answer = black_scholes.all_greeks(**terms)
    return {name: float(getattr(answer, name)) for name in ("price", *black_scholes.Greeks._fields)}


def _on_forward(terms: dict[str, Any], model: str) -> dict[str, float]:
    from pricing import bachelier, black76

    named = {name: terms[name] for name in ("strike", "time_to_expiry", "rate", "volatility", "is_call")}
    named["forward"] = terms["spot"]
    if model == "black76":
        return _figures(black76.price(**named), black76.greeks(**named))
    named["volatility"] *= terms["spot"]
    found = _figures(bachelier.price(**named), bachelier.greeks(**named))
    return found | {"vega": found["vega"] * terms["spot"]}


def _american(terms: dict[str, Any], method: Method) -> dict[str, float]:
    """Return price and Greeks; those of the closed lower bound are the accurate ones, for it has none of its own."""
    import numpy as np

    from pricing import american

    if terms["volatility"] <= 0.0 or terms["time_to_expiry"] <= 0.0:
        raise ValueError("an American option needs time_to_expiry and volatility above 0")
    many = {name: np.full(COMPILED_SIZE, value) for name, value in terms.items()}
    many |= {name: terms[name] for name in ("spot", "time_to_expiry", "rate", "dividend_yield")}
    _, greeks = american.greeks(**many, scheme=american.FAST)
    value = (
        american.bjerksund_stensland_price(**terms)
        if method == "bjerksund_stensland"
        else american.price(**terms, scheme=american.ACCURATE)
    )
    return _figures(value, type(greeks)(*(np.asarray(column)[0] for column in greeks)))


def _boundary(terms: dict[str, Any]) -> float | None:
    from pricing import american

    at = float(american.exercise_boundary(**{name: value for name, value in terms.items() if name != "spot"}))
    return at if 0.0 < at < math.inf else None


def _by_tree(terms: dict[str, Any], dividends: list[Dividend], *, american: bool) -> dict[str, float]:
    """Return price and Greeks from a tree, the latter by central differences: trees have no smooth derivative."""
    import numpy as np

    from pricing.american import tree_price

    if terms["volatility"] <= 0.0 or terms["time_to_expiry"] <= 0.0:
        raise ValueError("a tree needs time_to_expiry and volatility above 0")
    steps = {
        "spot": 0.01 * terms["spot"],
        "time_to_expiry": min(1.0 / 365.0, 0.5 * terms["time_to_expiry"]),
        "volatility": min(0.005, 0.5 * terms["volatility"]),
        "rate": 0.001,
    }
    rows = [terms] + [
        {**terms, name: terms[name] + sign * step} for name, step in steps.items() for sign in (1.0, -1.0)
    ]
    size = -(-max(len(dividends), 1) // DIVIDENDS) * DIVIDENDS
    amounts, times = np.zeros(size), np.zeros(size)
    for number, dividend in enumerate(dividends):
        amounts[number], times[number] = dividend.amount, dividend.time
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in terms}
    value = np.asarray(
        tree_price(**columns, dividend_amounts=amounts, dividend_times=times, american=american)
    ).tolist()
    slope = {name: (value[1 + 2 * n] - value[2 + 2 * n]) / (2.0 * step) for n, (name, step) in enumerate(steps.items())}
    return {
        "price": value[0],
        "delta": slope["spot"],
        "gamma": (value[1] - 2.0 * value[0] + value[2]) / steps["spot"] ** 2,
        "theta": -slope["time_to_expiry"],
        "vega": slope["volatility"],
        "rho": slope["rate"],
    }


def _by_derivatives(
    terms: dict[str, Any], model: str, heston: HestonTerms | None, jumps: JumpTerms | None
) -> dict[str, float]:
    """Return price and Greeks of a model without closed ones, by automatic differentiation."""
    import jax.numpy as jnp

    if terms["volatility"] <= 0.0 or terms["time_to_expiry"] <= 0.0:
        raise ValueError(f"model {model} needs time_to_expiry and volatility above 0")
    at = jnp.array([terms[name] for name in ("spot", "time_to_expiry", "rate", "volatility")])
    # the kernels take parameters as arrays, so that one program serves all
    of_heston = [] if heston is None else [*heston_parameters(0.0, heston)[1:]]
    of_jumps = [] if jumps is None else [*jump_parameters(jumps)]
    fixed = jnp.array([terms["strike"], terms["dividend_yield"], float(terms["is_call"]), *of_heston, *of_jumps])
    value, (delta, later, rho, vega), gamma = _differentiated(model)(at, fixed)
    figures = {"price": value, "delta": delta, "gamma": gamma, "theta": -later, "vega": vega, "rho": rho}
    return {name: float(figure) for name, figure in figures.items()}


@cache
def _differentiated(model: str) -> Callable[[jax.Array, jax.Array], Any]:
    import jax
    import jax.numpy as jnp

    from pricing import bates, heston, merton

    def price(at: jax.Array, fixed: jax.Array) -> jax.Array:
        spot, time, rate, volatility = at
        terms: dict[str, Any] = {
            "spot": spot,
            "strike": fixed[0],
            "time_to_expiry": time,
            "rate": rate,
            "dividend_yield": fixed[1],
            "is_call": fixed[2] == 1.0,
        }
        rest = fixed[3:]
        if model == "merton":
            return merton.price(**terms, volatility=volatility, jumps=bates.Jumps(*rest))
        parameters = heston.Parameters(volatility * volatility, *rest[:4])
        if model == "heston":
            return heston.price(**terms, parameters=parameters)
        return bates.price(**terms, parameters=parameters, jumps=bates.Jumps(*rest[4:]))

    def all_of(at: jax.Array, fixed: jax.Array) -> Any:
        value, slopes = jax.value_and_grad(price)(at, fixed)
        along_spot = jnp.zeros_like(at).at[0].set(1.0)
        _, bends = jax.jvp(lambda x: jax.grad(price)(x, fixed), (at,), (along_spot,))
        return value, slopes, bends[0]

    compiled: Callable[[jax.Array, jax.Array], Any] = jax.jit(all_of)
    return compiled
