"""Every figure of the casebook by a second route: numpy, scipy, simulation, closed forms, or the text itself."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from evaluators.casebook import statements
from evaluators.casebook.answer import Figure, Forecast
from evaluators.casebook.bank import TEMPLATES
from evaluators.casebook.family import Turn
from evaluators.contract import DIFFICULTIES
from tests.evaluators.casebook.second_routes import (
    beat_or_miss,
    copy_trading,
    financial_data_description,
    macro_analysis,
    multi_turn_perception,
    options_pricing,
    pnl_attribution,
    race_to_10m,
    risk_management,
    sec_filing_analysis,
    sentiment_analysis,
    strategy_construction,
    strategy_defense,
    trader_allocation,
    trend_analysis,
    unknown_odds,
    volatility_trading,
)
from tests.evaluators.casebook.second_routes.told import Answers

DRAWS = 25
ROUTES: dict[str, Callable[[Mapping[str, Any], str, list[str]], Answers]] = {
    "curve-move": macro_analysis.curve_move,
    "inflation-rule": macro_analysis.inflation_rule,
    "volatility-regime": macro_analysis.volatility_regime,
    "follow-or-fade": copy_trading.follow_or_fade,
    "copied-fills": copy_trading.copied_fills,
    "luck-or-skill": copy_trading.luck_or_skill,
    "trader-allocation": trader_allocation.trader_allocation,
    "growth-stake": race_to_10m.growth_stake,
    "ruin-or-goal": race_to_10m.ruin_or_goal,
    "leverage": race_to_10m.leverage,
    "unknown-odds": unknown_odds.unknown_odds,
    "costs-and-trials": strategy_defense.costs_and_trials,
    "publication-lag": strategy_defense.publication_lag,
    "benchmark-and-halves": strategy_defense.benchmark_and_halves,
    "claims-check": financial_data_description.claims_check,
    "messy-table": financial_data_description.messy_table,
    "segment-notes": financial_data_description.segment_notes,
    "evidence": multi_turn_perception.evidence,
    "restated-results": multi_turn_perception.restated_results,
    "ledger": multi_turn_perception.ledger,
    "weighted-tone": sentiment_analysis.weighted_tone,
    "tone-change": sentiment_analysis.tone_change,
    "words-against-figures": sentiment_analysis.words_against_figures,
    "estimate-panel": beat_or_miss.estimate_panel,
    "debt-note": sec_filing_analysis.debt_note,
    "forecast": trend_analysis.forecast,
    "early-exercise": options_pricing.early_exercise,
    "exit-rules": strategy_construction.exit_rules,
    "rank-and-percentile": volatility_trading.rank_and_percentile,
    "smile-day": pnl_attribution.smile_day,
    "component-risk": risk_management.component_risk,
}


def tone_of(sentence: str) -> float:
    """Return the score of a sentence by which list of the bank it is from."""
    for bank in (statements.PLAIN, statements.DENIED, statements.IRONY, statements.AGAINST):
        for score, texts in bank.items():
            for text in texts:
                pattern = re.escape(text)
                for field in ("name", "low", "high"):
                    pattern = pattern.replace(rf"\{{{field}\}}", r"\w+")
                if re.fullmatch(pattern, sentence):
                    return score
    raise AssertionError(sentence)


def compare(turn: Turn, expected: dict[str, Any]) -> None:
    if turn.shares is not None:
        assert turn.shares.gold == pytest.approx(expected[turn.shares.name], abs=1e-4)
    for item in turn.asked:
        if item.name not in expected:
            # a verdict that only says which is the largest of figures that are compared anyway
            assert item.name == "fastest"
            continue
        value = expected[item.name]
        if isinstance(item, Forecast):
            assert {"mean": item.mean, "deviation": item.deviation} == pytest.approx(value)
        elif isinstance(item, Figure):
            assert value == pytest.approx(item.gold, rel=2e-6, abs=1e-7), item.name
        elif isinstance(value, int):
            assert len(item.gold) == value
        else:
            assert set(item.gold) == ({value} if isinstance(value, str) else value), item.name


def test_every_family_has_a_second_route() -> None:
    assert set(ROUTES) == set(TEMPLATES)


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", ROUTES)
def test_every_gold_is_found_by_the_second_route(name: str, level: Any) -> None:
    template = TEMPLATES[name]
    for draw in range(DRAWS):
        wording = (*template.wordings, *template.held_back)[draw % 7]
        drawn, turns = template.case(random.Random(f"{name}/{level}/{draw}"), level, wording)
        told = ROUTES[name](drawn.inputs, level, [turn.text for turn in turns])
        assert len(told) == len(turns)
        for turn, expected in zip(turns, told, strict=True):
            compare(turn, expected)


def test_the_tone_of_every_sentence_follows_from_the_bank_and_no_sentence_has_two() -> None:
    texts = [text for bank in (statements.PLAIN, statements.DENIED, statements.IRONY, statements.AGAINST)
             for group in bank.values() for text in group]  # fmt: skip
    assert len(set(texts)) == len(texts)
    rng = random.Random(3)
    for level in DIFFICULTIES:
        for _ in range(100):
            said = statements.draw(rng, level, "Cables")
            assert tone_of(said.text) == said.score


@pytest.mark.parametrize("name", ["curve-move", "copied-fills", "ledger", "words-against-figures", "segment-notes"])
def test_what_the_figures_follow_from_stands_in_the_text(name: str) -> None:
    """The second route above starts from recorded inputs: these are the ones that the agent is told."""
    template = TEMPLATES[name]
    for draw in range(20):
        drawn, turns = template.case(random.Random(draw), "easy", template.wordings[draw % 5])
        text = " ".join(turn.text for turn in turns).replace(",", "")
        shown = {float(value) for value in re.findall(r"\d+(?:\.\d+)?", text)}
        told = {
            "curve-move": lambda i: [i["before"][2], i["after"][10], *i["bonds"][0][1:3]],
            "copied-fills": lambda i: [
                *(row[2] for row in i["fills"]),
                i["lag"],
                i["least"],
                round(100 * i["ratio"], 1),
            ],
            "ledger": lambda i: [*(x for lot in i["lots"] for x in lot), *i["sale"], i["mark"]],
            "words-against-figures": lambda i: [x for row in i["numbers"] for x in row[:2]],
            "segment-notes": lambda i: [*i["before"], *i["now"], *i["between"], i["bought"]],
        }[name](drawn.inputs)
        assert all(abs(value) in shown for value in told), (name, told)
