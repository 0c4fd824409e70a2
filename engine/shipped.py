"""What the project ships beside its packages: agent programs and configs, and a config's file by its name."""

from __future__ import annotations

from pathlib import Path

from engine.errors import ConfigError

SUFFIX = ".yaml"


def folder(name: str) -> Path:
    """Return the folder ``agents`` or ``configs``: in ``engine`` when installed, beside the packages in a checkout."""
    engine = Path(__file__).resolve().parent
    for place in (engine / "_programs" / name, engine.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the folder {name} is missing from this installation")


def config_names() -> list[str]:
    """Return the names of the shipped configs."""
    return sorted(path.stem for path in folder("configs").glob(f"*{SUFFIX}"))


def config_file(given: str | Path) -> Path:
    """Return the file that a command's CONFIG means.

    A file of this path, seen from the working directory, comes first. Otherwise ``quick``, ``quick.yaml`` and
    ``configs/quick.yaml`` mean the shipped config of this name, wherever the command is given.

    Raises
    ------
    ConfigError
        When there is neither; lists the shipped names.
    """
    path = Path(given)
    if path.is_file():
        return path
    named = path.suffix in ("", SUFFIX) and path.parent in (Path(), Path("configs"))
    if named and path.stem in config_names():
        return folder("configs") / f"{path.stem}{SUFFIX}"
    raise ConfigError(f"cannot read config {given}: no such file; shipped by name: {', '.join(config_names())}")
