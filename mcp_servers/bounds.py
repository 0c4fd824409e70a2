"""How far a number may go before it is taken for one in another unit: percent for a decimal, days for years."""

MAX_YEARS = 5.0
"""Time to expiry: above it 7 or 30 would be days."""

MAX_VOLATILITY = 5.0
"""Per year, as a decimal: above it 16 or 25 would be per cent."""

MIN_RATE, MAX_RATE = -0.2, 0.5
"""Per year, as a decimal: outside of it 1 or 5 would be per cent."""
