"""A Dockerfile, read far enough to check it: stages, what they inherit, what they copy and run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "images" / "Dockerfile"


class Instruction(NamedTuple):
    name: str
    text: str

    def words(self) -> list[str]:
        """Return the list of an instruction in exec form."""
        return [str(word) for word in json.loads(self.text[self.text.index("[") :])]


@dataclass
class Stage:
    name: str
    base: str
    instructions: list[Instruction] = field(default_factory=list)


def stages() -> dict[str, Stage]:
    """Return the stages by name, in order."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.lstrip().startswith("#")]
    found: dict[str, Stage] = {}
    stage = None
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, text = line.strip().partition(" ")
        if name == "FROM":
            base, _, own = text.partition(" AS ")
            stage = found[own] = Stage(own, base)
        elif name and stage is not None:
            stage.instructions.append(Instruction(name, re.sub(r"\s+", " ", text).strip()))
    return found


def of_image(target: str) -> list[Instruction]:
    """Return the instructions of a stage after those of the stages that it stands on."""
    known = stages()
    stage = known[target]
    below = of_image(stage.base) if stage.base in known else []
    return below + stage.instructions


def last(target: str, name: str) -> Instruction:
    """Return the instruction of this name that counts."""
    return next(row for row in reversed(of_image(target)) if row.name == name)


def exposed(target: str) -> set[int]:
    """Return the ports that an image names."""
    ports: set[int] = set()
    for row in of_image(target):
        for word in row.text.split() if row.name == "EXPOSE" else ():
            first, _, end = word.partition("-")
            ports |= set(range(int(first), int(end or first) + 1))
    return ports


def copied() -> list[str]:
    """Return what the images take from the build context."""
    rows = [row.text.split() for stage in stages().values() for row in stage.instructions if row.name == "COPY"]
    return [source for words in rows if not words[0].startswith("--from=") for source in words[:-1]]
