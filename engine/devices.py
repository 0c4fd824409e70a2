"""Where this process computes: everything that jax reads before it is imported, and the check of what was asked for.

Without an order a process computes on the processor: results are then the same on every machine, and no process takes
a card that another one works on. ``JAX_PLATFORMS`` in the environment is such an order, and an explicit one wins.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import ConfigError

if TYPE_CHECKING:
    import jax

KINDS = ("cpu", "cuda", "tpu")
EXTRAS = {"cuda": 'pip install "traderbench[cuda]"', "tpu": 'pip install "jax[tpu]"'}
"""What brings jax's plugin for a kind of device."""
DEFAULT = "jax_default_device"
"""Setting of jax: the one device that computes what is on no device yet; None is the first of its kind."""
VISIBLE_CARDS = "jax_cuda_visible_devices"
"""Setting of jax: numbers of the cards that it may see, or all."""
RAY_RESOURCES = {"cuda": "GPU", "tpu": "TPU"}
"""What Ray calls them."""


class Device(NamedTuple):
    """A kind of device, and which of them; None is all."""

    kind: str
    number: int | None


def named(text: str) -> Device:
    """Return the device that is called ``cpu``, ``cuda``, ``tpu``, or with a number ``cuda:1``.

    Raises
    ------
    ValueError
        For any other name.
    """
    kind, colon, number = text.partition(":")
    if kind not in KINDS or (colon and not (number.isascii() and number.isdecimal())):
        raise ValueError(f"a device is cpu, cuda or tpu, or one of several such as cuda:1, got {text!r}")
    return Device(kind, int(number) if colon else None)


def pin() -> None:
    """Keep this process and its children on the processor, unless the environment says where jax is to compute.

    Imports nothing, so that every command can afford it.
    """
    if "jax" not in sys.modules:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")


def widen_vectors() -> None:
    """Let loops that XLA writes for a processor use vectors of 512 bits: 1.4 times as fast where there are such.

    Once jax is there it would not be read any more, and only change the names under which compiled kernels are kept.
    """
    if "jax" not in sys.modules:
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_prefer_vector_width=512")


def use(device: str | None, *, shared: bool = False) -> None:
    """Compute on ``device`` from now on, in this process.

    Parameters
    ----------
    device
        Name as :func:`named` reads it; None as :func:`pin` says.
    shared
        Whether other processes use the same card: this one then takes memory as it needs it, and not three quarters of
        the card at once (``XLA_PYTHON_CLIENT_PREALLOCATE``).

    Raises
    ------
    ConfigError
        When there is no such device; it names those that there are.
    """
    if device is None:
        pin()
        return
    asked = named(device)
    if shared and asked.kind == "cuda":
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    # the processor stays beside a card: what is read from files begins there
    platforms = asked.kind if asked.kind == "cpu" else f"{asked.kind},cpu"
    if device == "cpu" and "jax" not in sys.modules:
        os.environ["JAX_PLATFORMS"] = platforms
        return
    import jax

    jax.config.update("jax_platforms", platforms)
    if asked.kind == "cuda" and asked.number is not None:
        # jax takes memory of every card that it sees
        jax.config.update(VISIBLE_CARDS, str(asked.number))
    found = _found(asked)
    if not found:
        raise ConfigError(_missing(device, asked.kind))
    os.environ["JAX_PLATFORMS"] = platforms
    if asked.number is not None or jax.default_backend() != found[0].platform:
        jax.config.update(DEFAULT, found[0])
    else:
        jax.config.update(DEFAULT, None)


def chosen() -> tuple[jax.Device, ...]:
    """Return the devices that this process computes on: the one that was asked for, or all of its kind."""
    import jax

    one = getattr(jax.config, DEFAULT)
    return (one,) if isinstance(one, jax.Device) else tuple(jax.local_devices())


def available() -> list[jax.Device]:
    """Return every device that jax finds here, processors last; for a process that has not computed yet."""
    import jax

    jax.config.update("jax_platforms", None)
    jax.config.update(VISIBLE_CARDS, "all")
    default = jax.local_devices()
    return default if default[0].platform == "cpu" else [*default, *jax.local_devices(backend="cpu")]


def counted(found: Sequence[jax.Device]) -> str:
    """Return devices in words, such as ``2 cuda (NVIDIA H100 80GB HBM3), 1 cpu``."""
    counts = Counter((_kind(each), str(each.device_kind)) for each in found)
    return ", ".join(
        f"{count} {kind}" + ("" if kind == model else f" ({model})") for (kind, model), count in counts.items()
    )


def _found(asked: Device) -> list[jax.Device]:
    """Return the devices that are asked for; none where jax does not find the plugin, the driver or the card."""
    import jax

    try:
        found: list[jax.Device] = jax.local_devices(backend=asked.kind)
    except RuntimeError:
        return []
    if asked.number is None:
        return found
    if asked.kind == "tpu":
        return found[asked.number : asked.number + 1]
    return [device for device in found if device.local_hardware_id == asked.number]


def _missing(device: str, kind: str) -> str:
    """Return what to say where a device is not there."""
    there = available()
    known = kind in map(_kind, there)
    hint = "" if known else f"; jax's plugin for {kind} comes with: {EXTRAS[kind]}"
    return f"device {device}: it is not there, jax finds {counted(there)}{hint}"


def _kind(device: jax.Device) -> str:
    """Return our name for what a device is; to jax every card is a gpu."""
    return "cuda" if device.platform == "gpu" else str(device.platform)
