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
from backtest.market import YEAR_SECONDS, Market
from backtest.rules import DEFAULT_RULES, Rules
from backtest.simulators import Traits
from evaluators.answers.typed_json import Refusal, parse_json_object
from evaluators.contract import Json, Score, Session, Task, question_message
from evaluators.crypto.equivalent import EquivalentIC
from evaluators.crypto.knowledge import Traded, Truth, credited
from evaluators.crypto.play import START_EQUITY, Measured, Played, measured_step
from evaluators.crypto.report import PASS_POINTS, scored, tenths
from evaluators.crypto.skill import error_of_mean
from evaluators.crypto.strategy_program import Rule, Seen, rule
from evaluators.crypto.strategy_rules import BadStrategy, StrategySpec, read_strategy
from evaluators.crypto.venue_strategy import strategy
from evaluators.crypto.verdict import Verdict, verdict
from evaluators.crypto.windows import Episodes, of

COLUMNS = ("transform", "severity", "skill", "se", "reachable", "total_return", "sharpe", "max_drawdown", "trades")
"""What the robustness table holds of each condition."""

Condition = tuple[str, float, Callable[[], Episodes]]
"""Name of a transform, its severity, and a way to make the episodes under it; the windows are the same in all."""


@partial(jax.jit, static_argnames=("strategy", "warmup"))
def play_strategy(observed: Seen, traded: Market, strategy: Rule, rules: Rules, warmup: int) -> tuple[Played, Measured]:
    """Play a strategy from the bar after the warm-up on; fields ``[bars, episodes]`` in and out."""
    lanes = traded.close.shape[1]
    account = open_account(equity=START_EQUITY, shape=(lanes,))
    unset = jnp.full(lanes, jnp.nan)
    nothing = Action(jnp.full(lanes, HOLD, jnp.int32), jnp.zeros(lanes), unset, unset)

    def look(carry: Any, bar: Seen) -> tuple[Any, None]:
        return strategy.decide(carry[0], bar, account), None

    def trade(carry: Any, bars: tuple[Market, Seen]) -> tuple[Any, Measured]:
        state, memory, waiting = carry
        real, seen = bars
        state, measured = measured_step(state, waiting, real, rules=rules)
        memory, waiting = strategy.decide(memory, seen, state.account)
        return (state, memory, waiting), measured

    def bars(series: Any, part: int | slice) -> Any:
        return jax.tree.map(lambda field: field[part], series)

    begun = strategy.init(bars(observed, 0))
    (memory, waiting), _ = lax.scan(look, (begun, nothing), bars(observed, slice(warmup)))
    start = Played(account, traded.close[warmup - 1], jnp.zeros(lanes))
    after = bars((traded, observed), slice(warmup, None))
    (state, _, _), measured = lax.scan(trade, (start, memory, waiting), after)
    return state, measured


