"""Where each public bank is published, and where ``data pull`` puts it: the places that the papers print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Source:
    """One bank.

    Attributes
    ----------
    host
        A dataset of the hub (Hugging Face), or a repository of the code host (GitHub).
    repository
        ``owner/name`` there.
    folder
        Where its files go, seen from the working directory.
    wanted
        Patterns of the repository's paths; ``*`` matches slashes too.
    within
        The folder of the repository that ``folder`` stands for.
    dataset
        The dataset of a config that reads it.
    terms
        Terms of the publisher, as far as stated.
    spellings
        Other names under which configs print the repository.
    """

    host: Literal["hub", "code"]
    repository: str
    folder: str
    wanted: tuple[str, ...]
    dataset: str
    terms: str
    within: str = ""
    spellings: tuple[str, ...] = ()

    def place(self, path: str) -> str | None:
        """Return where a file of the repository goes within ``folder``; None where it is not wanted."""
        if not path.startswith(self.within) or not any(fnmatchcase(path, pattern) for pattern in self.wanted):
            return None
        return path.removeprefix(self.within)


SOURCES: Mapping[str, Source] = {
    "bizfinbench": Source(
        "hub", "HiThink-Research/BizFinBench.v2", "data/BizFinBench.v2", ("en/*.jsonl", "cn/*.jsonl"), "bizfinbench",
        "Apache-2.0 by its card; its questions are user queries: treat them as non-commercial",
    ),
    "prbench": Source(
        "hub", "ScaleAI/PRBench", "data/prbench", ("*finance*.parquet",), "prbench",
        "CC BY-4.0; keep the canary with every copy", spellings=("scale-ai/prbench",),
    ),
    "public_csv": Source(
        "code", "vals-ai/finance-agent", "finance-agent", ("data/public.csv",), "public_csv", "MIT (version 1.1)"
    ),
    "gdpval": Source(
        "hub", "openai/gdpval", "data/gdpval", ("data/*.parquet", "reference_files/*"), "gdpval",
        "none stated: do not pass it on",
    ),
    "synthetic": Source(
        "code", "yxc20089/AgentBusters", "data/synthetic_questions", ("data/synthetic_questions/questions.json",),
        "synthetic", "see the repository", within="data/synthetic_questions/",
    ),
    "options": Source(
        "code", "yxc20089/AgentBusters", "data/options", ("data/options/questions.json",), "options",
        "see the repository", within="data/options/",
    ),
    "scenarios": Source(
        "hub", "agentbusters/crypto-trading", "data/crypto-trading", ("*market_data.json", "*.parquet", "*.csv"),
        "crypto", "see its card",
    ),
}  # fmt: skip
"""What ``data pull`` calls it -> where it is."""


def folder_of(repository: str) -> str | None:
    """Return the folder of the bank that a config names by its repository (``hf_dataset``); None of an unknown one."""
    for source in SOURCES.values():
        if repository.casefold() in (name.casefold() for name in (source.repository, *source.spellings)):
            return source.folder
    return None


def missing(dataset: str, path: str) -> str:
    """Return what is missing at ``path`` and the command that fetches it; empty where there is something."""
    if Path(path).expanduser().exists():
        return ""
    there = f"there is nothing at {path!r}"
    kind = next((name for name, source in SOURCES.items() if source.dataset == dataset), None)
    if kind is None:
        return f"{there} (working directory: {str(Path.cwd())!r})"
    source = SOURCES[kind]
    printed = Path(path) == Path(source.folder) or Path(source.folder) in Path(path).parents
    where = "" if printed else f", and write path: {source.folder}"
    return f"{there}; fetch it with: traderbench data pull {kind}{where}"
