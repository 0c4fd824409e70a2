"""C++ of the account's step and of a strategy, from what jax traces of them."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from backtest import tally as tallies
from backtest.account import Account, Action, open_account
from backtest.episode import Strategy, step
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules
from backtest.tally import Tally
from native.emit import LANES, TYPES, Emitter, NotElementwise, Value
from native.windows import RingValue, SlotValue

FIELDS = (*Market._fields[1:], "time")
"""Fields of a bar in the order of ``candles.h``; the time last, which is float64 throughout."""
ORDERS = ("kind", "size", "stop_loss", "take_profit")


class Written(NamedTuple):
    """A loop as C++.

    Attributes
    ----------
    number
        What it is registered and called by; loops of the same code have the same.
    source
        The whole file.
    numbers
        What it reads from ``p``: its parameters.
    used
        Bit ``k`` stands for the observed field ``FIELDS[k]``.
    reads_account, has_brackets
        Whether it looks at its account, and whether it gives stop-losses and take-profits.
    """

    number: int
    source: str
    numbers: tuple[float, ...] = ()
    used: int = 0
    reads_account: bool = False
    has_brackets: bool = False


def _number(source: str) -> int:
    return int.from_bytes(hashlib.sha256(source.encode()).digest()[:7], "big")


def heading(dtype: str) -> str:
    """Return the first lines of every file: what a lane holds."""
    bits = 8 * np.dtype(dtype).itemsize
    return f"#define W {512 // bits}\n#define MASK int{bits}_t\n#define NUMBER {TYPES[dtype][1]}\n"


def rows(account: Account, tally: Tally) -> tuple[list[jax.Array], Any]:
    """Return what an episode carries as arrays ``[lanes]``, and how they make up the records."""
    leaves, tree = jax.tree.flatten((account, _sums(tally)))
    return leaves, tree


def _sums(tally: Tally) -> dict[str, jax.Array]:
    """Return the fields of a tally that change from bar to bar in a way that is not known before."""
    return {name: field for name, field in tally._asdict().items() if name not in ("bars", "initial")}


def unrows(state: jax.Array, like: list[jax.Array], tree: Any) -> tuple[Account, dict[str, jax.Array]]:
    """Return account and sums of rows ``[rows, lanes]``, each in the type that it had."""
    leaves = [row.astype(before.dtype) for row, before in zip(state, like, strict=True)]
    account, sums = jax.tree.unflatten(tree, leaves)
    return account, sums


def _shape(dtype: str) -> jax.Array:
    return jnp.zeros(LANES, dtype)


def _bar(dtype: str) -> Market:
    return Market(jnp.zeros(LANES), *([_shape(dtype)] * (len(Market._fields) - 1)))


def _bar_values(chunk: str, dtype: str) -> list[Value]:
    fields = [Value(f"{chunk}->field[{place}][t]", dtype, True) for place in range(len(FIELDS) - 1)]
    return [Value(f"{chunk}->time[t]", "float64", True), *fields]


@cache
def account(dtype: str) -> Written:
    """Return the loop that passes bars by the accounts of a block: one bar's step, and the sums over bars."""
    start = open_account(shape=(LANES,), dtype=dtype)
    leaves, tree = rows(start, tallies.start(start))

    def settle(carried: list[jax.Array], order: Action, bar: Market, rules: Rules) -> list[jax.Array]:
        state, sums = jax.tree.unflatten(tree, carried)
        state = step(state, order, bar, rules=rules)
        tally = tallies.add(Tally(bars=jnp.zeros(()), initial=state.equity, **sums), state, bar.close)
        return jax.tree.leaves((state, _sums(tally)))

    none = _shape(dtype)
    order = Action(jnp.zeros(LANES, jnp.int32), none, none, none)
    rules = Rules(*(jnp.zeros((), dtype) for _ in DEFAULT_RULES))
    traced = jax.make_jaxpr(settle)(leaves, order, _bar(dtype), rules)
    emitter = Emitter(word=np.dtype(dtype).itemsize)
    kinds = [str(leaf.dtype) for leaf in leaves]
    carried = [Value(f"r{place}", kind, True) for place, kind in enumerate(kinds)]
    orders = [Value(f"orders->{name}[t]", "int32" if name == "kind" else dtype, True) for name in ORDERS]
    given = [Value(f"rules[{place}]", dtype, False) for place in range(len(DEFAULT_RULES))]
    after = emitter.emit(traced, [*carried, *orders, *_bar_values("bars", dtype), *given])
    reads = [f"{TYPES[kind][0]} r{place} = {_read_row(place, kind, dtype)};" for place, kind in enumerate(kinds)]
    keeps = [
        f"const {TYPES[kind][0]} n{place} = {emitter.vector(value)};"
        for place, (kind, value) in enumerate(zip(kinds, after, strict=True))
    ]
    moves = [f"r{place} = n{place};" for place in range(len(kinds))]
    writes = [
        f"account[{place}] = {f'r{place}' if kind == dtype else f'convert<V>(r{place})'};"
        for place, kind in enumerate(kinds)
    ]
    source = f"""{heading(dtype)}#include "candles.h"

extern "C" void settle(V* account, const Chunk* bars, const Orders* orders, int first, int last, const NUMBER* rules) {{
  {_lines(reads)}
  for (int t = first; t < last; ++t) {{
  {_lines([*emitter.lines, *keeps, *moves])}
  }}
  {_lines(writes)}
}}
"""
    return Written(_number(source), source)