class StrategySession(Session):
    """One message out, one back.

    Parameters
    ----------
    task
        The question.
    conditions
        Market conditions, each with a way to make its episodes.
    families
        One label a window.
    sample
        What is told of the history of a simulated venue; None on candle files.
    """

    def __init__(
        self,
        task: Task,
        conditions: Sequence[Condition],
        *,
        families: tuple[str, ...],
        sample: Mapping[str, Json] | None = None,
        rules: Rules = DEFAULT_RULES,
    ) -> None:
        self.task = task
        self.conditions = conditions
        self.families = families
        self.sample = sample
        self.rules = rules
        self.answer = ""

    def opening(self) -> dict[str, Json]:
        """Return the question with the JSON schema of the answer, on a venue with a sample of its history."""
        told = question_message(self.task)
        return told if self.sample is None else told | {"context": {"history": dict(self.sample)}}

    def reply(self, text: str) -> None:
        """Keep the answer; the conversation is over."""
        self.answer = text

    def score(self) -> Score:
        """Backtest the strategy over all windows, mirrors and conditions; no strategy scores 0."""
        document = parse_json_object(self.answer)
        try:
            if isinstance(document, Refusal):
                raise BadStrategy(document.reason)
            spec = read_strategy(document, channels=self.sample is not None)
        except BadStrategy as error:
            samples = [{"family": family, "value": 0.0} for family in self.families]
            details = {"fault": str(error), "samples": samples, "mode": "strategy"}
            return Score(0.0, passed=False, details=details, reason=f"no strategy: {error}")
        played = [self.under(spec, condition) for condition in self.conditions]
        scores, judged = [score for score, _ in played], played[0][1]
        return combined(scores, self.families, spec, equivalent=judged.equivalent)

    def under(self, spec: StrategySpec, condition: Condition) -> tuple[Score, Verdict]:
        """Return the score of a strategy under one condition, and by what it was judged."""
        name, severity, make = condition
        episodes = make()
        seconds = float(np.median(np.diff(episodes.traded.time[0])))
        traded = of(jnp.asarray(field.T) for field in episodes.traded)
        known = episodes.known
        channels = None if known is None else jax.tree.map(lambda field: jnp.asarray(field.T), known.channels)

        def play(spec: StrategySpec, market: Market) -> tuple[Played, Measured]:
            seen = Seen(of(jnp.asarray(field.T) for field in market), channels)
            chosen = rule(spec, bars_per_year=YEAR_SECONDS / seconds)
            state, measured = play_strategy(seen, traded, chosen, self.rules, episodes.warmup)
            return state, jax.device_get(measured)

        def said(market: Market, truth: Truth) -> Traded:
            assert known is not None
            measured = play(read_strategy(strategy(first(known.traits)), channels=True), market)[1]
            return Traded(np.sign(measured.exposure), *credited(measured, truth))

        state, shown = play(spec, episodes.observed)
        judged = verdict(episodes, families=self.families, every=1, rules=self.rules, equity=START_EQUITY, said=said)
        skill = judged.skill(shown)
        score = scored(
            shown,
            jax.device_get(state.account),
            skill=skill,
            window=episodes.window,
            families=self.families,
            mirrored=episodes.mirrored,
            time=np.asarray(episodes.traded.time)[:, episodes.warmup :],
            info={"transform": name, "severity": severity, **judged.details(skill)},
        )
        return score, judged

    def oracle(self) -> str:
        """Return the strategy that says what the venue was drawn with.

        On candle files, where nobody knows what could be known, the reference strategy that scores best: no rule of
        this form reaches perfect hindsight.
        """
        known = self.conditions[0][2]().known
        if known is None:
            return max(REFERENCES, key=lambda text: self.value_of(text))
        return json.dumps(strategy(first(known.traits)))

    def value_of(self, answer: str) -> float:
        """Return what an answer would score."""
        session = StrategySession(
            self.task, self.conditions, families=self.families, sample=self.sample, rules=self.rules
        )
        session.reply(answer)
        return session.score().value


def first(traits: Traits) -> Traits:
    """Return what the first window was drawn with: a venue's strategy is the same for all."""
    return Traits(*(field[0] for field in traits))


def combined(
    scores: Sequence[Score],
    families: tuple[str, ...],
    spec: StrategySpec,
    *,
    equivalent: Callable[[float, float], EquivalentIC | None],
) -> Score:
    """Return the mean over conditions, with a robustness table beside it.

    ``equivalent`` tells the information coefficient of who would score as much under the first condition.
    """
    values = [score.value for score in scores]
    by_window = np.mean([[row["value"] for row in score.details["samples"]] for score in scores], axis=0)
    value = float(np.mean(values))
    se = error_of_mean(by_window, families)
    table = [{name: score.details[name] for name in COLUMNS if name in score.details} for score in scores]
    shown, same = scores[0].details, equivalent(value, se)
    details: dict[str, Json] = {
        **{name: shown[name] for name in shown if name not in ("samples", "points", "severity")},
        "mode": "strategy",
        "transform": "+".join(row["transform"] for row in table) if len(table) == 1 else "all",
        "skill": value,
        "se": se,
        "samples": [{"family": f, "value": float(v)} for f, v in zip(families, by_window, strict=True)],
        "equivalent_ic": None if same is None else same._asdict(),
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
