"""From a reply and a rubric to findings: code first, the judge for the rest, probes against a judge that is misled."""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Literal

from evaluators.contract import Json, JudgeUnavailable
from evaluators.judge import figures, gates, probes
from evaluators.judge.endpoint import Ask, connected
from evaluators.judge.prompt import SYSTEM, question_text
from evaluators.judge.purse import PurseEmpty
from evaluators.judge.rubric import Criterion
from evaluators.judge.settings import JudgeSettings
from evaluators.judge.text import words
from evaluators.judge.verdict import Unreadable, Verdict, evidence_fault, parse_verdict

PAUSE_S = 0.5
"""Before a judge that did not answer is called again; doubled each time."""


@dataclass(frozen=True)
class Finding:
    """What was found about one criterion.

    Attributes
    ----------
    by
        Who said so: a rule of ours, or the judge (its evidence checked by code).
    why
        The rule, or what was wrong with the evidence.
    key
        sha256 over reply, criterion and judge; a stored finding with the same key is used again. Empty for rules.
    """

    criterion: str
    met: bool
    by: Literal["code", "judge"]
    evidence: str = ""
    why: str = ""
    key: str = ""


@dataclass(frozen=True)
class Judged:
    """All findings of a reply, in the rubric's order.

    Attributes
    ----------
    misled
        Whether this reply makes the judge assert what code knows to be false: then nothing it said counts.
    removed
        Lines that spoke to the judge and were cut out before.
    calls, probes
        Criteria that the judge was asked about, and calls for probes; those of an earlier judging included.
    temperature_refused
        Whether the judge's endpoint refused the temperature of the settings and was asked without one.
    cost_usd
        What those calls cost; None where nobody knows.
    """

    findings: tuple[Finding, ...]
    misled: bool
    removed: tuple[str, ...]
    calls: int
    probes: int
    temperature_refused: bool = False
    cost_usd: float | None = 0.0

    def met(self) -> dict[str, bool]:
        """Return the verdict of each criterion; a reply that misled the judge meets none by its word."""
        return {f.criterion: f.met and not (self.misled and f.by == "judge") for f in self.findings}


class Stored:
    """Findings of an earlier judging, by their keys."""

    def __init__(self, details: Mapping[str, Json] | None = None) -> None:
        earlier = details or {}
        self._rows = {row["key"]: row for row in earlier.get("findings", []) if row.get("key")}
        self.misled = bool(earlier.get("misled", False))
        self.temperature_refused = bool(earlier.get("temperature_refused", False))
        self.cost_usd: float | None = earlier.get("judge_cost_usd", 0.0)
        self.calls, self.probes = int(earlier.get("judge_calls", 0)), int(earlier.get("probe_calls", 0))

    def find(self, key: str) -> Finding | None:
        """Return the finding with this key, None when it was never made."""
        row = self._rows.get(key)
        return None if row is None else Finding(**row)


def judge_reply(
    reply: str,
    *,
    task: str,
    criteria: Sequence[Criterion],
    settings: JudgeSettings | None,
    stored: Stored,
) -> Judged:
    """Return the findings of ``reply`` on every criterion.

    Raises
    ------
    JudgeUnavailable
        A criterion needs a judge and there is none, it does not answer, or it gives no readable verdict.
    """
    text, removed = gates.without_orders(reply)
    spoken = words(text)
    ruled = {c.name: f for c in criteria if (f := _by_code(c, criteria, text, spoken, task)) is not None}
    keys = {c.name: _key(c, text, task, settings) for c in criteria if c.name not in ruled}
    known = {name: found for name, key in keys.items() if (found := stored.find(key)) is not None}
    asked = [c for c in criteria if c.name in keys and c.name not in known]
    misled, fresh = stored.misled and bool(known), dict[str, Finding]()
    calls, probed = (stored.calls, stored.probes) if known else (0, 0)
    refused = stored.temperature_refused and bool(known)
    cost = stored.cost_usd if known else 0.0
    if asked:
        with connected(settings) as ask, ThreadPoolExecutor(settings.concurrency if settings else 1) as pool:
            asking = _Asking(ask, settings, text, task)
            made = list(pool.map(lambda c: asking.finding(c, keys[c.name]), asked))
            fresh = {finding.criterion: finding for finding in made}
            outcome = asking.check(len(asked), faults=any(c.weight < 0 for c in asked))
            refused = refused or ask.temperature_refused
            cost = None if cost is None or math.isnan(ask.cost_usd) else cost + ask.cost_usd
            misled, calls, probed = misled or outcome.misled, calls + len(asked), probed + outcome.calls
    everything = ruled | known | fresh
    return Judged(tuple(everything[c.name] for c in criteria), misled, tuple(removed), calls, probed, refused, cost)