def _lines(lines: list[str]) -> str:
    return "\n  ".join(lines)


def _read_row(place: int, kind: str, dtype: str) -> str:
    return f"account[{place}]" if kind == dtype else f"convert<{TYPES[kind][0]}>(account[{place}])"


def strategy(played: Strategy, dtype: str) -> Written:
    """Return the loop of a strategy: what it remembers, how it begins, what it decides after each bar.

    Raises
    ------
    NotElementwise
        When it does what a loop cannot; the message says what.
    """
    bar, account = _bar(dtype), open_account(shape=(LANES,), dtype=dtype)
    began, memory = jax.make_jaxpr(played.init, return_shape=True)(bar)
    kept, tree = jax.tree.flatten(memory)
    before: Any = tree

    def decide(memory: Any, bar: Market, account: Account) -> tuple[Any, Action]:
        after, order = played.decide(memory, bar, account)
        if jax.tree.structure(after) != before:
            raise NotElementwise("the memory has another structure after a bar than before")
        return jax.tree.leaves(after), order

    decided, (after, order) = jax.make_jaxpr(decide, return_shape=True)(memory, bar, account)
    for one, now in zip(kept, after, strict=True):
        if (one.shape, one.dtype) != (now.shape, now.dtype):
            raise NotElementwise(f"the memory turns from {one.dtype}{one.shape} into {now.dtype}{now.shape}")
    return _Strategy(played, dtype, kept, order).written(began, decided)


