"""How far a number may go before it is taken for one in another unit, or for none that anybody means."""

MAX_PRICE, MAX_UNITS, MAX_AMOUNT = 1e9, 1e12, 1e15
"""USD a share, shares or contracts, and USD: beyond them sums and squares leave the range of numbers."""

MAX_YEARS = 5.0
"""Time to expiry: above it 7 or 30 would be days."""

MAX_VOLATILITY = 5.0
"""Per year, as a decimal: above it 16 or 25 would be per cent."""

MIN_VOLATILITY = 1e-4
"""Per year: where something is divided by its square."""

MIN_RATE, MAX_RATE = -0.2, 0.5
"""Per year, as a decimal: outside of it 1 or 5 would be per cent."""
