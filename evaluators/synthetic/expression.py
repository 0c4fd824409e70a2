"""Arithmetic expressions in named inputs: the language in which a method is stated and checked.

A formula is checked by its value on several sets of inputs, so any equivalent way of writing it is right and no
wording can imitate it. The parser is our own, some sixty lines, because what it reads was written by an agent: nothing
of Python's evaluator is reachable from it, and its cost is bounded by the length of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

MAX_LENGTH = 600
MAX_DEPTH = 40

Node: TypeAlias = Callable[[Mapping[str, float]], float]

FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp,
    "ln": math.log,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "min": min,
    "max": max,
}
"""Functions that an expression may call. ``log`` is the natural logarithm, like ``ln``."""

_ONE_ARGUMENT = frozenset({"exp", "ln", "log", "sqrt", "abs"})
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),]))")
_SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "{": "(", "}": ")"})
_LEFT_SIDE = re.compile(r"^\s*[A-Za-z_]\w*\s*=(?!=)")


@dataclass(frozen=True)
class Expression:
    """A parsed formula.

    Attributes
    ----------
    source
        The text it was read from.
    names
        The names it uses, without the functions.
    numbers
        The numbers it uses.
    """

    source: str
    names: frozenset[str]
    node: Node
    numbers: frozenset[float] = frozenset()

    def value(self, values: Mapping[str, float]) -> float:
        """Return the value of the formula where ``values`` holds every name it uses.

        Raises
        ------
        ValueError
            When a name is missing or the value is not a finite real number.
        """
        try:
            result = self.node(values)
        except KeyError as error:
            raise ValueError(f"unknown name {error.args[0]!r} in {self.source!r}") from None
        except (ArithmeticError, ValueError) as error:
            raise ValueError(f"{self.source!r} has no value here: {error}") from None
        if isinstance(result, complex) or not math.isfinite(result):
            raise ValueError(f"{self.source!r} has no finite real value here")
        return result


def parse(text: str) -> Expression:
    """Read one arithmetic expression: ``+ - * / ^ **``, parentheses, numbers, names and ``FUNCTIONS``.

    A left-hand side (``roe = ...``) is ignored. ``^`` and ``**`` both mean power and bind to the right.

    Raises
    ------
    ValueError
        When the text is not such an expression, or longer than ``MAX_LENGTH`` characters.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a formula has at most {MAX_LENGTH} characters, got {len(text)}")
    source = _LEFT_SIDE.sub("", text.translate(_SPELLINGS)).strip()
    parser = _Parser(_tokens(source), source)
    node = parser.sum(0)
    if parser.peek():
        raise ValueError(f"unexpected {parser.peek()!r} in the formula {source!r}")
    return Expression(source=source, names=frozenset(parser.names), node=node, numbers=frozenset(parser.numbers))


def _tokens(source: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            raise ValueError(f"cannot read {source[position:].strip()[:20]!r} in the formula {source!r}")
        tokens.append(next(group for group in match.groups() if group is not None))
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent: sum > product > sign > power > atom."""

    def __init__(self, tokens: list[str], source: str) -> None:
        self.tokens = tokens
        self.source = source
        self.position = 0
        self.names: set[str] = set()
        self.numbers: set[float] = set()

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, *accepted: str) -> str:
        token = self.peek()
        if not token or (accepted and token not in accepted):
            wanted = " or ".join(repr(item) for item in accepted) or "a value"
            raise ValueError(f"expected {wanted}, found {token or 'the end'!r} in the formula {self.source!r}")
        self.position += 1
        return token

    def sum(self, depth: int) -> Node:
        node = self.product(depth)
        while self.peek() in ("+", "-"):
            node = _binary(self.take(), node, self.product(depth))
        return node

    def product(self, depth: int) -> Node:
        node = self.sign(depth)
        while self.peek() in ("*", "/"):
            node = _binary(self.take(), node, self.sign(depth))
        return node

    def sign(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ValueError(f"a formula nests at most {MAX_DEPTH} levels: {self.source!r}")
        if self.peek() in ("+", "-"):
            negative = self.take() == "-"
            operand = self.sign(depth + 1)
            return (lambda values: -operand(values)) if negative else operand
        return self.power(depth)

    def power(self, depth: int) -> Node:
        base = self.atom(depth)
        if self.peek() in ("^", "**"):
            self.take()
            exponent = self.sign(depth + 1)
            return lambda values: math.pow(base(values), exponent(values))
        return base

    def atom(self, depth: int) -> Node:
        token = self.take()
        if token == "(":
            node = self.sum(depth + 1)
            self.take(")")
            return node
        if token[0].isdigit() or token[0] == ".":
            number = float(token)
            self.numbers.add(number)
            return lambda values: number
        if not (token[0].isalpha() or token[0] == "_"):
            raise ValueError(f"unexpected {token!r} in the formula {self.source!r}")
        if self.peek() == "(":
            return self.call(token, depth)
        self.names.add(token)
        return lambda values: values[token]

    def call(self, name: str, depth: int) -> Node:
        if name not in FUNCTIONS:
            raise ValueError(f"unknown function {name!r}; available: {', '.join(sorted(FUNCTIONS))}")
        self.take("(")
        arguments = [self.sum(depth + 1)]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum(depth + 1))
        self.take(")")
        if (name in _ONE_ARGUMENT) != (len(arguments) == 1):
            raise ValueError(f"wrong number of arguments of {name!r} in the formula {self.source!r}")
        function = FUNCTIONS[name]
        return lambda values: function(*(argument(values) for argument in arguments))


def _binary(operator: str, left: Node, right: Node) -> Node:
    if operator == "+":
        return lambda values: left(values) + right(values)
    if operator == "-":
        return lambda values: left(values) - right(values)
    if operator == "*":
        return lambda values: left(values) * right(values)
    return lambda values: left(values) / right(values)


def resolve(definitions: Mapping[str, Expression], goal: str, inputs: Mapping[str, float]) -> float:
    """Return the value of ``goal`` where the definitions may use the inputs and each other, without circles.

    An input always means the input: a definition of the same name is not used.

    Raises
    ------
    ValueError
        When a name is defined nowhere, definitions run in a circle, or a value is not finite.
    """
    known: dict[str, float] = dict(inputs)

    def find(name: str, path: tuple[str, ...]) -> None:
        if name in known:
            return
        if name not in definitions:
            raise ValueError(f"{name!r} is neither an input nor defined")
        if name in path:
            raise ValueError(f"{name!r} is defined by itself")
        expression = definitions[name]
        for part in sorted(expression.names):
            find(part, (*path, name))
        known[name] = expression.value(known)

    find(goal, ())
    return known[goal]
