"""The published bank at ``path``: which template each of its questions is. The others ask for opinions."""

from __future__ import annotations

FAMILY_OF = {
    "d546c105b58c57b7": "fair_value",
    "4f6ccfba8292eeac": "quoted_option",
    "e67d24bfaa1619ad": "single_option",
    "8dc6a98b9d0829dc": "net_delta",
    "cbd7ca7573b03179": "iron_condor",
    "23a89e56a333edc9": "profit_attribution",
    "20d3198f370e1001": "spread_sizing",
    "156ee187e1c67d74": "value_at_risk_limit",
    "d80a4caedf94ddc2": "debit_spread",
}
"""Digest of a published text (:attr:`evaluators.published_bank.Question.digest`) -> family of our template of it."""
