"""Volatility surfaces: one SVI curve per expiry, SSVI for all of them, checks for arbitrage, figures of a surface."""

from pricing.surface.arbitrage import Arbitrage, check
from pricing.surface.history import iv_percentile, iv_rank
from pricing.surface.interpolation import (
    Surface,
    at_the_money_volatility,
    risk_reversal,
    skew,
    strike_at_delta,
    total_variance,
    volatility,
)
from pricing.surface.ssvi import SSVI, fit_ssvi, ssvi_total_variance
from pricing.surface.svi import SVI, SVIFit, fit_svi, svi_total_variance

__all__ = [
    "SSVI",
    "SVI",
    "Arbitrage",
    "SVIFit",
    "Surface",
    "at_the_money_volatility",
    "check",
    "fit_ssvi",
    "fit_svi",
    "iv_percentile",
    "iv_rank",
    "risk_reversal",
    "skew",
    "ssvi_total_variance",
    "strike_at_delta",
    "svi_total_variance",
    "total_variance",
    "volatility",
]
