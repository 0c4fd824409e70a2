"""Files of a call: names in memory that ``open``, pandas and numpy read and write like files. Nothing is on a disk.

A file has a plain name without a folder. Every other path is the kernel's, where nothing can be written. This is no
protection: it runs beside the user's code, which may undo it for itself.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from typing import Any


class _Written(io.BytesIO):
    """A file open for writing, which is put into the workspace when it is closed or flushed."""

    def __init__(self, files: dict[str, bytes], name: str, content: bytes) -> None:
        super().__init__(content)
        self._files, self._name = files, name
        files[name] = content

    def flush(self) -> None:
        """Put what was written so far into the workspace."""
        if not self.closed:
            self._files[self._name] = self.getvalue()

    def close(self) -> None:
        """Put what was written into the workspace."""
        self.flush()
        super().close()


def is_name(path: Any) -> bool:
    """Return whether ``path`` can be the name of a file in a workspace."""
    return isinstance(path, str) and path == os.path.basename(path) and path not in ("", ".", "..") and "\0" not in path


def install(files: dict[str, bytes]) -> None:
    """Make ``open`` and the questions whether a file is there know the names in ``files``, and write new ones there."""
    kernel_open = builtins.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
               errors: str | None = None, newline: str | None = None, *rest: Any, **named: Any) -> Any:  # fmt: skip
        name = os.fspath(file) if isinstance(file, os.PathLike) else file
        if not is_name(name) or (name not in files and not set(mode) & set("wxa")):
            return kernel_open(file, mode, buffering, encoding, errors, newline, *rest, **named)
        if "x" in mode and name in files:
            raise FileExistsError(17, os.strerror(17), name)
        if set(mode) & set("wxa+"):
            raw: io.BytesIO = _Written(files, name, b"" if set(mode) & set("wx") else files.get(name, b""))
            if "a" in mode:
                raw.seek(0, io.SEEK_END)
        else:
            raw = io.BytesIO(files[name])
        if "b" in mode:
            return raw
        return io.TextIOWrapper(raw, encoding or "utf-8", errors, newline, write_through=True)

    def knowing(ask: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda path: (isinstance(path, (str, os.PathLike)) and os.fspath(path) in files) or ask(path)

    def listing(ask: Callable[[Any], list[Any]]) -> Callable[..., list[Any]]:
        def listed(path: Any = ".") -> list[Any]:
            return sorted(files) if path in (".", "") else ask(path)

        return listed

    builtins.open = io.open = opened
    # numpy took its own hold of io.open when it was loaded
    if (datasource := sys.modules.get("numpy.lib._datasource")) is not None:
        vars(datasource)["_file_openers"]._file_openers[None] = opened
    for module, name, wrapped in ((os.path, "exists", knowing), (os.path, "isfile", knowing), (os, "listdir", listing)):
        setattr(module, name, wrapped(getattr(module, name)))
