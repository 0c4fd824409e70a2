"""The conversation about a decision that is taken again and again, while what it depends on shows by and by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from evaluators.answers import Refusal
from evaluators.casebook.session import Conversation
from evaluators.casebook.shares import Choice, Law, Shares
from evaluators.contract import Score

NOTHING_BELOW = 0.4
"""Share of the best total up to which nothing is earned: what a lucky guess reaches is no knowledge."""
PASS_MARK = 50.0
"""The best learner knows less than the oracle, who is told the law."""
SCORING = (
    "The task is worth 100 for the highest total that can be reached by knowing from the beginning all that is not "
    f"told, 0 for {100 * NOTHING_BELOW:g}% of that total or less, and in between it rises in a straight line."
)


@dataclass
class Repeated(Conversation):
    """A session scored by the expectation of what was chosen, under the true law: no outcome counts, so no luck."""

    law: Law = field(kw_only=True)

    def score(self) -> Score:
        """Return where the expected total lies between what a lucky guess reaches and the best one."""
        choices, notes = [], []
        for number, shares in enumerate(self._asked()):
            read = shares.read(self.answers[number] if number < len(self.answers) else "")
            notes.append(read.reason if isinstance(read, Refusal) else "")
            choices.append((0.0,) * len(shares.among) if isinstance(read, Refusal) else read)
        gains, best = self.law.gains(choices), self.law.gains([shares.gold for shares in self._asked()])
        reached = math.fsum(gains) / math.fsum(best)
        value = 100.0 * min(1.0, max(0.0, (reached - NOTHING_BELOW) / (1.0 - NOTHING_BELOW)))
        refused = [number for number, note in enumerate(notes, start=1) if note]
        rounds = [
            {"given": _named(shares, choice), "best": _named(shares, shares.gold), "gain": gain, "best_gain": most}
            | ({"note": note} if note else {})
            for shares, choice, gain, most, note in zip(self._asked(), choices, gains, best, notes, strict=True)
        ]
        told = f"; nothing staked in round {', '.join(map(str, refused))}: {notes[refused[0] - 1]}" if refused else ""
        return Score(
            value,
            value >= PASS_MARK,
            {"answer": value},
            {"rounds": rounds, "share_of_best": reached},
            f"expected total is {100 * reached:.3g}% of the best{told}"[:300],
        )

    def oracle(self) -> str:
        """Return what is best for the round that the latest message asks about."""
        return self._asked()[min(len(self.answers), len(self.turns) - 1)].perfect_reply()

    def _asked(self) -> list[Shares]:
        return [turn.shares for turn in self.turns if turn.shares is not None]


def _named(shares: Shares, choice: Choice) -> dict[str, float]:
    return {name: share for name, share in zip(shares.among, choice, strict=True) if share}
