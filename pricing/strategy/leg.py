"""One leg of a strategy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pricing.signature import read_fields

Kind: TypeAlias = Literal["call", "put", "stock"]


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A position in one option series or in the stock itself.

    Attributes
    ----------
    kind
        ``call``, ``put`` or ``stock``.
    quantity
        Contracts (options) or shares (stock), > 0 long, < 0 short.
    premium
        Price per share at which the leg was opened: the option's premium, or the stock's purchase price. >= 0.
    strike
        Exercise price, > 0; None for stock.
    multiplier
        Shares per contract; None means 100 for options and 1 for stock. Use 1 for figures per share.
    time_to_expiry
        Years until the option expires; None when it is left to ``analyze`` (all legs then share one expiry).
    volatility
        Per year, as a decimal; None when ``analyze`` is given one.

    NaN in what may be None becomes None: so a row of a DataFrame says that a stock has no strike.
    """

    kind: Kind
    quantity: float
    premium: float
    strike: float | None = None
    multiplier: float | None = None
    time_to_expiry: float | None = None
    volatility: float | None = None

    def __post_init__(self) -> None:
        for name in ("strike", "multiplier", "time_to_expiry", "volatility"):
            value = getattr(self, name)
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, name, None)
        read_fields(self)
        if self.kind not in ("call", "put", "stock"):
            raise ValueError(f"kind must be 'call', 'put' or 'stock', got {self.kind!r}")
        if self.quantity == 0:
            raise ValueError(f"quantity must be finite and not 0, got {self.quantity!r}")
        if self.premium < 0:
            raise ValueError(f"premium must be finite and >= 0 (the sign is in quantity), got {self.premium!r}")
        if self.multiplier is not None and self.multiplier <= 0:
            raise ValueError(f"multiplier must be finite and > 0, got {self.multiplier!r}")
        if self.kind == "stock":
            if self.strike is not None:
                raise ValueError(f"strike must be None for stock, got {self.strike!r}")
        elif self.strike is None or self.strike <= 0:
            raise ValueError(f"strike of a {self.kind} must be finite and > 0, got {self.strike!r}")
        for name in ("time_to_expiry", "volatility"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must be finite and >= 0, got {value!r}")

    @property
    def shares(self) -> float:
        """Shares that the leg stands for, signed."""
        return self.quantity * self.contract_size

    @property
    def contract_size(self) -> float:
        """Shares per contract."""
        if self.multiplier is not None:
            return self.multiplier
        return 1.0 if self.kind == "stock" else 100.0

    @property
    def cost(self) -> float:
        """Cash paid to open the leg; negative when cash was received."""
        return self.shares * self.premium
