"""Words that make a number without a sign negative: ``fell by 5%``, ``a loss of $5``, ``5% lower``."""

from __future__ import annotations

import re

# Names of expenses and balances that are stated as positive amounts, and times of a fall: their loss is no sign.
_NAME = re.compile(
    r"\b(?:(?:allowances?|provisions?|reserves?)\s+for\s+(?:[\w'&-]+\s+){0,4}?(?:loss|losses)"
    r"|(?:impairment|credit|restructuring)\s+(?:loss|losses)|accumulated\s+deficits?"
    r"|(?:after|before|since|following)\s+(?:the|an?|this|that|its)\s+(?:[\w-]+\s+){0,2}?"
    r"(?:decrease|decline|drop|fall|loss|reduction|contraction|shortfall)(?!\s+of\b))\b",
    re.IGNORECASE,
)
WINDOW = 160
"""Characters before and after a number in which its words stand."""

_NOUN = r"(?:decrease|decline|drop|fall|loss|losses|reduction|contraction|shortfall|deficit|miss)"
_VERB = (
    r"(?:fell|fallen|falls|declined?s?|decreased?s?|dropped|drops|lost|loses|shrank|shrunk|contracted|slipped|slid"
    r"|tumbled|plunged|missed|misses|underperformed|lagged|trailed|(?<![-\w])down)"
)
_OTHER_VERB = r"(?:rose|grew|rises|increased?|gained|beat|up|but|and|then|while|whereas)\b"
_OUTCOME = (
    r"(?:led|leads|leading|left|leaves|caused|causes|drove|made|makes|brought|gave|gives|resulted|results|meant|means)"
)
_ABOUT = (
    r"(?:\s*(?:by|about|approximately|roughly|around|nearly|almost|some|exactly|just|only|an?|~|≈|estimated|total))*\s*"
)
_BEFORE = re.compile(
    rf"\b{_VERB}\s+(?:(?!{_OTHER_VERB})[\w'&/$.,%-]+\s+){{0,15}}?by\b{_ABOUT}$|{_VERB}{_ABOUT}$"
    rf"|(?<![-&/])(?<!stop )\b{_NOUN}"
    rf"(?:\s+(?:for|in|during|from|over|against|on)\b(?:(?!\b{_OUTCOME}\b)[^0-9.;:,()]){{0,80}}?)?"
    rf"\s*(?:\bof\b|\bis\b|\bwas\b|\bwere\b|[:=]|\bequals\b|\bequal\s+to\b|\bamount(?:s|ed)\s+to\b|\bc[ao]mes?\s+to\b){_ABOUT}$"
    r"|(?:下降|减少|下跌|亏损|降低|低于预期)了?约?\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"^\s*-?\s*(?:(?:net|operating|price|total|annual|overall|year-over-year|yoy)\s+){{0,2}}"
    rf"(?:lower|less|below|worse|down|{_NOUN})\b(?!\s+(?:or|payments?|ratio|bound|given\s+default)\b)",
    re.IGNORECASE,
)


def is_fall(text: str, start: int, end: int) -> bool:
    """Return whether the words around ``text[start:end]`` say that it is a decrease, a loss or a shortfall."""
    before = _NAME.sub(" ", text[max(0, start - WINDOW) : start].rstrip("("))
    return bool(_BEFORE.search(before) or _AFTER.search(_NAME.sub(" ", text[end : end + WINDOW])))
