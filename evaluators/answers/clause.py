"""Which words before a number are of the clause that states it, and which of another one that denies something else."""

from __future__ import annotations

import re

_ASIDE = re.compile(
    r",?\s*\b(?:since|because|as|although|though|while|given|assuming|with|without)\b[^,\n]{1,300},\s", re.IGNORECASE
)
_NEW_SENTENCE = re.compile(
    r"(?<!\bapprox)(?<!\bca)(?<!\bi\.e)(?<!\be\.g)(?<!\bno)(?<!\bvs)[.!?。！？][\"')\]]*\s|;\s|</[^<>]{1,40}>"
    r"|,\s+(?:and\s+)?(?:so|thus|therefore|hence|then)\b|(?<!\ball)(?<!thing)\s(?:but|or,?\s+equivalently,?)\s",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[,;]\s+(?:and\s+)?|\.\s+|\s+and\s+", re.IGNORECASE)
_STATING = re.compile(
    r"(?!(?:which|that|who|not)\b)[A-Za-z](?:(?!\b(?:which|that|who)\b)[^,.;:]){1,80}?\s"
    r"(?:is|was|are|were|equals|becomes?|(?:c[ao]mes?|amount(?:s|ed))\s+to|st(?:ands|ood)\s+at)\s+"
    r"(?:(?:about|approximately|roughly|exactly|therefore|thus|then)\s+)*[-+($€£\\]*",
    re.IGNORECASE,
)
WINDOW = 1_000
"""Characters before a number in which its sentence and its clause are looked for."""

_OVER_CLAUSES = re.compile(
    r"\b(?:that|whether|if|think|thought|believe|say|claim|mean|suppose|sure|certain|true|right|case)\b", re.IGNORECASE
)
"""Words under which a negation reaches over ``and``: ``I do not think that sales rose and the return is 5``."""


def last_sentence(text: str) -> str:
    """Return the words of ``text`` from where its last sentence begins, without clauses put before or into it."""
    before, text = text[:-WINDOW], _ASIDE.sub(" ", text[-WINDOW:])
    starts = [match.end() for match in _NEW_SENTENCE.finditer(text)]
    return text[starts[-1] :] if starts else before + text


def stating_clause(text: str) -> str:
    """Return the last clause of ``text`` where that has a verb of its own for the number behind ``text``.

    ``We have no debt and the return is`` gives ``the return is``; everything else is returned as it is.
    """
    for joint in reversed(list(_JOINT.finditer(text, max(0, len(text) - WINDOW)))):
        if _STATING.fullmatch(text, joint.end()):
            return text if _OVER_CLAUSES.search(text, 0, joint.start()) else text[joint.end() :]
    return text