def _by_code(
    criterion: Criterion, criteria: Sequence[Criterion], text: str, spoken: list[str], task: str
) -> Finding | None:
    """Return what code alone finds, None when the judge has to be asked."""
    if criterion.figures == "decisive":
        only = sum(other.figures == "decisive" for other in criteria) == 1
        answer = figures.decide(criterion.text, reply=text, task=task, only=only)
        if answer != "ask":
            return Finding(criterion.name, answer == "met", "code", why=f"its figures: {answer}")
    elif criterion.weight > 0 and gates.is_copied(criterion, spoken):
        return Finding(criterion.name, False, "code", why="the reply copies the wording of the criterion")
    if criterion.figures == "required" and criterion.weight > 0:
        missing = figures.lacks_required(criterion.text, reply=text, task=task)
        if missing:
            return Finding(criterion.name, False, "code", why=f"the figure {missing} is not in the reply")
    return None


def _key(criterion: Criterion, reply: str, task: str, settings: JudgeSettings | None) -> str:
    identity = settings.identity() if settings else None
    return hashlib.sha256(json.dumps([reply, task, criterion.text, identity]).encode()).hexdigest()


@dataclass(frozen=True)
class _Check:
    misled: bool
    calls: int


class _Asking:
    """One judge and one reply."""

    def __init__(self, ask: Ask, settings: JudgeSettings | None, reply: str, task: str) -> None:
        self._ask, self._attempts = ask, settings.attempts if settings else 1
        self._reply, self._task = reply, task
        self._failures: list[str] = []

    def finding(self, criterion: Criterion, key: str) -> Finding:
        """Return the judge's finding; evidence that does not hold after all attempts means not met."""
        verdict, fault = self._verdict(criterion.text, reply=self._reply, task=self._task)
        return Finding(criterion.name, verdict.met and not fault, "judge", verdict.evidence[:500], fault, key)

    def _verdict(self, criterion: str, *, reply: str, task: str) -> tuple[Verdict, str]:
        """Ask until a verdict can be read and its evidence holds; return the last readable one and its fault.

        When one criterion stays without a verdict the others are given up as well: the task is unscored anyway.
        """
        last: tuple[Verdict, str] | None = None
        trouble = ""
        for attempt in range(self._attempts):
            if self._failures:
                raise JudgeUnavailable(self._failures[0])
            try:
                verdict = parse_verdict(self._ask(SYSTEM, question_text(task=task, criterion=criterion, reply=reply)))
            except Unreadable as error:
                trouble = str(error)
                continue
            except PurseEmpty as error:
                self._failures.append(str(error))
                raise
            except JudgeUnavailable as error:
                trouble = str(error)
                if attempt + 1 < self._attempts:
                    time.sleep(PAUSE_S * 2**attempt)
                continue
            fault = evidence_fault(verdict.evidence, reply=reply, task=task) if verdict.met else ""
            if not fault:
                return verdict, ""
            last = verdict, fault
        if last is None:
            self._failures.append(f"no readable verdict in {self._attempts} attempts: {trouble}")
            raise JudgeUnavailable(self._failures[0])
        return last

    def check(self, criteria: int, *, faults: bool) -> _Check:
        """Ask the probes; a wrong answer that comes twice is the reply's doing, or the judge's when it errs everywhere.

        Raises
        ------
        JudgeUnavailable
            The judge errs on a harmless reply as well.
        """
        rng = random.Random(hashlib.sha256(json.dumps([self._reply, self._task]).encode()).hexdigest())
        calls = 0
        for probe in probes.choose(self._reply, criteria=criteria, faults=faults, rng=rng):
            make = probes.true_probe if probe.truth else probes.false_probe
            calls += 1
            if self._right(probe, self._reply, self._task):
                continue
            calls += 1
            if self._right(make(self._reply, rng), self._reply, self._task):
                continue
            calls += 1
            if not self._right(make(probes.NEUTRAL_REPLY, rng), probes.NEUTRAL_REPLY, probes.NEUTRAL_TASK):
                raise JudgeUnavailable(
                    f"the judge cannot be trusted: it answers a probe that is {str(probe.truth).lower()} wrongly, on "
                    "this reply and on a harmless one"
                )
            return _Check(True, calls)
        return _Check(False, calls)

    def _right(self, probe: probes.Probe, reply: str, task: str) -> bool:
        """Return whether the judge's own word (evidence apart) agrees with the known truth."""
        verdict, _ = self._verdict(probe.criterion, reply=reply, task=task)
        return verdict.met == probe.truth


def as_details(judged: Judged, settings: JudgeSettings | None) -> dict[str, Json]:
    """Return the stored form: what the report shows, and what a later scoring uses again."""
    return {
        "findings": [asdict(finding) for finding in judged.findings],
        "misled": judged.misled,
        "removed": list(judged.removed),
        "judge": settings.identity() if settings else None,
        "temperature_refused": judged.temperature_refused,
        "judge_calls": judged.calls,
        "probe_calls": judged.probes,
        "judge_cost_usd": judged.cost_usd,
    }
