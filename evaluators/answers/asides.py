"""What may stand beside an answer without being one: dates, periods, sample sizes, rounding remarks, workings."""

from __future__ import annotations

import re

from evaluators.answers.dates import DAY_OF_MONTH, PERIODS, YEAR, written_dates
from evaluators.answers.quantity import DIGITS, QUANTITY, SHUT

_AMOUNT = (
    rf"[-+(]?[$€£]?{DIGITS}"
    r"(?:\s?(?:%|percent(?:age\s+points)?|pp|bps?|(?:million|billion|thousand)s?|[MBK])(?![A-Za-z]))?"
)
_SMALL = r"(?:[0-9]{1,2}|one|two|three|four|five|six)"
_ALWAYS = re.compile(
    r"\A\s*[0-9]{1,2}[.)]\s+(?=[A-Za-z])|\b(?:10|8|20|6)-[KQF](?:/A)?\b"
    r"|\b(?:form|rule|asc|ifrs|ias|item|note|table|step|section|exhibit|page|appendix)\s*[0-9]{1,3}[A-Z]?(?![0-9.,]*[0-9]|\s*[%$x])"
    r"|\b[0-9]{1,2}(?:st|nd|rd|th)\b"
    r"|\b[0-9][0-9,]{0,8}\s+(?:(?:daily|weekly|monthly|log|simple|closing|trading)\s+){0,3}"
    r"(?:observations|returns|data\s+points|closes|prices|sessions|samples|trading\s+days)(?:\s+(?:a|per)\s+year)?\b"
    r"|(?:√|\\?sqrt)\s*[({]?\s*[0-9]+\s*[)}]?"
    rf"|\b(?:rounded|correct|accurate)?\s*to\s+{_SMALL}\s+(?:decimals?|significant|digits?|d\.?p|s\.?f|places)[a-z .]*"
    rf"|\bto\s+the\s+nearest\s+[$€£]?(?:{DIGITS})?%?(?:\s*(?:cent|dollar|thousand|million|billion|percent|whole|hundredth|tenth)s?)*"
    rf"|\b{_SMALL}\s+(?:decimals?|significant|d\.p\.|s\.f\.)[a-z .]*"
    r"|\b[0-9.]+\s*%\s+(?:confident|sure|certain|confidence)\b(?!\s+interval)|\bconfidence(?:\s+level)?\s*(?:of|[:=])\s*[0-9.]+\s*%?"
    r"|(?<=\S)\s?\[\^?[0-9]{1,2}\]"
    r"|\bsplit(?:[\s-]+adjusted)?[^.;()0-9]{0,20}[0-9]+\s*(?::|-?\s?for\s?-?)\s*[0-9]+"
    r"|\b[0-9]+\s*(?::|-?\s?for\s?-?)\s*[0-9]+(?=[\s-]+(?:stock\s+|share\s+)?split)"
    r"|\b[0-9.]+\s*%\s+(?:(?:[0-9]+|one|ten)-day\s+)?(?:VaR|value[\s-]at[\s-]risk|expected\s+shortfall)\b|\b(?:one|ten)-day\b"
    r"|\b(?:strike|strike\s+price)\s+(?:of|at|[:=])\s+[$€£]?[0-9][0-9,.]*(?<![.,])(?!\s*%)"
    r"|\b36[05][\s-]day\s+year\b|(?:S&P|Russell|Nasdaq|FTSE|CSI|沪深)[\s-]?[0-9]+"
    r"|\b[0-9]{1,2}[\s-](?:year|month|quarter|week|day)(?=[\s-]+[a-z])"
    r"|\b(?:year|quarter|month|week|day)(?:\s+|-)(?:over|on|to)(?:\s+|-)(?:year|quarter|month|week|day|date)\b"
    r"|\b(?:over|across|during|for|within|in|the|next|last|past)\s+[0-9]{1,3}\s+(?:(?:fiscal|calendar|business)\s+)?"
    r"(?:years|months|quarters|weeks)\b"
    r"|\b(?:profit|gain|income|increase|earnings)s?\s*(?:or|and|&|/)\s*(?:loss(?:es)?|decrease)\b(?!\s+of)"
    r"|\(?\bor\s+\(?used\s+(?:in|for)\)?|\bor\s+(?:so|thereabouts)\b",
    re.IGNORECASE,
)
_SAMPLE_SIZE = re.compile(
    rf"\b(?:n|T|df|obs)\s*=\s*{DIGITS}(?:\s+(?:daily|weekly|monthly|log|simple))*(?:\s+(?:returns|observations|prices|days))?",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"(?:σ\w*|μ|\bsigma\w*|\bs\.?d\.?|\bstd(?:ev)?|\bmean)\s*=\s*[0-9.]+\s*%?", re.IGNORECASE)
