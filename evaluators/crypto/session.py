"""The interactive conversation: one message a decision for all episodes of a task."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from backtest.account import CLOSE, Action, open_account
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules
from evaluators.contract import Json, Score, Session
from evaluators.crypto.hindsight import Available, available, usual_move
from evaluators.crypto.messages import Decision, Indicators, observed_indicators, read_decision, read_decisions, state
from evaluators.crypto.play import Measured, Played, joined, play
from evaluators.crypto.report import scored, trouble
from evaluators.crypto.windows import WARMUP_BARS, Episodes, of

START_EQUITY = 10_000.0
DRIFT = 0.02

RULES_TEXT = (
    "You trade several perpetual futures at once, one account of 10,000 for each episode. Reply with one JSON object "
    '{"decisions": [{"episode": id, "action": "BUY" | "SELL" | "HOLD" | "CLOSE", "size": number, "stop_loss": price or '
    'null, "take_profit": price or null, "confidence": 0 to 1, "reasoning": text}, ...]} with one decision for every '
    "episode of the message. size is the order's notional as a multiple of equity (BUY 1 on a flat account buys for "
    "all of it; SELL sells and may go short; at most {leverage:g} times equity in total). Orders are filled at the "
    "next bar's open: fee {fee:g} bps, slippage at least {slippage:g} bps. The score is timing after "
    "costs: how far your position pointed the way the next move went, relative to your largest one so far; a "
    "constant position earns 0. An invalid decision counts as HOLD."
)
ONE_TEXT = (
    'Reply with one JSON object {"action": "BUY" | "SELL" | "HOLD" | "CLOSE", "size": notional as a multiple of '
    'equity, "stop_loss": price or null, "take_profit": price or null, "confidence": 0 to 1, "reasoning": text}. '
    "Orders are filled at the next bar's open. An invalid decision counts as HOLD."
)


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
        self.names = [f"e{number:02d}" for number in range(1, len(episodes.symbol) + 1)]
        self.place = {name: index for index, name in enumerate(self.names)}
        self.count = len(self.names)
        self.chunk = self.count if batch is None else min(batch, self.count)
        self.bars = int(episodes.traded.close.shape[1]) - WARMUP_BARS
        self.decisions = self.bars // decision_every
        self.traded = of(np.asarray(field)[:, WARMUP_BARS:] for field in episodes.traded)
        self.indicators: Indicators = observed_indicators(episodes.observed)
        self.decision = 0
        self.asked = 0
        self.pending: dict[str, Decision] = {}
        self.measured: list[Measured] = []
        self.faults: Counter[str] = Counter()
        self.replies = 0
        self.unreadable: list[str] = []
        self.state = self.start()
        self._available: Available | None = None

    def start(self) -> Played:
        """Return flat accounts before the first traded bar."""
        close = jnp.asarray(self.episodes.traded.close[:, WARMUP_BARS - 1])
        return Played(open_account(equity=START_EQUITY, shape=(self.count,)), close, jnp.zeros(self.count))

    @property
    def available(self) -> Available:
        """What perfect hindsight could have earned here."""
        if self._available is None:
            self._available = available(self.traded, decision_every=self.every, rules=self.rules, equity=START_EQUITY)
        return self._available

    def opening(self) -> dict[str, Json]:
        """Return the first message."""
        return self.message()

    def message(self) -> dict[str, Json]:
        """Return the message that asks for the next decisions."""
        bar = WARMUP_BARS - 1 + self.decision * self.every
        asked = self.names[self.asked : self.asked + self.chunk]
        account = jax.device_get(self.state.account)
        exposures = self.exposures()
        rows = []
        for name in asked:
            index = self.place[name]
            seen = state(
                self.episodes.observed,
                self.indicators,
                episode=index,
                bar=bar,
                symbol=self.episodes.symbol[index],
                account=self.account_view(account, index, exposures[index]),
            )
            rows.append({"episode": name, "state": seen})
        step = {"decision": self.decision + 1, "decisions": self.decisions}
        if self.chunk == 1:
            body: dict[str, Json] = {"type": "trading_decision", "state": rows[0]["state"], **step}
            text = ONE_TEXT
        else:
            body = {"type": "trading_decisions", "episodes": rows, **step}
            text = RULES_TEXT
        if self.decision == 0:
            body["answer_format"] = (
                text.replace("{leverage:g}", f"{self.rules.max_leverage:g}")
                .replace("{fee:g}", f"{self.rules.fee_bps:g}")
                .replace("{slippage:g}", f"{self.rules.slippage_bps:g}")
            )
        return body

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
        found, faults = read_decisions(text, asked)
        self.replies += 1
        if not found:
            self.unreadable.append(faults[asked[0]])
        bar = WARMUP_BARS - 1 + self.decision * self.every
        exposures = self.exposures()
        for name in asked:
            index = self.place[name]
            if name in faults:
                decision = Decision(fault=faults[name])
            else:
                close = float(self.episodes.observed.close[index, bar])
                decision = read_decision(found[name], close=close, exposure=exposures[index])
            if decision.fault:
                self.faults[decision.fault] += 1
            self.pending[name] = decision
        self.asked += self.chunk
        if self.asked < self.count:
            return self.message()
        self.advance()
        return self.message() if self.decision < self.decisions else None

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
        return scored(
            joined(measured),
            jax.device_get(last.account),
            available=self.available,
            usual=usual_move(of(np.asarray(field)[:, :WARMUP_BARS] for field in self.episodes.traded)),
            window=self.episodes.window,
            families=self.families,
            mirrored=self.episodes.mirrored,
            time=np.asarray(self.traded.time),
            info={
                **self.info,
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
        """Return the orders that lead to the best path of positions known in hindsight."""
        if self.decision >= self.decisions:
            return json.dumps({"decisions": []})
        exposures = self.exposures()
        before = self.available.sides[self.decision - 1] if self.decision else np.zeros(self.count)
        rows = []
        for name in self.names[self.asked : self.asked + self.chunk]:
            index = self.place[name]
            side = float(self.available.sides[self.decision, index])
            rows.append({"episode": name, **oracle_order(side, float(before[index]), exposures[index])})
        return json.dumps(rows[0] if self.chunk == 1 else {"decisions": rows})


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
