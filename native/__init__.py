"""Loops for processors, compiled from the equations that jax traces: one definition, one mechanism, no finance.

:func:`kernel` makes an elementwise function of arrays one loop, :func:`folded` one over the rows of a table;
``backtest.loops`` writes accounts and strategies with the same emitter. Everything is compiled once a machine by the
C++ compiler that is found, and kept in ``~/.cache/traderbench``; :func:`status` says whether that works here, and if
not why.
"""

from native.fold import folded
from native.kernel import kernel, status
from native.marks import where_any

__all__ = ["folded", "kernel", "status", "where_any"]
