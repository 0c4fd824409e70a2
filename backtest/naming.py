"""Things by name: registered ones with their nearest, and those in a Python file of the user's own.

``path/to/mine.py:name`` names a strategy, a transform or a metric of a file that belongs to no package. What the file
says is part of the name's meaning, so a file is read once (:func:`read`) and imported from its text (:func:`imported`):
a worker on another machine gets the text, and an edited file is another one.
"""

from __future__ import annotations

import difflib
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

Parameters: TypeAlias = tuple[tuple[str, bool | int | float | str], ...]
"""Parameters in a form that can be compared and kept."""


def nearest(word: str, names: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest of ``names``, or an empty string."""
    close = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def is_own(name: str) -> bool:
    """Return whether a name is ``path/to/file.py:name``."""
    return ".py:" in name


def parts(name: str) -> tuple[str, str]:
    """Return path and attribute of ``path/to/file.py:attribute``."""
    path, attribute = name.rsplit(":", 1)
    return path, attribute


def read(path: str, *, what: str, folders: Sequence[Path] = ()) -> str:
    """Return the text of a file, looked for in ``folders`` and then in the working directory.

    Raises
    ------
    ValueError
        When it is not there, or is no text.
    """
    for folder in (*folders, Path()):
        file = folder / path
        if file.is_file():
            try:
                return file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ValueError(f"{what} file {path!r} cannot be read: {error}") from error
    before = "".join(f"folder of the config: {str(folder.resolve())!r}, " for folder in folders)
    raise ValueError(f"{what} file {path!r} does not exist ({before}working directory: {str(Path.cwd())!r})")


@lru_cache(maxsize=256)
def imported(path: str, text: str, what: str) -> ModuleType:
    """Return the module that the file at ``path`` with this ``text`` makes."""
    # a name of its own in sys.modules: dataclasses look their module up there
    module = ModuleType(f"own_{Path(path).stem}_{hashlib.sha256(text.encode()).hexdigest()[:12]}")
    module.__file__ = path
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except Exception as error:
        raise ValueError(f"{what} file {path!r} fails on import: {said(error)}") from error
    return module


def attribute_of(name: str, text: str, *, what: str, kind: Any) -> Any:
    """Return what ``path/to/file.py:attribute`` names in a file of this text.

    Parameters
    ----------
    kind
        As of ``isinstance``: what may be meant, for the message.

    Raises
    ------
    ValueError
        When the file fails on import or has no such attribute; tells the nearest of those that are of ``kind``.
    """
    path, attribute = parts(name)
    module = imported(path, text, what)
    if not hasattr(module, attribute):
        own = [key for key, value in vars(module).items() if _is_offered(value, module, kind) and key[0] != "_"]
        hint = f"{nearest(attribute, own)}; it declares {', '.join(own) or 'none'}"
        raise ValueError(f"{what} {name!r}: no {attribute!r} in the file{hint}")
    return getattr(module, attribute)


def _is_offered(value: Any, module: ModuleType, kind: Any) -> bool:
    """Return whether a file may have meant a value to be named: of the kind, and no function from elsewhere."""
    return isinstance(value, kind) and (not callable(value) or value.__module__ == module.__name__)


def check_parameters(
    what: str,
    name: str,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    *,
    besides: Sequence[str] = (),
    first: int = 0,
) -> None:
    """Refuse a parameter that a function does not take, and one that it needs and does not get.

    Parameters
    ----------
    besides
        Parameters that are taken although the function has them not.
    first
        Number of arguments at the beginning that are no parameters.
    """
    takes = list(inspect.signature(function).parameters.values())[first:]
    known = [each.name for each in takes if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    if not any(each.kind == each.VAR_KEYWORD for each in takes):
        known = [*known, *besides]
        for parameter in parameters:
            if parameter not in known:
                hint = f"{nearest(parameter, known)}; it takes {', '.join(known) or 'none'}"
                raise ValueError(f"bad parameters for {what} {name!r}: it has no {parameter!r}{hint}")
    missing = [
        each.name for each in takes if each.name in known and each.default is each.empty and each.name not in parameters
    ]
    if missing:
        raise ValueError(f"bad parameters for {what} {name!r}: it needs {', '.join(missing)}")


def said(error: Exception) -> str:
    """Return an error in one line: its kind and its first sentence or paragraph."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
