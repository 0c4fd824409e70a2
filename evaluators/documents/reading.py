"""A document in, its text out, or one line that says why not."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import PurePosixPath

from evaluators.documents.container import MAX_BYTES, Refused

KINDS = {
    ".xlsx": "Excel workbook", ".docx": "Word document", ".pptx": "PowerPoint presentation", ".pdf": "PDF",
    ".csv": "comma-separated values", ".txt": "text", ".md": "Markdown", ".json": "JSON",
}  # fmt: skip
"""Endings that are read -> what they are called."""
TIME_S = 60.0
MAX_CHARACTERS = 150_000


def suffix_of(name: str) -> str:
    """Return the ending of a file's name, in lower case."""
    return PurePosixPath(name).suffix.lower()


def text_of(name: str, content: bytes, *, characters: int = MAX_CHARACTERS) -> str:
    """Return the text of a document; its format is that of its name.

    Raises
    ------
    Refused
        The format is not read, the document is too large, hostile or broken, or it takes too long.
    """
    suffix = suffix_of(name)
    if suffix not in KINDS:
        raise Refused(f"files that end in {suffix or 'nothing'} are not read; read are {', '.join(KINDS)}")
    if len(content) > MAX_BYTES:
        raise Refused(f"it has {len(content):,} bytes, more than {MAX_BYTES:,}")
    command = [sys.executable, "-m", "evaluators.documents.child", suffix, str(characters)]
    # no key of the operator is known there
    environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=TIME_S, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise Refused(f"reading it takes longer than {TIME_S:g} s") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Refused(said[-1][:200] if said else "reading it takes more time or memory than a document may")
    text = done.stdout.decode("utf-8", "replace")
    return "".join(mark for mark in text if mark in "\n\t" or unicodedata.category(mark)[0] != "C")
