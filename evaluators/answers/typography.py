"""Make typographic characters, Markdown, LaTeX, tags and placeholder brackets plain."""

from __future__ import annotations

import re

_CHARACTERS: dict[int, int | str | None] = {0x3000: " ", 0x3002: ".", 0x2019: "'", 0x2018: "'"}
_CHARACTERS |= {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CHARACTERS |= dict.fromkeys((0x2212, 0x2010, 0x2011, 0x2012, 0x2013, 0xFE58, 0xFE63, 0x207B, 0x2796), "-")
_CHARACTERS |= dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD), None)
_SPACES: dict[int, int | str | None] = dict.fromkeys((0x00A0, 0x2007, 0x2009, 0x202F), " ")

_PYTHON_POWER = re.compile(r"(?<=[0-9)])(?:\*\*| \*\* )(?=[-+(]?\.?[0-9])")
_GROUPS = re.compile(r"(?<=[0-9])(?:[\u00a0\u2007\u2009\u202f'_]|\\[,;: ])(?=[0-9]{3}(?![0-9]))")
_SPACED_MONEY = re.compile(
    r"(?:(?<=[$€£])|(?<=USD ))[0-9]{1,3}(?: [0-9]{3})+(?![0-9])"
    r"|(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})+(?= (?:USD|dollars))"
)
_POINT_GROUPS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:\.[0-9]{3}){2,}(?:,[0-9]{1,2})?(?![0-9.,][0-9]|[0-9])")
_LONG_DASH = re.compile(r"[\u2014\u2015]")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_POWER = re.compile(r"(?<=10)-?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FOOTNOTE = re.compile(r"(?<=[^\W0-9])[¹²³⁴-⁹]+(?!\w)|(?<=[%)\]\s])[¹²³⁴-⁹]+(?![\w])")
_SCIENTIFIC = re.compile(
    r"(?<=[0-9])\s{0,4}(?:x|×|\*|·|⋅)\s{0,4}10\s{0,4}(?:\^|\*\*)\s{0,4}[{(]?\s{0,4}([-+]?[0-9]{1,3})\s{0,4}[})]?",
    re.IGNORECASE,
)
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (
        re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it)|operatorname|boldsymbol|bm)\s{0,4}\{([^{}]{0,500})\}"),
        r"\1",
    ),
    (re.compile(r"\\([$%&#])"), r"\1"),
    (re.compile(r"\\(?:left|right|big|Big)(?=[()\[\]|.])"), ""),
    (re.compile(r"\\approx(?![a-z])"), "≈"),
    (re.compile(r"\\(?:times|cdot)(?![a-z])"), "×"),
    (re.compile(r"\\div(?![a-z])"), "÷"),
    (re.compile(r"\\pm(?![a-z])"), "±"),
    (re.compile(r"\\(?:long)?(?:rightarrow|Rightarrow|implies|to)(?![a-z])"), "→"),
    (re.compile(r"\\q?quad(?![a-z])"), " "),
    (re.compile(r"\\[,;:! ]|~(?=\\)"), " "),
    (re.compile(r"\\[()\[\]]"), " "),
    (re.compile(r"\*\*|__|`|(?<![\w*])(?<![0-9]\s)[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?![\w*])"), ""),
)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z ,_-]{0,60}/?>")
_BRACKETED = re.compile(
    r"(?:(?<=[:=\"'])|(?<=[:=]\s)|\A\s{0,4})<\s{0,4}([^<>\n]{0,300}[0-9][^<>\n]{0,300})>(?=[\s.,;%\"']|\Z)"
)
_ONE_ORDER = re.compile(
    r"(?:(?<=[:=\"'])|(?<=[:=]\s)|\A\s{0,4})<\s{0,4}([0-9]{1,3}(?:[\s,;>→-]{1,6}[0-9]{1,3})+)\s{0,4}>"
)


def characters(text: str) -> str:
    """Return ``text`` with every kind of minus sign, space and full-width character as its ASCII one."""
    return _PYTHON_POWER.sub("^", text.translate(_CHARACTERS))


def _dash(match: re.Match[str]) -> str:
    """Return what a long dash is: a sign before a number, a separator between numbers, else punctuation."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isdigit() and after.isdigit():
        return "-"
    if (not before or before in " \t:=(<\"'") and re.match(r"[0-9.$€£¥]", after):
        return "-"
    return " - "


def plain(text: str) -> str:
    """Return one statement without typography: ASCII signs, no Markdown, no LaTeX, no tags, no placeholder brackets."""
    text = _POWER.sub(lambda match: "^" + match.group().translate(_SUPERSCRIPTS), characters(text))
    text = _LONG_DASH.sub(_dash, _FOOTNOTE.sub("", text))
    text = _GROUPS.sub(",", text).translate(_SPACES)
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    text = _SCIENTIFIC.sub(r"e\1", _TAG.sub(" ", text))
    text = _POINT_GROUPS.sub(_commas, _SPACED_MONEY.sub(lambda match: match.group().replace(" ", ","), text))
    text = _BRACKETED.sub(r" \1 ", _ONE_ORDER.sub(r" \1 ", text))
    stripped = text.strip()
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "$":
        return stripped.strip("$").strip()
    return text


def _commas(match: re.Match[str]) -> str:
    return match.group().translate(str.maketrans(",.", ".,"))
