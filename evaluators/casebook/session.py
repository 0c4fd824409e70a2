"""The conversation about a case: one message after the other, each answered before the next is shown."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluators.casebook.answer import mark, perfect_reply
from evaluators.casebook.family import Turn
from evaluators.contract import Json, Score, Session, Task, question_message

PASS_MARK = 70.0


@dataclass
class Conversation(Session):
    """A session whose messages are fixed when it is drawn: what an agent says changes none of them."""

    task: Task
    turns: tuple[Turn, ...]
    answers: list[str] = field(default_factory=list)

    def opening(self) -> dict[str, Json]:
        """Return the first message."""
        more = {"turn": 1, "turns": len(self.turns)} if len(self.turns) > 1 else {}
        return question_message(self.task) | more

    def reply(self, text: str) -> dict[str, Json] | None:
        """Keep the answer; return the next message, or None after the last."""
        self.answers.append(text)
        if len(self.answers) >= len(self.turns):
            return None
        turn = self.turns[len(self.answers)]
        how = turn.answer_format()
        return {
            "type": "question",
            "turn": len(self.answers) + 1,
            "turns": len(self.turns),
            "question": f"{turn.text}\n\n{how}",
            "category": self.task.category,
            "answer_format": how,
            "answer_schema": turn.answer_schema(),
        }

    def score(self) -> Score:
        """Return the share of everything asked that is right, each answer by what was known when it was given."""
        right, notes = 0.0, []
        for number, turn in enumerate(self.turns):
            credited, turn_notes = mark(turn.asked, self.answers[number] if number < len(self.answers) else "")
            right += credited
            notes.append(turn_notes)
        asked = sum(len(turn.asked) for turn in self.turns)
        value = 100.0 * right / asked
        wrong = [name for turn_notes in notes for name, note in turn_notes.items() if not note["right"]]
        return Score(
            value,
            value >= PASS_MARK,
            {"answer": value},
            {"turns": notes},
            f"{right:.3g} of {asked} right" + (f"; wrong: {', '.join(wrong)[:160]}" if wrong else ""),
        )

    def oracle(self) -> str:
        """Return the perfect reply to the latest message."""
        return perfect_reply(self.turns[min(len(self.answers), len(self.turns) - 1)].asked)
