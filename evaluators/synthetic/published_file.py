"""The published bank at ``path``: which template each of its questions is."""

from __future__ import annotations

TEMPLATE_OF = {
    "688a71338f885197": "ebitda",
    "8de084a151a8d823": "npv_crossover",
    "2429455d9a12e81f": "beta_adjustment",
    "8e2d51fa94b7696e": "bond_replication",
    "849e2745ca053ea1": "free_cash_flow",
    "043f96f3fae883b3": "bull_call_spread",
    "abf58b9da74ee0ca": "levered_roe",
    "807822e7cbc5035a": "homemade_leverage",
    "1744f103485e31b2": "risk_neutral_probability",
    "c8553e25a7701988": "present_value",
    "670fc350325a7fde": "duration_match",
    "464e583708e98dd1": "combined_leverage",
    "57bc7d67ec00a38e": "levered_volatility",
    "2bdd66bf50a6788d": "perpetuity_repricing",
    "a2800992493dbade": "rate_swap",
    "4711399a7bbea676": "stock_split",
    "2b632cbd6d2ad0c7": "put_call_parity",
    "ade2384815db642d": "gordon_growth",
    "b05276e7c5bc9f2a": "covered_interest",
}
"""Digest of a published text (:attr:`evaluators.published_bank.Question.digest`) -> name of our template of it."""
