"""C++ from the equations that jax traced: one statement an equation, each for W lanes at once.

What can be written so is elementwise: every value is one number, or one number a lane. Functions of
:mod:`native.marks` are written in a way of their own. Everything else is :class:`NotElementwise`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.extend import core

from native.marks import MARKS

LANES = 8
"""Length of the axis that traced arrays have, standing for any number of lanes."""
TYPES = {
    "float64": ("f64", "double"),
    "float32": ("f32", "float"),
    "int64": ("i64", "int64_t"),
    "int32": ("i32", "int32_t"),
    "uint64": ("u64", "uint64_t"),
    "uint32": ("u32", "uint32_t"),
    "bool": ("mask", "bool"),
}
"""Names in C++: of a vector, and of one number."""
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "xor": "^",
    "gt": ">",
    "lt": "<",
    "ge": ">=",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
    "shift_left": "<<",
    "shift_right_arithmetic": ">>",
    "shift_right_logical": ">>",
}
FUNCTIONS = {
    "abs": "absolute",
    "sign": "sign",
    "exp": "exponential",
    "log": "logarithm",
    "max": "greater",
    "min": "lesser",
}
"""Functions of ``lanes.h``."""
LIBRARY = {
    name: f"std::{name}"
    for name in (
        *(
            "sqrt",
            "floor",
            "ceil",
            "cbrt",
            "exp2",
            "expm1",
            "log1p",
            "pow",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
        ),
        *("sinh", "cosh", "tanh", "atan2", "erf", "erfc"),
    )
} | {"round": "std::nearbyint", "rem": "std::fmod"}
"""Functions of the C library, for a lane at a time."""
INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}
SAME = (
    "broadcast_in_dim",
    "copy",
    "copy_p",
    "reshape",
    "squeeze",
    "expand_dims",
    "stop_gradient",
    "optimization_barrier",
)
PLAIN_NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0)
"""Numbers that are written as they are where others become parameters."""


class NotElementwise(ValueError):
    """A traced function cannot be written as a loop; the message says what stands in the way."""


class Value(NamedTuple):
    """A traced value.

    Attributes
    ----------
    text
        Its C++: a name, or a literal.
    dtype
        A key of :data:`TYPES`.
    lanes
        Whether it has a number for each lane.
    known
        The number, where it is a literal.
    factors
        Of a product that has one use: a sum takes it unrounded, by a fused multiply-add. One with more uses is rounded
        once for all of them, which compensated arithmetic depends on.
    """

    text: str
    dtype: str
    lanes: bool
    known: float | None = None
    factors: tuple[str, str] | None = None


Mark = Callable[["Emitter", Any, list[Any]], list[Any]]


class Emitter:
    """Writes statements; every result gets a name of its own.

    Parameters
    ----------
    word
        Bytes of the widest number: 8 or 4.
    marks
        Named functions that are written in a way of their own: ``(emitter, equation, arguments) -> results``.
    parameters
        Collects numbers that are to be read from an array ``p`` when the code runs, so that functions that differ in
        them only share their code; None writes them into the code.
    """

    def __init__(
        self, *, word: int, marks: dict[str, Mark] | None = None, parameters: list[float] | None = None
    ) -> None:
        self.word = word
        self.marks = MARKS | (marks or {})
        self.parameters = parameters
        self.lines: list[str] = []
        self.rings: dict[str, Any] = {}
        """Rings by name, as they were last pushed."""
        self.uses: dict[str, set[str]] = {}
        """What is read of each ring."""
        self.reads: dict[str, str] = {}
        """Statements that read the parameters, by the names that they give; they stand before any loop."""
        self._count = 0

    def emit(self, closed: Any, arguments: Sequence[Any]) -> list[Any]:
        """Write the statements of a closed jaxpr; return its results."""
        jaxpr: Any = closed.jaxpr
        values: dict[Any, Any] = {}
        for variable, constant in zip(jaxpr.constvars, closed.consts, strict=True):
            values[variable] = self.literal(constant, str(variable.aval.dtype))
        values.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Any:
            if not isinstance(atom, core.Literal):
                return values[atom]
            shaped: Any = atom.aval
            return self.literal(atom.val, str(shaped.dtype))

        uses = Counter(
            atom for equation in jaxpr.eqns for atom in equation.invars if not isinstance(atom, core.Literal)
        )
        uses.update(atom for atom in jaxpr.outvars if not isinstance(atom, core.Literal))
        summed = {
            atom
            for equation in jaxpr.eqns
            if equation.primitive.name in ("add", "sub")
            for atom in equation.invars
            if not isinstance(atom, core.Literal) and uses[atom] == 1
        }
        for equation in jaxpr.eqns:
            given = [read(atom) for atom in equation.invars]
            if equation.primitive.name == "mul" and equation.outvars[0] in summed:
                product = self._product(given, str(equation.outvars[0].aval.dtype))
                if product is not None:
                    values[equation.outvars[0]] = product
                    continue
            results = self._equation(equation, given)
            values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def literal(self, number: Any, dtype: str) -> Value:
        """Return a constant as a value."""
        if np.ndim(number) and np.unique(np.asarray(number)).size != 1:
            raise NotElementwise(f"a constant array of shape {np.shape(number)}")
        plain = np.asarray(number).reshape(-1)[0].item()
        if (
            isinstance(plain, float)
            and self.parameters is not None
            and not (plain in PLAIN_NUMBERS or math.isnan(plain) or math.isinf(plain))
        ):
            if plain not in self.parameters:
                self.parameters.append(plain)
            place = self.parameters.index(plain)
            single = TYPES[dtype][1]
            name = f"{single}_{place}"
            self.reads[name] = f"const {single} {name} = {single}(p[{place}]);"
            return Value(name, dtype, False, plain)
        return Value(_written(plain, dtype), dtype, False, float(plain))

    def refused(self, why: str) -> NotElementwise:
        """Return the error to raise."""
        return NotElementwise(why)

    def of(self, text: str, dtype: str) -> Value:
        """Return a vector that ``text`` computes, under a new name."""
        return self.named(Value(text, dtype, True))

    def named(self, value: Value) -> Value:
        """Return the value under a new name, with a statement that computes it."""
        kind = TYPES[value.dtype][0 if value.lanes else 1]
        name = f"v{self._count}"
        self._count += 1
        self.lines.append(f"const {kind} {name} = {value.text};")
        return value._replace(text=name)

    def variable(self, value: Value, dtype: str) -> Value:
        """Return a vector that begins as ``value`` and may be assigned to."""
        name = f"v{self._count}"
        self._count += 1
        self.lines.append(f"{TYPES[dtype][0]} {name} = {self.vector(value)};")
        return Value(name, dtype, True)

    def vector(self, value: Value) -> str:
        """Return the C++ of a value as a vector."""
        return value.text if value.lanes else f"splat<{TYPES[value.dtype][0]}>({value.text})"

    def _equation(self, equation: Any, arguments: list[Any]) -> list[Any]:
        name = equation.primitive.name
        mark = self.marks.get(equation.params.get("name", "")) if name in INLINED else None
        if mark is not None:
            return mark(self, equation, arguments)
        if name in INLINED:
            inner = equation.params[INLINED[name]]
            return self.emit(inner, arguments)
        (out,) = equation.outvars
        if out.aval.shape not in ((), (LANES,)):
            raise NotElementwise(f"{name} gives an array of shape {out.aval.shape}")
        if str(out.aval.dtype) not in TYPES:
            raise NotElementwise(f"{name} gives {out.aval.dtype}")
        if not all(isinstance(argument, Value) for argument in arguments):
            raise NotElementwise(f"{name} reads a window of values")
        if name in SAME:
            return [arguments[0]]
        text = self._expression(name, equation, arguments, str(out.aval.dtype))
        return [self.named(Value(text, str(out.aval.dtype), any(argument.lanes for argument in arguments)))]

    def _product(self, given: list[Value], dtype: str) -> Value | None:
        """Return a product that is not yet rounded; None where nothing is gained."""
        if not dtype.startswith("float") or not all(isinstance(value, Value) for value in given):
            return None
        if not any(value.lanes for value in given):
            return None
        left, right = (self.vector(value) for value in given)
        return Value(f"({left} * {right})", dtype, True, factors=(left, right))

    def _fused(self, name: str, left: Value, right: Value) -> str | None:
        """Return a sum or difference with a product in one rounding."""
        if left.factors is not None:
            a, b = left.factors
            return f"fused({a}, {b}, {'-' if name == 'sub' else ''}{self.vector(right)})"
        if right.factors is not None:
            a, b = right.factors
            return f"fused({'-' if name == 'sub' else ''}{a}, {b}, {self.vector(left)})"
        return None

    def _expression(self, name: str, equation: Any, given: list[Value], dtype: str) -> str:
        lanes = any(value.lanes for value in given)
        vector, single = TYPES[dtype]
        if name == "convert_element_type":
            return self._converted(given[0], dtype)
        if name == "select_n":
            return self._selected(given, dtype, lanes)
        if name in ("add", "sub") and (text := self._fused(name, *given)) is not None:
            return text
        if name in OPERATORS:
            left, right = (self._operand(value, lanes) for value in given)
            text = f"{left} {OPERATORS[name]} {right}"
            compares = dtype == "bool" and given[0].dtype != "bool"
            narrow = compares and lanes and np.dtype(given[0].dtype).itemsize != self.word
            return f"convert<mask>({text})" if narrow else text
        if name == "not":
            return f"!{given[0].text}" if dtype == "bool" and not lanes else f"~{given[0].text}"
        if name == "neg":
            return f"-{given[0].text}"
        if name == "bitcast_convert_type":
            return (
                f"({vector}){given[0].text}"
                if lanes
                else f"(({vector})splat<{TYPES[given[0].dtype][0]}>({given[0].text}))[0]"
            )
        if name in ("max", "min"):
            return self._extreme(name, given, dtype, lanes)
        if name == "clamp":
            low, value, high = (self.vector(argument) for argument in given)
            text = f"lesser(greater({value}, {low}), {high})"
        elif name == "is_finite":
            largest = _written(float(np.finfo(given[0].dtype).max), given[0].dtype)
            return f"absolute({self.vector(given[0])}) <= {largest}" if lanes else f"std::isfinite({given[0].text})"
        elif name == "integer_pow":
            power = equation.params["y"]
            text = " * ".join([self.vector(given[0])] * abs(power)) if power else f"splat<{vector}>({single}(1))"
            text = f"{single}(1) / ({text})" if power < 0 else text
        elif name == "square":
            text = f"{self.vector(given[0])} * {self.vector(given[0])}"
        elif name == "rem" and not dtype.startswith("float"):
            text = f"{self.vector(given[0])} % {self.vector(given[1])}"
        elif name == "round" and equation.params["rounding_method"].name != "TO_NEAREST_EVEN":
            raise NotElementwise("it rounds halves away from zero")
        elif name in LIBRARY:
            call = f"[](auto... x) {{ return {LIBRARY[name]}(x...); }}"
            text = f"each({call}, {', '.join(self.vector(value) for value in given)})"
        elif name in FUNCTIONS:
            text = f"{FUNCTIONS[name]}({', '.join(self.vector(value) for value in given)})"
        else:
            raise NotElementwise(f"there is no loop for {name}")
        return text if lanes else f"({text})[0]"

    def _operand(self, value: Value, lanes: bool) -> str:
        return self.vector(value) if lanes and value.dtype == "bool" else value.text

    def _converted(self, value: Value, dtype: str) -> str:
        vector, single = TYPES[dtype]
        if value.dtype == dtype:
            return value.text
        if not value.lanes:
            return f"{single}({value.text})"
        if dtype == "bool":
            compared = f"{value.text} != 0"
            return compared if np.dtype(value.dtype).itemsize == self.word else f"convert<mask>({compared})"
        return f"-convert<{vector}>({value.text})" if value.dtype == "bool" else f"convert<{vector}>({value.text})"

    def _selected(self, given: list[Value], dtype: str, lanes: bool) -> str:
        which, *cases = given
        if which.dtype != "bool":
            raise NotElementwise("a choice between more than two")
        no, yes = (self.vector(case) if lanes else case.text for case in cases)
        if not lanes:
            return f"{which.text} ? {yes} : {no}"
        if dtype == "bool":
            condition = self.vector(which)
            return f"({condition} & {yes}) | (~{condition} & {no})"
        return f"pick({which.text}, {yes}, {no})"

    def _extreme(self, name: str, given: list[Value], dtype: str, lanes: bool) -> str:
        left, right = given
        sign = ">" if name == "max" else "<"
        # With a number that is not NaN on one side, one comparison says it all, and NaN passes.
        if left.known is not None and left.known == left.known:
            left, right = right, left
        if right.known is not None and right.known == right.known:
            fixed = self.vector(right) if lanes else right.text
            return f"{fixed} {sign} {left.text} ? {fixed} : {left.text}"
        both = (self.vector(value) if lanes else value.text for value in (left, right))
        return f"{FUNCTIONS[name]}({', '.join(both)})"


def _written(number: float | int | bool, dtype: str) -> str:
    kind = TYPES[dtype][1]
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, int):
        return f"{kind}({number}{'u' if kind.startswith('u') else ''}{'ll' if '64' in kind else ''})"
    if math.isnan(number):
        return f"std::numeric_limits<{kind}>::quiet_NaN()"
    if math.isinf(number):
        return f"{'-' if number < 0 else ''}std::numeric_limits<{kind}>::infinity()"
    return f"{kind}({number!r})"


def word_of(dtypes: Sequence[Any]) -> int:
    """Return the bytes of the widest number among the types: what a lane takes."""
    return max((np.dtype(dtype).itemsize for dtype in dtypes if np.dtype(dtype) != bool), default=8)
