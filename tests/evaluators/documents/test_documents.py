"""Documents of strangers: their text by the libraries made for them, or one line that says why not."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pypdf
import pytest

from evaluators.documents import Refused, container, text_of


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Forecast"
    for row in (["year", "revenue"], [2024, 391_035], [2025, "=B2*1.1"]):
        book.active.append(row)
    book.create_sheet("Notes").append(["checked"])
    return saved(book)


def saved(made) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def report() -> bytes:
    made = docx.Document()
    made.add_heading("Margins", 1)
    made.add_paragraph("Gross margin fell by 2 points.")
    cells = made.add_table(1, 2).rows[0].cells
    cells[0].text, cells[1].text = "2024", "46.2%"
    return saved(made)


def deck() -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Outlook"
    slide.placeholders[1].text = "Hold the bonds"
    slide.notes_slide.notes_text_frame.text = "say it slowly"
    return saved(made)


def page(text: str = "Duration is 4.2 years") -> bytes:
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(out)
    )


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.xlsx", workbook(), ["## sheet Forecast", "2024\t391035", "2025\t=B2*1.1", "## sheet Notes"]),
        ("a.docx", report(), ["## Margins", "Gross margin fell by 2 points.", "2024\t46.2%"]),
        ("a.pptx", deck(), ["## slide 1", "Outlook", "Hold the bonds", "Notes: say it slowly"]),
        ("A.PDF", page(), ["## page 1", "Duration is 4.2 years"]),
        ("a.csv", b'year,note\n2024,"a, b"\n', ["year\tnote", "2024\ta, b"]),
        ("a.md", "# Überschrift\u200b".encode(), ["# Überschrift"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_document_is_its_text(name, content, lines):
    found = text_of(name, content).splitlines()
    assert [line for line in lines if line not in found] == []
    assert found.index(lines[0]) < found.index(lines[-1]) or len(lines) == 1


def packed(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


def changed(content: bytes, member: str, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in old.namelist():
            archive.writestr(name, new if name == member else old.read(name))
    return out.getvalue()


BILLION = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b"<w:document>&b;</w:document>"
)
XXE = b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document>&x;</w:document>'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.docx", changed(report(), "word/document.xml", BILLION), "declares a document type or entities"),
        ("a.docx", changed(report(), "word/document.xml", XXE), "declares a document type or entities"),
        ("a.docx", changed(report(), "word/document.xml", XXE.decode().encode("utf-16")), "document type or entities"),
        ("a.docx", changed(report(), "word/document.xml", b"<w:document>" + b" " * 50_000_000), "unpacks to 50,000"),
        ("a.docx", packed(word__vbaProject_dot_bin=b"x"), "it holds a program"),
        ("a.xlsx", packed(**{f"m{n}": b"" for n in range(container.MAX_MEMBERS + 1)}), "more than 5,000"),
        ("a.xlsx", b"not a zip", "it is no office document"),
        ("a.xlsx", packed(nothing=b"x"), "it cannot be read"),
        ("a.pptx", report(), "it cannot be read"),
        ("a.pdf", b"%PDF-1.4\n1 0 obj <<>>", "it cannot be read"),
        ("a.csv", b"\xff\xfe\x00", "not UTF-8"),
        ("a.exe", b"MZ", "files that end in .exe are not read"),
        ("a", b"MZ", "files that end in nothing"),
        ("a.txt", b"x" * (container.MAX_BYTES + 1), "more than 20,000,000"),
    ],
)  # fmt: skip
def test_a_hostile_or_broken_document_is_refused_in_one_line(name, content, said):
    with pytest.raises(Refused) as raised:
        text_of(name, content)
    assert said in str(raised.value) and "\n" not in str(raised.value) and len(str(raised.value)) < 250


def test_a_long_document_is_cut_and_says_so():
    text = text_of("a.txt", b"word " * 5_000, characters=1_000)
    assert len(text) < 1_100 and "(cut after 1,000 characters)" in text


def test_an_encrypted_file_is_refused():
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(page()))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(Refused, match="it is encrypted"):
        text_of("a.pdf", out.getvalue())


def test_the_reader_knows_no_secret_and_writes_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.chdir(tmp_path)
    text_of("a.xlsx", workbook())
    assert list(Path(tmp_path).iterdir()) == []
