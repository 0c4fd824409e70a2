"""What the project ships beside its packages: agent programs and configs, and a config's file by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml

from engine.errors import ConfigError

SUFFIX = ".yaml"


def folder(name: str) -> Path:
    """Return the folder ``agents`` or ``configs``: in ``engine`` when installed, beside the packages in a checkout."""
    engine = Path(__file__).resolve().parent
    for place in (engine / "_programs" / name, engine.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the folder {name} is missing from this installation")


def config_names(kind: Literal["run", "sweep"]) -> list[str]:
    """Return the names of the shipped configs of this kind: that of a run has datasets."""
    files = folder("configs").glob(f"*{SUFFIX}")
    return sorted(path.stem for path in files if ("datasets" in yaml.safe_load(path.read_text())) == (kind == "run"))


def config_file(given: str | Path, *, kind: Literal["run", "sweep"]) -> Path:
    """Return the file that a command's CONFIG means.

    A file of this path, seen from the working directory, comes first. Otherwise ``quick``, ``quick.yaml`` and
    ``configs/quick.yaml`` mean the shipped config of this name, wherever the command is given.

    Raises
    ------
    ConfigError
        When there is neither; lists the shipped names of ``kind`` with the nearest of them.
    """
    from lake.vocabulary import did_you_mean

    path = Path(given)
    try:
        if path.is_file():
            return path
    except OSError as error:
        shown = str(given) if len(str(given)) <= 80 else f"{str(given)[:77]}..."
        raise ConfigError(f"cannot read config {shown}: {error.strerror}") from error
    named = path.suffix in ("", SUFFIX) and path.parent in (Path(), Path("configs"))
    shipped = folder("configs") / f"{path.stem}{SUFFIX}"
    if named and shipped.is_file():
        return shipped
    names = config_names(kind)
    meant = did_you_mean(path.stem, names) if named else ""
    raise ConfigError(f"cannot read config {given}: no such file{meant}; shipped by name: {', '.join(names)}")
