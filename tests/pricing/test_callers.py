"""Every public function and class of ``pricing`` serves somebody: it is reached from a caller outside of the folder.

Names are followed through imports, definition by definition: what only an unreached function calls is unreached too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CALLERS = ("agents", "backtest", "engine", "evaluators", "lake", "mcp_servers", "native", "transforms")
Name = tuple[str, str]


class Code:
    """What the modules of some folders define, import and name."""

    def __init__(self, folders: tuple[str, ...], root: Path = ROOT) -> None:
        files = [path for folder in folders for path in (root / folder).rglob("*.py")]
        self.trees = {_module(path, root): ast.parse(path.read_text()) for path in files}
        self.defined: dict[Name, ast.AST] = {
            (module, name): node
            for module, tree in self.trees.items()
            for node in tree.body
            for name in _names_defined(node)
        }
        self._imported = {module: dict(self._imports(tree)) for module, tree in self.trees.items()}

    def _imports(self, tree: ast.Module) -> Iterator[tuple[str, tuple[str, str | None]]]:
        """Yield what each imported name is: a module, or a name of one."""
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    target = (whole, None) if whole in self.trees else (node.module, alias.name)
                    yield alias.asname or alias.name, target
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.asname or alias.name.split(".")[0], ((alias.asname and alias.name) or "", None)

    def _found(self, module: str, name: str) -> Name | None:
        """Return where a name of a module is defined, through the modules that pass it on."""
        seen = set()
        while (module, name) not in self.defined:
            target = self._imported.get(module, {}).get(name)
            if target is None or target[1] is None or (module, name) in seen:
                return None
            seen.add((module, name))
            module, name = target[0], target[1]
        return module, name

    def named_in(self, module: str, node: ast.AST) -> Iterator[Name]:
        """Yield the definitions that a piece of a module names."""
        for part in ast.walk(node):
            found = None
            if isinstance(part, ast.Name):
                found = self._found(module, part.id)
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                target = self._imported[module].get(part.value.id)
                if target is not None and target[1] is None:
                    found = self._found(target[0], part.attr)
            if found is not None:
                yield found


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _names_defined(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Assign):
        return tuple(target.id for target in node.targets if isinstance(target, ast.Name))
    return (node.target.id,) if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else ()


def unreached(code: Code) -> list[str]:
    """Return the public functions and classes of ``pricing`` that no caller outside of it leads to."""
    reached: set[Name] = set()
    ahead = [
        name
        for module, tree in code.trees.items()
        if not module.startswith("pricing")
        for name in code.named_in(module, tree)
    ]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += code.named_in(name[0], code.defined[name])
    public = [
        (module, name)
        for (module, name), node in code.defined.items()
        if module.startswith("pricing")
        and isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not name.startswith("_")
    ]
    assert len(public) > 150
    return sorted(f"{module}.{name}" for module, name in public if (module, name) not in reached)


def test_every_public_name_of_pricing_has_a_caller_outside_tests_and_benchmarks() -> None:
    assert unreached(Code(("pricing", *CALLERS))) == []


def test_without_the_tools_much_of_pricing_would_serve_nobody() -> None:
    """The test above can fail, and sees through functions that only an unreached one calls."""
    alone = unreached(Code(("pricing", *(folder for folder in CALLERS if folder != "mcp_servers"))))
    assert {"pricing.american.collocation.greeks", "pricing.heston.price", "pricing.fourier.price"} <= set(alone)
    assert "pricing.black_scholes.price" not in alone
