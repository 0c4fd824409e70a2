"""From a filing's HTML to lines of text: one a paragraph or table row, nothing of what a reader would not see."""

from __future__ import annotations

import re
from html.parser import HTMLParser

BLOCKS = frozenset(
    "address article blockquote br center div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section table title tr ul".split()
)
CELLS = frozenset(("td", "th"))
UNSEEN = frozenset(("script", "style", "head", "ix:header"))
VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_SPACE = re.compile(r"[\s\u00a0\u200b\ufeff]+")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._words: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._unseen = 0

    def end_line(self) -> None:
        line = _SPACE.sub(" ", "".join(self._words)).strip()
        if line:
            self.lines.append(line)
        self._words = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.end_line()
        if tag in VOID:
            return
        hidden = tag in UNSEEN or any(name == "style" and value and _HIDDEN.search(value) for name, value in attrs)
        self._open.append((tag, hidden))
        self._unseen += hidden
        if tag in CELLS:
            self._words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.end_line()
        # tags that were never closed end with the one around them
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth][0] == tag:
                self._unseen -= sum(hidden for _, hidden in self._open[depth:])
                del self._open[depth:]
                return

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._words.append(data)


def lines(content: bytes) -> list[str]:
    """Return the visible lines of a page, without empty ones; plain text is taken as it is."""
    text = content.decode("utf-8", errors="replace")
    if not re.search(r"<(html|body|div|p|table|document)\b", text[:200_000], re.IGNORECASE):
        return [line for raw in text.splitlines() if (line := _SPACE.sub(" ", raw).strip())]
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_line()
    return reader.lines
