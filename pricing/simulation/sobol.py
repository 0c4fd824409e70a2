"""Sobol's sequence in base 2, with primitive polynomials found by search.

The first ten dimensions have the initial numbers of Joe and Kuo, "Constructing Sobol sequences with better
two-dimensional projections", SIAM J. Sci. Comput. 30, 2008; later ones have odd numbers drawn from a fixed seed, which
keeps every single dimension perfectly stratified.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

BITS = 30
LARGEST_DIMENSION = 512

_FIRST_NUMBERS = (
    (1,),
    (1, 3),
    (1, 3, 1),
    (1, 1, 1),
    (1, 1, 3, 3),
    (1, 3, 5, 13),
    (1, 1, 5, 5, 17),
    (1, 1, 5, 5, 5),
    (1, 1, 7, 11, 19),
)


def _is_primitive(polynomial: int, degree: int) -> bool:
    """Whether x generates all ``2^degree - 1`` nonzero residues modulo the polynomial over GF(2)."""
    value, power = 1, 0
    while True:
        value <<= 1
        if value >> degree:
            value ^= polynomial
        power += 1
        if value == 1 or power == 2**degree:
            return bool(power == 2**degree - 1)


@functools.cache
def _primitive_polynomials(count: int) -> tuple[tuple[int, int], ...]:
    """Degree and polynomial, by degree and then by size."""
    found: list[tuple[int, int]] = []
    degree = 1
    while len(found) < count:
        candidates = range((1 << degree) + 1, 1 << (degree + 1), 2)
        found += [(degree, candidate) for candidate in candidates if _is_primitive(candidate, degree)]
        degree += 1
    return tuple(found[:count])


@functools.cache
def directions(dimensions: int) -> NDArray[np.uint32]:
    """Direction numbers scaled to :data:`BITS` bits, shape ``[dimensions, BITS]``.

    ``ValueError`` when there are more dimensions than :data:`LARGEST_DIMENSION`.
    """
    if not 1 <= dimensions <= LARGEST_DIMENSION:
        raise ValueError(f"dimensions must be 1 to {LARGEST_DIMENSION} for Sobol numbers, got {dimensions}")
    table = np.empty((dimensions, BITS), np.uint32)
    table[0] = 1 << np.arange(BITS - 1, -1, -1)
    generator = np.random.default_rng(20080101)
    for row, (degree, polynomial) in enumerate(_primitive_polynomials(max(dimensions - 1, 1))[: dimensions - 1]):
        drawn = [2 * int(generator.integers(0, 1 << i)) + 1 for i in range(degree)]
        numbers = list(_FIRST_NUMBERS[row]) if row < len(_FIRST_NUMBERS) else drawn
        for i in range(degree, BITS):
            value = numbers[i - degree] ^ (numbers[i - degree] << degree)
            for j in range(1, degree):
                if polynomial >> (degree - j) & 1:
                    value ^= numbers[i - j] << j
            numbers.append(value)
        table[row + 1] = [number << (BITS - 1 - i) for i, number in enumerate(numbers)]
    return table
