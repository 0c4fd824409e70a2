"""Other libraries doing the same work, each a function from inputs to a call that returns one array.

Run as a program it serves :class:`harness.Peers` over pipes, so that peers can live in an environment of their own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], Any]


def numpy_scipy_chain(x: dict[str, Any]) -> Call:
    """Evaluate textbook formulas in numpy with scipy's normal distribution function."""
    from scipy.special import ndtr

    sign = np.where(x["is_call"], 1.0, -1.0)

    def call() -> Any:
        s, k, t, r, v, q = x["spot"], x["strike"], x["time"], x["rate"], x["volatility"], x["dividend_yield"]
        root = np.sqrt(t)
        deviation = v * root
        d1 = (np.log(s / k) + (r - q + 0.5 * v * v) * t) / deviation
        d2 = d1 - deviation
        shares, cash = s * np.exp(-q * t), k * np.exp(-r * t)
        n1, n2 = ndtr(sign * d1), ndtr(sign * d2)
        density = np.exp(-0.5 * d1 * d1) * 0.3989422804014327
        price = sign * (shares * n1 - cash * n2)
        delta = sign * n1 * np.exp(-q * t)
        gamma = density * shares / (s * s * deviation)
        theta = -shares * density * v / (2 * root) + sign * (q * shares * n1 - r * cash * n2)
        vega = shares * density * root
        rho = sign * t * cash * n2
        return price, delta, gamma, theta, vega, rho

    return call


def _full_arrays(x: dict[str, Any]) -> list[Any]:
    ones = np.ones_like(x["strike"])
    return [ones * x[name] for name in ("spot", "strike", "time", "rate", "volatility", "dividend_yield")]


def fast_vollib_numba_chain(x: dict[str, Any]) -> Call:
    """Call the two compiled kernels of fast_vollib's numba backend, without its handling of flags as text."""
    from fast_vollib.backends import numba_backend

    kernels, columns = numba_backend._get_kernels(), _full_arrays(x)
    return lambda: (kernels["price"](x["is_call"], *columns), kernels["greeks"](x["is_call"], *columns))


def fast_vollib_jax_chain(x: dict[str, Any]) -> Call:
    """Call the jax backend of fast_vollib."""
    from fast_vollib.backends import jax_backend

    flags, columns = np.where(x["is_call"], "c", "p"), _full_arrays(x)
    return lambda: (
        np.asarray(jax_backend.price_black_scholes_merton(flags, *columns)),
        jax_backend.greeks("black_scholes_merton", flags, *columns),
    )


def fast_vollib_implied_volatility(x: dict[str, Any]) -> Call:
    """Call the Jaeckel solver of fast_vollib, numba inside, on undiscounted prices and forwards."""
    from fast_vollib.jackel.jackel_iv import jackel_iv_black

    forward = x["spot"] * np.exp((x["rate"] - x["dividend_yield"]) * x["time"])
    undiscounted = x["price"] * np.exp(x["rate"] * x["time"])
    return lambda: jackel_iv_black(undiscounted, forward, x["strike"], x["time"], x["is_call"])


def py_lets_be_rational_implied_volatility(x: dict[str, Any]) -> Call:
    """Call Jaeckel's published C translated to Python, one option at a time; on the first 2,000 options."""
    from py_lets_be_rational import implied_volatility_from_a_transformed_rational_guess as solve

    growth = np.exp((x["rate"] - x["dividend_yield"]) * x["time"])
    forward, undiscounted = x["spot"] * growth, x["price"] * np.exp(x["rate"] * x["time"])
    sign = np.where(x["is_call"], 1.0, -1.0)
    rows = list(zip(undiscounted, forward * np.ones_like(x["strike"]), x["strike"], x["time"], sign, strict=True))[
        :2000
    ]
    return lambda: np.array([solve(*row) for row in rows])


def numpy_scipy_value_at_risk(x: dict[str, Any]) -> Call:
    """Revalue in full, one position after another over all scenarios."""
    from scipy.special import ndtr

    def call() -> Any:
        total = np.zeros(x["spot"].shape[0], x["spot"].dtype)
        logs = np.log(x["spot"])
        rows = zip(x["underlying"], x["sign"], x["shares"], x["strike"], x["time"], x["volatility"], strict=True)
        for u, sign, shares, strike, years, volatility in rows:
            deviation = volatility * np.sqrt(years)
            d1 = (logs[:, u] - np.log(strike) + x["rate"] * years) / deviation + 0.5 * deviation
            value = x["spot"][:, u] * ndtr(sign * d1) - strike * np.exp(-x["rate"] * years) * ndtr(
                sign * (d1 - deviation)
            )
            total += shares * sign * value
        return total

    return call


def _serve() -> None:
    ready: dict[str, Call] = {}
    value: Any = None
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] = {}
        if "prepare" in message:
            try:
                with np.load(message["inputs"]) as file:
                    inputs = {name: file[name] if file[name].ndim else file[name].item() for name in file}
                ready[message["prepare"]] = globals()[message["prepare"]](inputs)
                ready[message["prepare"]]()
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
        elif "run" in message:
            busy = time.process_time()
            value = ready[message["run"]]()
            answer = {"processor_seconds": time.process_time() - busy}
        else:
            with tempfile.NamedTemporaryFile(suffix=".npy", delete=False) as target:
                np.save(target, np.asarray(value))
            answer = {"path": target.name}
        out.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _serve()
