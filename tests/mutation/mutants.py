"""Small errors that a programmer could have made, one a mutant: an operator turned, a bound moved, a truth inverted."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One error in one module; ``name`` tells line, column and what was changed.

    ``function`` is the function or method of the module in whose body it is; empty when it is outside of any.
    ``again`` tells how many mutants of that function before it have the same change.
    """

    module: str
    file: str
    name: str
    source: str
    function: str = ""
    again: int = 0


def mutants(module: str, file: str, source: str) -> list[Mutant]:
    """Return every mutant of a module's source. Words (messages, patterns, keys, types) stay as they are."""
    tree = ast.parse(source)
    functions = _functions(tree)
    seen = Counter[tuple[str, str]]()
    made = []
    for node in list(_code(tree)):
        for change in range(len(_changes(node))):
            before = {field: value[:] if isinstance(value, list) else value for field, value in ast.iter_fields(node)}
            words = _changes(node)[change]()
            name = f"{module}:{node.lineno}:{node.col_offset} {words}"
            text = ast.unparse(ast.fix_missing_locations(tree))
            function = functions.get(id(node), "")
            made.append(Mutant(module, file, name, text, function, seen[function, words]))
            seen[function, words] += 1
            vars(node).update(before)
    return made


def _functions(tree: ast.Module) -> dict[int, str]:
    """Return, for each node in the body of a function of the module or of a class in it, that function's name."""
    owners = [(tree, ""), *((each, f"{each.name}.") for each in tree.body if isinstance(each, ast.ClassDef))]
    return {
        id(node): f"{prefix}{function.name}"
        for owner, prefix in owners
        for function in owner.body
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    }


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes that compute: no annotation, no text, no decorator, nothing of an error that is raised."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "type_params") or isinstance(tree, ast.JoinedStr):
            continue
        if isinstance(tree, ast.Raise) or _is_alias(tree) or _cuts_words(tree):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                yield from _code(node)


def _is_alias(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
    )


def _cuts_words(node: ast.AST) -> bool:
    """Return whether a slice keeps what is shown of a text short."""
    return isinstance(node, ast.Slice) and isinstance(node.upper, ast.Constant) and node.upper.value >= 40


def _changes(node: ast.AST) -> list:
    if isinstance(node, ast.Compare):
        return [lambda at=at: _compare(node, at) for at, op in enumerate(node.ops) if type(op) in COMPARISONS]
    if isinstance(node, ast.BoolOp):
        return [lambda: _set(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())]
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
        return [lambda: _set(node, "op", ARITHMETIC[type(node.op)]())]
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC and not _is_text(node):
        return [lambda: _set(node, "op", ARITHMETIC[type(node.op)]())]
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        return [lambda: _set(node, "test", ast.UnaryOp(ast.Not(), node.test))]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [lambda: _set(node, "value", not node.value)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [lambda: _set(node, "value", node.value + 1)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [lambda: _set(node, "op", ast.UAdd())]
    if isinstance(node, ast.Continue):
        return []
    return []


def _is_text(node: ast.AST) -> bool:
    return any(isinstance(each, ast.JoinedStr | ast.List) or isinstance(getattr(each, "value", None), str)
               for each in ast.iter_child_nodes(node))  # fmt: skip


def _compare(node: ast.Compare, at: int) -> str:
    before = ast.unparse(node)
    node.ops[at] = COMPARISONS[type(node.ops[at])]()
    return f"{before} -> {ast.unparse(node)}"


def _set(node: ast.AST, field: str, value: object) -> str:
    shown = node.test if field == "test" else node
    before = ast.unparse(shown)
    setattr(node, field, value)
    after = ast.unparse(ast.fix_missing_locations(node.test if field == "test" else node))
    return f"{before[:60]} -> {after[:60]}"
