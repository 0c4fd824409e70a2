"""The outer layer by bubblewrap, the distribution's ``bwrap`` (the PyPI package of that name is unrelated)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from mcp_servers.sandbox.readable import Readable

_SYSTEM_FOLDERS = os.pathsep.join(("/usr/bin", "/bin", "/usr/local/bin"))


def find() -> str | None:
    """Return the path of the system's bwrap; folders of a virtual environment are never searched."""
    return shutil.which("bwrap", path=_SYSTEM_FOLDERS)


def command(bwrap: str, readable: Readable, own_sources: Sequence[str], program: Sequence[str]) -> list[str]:
    """Return the command line that runs ``program`` with ``readable`` and ``own_sources`` as its whole file system."""
    hidden = set(readable.hidden) - set(readable.trees)
    shown = [*readable.trees, *own_sources]
    binds: list[str] = []
    for path in sorted({*hidden, *shown}, key=lambda path: path.count(os.sep)):
        binds += ["--tmpfs", path] if path in hidden else ["--ro-bind", path, path]
    links = [word for link, target in readable.links for word in ("--symlink", target, link)]
    devices = [word for path in ("/dev/null", *readable.devices) for word in ("--dev-bind", path, path)]
    sealed = [word for path in sorted(hidden) for word in ("--remount-ro", path)]
    return [
        bwrap,
        *(
            "--unshare-all",
            "--unshare-user",
            "--disable-userns",
            "--uid",
            "65534",
            "--gid",
            "65534",
            "--cap-drop",
            "ALL",
        ),
        *("--die-with-parent", "--new-session"),
        *links,
        *binds,
        *devices,
        *sealed,
        *("--remount-ro", "/", "--chdir", "/", "--"),
        *program,
    ]
