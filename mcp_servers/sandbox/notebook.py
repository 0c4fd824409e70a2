"""What one call leaves for the next of its session: definitions as source, values pickled, files.

All of this happens in the locked child. The host keeps the bytes and never looks into them, so that what one call
pickles is only ever unpickled by another call of the same task.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from mcp_servers.sandbox import limits

GIVEN = ("data", "result", "files")
"""Names that each call gets or gives anew."""


class Notebook:
    """The state of a session as a call finds and leaves it.

    Attributes
    ----------
    files
        Name -> content.
    """

    def __init__(self, state: bytes, handed_in: Mapping[str, str]) -> None:
        found = pickle.loads(state) if state else {}
        self.files: dict[str, bytes] = found.get("files", {})
        self.files.update((name, text.encode()) for name, text in handed_in.items())
        self._definitions: dict[str, str] = found.get("definitions", {})
        self._values: bytes = found.get("values", b"")
        self._restored: list[str] = []

    def restore(self, names: dict[str, Any]) -> None:
        """Put definitions and values of the calls before into the namespace."""
        # a default of a function may need a value, and a value its class: what fails at first comes after the values
        late = [source for source in self._definitions.values() if not _runs(source, names)]
        if self._values:
            values = pickle.loads(self._values)
            names.update(values)
            self._restored = sorted(values)
        for source in late:
            exec(source, names)

    def keep(self, code: str, names: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
        """Return the state for the next call, empty when it is too large, and what it holds."""
        self._learn(code, names)
        defined = {name for name in self._definitions if name.isidentifier()}
        values, lost = _picklable({
            name: value
            for name, value in names.items()
            if not name.startswith("_") and name not in GIVEN and name not in defined
            and not isinstance(value, ModuleType)
        })  # fmt: skip
        # in one piece, so that names of one object stay names of one object
        held = {"definitions": self._definitions, "values": pickle.dumps(values), "files": self.files}
        state, kept = pickle.dumps(held), sorted([*values, *defined])
        if len(state) > limits.STATE_LIMIT_BYTES:
            size = f"{len(state)} bytes in all, at most {limits.STATE_LIMIT_BYTES} are kept: the session is as before"
            state, kept, lost = b"", [], lost | dict.fromkeys(kept, size)
        sizes = {name: len(content) for name, content in sorted(self.files.items())}
        return state, {"restored": self._restored, "kept": kept, "not_kept": lost, "files": sizes}

    def _learn(self, code: str, names: Mapping[str, Any]) -> None:
        """Take over what the code defined at its top level; a later definition of a name replaces an earlier one."""
        try:
            tree = ast.parse(code)
        except SyntaxError:
            return
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._define(ast.unparse(node), ast.unparse(node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in names:
                self._define(node.name, ast.unparse(node))

    def _define(self, name: str, source: str) -> None:
        self._definitions.pop(name, None)
        self._definitions[name] = source


def _picklable(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values that can be kept, and why the others cannot."""
    kept, lost = {}, {}
    for name, value in values.items():
        try:
            pickle.loads(pickle.dumps(value))
        except Exception as error:
            lost[name] = f"{type(error).__name__}: {error}"[:200]
        else:
            kept[name] = value
    return kept, lost


def _runs(source: str, names: dict[str, Any]) -> bool:
    try:
        exec(source, names)
    except Exception:
        return False
    return True
