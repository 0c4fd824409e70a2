"""The conversation of a strategy submission: one question, one declarative strategy, many backtests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from backtest.account import HOLD, Action, open_account
from backtest.episode import Strategy
from backtest.market import Market
from backtest.rules import DEFAULT_RULES, Rules
from evaluators.answers.typed_json import Refusal, parse_json_object
from evaluators.contract import Json, Score, Session, Task, question_message
from evaluators.crypto.play import Measured, Played, measured_step
from evaluators.crypto.report import PASS_POINTS, YEAR_SECONDS, scored, tenths
from evaluators.crypto.skill import error_of_mean
from evaluators.crypto.strategy_program import program
from evaluators.crypto.strategy_rules import BadStrategy, StrategySpec, read_strategy
from evaluators.crypto.verdict import Realised
from evaluators.crypto.windows import WARMUP_BARS, Episodes, of

START_EQUITY = 10_000.0

Condition = tuple[str, float, Callable[[], Episodes]]
"""Name of a transform, its severity, and a way to make the episodes under it; the windows are the same in all."""


@partial(jax.jit, static_argnames=("strategy",))
def play_strategy(observed: Market, traded: Market, strategy: Strategy, rules: Rules) -> tuple[Played, Measured]:
    """Play a strategy from the bar after the warm-up on; fields ``[bars, episodes]`` in and out."""
    first = Market(*(field[0] for field in observed))
    lanes = traded.close.shape[1]
    account = open_account(equity=START_EQUITY, shape=(lanes,))
    unset = jnp.full(lanes, jnp.nan)
    nothing = Action(jnp.full(lanes, HOLD, jnp.int32), jnp.zeros(lanes), unset, unset)

    def look(carry: Any, bar: Market) -> tuple[Any, None]:
        return strategy.decide(carry[0], bar, account), None

    def trade(carry: Any, bars: tuple[Market, Market]) -> tuple[Any, Measured]:
        state, memory, waiting = carry
        real, seen = bars
        state, measured = measured_step(state, waiting, real, rules=rules)
        memory, waiting = strategy.decide(memory, seen, state.account)
        return (state, memory, waiting), measured

    before = Market(*(field[:WARMUP_BARS] for field in observed))
    (memory, waiting), _ = lax.scan(look, (strategy.init(first), nothing), before)
    start = Played(account, traded.close[WARMUP_BARS - 1], jnp.zeros(lanes))
    real, seen = (Market(*(field[WARMUP_BARS:] for field in channel)) for channel in (traded, observed))
    (state, _, _), measured = lax.scan(trade, (start, memory, waiting), (real, seen))
    return state, measured


class StrategySession(Session):
    """One message out, one back."""

    def __init__(
        self, task: Task, conditions: Sequence[Condition], *, families: tuple[str, ...], rules: Rules = DEFAULT_RULES
    ) -> None:
        self.task = task
        self.conditions = conditions
        self.families = families
        self.rules = rules
        self.answer = ""

    def opening(self) -> dict[str, Json]:
        """Return the question with the JSON schema of the answer."""
        return question_message(self.task)

    def reply(self, text: str) -> None:
        """Keep the answer; the conversation is over."""
        self.answer = text

    def score(self) -> Score:
        """Backtest the strategy over all windows, mirrors and conditions; no strategy scores 0."""
        document = parse_json_object(self.answer)
        try:
            if isinstance(document, Refusal):
                raise BadStrategy(document.reason)
            spec = read_strategy(document)
        except BadStrategy as error:
            samples = [{"family": family, "value": 0.0} for family in self.families]
            details = {"fault": str(error), "samples": samples, "mode": "strategy"}
            return Score(0.0, passed=False, details=details, reason=f"no strategy: {error}")
        return combined([self.under(spec, condition) for condition in self.conditions], self.families, spec)

    def under(self, spec: StrategySpec, condition: Condition) -> Score:
        """Return the score of a strategy under one condition."""
        name, severity, make = condition
        episodes = make()
        seconds = float(np.median(np.diff(episodes.traded.time[0])))
        strategy = program(spec, bars_per_year=YEAR_SECONDS / seconds)
        channels = [of(jnp.asarray(field.T) for field in channel) for channel in (episodes.observed, episodes.traded)]
        state, measured = play_strategy(channels[0], channels[1], strategy, self.rules)
        traded = of(np.asarray(field)[:, WARMUP_BARS:] for field in episodes.traded)
        shown = jax.device_get(measured)
        judged = Realised.of(episodes, families=self.families, every=1, rules=self.rules, equity=START_EQUITY)
        return scored(
            shown,
            jax.device_get(state.account),
            skill=judged.skill(shown),
            window=episodes.window,
            families=self.families,
            mirrored=episodes.mirrored,
            time=np.asarray(traded.time),
            info={"transform": name, "severity": severity},
        )

    def oracle(self) -> str:
        """Return the reference strategy that scores best here; no rule of this form reaches perfect hindsight."""
        best = max(REFERENCES, key=lambda text: self.value_of(text))
        return best

    def value_of(self, answer: str) -> float:
        """Return what an answer would score."""
        session = StrategySession(self.task, self.conditions, families=self.families, rules=self.rules)
        session.reply(answer)
        return session.score().value


def combined(scores: Sequence[Score], families: tuple[str, ...], spec: StrategySpec) -> Score:
    """Return the mean over conditions, with a robustness table beside it."""
    values = [score.value for score in scores]
    by_window = np.mean([[row["value"] for row in score.details["samples"]] for score in scores], axis=0)
    value = float(np.mean(values))
    se = error_of_mean(by_window, families)
    table = [
        {
            name: score.details[name]
            for name in ("transform", "severity", "skill", "se", "total_return", "sharpe", "max_drawdown", "trades")
        }
        for score in scores
    ]
    shown = scores[0].details
    details: dict[str, Json] = {
        **{name: shown[name] for name in shown if name not in ("samples", "points", "severity")},
        "mode": "strategy",
        "transform": "+".join(row["transform"] for row in table) if len(table) == 1 else "all",
        "skill": value,
        "se": se,
        "samples": [{"family": f, "value": float(v)} for f, v in zip(families, by_window, strict=True)],
        "robustness": robustness(table),
        "strategy_indicators": [name for name, _, _ in spec.indicators],
    }
    passed = value >= PASS_POINTS and value - 1.96 * se > 0.0
    reason = (
        f"skill {tenths(value)} ± {tenths(1.96 * se)} over {len(families)} windows and {len(scores)} market conditions"
    )
    return Score(value, passed=passed, parts={"skill": max(0.0, value)}, details=details, reason=reason)


def robustness(table: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Return the table with the share of baseline skill that is kept; None where the baseline has no skill to keep."""
    base = next((row["skill"] for row in table if row["transform"] == "baseline"), None)
    rows = []
    for row in table:
        kept = row["skill"] / base if base is not None and base > 0.0 else None
        rows.append({**row, "kept": kept})
    return rows


def _cross(fast: int, slow: int, *, follow: bool) -> str:
    up, down = ("enter_long", "enter_short") if follow else ("enter_short", "enter_long")
    return json.dumps(
        {
            "indicators": {"fast": {"type": "ema", "window": fast}, "slow": {"type": "ema", "window": slow}},
            up: [{"left": "fast", "op": "crosses_above", "right": "slow"}],
            down: [{"left": "fast", "op": "crosses_below", "right": "slow"}],
            "exit_long": [],
            "exit_short": [],
            "size": 1.0,
        }
    )


REFERENCES = (_cross(12, 26, follow=True), _cross(24, 72, follow=True), _cross(12, 26, follow=False))
"""Followers and a fader of moving-average crosses."""