class _Strategy:
    """A strategy while its loop is written."""

    def __init__(self, played: Strategy, dtype: str, kept: list[Any], order: Action) -> None:
        self.played, self.dtype, self.kept, self.order = played, dtype, kept, order
        self.numbers: list[float] = []
        self.rings = [place for place, leaf in enumerate(kept) if len(leaf.shape) == 2]

    def written(self, began: Any, decided: Any) -> Written:
        members, emitter, deciding = self._deciding(decided)
        beginning = self._beginning(began, members)
        kinds = [self._member(place, emitter.uses) for place in range(len(self.kept))]
        source = f"""{heading(self.dtype)}#include <new>

#include "candles.h"
#include "windows.h"

struct Memory {{
  {_lines([kind for kind in kinds if kind])}
}};

extern "C" const int64_t memory_bytes = sizeof(Memory);

extern "C" void begin(void* memory, const Chunk* seen, const double* p) {{
  Memory& m = *new (memory) Memory;
  const int t = 0;
  {_lines(beginning)}
  (void)m, (void)seen, (void)p, (void)t;
}}

extern "C" void decide(void* memory, const Chunk* seen, Orders* orders, const V* account, int first, int last,
                       const double* p) {{
  Memory& m = *static_cast<Memory*>(memory);
  {_lines([*emitter.reads.values(), *(f"auto l{place} = m.m{place};" for place in members)])}
  for (int t = first; t < last; ++t) {{
  {_lines(deciding)}
  }}
  {_lines([f"m.m{place} = l{place};" for place in members])}
  (void)m, (void)account, (void)p;
}}
"""
        used = sum(1 << place for place, name in enumerate(FIELDS) if self._field(name) in source)
        brackets = self.order.stop_loss is not None or self.order.take_profit is not None
        return Written(_number(source), source, tuple(self.numbers), used, self.played.reads_account, brackets)

    def _field(self, name: str) -> str:
        return "seen->time[t]" if name == "time" else f"seen->field[{FIELDS.index(name)}][t]"

    def _is_slot(self, place: int) -> bool:
        return place - 1 in self.rings

    def _member(self, place: int, uses: dict[str, set[str]]) -> str:
        leaf = self.kept[place]
        if self._is_slot(place):
            return ""
        vector, single = TYPES[str(leaf.dtype)]
        if place in self.rings:
            wanted = [str(what in uses.get(f"m.m{place}", ())).lower() for what in ("sum", "least", "greatest")]
            return f"Ring<{vector}, {leaf.shape[0]}, {', '.join(wanted)}> m{place};"
        return f"{vector if leaf.shape else single} m{place};"

    def _remembered(self, place: int) -> Any:
        leaf = self.kept[place]
        dtype = str(leaf.dtype)
        if dtype not in TYPES or (leaf.shape not in ((), (LANES,)) and place not in self.rings):
            raise NotElementwise(f"the memory holds {dtype} of shape {leaf.shape}")
        if place in self.rings:
            return RingValue(f"m.m{place}", leaf.shape[0], dtype)
        if self._is_slot(place):
            return SlotValue(self._remembered(place - 1))
        return Value(f"l{place}", dtype, bool(leaf.shape))

    def _deciding(self, decided: Any) -> tuple[list[int], Emitter, list[str]]:
        emitter = Emitter(word=np.dtype(self.dtype).itemsize, parameters=self.numbers)
        remembered = [self._remembered(place) for place in range(len(self.kept))]
        emitter.rings = {value.name: value for value in remembered if isinstance(value, RingValue)}
        results = emitter.emit(decided, [*remembered, *_bar_values("seen", self.dtype), *self._account()])
        after, ordered = results[: len(self.kept)], results[len(self.kept) :]
        members = []
        keeps, moves = [], []
        for place, value in enumerate(after):
            ring = value.ring if isinstance(value, SlotValue) else value
            if isinstance(ring, RingValue):
                if ring.name != f"m.m{place - self._is_slot(place)}" or emitter.rings[ring.name] != ring:
                    raise NotElementwise("a ring is not kept where it was")
                continue
            members.append(place)
            text = emitter.vector(value) if self.kept[place].shape else value.text
            keeps.append(f"const auto n{place} = {text};")
            moves.append(f"l{place} = n{place};")
        names = [name for name in ORDERS if getattr(self.order, name) is not None]
        orders = [
            f"orders->{name}[t + 1] = {emitter.vector(value)};" for name, value in zip(names, ordered, strict=True)
        ]
        return members, emitter, [*emitter.lines, *keeps, *moves, *orders]

    def _beginning(self, began: Any, members: list[int]) -> list[str]:
        emitter = Emitter(word=np.dtype(self.dtype).itemsize, parameters=self.numbers)
        results = emitter.emit(began, _bar_values("seen", self.dtype))
        lines = [*emitter.reads.values(), *emitter.lines]
        for place, value in enumerate(results):
            ring = value.ring if isinstance(value, SlotValue) else value
            if isinstance(ring, RingValue) != (place not in members) or (isinstance(ring, RingValue) and ring.name):
                raise NotElementwise("a ring does not begin empty")
            if place in members:
                lines.append(f"m.m{place} = {emitter.vector(value) if self.kept[place].shape else value.text};")
        return lines

    def _account(self) -> list[Any]:
        leaves = jax.tree.leaves(open_account(shape=(LANES,), dtype=self.dtype))
        if not self.played.reads_account:
            return [None] * len(leaves)
        kinds = [str(leaf.dtype) for leaf in leaves]
        return [Value(_read_row(place, kind, self.dtype), kind, True) for place, kind in enumerate(kinds)]
