"""Monte Carlo of the models of ``pricing``: paths, their random numbers, and estimates with standard errors.

The same key gives the same random numbers, so two simulations that differ in a parameter differ by its effect alone.
"""

from pricing.simulation.draws import Draws, uniforms
from pricing.simulation.estimate import Estimate, estimate
from pricing.simulation.paths import Paths, Scheme, heston, merton

__all__ = ["Draws", "Estimate", "Paths", "Scheme", "estimate", "heston", "merton", "uniforms"]
