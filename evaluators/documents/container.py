"""What an office document may be before a library opens it: a bounded zip of plain XML, without macros and entities."""

from __future__ import annotations

import io
import re
import zipfile

MAX_BYTES = 20_000_000
"""Of a document as it is handed over."""
MAX_UNPACKED = 200_000_000
MAX_MEMBERS = 5_000
MAX_RATIO = 200
"""How often larger than packed a member of more than :data:`SMALL` may be."""
SMALL = 1_000_000
_ENTITIES = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_MACROS = re.compile(r"vbaProject|\.bin$|activeX|macrosheets", re.IGNORECASE)


class Refused(ValueError):
    """A document that is not read; the message is one line that says why."""


def check(content: bytes) -> None:
    """Refuse what is no office document that can be opened safely.

    Raises
    ------
    Refused
        It is no zip, unpacks to too much, holds macros, or declares entities.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Refused(f"it is no office document: {error}") from error
    with archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise Refused(f"it holds {len(members):,} parts, more than {MAX_MEMBERS:,}")
        if sum(member.file_size for member in members) > MAX_UNPACKED:
            raise Refused(f"it unpacks to more than {MAX_UNPACKED:,} bytes")
        for member in members:
            if _MACROS.search(member.filename) and "printerSettings" not in member.filename:
                raise Refused(f"it holds a program ({member.filename[:60]})")
            if member.file_size > SMALL and member.file_size > MAX_RATIO * max(1, member.compress_size):
                raise Refused(f"{member.filename[:60]} unpacks to {member.file_size:,} bytes from "
                              f"{member.compress_size:,}")  # fmt: skip
            if member.filename.endswith((".xml", ".rels")):
                _check_xml(archive, member)


def _check_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    try:
        with archive.open(member) as part:
            # the sizes that the zip states may be lies: no more than stated is ever read
            content = part.read(member.file_size + 1)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise Refused(f"{member.filename[:60]} cannot be unpacked: {error}") from error
    if len(content) > member.file_size:
        raise Refused(f"{member.filename[:60]} is larger than it says")
    plain = content.replace(b"\0", b"")
    if _ENTITIES.search(plain):
        raise Refused(f"{member.filename[:60]} declares a document type or entities")
