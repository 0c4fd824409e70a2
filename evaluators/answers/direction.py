"""Words that make a number without a sign negative: ``fell by 5%``, ``a loss of $5``, ``5% lower``, ``$5 (loss)``."""

from __future__ import annotations

import re

_NOUN = (
    r"(?:decrease|decline|drop|fall|loss|losses|reduction|contraction|shortfall|deficit|miss|slump|dip|plunge"
    r"|downturn)"
)
_RISE = r"(?:income|profit|gain|earnings|increase|surplus)"
# Names of expenses and balances that are stated as positive amounts, of sums of either sign, of counts and chances of
# a fall, and times of one: their loss is no sign.
_NAME = re.compile(
    r"\b(?:allowances?|provisions?|reserves?)\s+for\s+(?:[\w'&-]+\s+){0,4}?(?:loss|losses)\b"
    r"|\b(?:impairment|credit|restructuring)\s+(?:loss|losses)\b|\baccumulated\s+deficits?\b"
    rf"|\b{_RISE}s?\s*/?\s*\({_NOUN}\)|\({_NOUN}\)\s*/?\s*{_RISE}\b"
    r"|\b(?:numbers?|count|probability|chance|likelihood|odds|risk|share|fraction|proportion|frequency|correlation)"
    rf"\s+(?:of|with|that)\s+(?:(?!\b(?:and|but|is|was)\b)[^.:;,()0-9]){{0,60}}?\b(?:{_NOUN}|negative\s+[\w-]+)\b(?!\s+of\b)"
    rf"|\b(?:gain|profit|win)s?\s+(?:to|over|divided\s+by)\s+(?:[\w-]+\s+)?{_NOUN}\b(?!\s+of\b)"
    rf"|\b(?:after|before|since|following)\s+(?:the|an?|this|that|its)\s+(?:[\w-]+\s+){{0,2}}?{_NOUN}\b(?!\s+of\b)",
    re.IGNORECASE,
)
_ALONE = re.compile(
    rf"\(\s*(?:an?\s+)?((?:[a-z-]+\s+){{0,2}}(?:{_NOUN}|negative))\s*\)"
    r"|,\s*(?:an?\s+)?((?:net\s+)?(?:loss|negative))\s*(?=[.;]|\Z)",
    re.IGNORECASE,
)
WINDOW = 160
"""Characters before and after a number in which its words stand."""

_VERB = (
    r"(?:fell|fallen|falls|lost|loses|sank|sunk|sinks|shrank|shrunk|contracted|slid|shed|(?<![-\w])down|lagged|trailed"
    r"|declined?s?|decreased?s?|dropped|drops|dipped|dips|slipped|slips|missed|misses|underperformed"
    r"|(?:tumbl|plung|collaps|reced|erod|eas|reduc)e[sd]|(?:plummet|slump|retreat|crash|weaken|depreciat|deteriorat"
    r"|diminish)(?:ed|s|es)|(?:is|was|were)\s+(?:off|cut))"
)
_FALLING = (
    r"(?:(?:fall|los|sink|shrink|contract|slid|shedd|declin|decreas|dropp|dipp|slipp|tumbl|plung|collaps|reced|erod|eas"
    r"|reduc|plummet|slump|retreat|crash|weaken|depreciat|deteriorat|diminish|underperform|lagg|trail|miss)ing"
    r"|lose|sink|shrink|plummet|(?:lower|smaller|weaker|worse|fewer|short|less)\s+by)"
)
"""Forms that may also belong to a noun (``falling costs``): they speak of a number only right before it."""
_OTHER_VERB = (
    r"(?:rose|grew|rises|increased?|gained|beat|up|but|and|then|while|whereas|lifted|raised|boosted|improved|expanded"
    r"|widened|climbed|jumped|soared|surged|advanced|recovered|exceeded|outperformed)\b"
)
_OUTCOME = (
    r"(?:led|leads|leading|left|leaves|caused|causes|drove|made|makes|brought|gave|gives|resulted|results|meant|means"
    rf"|an?\s+(?:[\w-]+\s+)?{_RISE}|(?<!due )(?<!attributable )to\s+an?|ratio|rate)"
)
_ABOUT = (
    r"(?:\s*(?:by|about|approximately|roughly|around|nearly|almost|some|exactly|just|only|an?|~|≈|estimated|total"
    r"|therefore|thus|then|hence|simply)\b)*\s*"
)
_BEFORE = re.compile(
    rf"\b{_VERB}\s+(?:(?!{_OTHER_VERB})[\w'&/$.,%-]+\s+){{0,15}}?by\b{_ABOUT}$|(?:{_VERB}|\b{_FALLING})(?:\s*:|\s*,\s*(?:i\.e\.|that\s+is|namely),?)?{_ABOUT}$"
    rf"|(?<![-&/])(?<!stop )\b(?:{_NOUN}|negative(?:(?:\s+[a-z-]+){{0,2}}?\s+(?:earnings|[a-z-]*[a-rt-z]))?)"
    r"(?:\s+(?:for|in|during|from|over|against|on|per|before|after|due|attributable|to)\b"
    rf"(?:(?!\b{_OUTCOME}\b)(?:[^.:;,()]|[.,](?=[0-9]))){{0,80}}?)?"
    rf"\s*(?:\bof\b|(?:\bst(?:ands|ood)\s+)?\bat\b|\bis\b|\bwas\b|\bwere\b|[:=|]|\bequals\b|\bequal\s+to\b|\bamount(?:s|ed)\s+to\b|\bc[ao]mes?\s+to\b){_ABOUT}$"
    rf"|(?<![-&/])(?<!stop )\b{_NOUN}{_ABOUT}$"
    r"|(?:下降|减少|下跌|亏损|降低|低于预期)了?约?\s*$",
    re.IGNORECASE,
)
_BETWEEN = (
    r"(?:the|an?|and|or|but|nor|of|in|at|to|for|from|after|before|despite|versus|vs|with|without|on|by|than|is|was|were"
    r"|are|that|which|who|not|no|as|when|if|since|because|while|following|offset)"
)
_AFTER = re.compile(
    rf"^\s*-?\s*(?:(?:is|was)\s+(?:the|its|our|their)\s+)?(?:(?!{_BETWEEN}\b)[a-z][\w'-]*\s+){{0,3}}?"
    rf"(?:lower|less|below|worse|down|negative|{_NOUN})\b"
    r"(?!\s+(?:or|payments?|rates?|ratio|bound|given\s+default|carry-?\s?forwards?|reserves?|provisions?)\b)",
    re.IGNORECASE,
)


def is_fall(text: str, start: int, end: int) -> bool:
    """Return whether the words around ``text[start:end]`` say that it is a decrease, a loss or a shortfall."""
    before, after = (
        _ALONE.sub(r" \1\2 ", _NAME.sub(" ", part))
        for part in (text[max(0, start - WINDOW) : start].rstrip("("), text[end : end + WINDOW])
    )
    return bool(_BEFORE.search(before) or _AFTER.search(after))
