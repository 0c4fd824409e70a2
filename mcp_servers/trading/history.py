"""The tool that tells the bars before the first decision of a task that trades markets of its own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from mcp_servers import caller
from mcp_servers.handouts import Handouts

MOST_EPISODES = 16
"""In one call: some 12 kB each."""


class EpisodeHistory(BaseModel):
    """The bars of one episode before its first decision, oldest first."""

    episode: str
    first_hour: int = Field(description="Hour of the day at which the first bar opened")
    columns: dict[str, list[float]] = Field(description="One number a bar in each, in the units of column_meanings")


class TaskHistory(BaseModel):
    """What came before the first decision of the task's episodes."""

    seconds_per_bar: float = Field(description="Seconds from one bar to the next")
    column_meanings: dict[str, str] = Field(description="What each column is, with its unit")
    history: list[EpisodeHistory]


class HistoryTools:
    """The tool, over what the harness handed out."""

    def __init__(self, handouts: Handouts) -> None:
        self._handouts = handouts

    def get_history(
        self,
        episodes: Annotated[
            list[str],
            Field(
                description="Names of the trading messages, for example e01",
                min_length=1,
                max_length=MOST_EPISODES,
            ),
        ],
    ) -> TaskHistory:
        """Return the bars before the first decision of episodes of this task's trading messages, in columns.

        Only tasks that trade episodes have one. Log-returns are in basis points; column_meanings tells every unit;
        a bar is seconds_per_bar seconds long. What comes after is told by the messages alone.
        Example: `{"episodes": ["e01", "e02"]}`.
        """
        document = self._handouts.of(caller.current().grant)
        if document is None:
            raise ValueError("this task has no history: only tasks whose messages hold episodes to trade do")
        known = document["episodes"]
        unknown = [name for name in episodes if name not in known]
        if unknown:
            names = list(known)
            raise ValueError(f"no episode {unknown[0]!r} in this task; it has {names[0]} to {names[-1]}")
        return TaskHistory(
            seconds_per_bar=document["seconds_per_bar"],
            column_meanings=document["meanings"],
            history=[_episode(name, known[name], document["digits"]) for name in dict.fromkeys(episodes)],
        )


def _episode(name: str, told: dict[str, Any], digits: dict[str, int]) -> EpisodeHistory:
    columns = {column: [value / 10 ** digits[column] for value in values] for column, values in told["columns"].items()}
    return EpisodeHistory(episode=name, first_hour=told["first_hour"], columns=columns)
