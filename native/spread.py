"""One function on several devices: each computes a part of the lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

AXIS = "lanes"


def spread(
    function: Callable[..., Any],
    *,
    devices: Sequence[jax.Device],
    in_axes: Sequence[int | None] | int = 0,
    out_axes: int = 0,
) -> Callable[..., Any]:
    """Return ``function``, which treats each lane by itself, computed in parts by several devices at once.

    Lanes that do not divide by the number of devices are filled up with the last one, and what comes of those is cut
    off again. Within each part the function is what it is on one device, compiled loops included; nothing is exchanged.
    Left to itself, XLA gathers all lanes on every device before a compiled loop, because it cannot look into one.

    Parameters
    ----------
    function
        Of trees of arrays, to a tree of arrays. One that mixes lanes gives wrong results: it sees a part of them.
    devices
        Who computes, for example ``jax.local_devices()``; with one or none ``function`` itself comes back.
    in_axes, out_axes
        Axis of the lanes in every array of an argument, one for all arguments or one each, and in every array of the
        result. None: the argument has no lanes, and every device gets all of it. Keyword arguments have axis 0; single
        numbers among them are given to every device.

    Raises
    ------
    ValueError
        When arrays differ in their number of lanes, or no argument has any.
    """
    if len(devices) <= 1:
        return function
    mesh = Mesh(np.asarray(devices), (AXIS,))
    count = len(devices)

    def call(*arguments: Any, **named: Any) -> Any:
        axes = in_axes if isinstance(in_axes, Sequence) else (in_axes,) * len(arguments)
        leaves, tree = jax.tree.flatten((arguments, named))
        places = [
            axis if np.ndim(leaf) else None
            for axis, argument in zip((*axes, *(0 for _ in named)), (*arguments, *_values(named)), strict=True)
            for leaf in jax.tree.leaves(argument)
        ]
        lanes = {leaf.shape[place] for leaf, place in zip(leaves, places, strict=True) if place is not None}
        if len(lanes) != 1:
            raise ValueError(f"all lanes must be of one number to be spread over devices, got {sorted(lanes)}")
        number = lanes.pop()
        filled = [
            leaf if place is None else _filled(leaf, place, -number % count)
            for leaf, place in zip(leaves, places, strict=True)
        ]

        def part(*leaves: Any) -> Any:
            arguments, named = jax.tree.unflatten(tree, leaves)
            return function(*arguments, **named)

        # nothing is exchanged, so there is nothing to check: a scan may begin with a constant, which is no lane's own
        inward, outward = tuple(map(_spec, places)), _spec(out_axes)
        parts = jax.shard_map(part, mesh=mesh, in_specs=inward, out_specs=outward, check_vma=False)
        return jax.tree.map(lambda leaf: jax.lax.slice_in_dim(leaf, 0, number, axis=out_axes), parts(*filled))

    return jax.jit(call)


def _values(named: dict[str, Any]) -> list[Any]:
    """Return the values of a dictionary in the order in which jax takes its leaves."""
    return [named[name] for name in sorted(named)]


def _spec(axis: int | None) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*(None,) * axis, AXIS)


def _filled(leaf: Any, axis: int, more: int) -> Any:
    """Return an array with its last lane repeated; random keys are no numbers and know nothing of ``jnp.pad``."""
    if not more:
        return leaf
    last = jax.lax.slice_in_dim(jnp.asarray(leaf), leaf.shape[axis] - 1, leaf.shape[axis], axis=axis)
    return jnp.concatenate([leaf, *[last] * more], axis=axis)
