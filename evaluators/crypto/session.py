"""The interactive conversation: one message a decision for all episodes of a task."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from backtest.account import CLOSE, HOLD, TARGET, Action, open_account
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules
from evaluators.contract import Json, Score, Session
from evaluators.crypto import columns
from evaluators.crypto.instructions import instructions
from evaluators.crypto.messages import (
    Asked,
    Decision,
    Indicators,
    knows_one_episode_alone,
    observed_indicators,
    read_decision,
    read_decisions,
    request,
    state,
)
from evaluators.crypto.play import START_EQUITY, Measured, Played, joined, play
from evaluators.crypto.report import scored, trouble
from evaluators.crypto.verdict import Verdict, verdict
from evaluators.crypto.windows import Episodes, of

DRIFT = 0.02
HISTORY_FILE = "history.json"
"""What the sandbox calls the bars before the first decision."""


class InteractiveSession(Session):
    """A conversation of ``decisions * ceil(episodes / batch)`` messages. Deterministic."""

    def __init__(
        self,
        episodes: Episodes,
        *,
        families: tuple[str, ...],
        decision_every: int,
        batch: int | None,
        info: Mapping[str, Json],
        rules: Rules = DEFAULT_RULES,
    ) -> None:
        self.episodes = episodes
        self.families = families
        self.every = decision_every
        self.rules = rules
        self.info = dict(info)
        self.warmup = episodes.warmup
        self.names = [f"e{number:02d}" for number in range(1, len(episodes.symbol) + 1)]
        self.place = {name: index for index, name in enumerate(self.names)}
        self.count = len(self.names)
        self.chunk = self.count if batch is None else min(batch, self.count)
        self.bars = int(episodes.traded.close.shape[1]) - self.warmup
        self.decisions = self.bars // decision_every
        self.traded = of(np.asarray(field)[:, self.warmup :] for field in episodes.traded)
        self.decision = 0
        self.asked = 0
        self.pending: dict[str, Decision] = {}
        self.target: dict[str, float] = {}
        self.untold = {"history": set(self.names), "account": set(self.names)}
        self.measured: list[Measured] = []
        self.faults: Counter[str] = Counter()
        self.replies = 0
        self.unreadable: list[str] = []
        self.state = self.start()

    def start(self) -> Played:
        """Return flat accounts before the first traded bar."""
        close = jnp.asarray(self.episodes.traded.close[:, self.warmup - 1])
        return Played(open_account(equity=START_EQUITY, shape=(self.count,)), close, jnp.zeros(self.count))

    @cached_property
    def verdict(self) -> Verdict:
        """By what the task is judged: what could be known, or what hindsight would have done."""
        return verdict(self.episodes, families=self.families, every=self.every, rules=self.rules, equity=START_EQUITY)

    @cached_property
    def indicators(self) -> Indicators:
        """Of the observed bars, as the published message shows them."""
        return observed_indicators(self.episodes.observed)

    @cached_property
    def table(self) -> columns.Table:
        """What is shown of every bar."""
        return columns.table(self.episodes, every=self.every)

    @cached_property
    def seconds_per_bar(self) -> float:
        """Of all episodes."""
        return float(np.median(np.diff(self.episodes.observed.time[0])))

    @property
    def bar(self) -> int:
        """The last bar that has been shown."""
        return self.warmup - 1 + self.decision * self.every

    def opening(self) -> dict[str, Json]:
        """Return the first message."""
        return self.message()

    def message(self) -> dict[str, Json]:
        """Return the message that asks for the next decisions: of one episode the published one, of several rows."""
        asked = self.names[self.asked : self.asked + self.chunk]
        step: dict[str, Json] = {"decision": self.decision + 1, "decisions": self.decisions}
        if self.chunk == 1:
            body = {"type": "trading_decision", "state": self.published(asked[0]), **step}
        else:
            body = {
                "type": "trading_decisions",
                **step,
                "seconds_per_bar": self.seconds_per_bar,
                "bars_per_decision": self.every,
                "columns": [*columns.PRICE, *self.table],
                "episodes": {name: self.row(self.place[name]) for name in asked},
            }
        if self.decision == 0:
            body["answer_format"] = instructions(
                rules=self.rules,
                warmup=self.warmup,
                knowable=self.episodes.known is not None,
                together=self.chunk > 1,
            )
        return body

    def row(self, index: int) -> list[Json]:
        """Return the numbers of the last bar, or bars, of an episode."""
        close = float(self.episodes.observed.close[index, self.bar])
        return columns.row(self.table, episode=index, bar=self.warmup - 1 + self.decision, close=close)

    def published(self, name: str) -> dict[str, Json]:
        """Return the published state of one episode, with the channels among its market metrics."""
        account, exposures = jax.device_get(self.state.account), self.exposures()
        index = self.place[name]
        place = self.warmup - 1 + self.decision
        shown = {column: columns.short(column, self.table[column][index, place]) for column in columns.CHANNELS}
        return state(
            self.episodes.observed,
            self.indicators,
            episode=index,
            bar=self.bar,
            symbol=self.episodes.symbol[index],
            account=self.account_view(account, index, exposures[index]),
            metrics=shown if self.episodes.known is not None else {},
        )

    def told(self, asked: Asked) -> dict[str, Json] | None:
        """Return what is told on request, the decision being still due; None where all of it was told before.

        The bars before the first decision are told once an episode, its account once a decision.
        """
        untold = self.untold[asked.what]
        names = [name for name in asked.episodes if name in untold]
        untold -= set(names)
        if not names:
            return None
        step = {"type": f"trading_{asked.what}", "decision": self.decision + 1, "decisions": self.decisions}
        if asked.what == "history":
            return {**step, "history": [{"episode": name, **self.history(name)} for name in names]}
        exposures, equity = self.exposures(), np.asarray(self.state.account.equity) / START_EQUITY
        places = {name: self.place[name] for name in names}
        rows = {name: columns.account(exposures[at], float(equity[at])) for name, at in places.items()}
        return {**step, "columns": list(columns.ACCOUNT), "account": rows}

    def handouts(self) -> dict[str, Json]:
        """Return what the messages tell on request: for ``get_history``, and as a file for code in the sandbox."""
        if self.episodes.known is None:
            return {}
        told = columns.handout(self.table, names=self.names, bars=self.warmup, seconds=self.seconds_per_bar)
        return {"trading": told, "sandbox": {"files": {HISTORY_FILE: json.dumps(told, separators=(",", ":"))}}}

    def history(self, name: str) -> dict[str, Json]:
        """Return the bars before the first decision of an episode, in columns."""
        return columns.history(self.table, episode=self.place[name], bars=self.warmup)

    def account_view(self, account: Any, index: int, exposure: float) -> dict[str, Json]:
        """Return the account as the agent sees it."""
        position = float(account.position[index])
        view: dict[str, Json] = {
            "balance": round(float(account.cash[index]), 4),
            "equity": round(float(account.equity[index]), 4),
            "positions": [],
        }
        if position != 0.0:
            levels = {name: float(getattr(account, name)[index]) for name in ("stop_loss", "take_profit")}
            view["positions"] = [
                {
                    "symbol": self.episodes.symbol[index],
                    "size": position,
                    "entry_price": float(account.entry_price[index]),
                    "exposure": round(exposure, 6),
                    **{name: None if math.isnan(level) else level for name, level in levels.items()},
                }
            ]
        return view

    def exposures(self) -> list[float]:
        """Return signed notional over equity of each account at the last traded close."""
        account = self.state.account
        equity = np.asarray(account.equity)
        notional = np.asarray(account.position) * np.asarray(self.state.close)
        return [float(n / e) if e > 0.0 else 0.0 for n, e in zip(notional, equity, strict=True)]

    def reply(self, text: str) -> dict[str, Json] | None:
        """Take the decisions; return the next message, or None when the episodes are over."""
        if self.decision >= self.decisions:
            return None
        asked = self.names[self.asked : self.asked + self.chunk]
        wanted = request(text, asked)
        if wanted is not None and (told := self.told(wanted)) is not None:
            return told
        self.replies += 1
        if self.replies == 1 and self.chunk > 1 and knows_one_episode_alone(text):
            # The agent knows the published message alone: it is asked again, that way.
            self.replies, self.chunk = 0, 1
            return self.message()
        found, faults = read_decisions(text, asked)
        if not found:
            self.unreadable.append(faults[asked[0]])
        exposures = self.exposures()
        for name in asked:
            index = self.place[name]
            if name in faults:
                decision = Decision(fault=faults[name])
            else:
                close = float(self.episodes.observed.close[index, self.bar])
                decision = self.kept(name, read_decision(found[name], close=close, exposure=exposures[index]))
            if decision.fault:
                self.faults[decision.fault] += 1
            self.pending[name] = decision
        self.asked += self.chunk
        if self.asked < self.count:
            return self.message()
        self.advance()
        return self.message() if self.decision < self.decisions else None

    def kept(self, name: str, decision: Decision) -> Decision:
        """Return a HOLD in place of the exposure that was asked for before: what moved with the price stays."""
        before = self.target.pop(name, 0.0 if not self.decision else None)
        if decision.kind == TARGET:
            self.target[name] = decision.size
            return Decision() if decision.size == before else decision
        if decision.kind == HOLD and before is not None:
            self.target[name] = before
        return decision

    def advance(self) -> None:
        """Play the bars up to the next decision."""
        chosen = [self.pending[name] for name in self.names]
        columns: list[Any] = [np.array(column) for column in zip(*map(as_fields, chosen), strict=True)]
        order = Action(columns[0].astype(np.int32), *columns[1:])
        # numpy fields, here and back: the conversation reads single accounts, which is slow on device arrays
        moved = play(self.state, order, self.next_bars(self.decision, self.every), self.rules)
        self.state, measured = jax.device_get(moved)
        self.measured.append(measured)
        self.decision, self.asked, self.pending = self.decision + 1, 0, {}
        self.untold["account"] = set(self.names)

    def next_bars(self, decision: int, count: int) -> Market:
        """Return ``count`` traded bars from a decision on, fields ``[bars, episodes]``."""
        first = decision * self.every
        return of(field[:, first : first + count].T for field in self.traded)

    def score(self) -> Score:
        """Return the verdict; where the conversation was cut short, everything is closed at the next open."""
        measured, last = list(self.measured), self.state
        if self.decision < self.decisions:
            none = jnp.full(self.count, jnp.nan)
            close = Action(jnp.full(self.count, CLOSE, jnp.int32), jnp.zeros(self.count), none, none)
            left = self.bars - self.decision * self.every
            last, rest = play(self.state, close, self.next_bars(self.decision, left), self.rules)
            measured.append(rest)
        played = joined(measured)
        shown = self.verdict.skill(played)
        equivalent = self.verdict.equivalent(float(shown.samples.mean()), shown.se)
        return scored(
            played,
            jax.device_get(last.account),
            skill=shown,
            window=self.episodes.window,
            families=self.families,
            mirrored=self.episodes.mirrored,
            time=np.asarray(self.traded.time),
            info={
                **self.info,
                **self.verdict.details(shown),
                "equivalent_ic": None if equivalent is None else equivalent._asdict(),
                "decisions_made": self.decision,
                "decisions_asked": self.decisions,
                "invalid_decisions": sum(self.faults.values()),
                "replies": self.replies,
                "unreadable_replies": len(self.unreadable),
                "faults": dict(self.faults.most_common(20)),
            },
            trouble=trouble(self.replies, self.unreadable, self.faults),
        )

    def oracle(self) -> str:
        """Return the orders of the informed policy, or of the best path of positions known in hindsight."""
        if self.decision >= self.decisions:
            return json.dumps({"exposures": {}})
        sides = self.verdict.sides
        asked = self.names[self.asked : self.asked + self.chunk]
        if self.chunk > 1:
            return json.dumps({"exposures": {name: float(sides[self.decision, self.place[name]]) for name in asked}})
        index = self.place[asked[0]]
        before = float(sides[self.decision - 1, index]) if self.decision else 0.0
        return json.dumps(oracle_order(float(sides[self.decision, index]), before, self.exposures()[index]))


def as_fields(decision: Decision) -> tuple[int, float, float, float]:
    """Return a decision as the fields of an action."""
    return decision.kind, decision.size, decision.stop_loss, decision.take_profit


def oracle_order(side: float, before: float, exposure: float) -> dict[str, Json]:
    """Return the order that leads to an exposure of one times equity on ``side``.

    A position that is kept is left alone until price moves have taken it :data:`DRIFT` away from that size.
    """
    if side == before and abs(side - exposure) <= DRIFT * abs(side):
        return {"action": "HOLD", "size": 0.0}
    if side == 0.0:
        return {"action": "CLOSE", "size": 0.0}
    change = side - exposure
    return {"action": "BUY" if change > 0.0 else "SELL", "size": abs(change)}
