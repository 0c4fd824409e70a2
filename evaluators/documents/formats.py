"""Each format as text by the library made for it. Runs in the process of :mod:`evaluators.documents.child` alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from evaluators.documents.container import Refused, check

MAX_ROWS = 20_000
"""Of a sheet or a table."""
MAX_COLUMNS = 500
MAX_PAGES = 500


def sheets(content: bytes) -> Iterator[str]:
    """Yield the sheets of a workbook: values as they were last computed, one row a line, tabs between cells."""
    import openpyxl

    check(content)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    formulas = openpyxl.load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
    for name in book.sheetnames:
        yield f"## sheet {name}"
        pages = (book[name], formulas[name])
        if not all(hasattr(page, "iter_rows") for page in pages):
            yield "(a chart)"
            continue
        rows = (page.iter_rows(max_row=MAX_ROWS, max_col=MAX_COLUMNS, values_only=True) for page in pages)
        for values, written in zip(*rows, strict=False):
            # a workbook that no program has opened holds formulas without values
            cells = [str(known if value is None else value) if known is not None else ""
                     for value, known in zip(values, written, strict=False)]  # fmt: skip
            if any(cells):
                yield "\t".join(cells).rstrip("\t")


def document(content: bytes) -> Iterator[str]:
    """Yield the paragraphs and tables of a text document, in their order."""
    import docx
    from docx.table import Table

    check(content)
    for block in docx.Document(io.BytesIO(content)).iter_inner_content():
        if isinstance(block, Table):
            yield from _table([[cell.text for cell in row.cells] for row in block.rows[:MAX_ROWS]])
        else:
            heading = (block.style.name or "") if block.style is not None else ""
            yield f"## {block.text}" if heading.startswith(("Heading", "Title")) else block.text


def slides(content: bytes) -> Iterator[str]:
    """Yield the texts and tables of a presentation, slide after slide, with the notes."""
    import pptx

    check(content)
    for number, slide in enumerate(pptx.Presentation(io.BytesIO(content)).slides, start=1):
        yield f"## slide {number}"
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield str(shape.text_frame.text)
            elif shape.has_table:
                yield from _table([[cell.text for cell in row.cells] for row in shape.table.rows])
            else:
                yield f"({shape.shape_type} {shape.name})"
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield f"Notes: {slide.notes_slide.notes_text_frame.text}"


def pages(content: bytes) -> Iterator[str]:
    """Yield the text of a PDF, page after page."""
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
    if reader.is_encrypted:
        raise Refused("it is encrypted")
    if len(reader.pages) > MAX_PAGES:
        raise Refused(f"it has {len(reader.pages):,} pages, more than {MAX_PAGES:,}")
    for number, page in enumerate(reader.pages, start=1):
        yield f"## page {number}"
        yield page.extract_text()


def rows(content: bytes) -> Iterator[str]:
    """Yield the rows of comma-separated values."""
    for number, row in enumerate(csv.reader(io.StringIO(_decoded(content)))):
        if number == MAX_ROWS:
            raise Refused(f"it has more than {MAX_ROWS:,} rows")
        yield "\t".join(row)


def plain(content: bytes) -> Iterator[str]:
    """Yield the text of a text file."""
    yield _decoded(content)


READERS: dict[str, Callable[[bytes], Iterator[str]]] = {
    ".xlsx": sheets, ".docx": document, ".pptx": slides, ".pdf": pages, ".csv": rows, ".txt": plain, ".md": plain,
    ".json": plain,
}  # fmt: skip


def _table(cells: list[list[str]]) -> Iterator[str]:
    for row in cells:
        yield "\t".join(" ".join(cell.split()) for cell in row)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("its text is not UTF-8") from error