_BARE_YEAR = (
    rf"(?<![$€£\w.,-]){YEAR}(?:\s*(?:-|/|to|through|and|until)\s*(?:{YEAR}|[0-9]{{2}}(?![0-9])))?(?![.,]?[0-9]|\s*%)"
)
_YEAR_OF_SOMETHING = re.compile(
    rf"\b(?:in|for|since|from|during|through|until|end(?:\s+of)?|start\s+of|close\s+of|year|as\s+of)\s+{_BARE_YEAR}",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:over|across|during|for|within|through)\s+(?:the\s+|its\s+|these\s+)?[0-9]{1,4}[\s-](?:calendar\s+)?days?\b",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"[0-9%)A-Za-z]\s?(?:[/÷×*^+]|-(?=\s)|\b(?:x|minus|plus|divided\s+by|times|over|less|multiplied\s+by)\b)\s*[($-]*\s?[0-9]"
)
_IN_PARENTHESES = re.compile(r"\(([^()]*)\)")
_CALCULATION = re.compile(r"\([^()]*[×*/÷][^()]*\)")
_CHANGE = re.compile(rf"{_AMOUNT}\s*(?:→|->|=>|⇒|\bto\b)\s*{_AMOUNT}", re.IGNORECASE)
_COMPARISON = re.compile(
    rf"\b(?:up|down)\s+from\s+{_AMOUNT}|\b(?:compared|relative)\s+(?:with|to)\s+(?:[a-z']+\s+){{0,6}}{_AMOUNT}"
    rf"|\bfrom\s+{_AMOUNT}\s+to\s+{_AMOUNT}",
    re.IGNORECASE,
)
_RISEN_FROM = re.compile(rf"(\bto\s+{_AMOUNT}),?(\s+from\s+{_AMOUNT})", re.IGNORECASE)

_A_NUMBER = re.compile(rf"(?:(?<![A-Za-z0-9_.,])|(?<=USD|EUR|GBP|CNY)){DIGITS}")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def is_formula(text: str) -> bool:
    """Return whether two numbers stand on both sides of an arithmetic operator."""
    return _FORMULA.search(text) is not None


def _working(match: re.Match[str]) -> str:
    """Return blanks for a calculation in parentheses; its result, where it states one, stays."""
    inside = match.group()
    if _CHANGE.search(inside):
        return " " * len(inside)
    if not is_formula(inside):
        return inside
    kept = re.split(r"[=≈]", inside)[-1].strip() if re.search(r"[=≈]\s*[^\s)]", inside) else ""
    kept = "" if is_formula(kept) else kept
    if not kept:
        return " " * len(inside)
    # the parentheses are those of the calculation, not of a negative number
    result = kept.removesuffix(")")
    alone = not re.search(r"[0-9]", match.string[: match.start()] + match.string[match.end() :])
    return (result if alone else f"{SHUT[0]}{result}{SHUT[1]}").rjust(len(inside))


def without_asides(text: str, *, days_asked: bool) -> str:
    """Return ``text`` of the same length with blanks for what is no answer, as far as a number remains."""
    letters = list(text)
    for start, end, _ in written_dates(text):
        letters[start:end] = " " * (end - start)
    text = "".join(letters)
    for rule in (PERIODS, DAY_OF_MONTH, _ALWAYS):
        text = rule.sub(_blank, text)
    rules = [_YEAR_OF_SOMETHING, *([] if days_asked else [_SPAN])]
    for rule in rules:
        text = _if_a_number_remains(text, rule.sub(_blank, text))
    text = _within_parentheses(_SAMPLE_SIZE, text)
    text = _if_a_number_remains(text, _within_parentheses(_MOMENT, text))
    # "σ = 11.8%" alone is the answer; beside another number that is no year it is a step towards it.
    for rule in (_SAMPLE_SIZE, _MOMENT):
        without = rule.sub(_blank, text)
        text = without if _A_NUMBER.search(_CALCULATION.sub(_blank, re.sub(_BARE_YEAR, _blank, without))) else text
    text = _if_a_number_remains(text, _IN_PARENTHESES.sub(_working, text))
    text = _if_a_number_remains(text, _COMPARISON.sub(_blank, text))
    text = _RISEN_FROM.sub(lambda match: match[1].ljust(len(match.group())), text)
    without_years = re.sub(_BARE_YEAR, lambda match: match.group() if _leads(match) else _blank(match), text)
    decorated = any(
        match["money"] or match["unit"] or match["scale"] or "." in match["digits"]
        for match in QUANTITY.finditer(without_years)
    )
    return without_years if decorated else text


def _within_parentheses(rule: re.Pattern[str], text: str) -> str:
    return _IN_PARENTHESES.sub(lambda match: rule.sub(_blank, match.group()), text)


def _leads(match: re.Match[str]) -> bool:
    """Return whether a year stands alone at the start, where an answer would."""
    return not match.string[: match.start()].strip() and not re.match(r"\s*:|\s+[A-Za-z]", match.string[match.end() :])


def _if_a_number_remains(before: str, after: str) -> str:
    return after if _A_NUMBER.search(after) else before
