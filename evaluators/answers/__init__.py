"""Read what an agent states: one number, one order, one code, or one JSON object.

Every parser takes the whole reply and returns either what was stated or a :class:`Refusal` with the reason; none of
them raises on any text. Formats are told to the agent by :mod:`evaluators.answers.wording`.
"""

from __future__ import annotations

from evaluators.answers.identifier import StatedToken, parse_accession_number, parse_date
from evaluators.answers.number import Kind, StatedNumber, parse_number, read_number
from evaluators.answers.sequence import StatedSequence, parse_sequence
from evaluators.answers.statement import Statement, stated_answers
from evaluators.answers.tolerance import Tolerance, numbers_match
from evaluators.answers.typed_json import JsonObject, Refusal, number_field, parse_json_object

__all__ = [
    "JsonObject",
    "Kind",
    "Refusal",
    "StatedNumber",
    "StatedSequence",
    "StatedToken",
    "Statement",
    "Tolerance",
    "number_field",
    "numbers_match",
    "parse_accession_number",
    "parse_date",
    "parse_json_object",
    "parse_number",
    "parse_sequence",
    "read_number",
    "stated_answers",
]
