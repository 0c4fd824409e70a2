"""Fresh markets from a key.

``simulate(key, bars=..., parameters=...) -> Market``: nothing can be known but the drift of a hidden regime, and with
``FAIR_PARAMETERS`` nothing at all. ``simulate_knowable(key, traits, bars=...) -> Knowable``: what the next return
depends on was drawn (``draw_traits``) from the menu of ``structures``.
"""

from backtest.simulators.bates import DEFAULT_PARAMETERS, FAIR_PARAMETERS, Parameters, simulate
from backtest.simulators.channels import Channels
from backtest.simulators.knowable import Knowable, draw_traits, mirror, mirrored_traits, simulate_knowable
from backtest.simulators.structures import MENU, STRUCTURES, Structure, Traits

__all__ = [
    "DEFAULT_PARAMETERS",
    "FAIR_PARAMETERS",
    "MENU",
    "STRUCTURES",
    "Channels",
    "Knowable",
    "Parameters",
    "Structure",
    "Traits",
    "draw_traits",
    "mirror",
    "mirrored_traits",
    "simulate",
    "simulate_knowable",
]
