"""Sequential reading of the records of a WARC file."""

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from warcio.archiveiterator import ArchiveIterator

from newsportal.errors import ReplayError
from newsportal.net.archive.index import ERRORS, body_of, parse_warc_date, status_of
from newsportal.text import clean

MAX_BODY_BYTES: Final = 64 * 1024 * 1024  # maximum bytes of a body read: four times the largest download
GZIP_MAGIC: Final = b"\x1f\x8b"
WARC_MAGIC: Final = b"WARC/"


@dataclass(frozen=True, slots=True)
class Record:
    """``kind``: ``response``, ``metadata``, …; ``content_type`` of the body, ``status`` 0 if there is none; ``body``: as served, unchunked
    and at most ``MAX_BODY_BYTES`` bytes; ``encodings``: its content encodings (the header's value)."""

    kind: str
    url: str
    when: datetime
    content_type: str
    status: int
    encodings: str
    body: bytes


def records(path: Path) -> Iterator[Record]:
    """Yield every record. Raises :class:`ReplayError`, after the records before it if the file ends inside a record."""
    try:
        with path.open("rb") as file:
            stream = io.BufferedReader(_Members(file)) if file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC) else file
            if not stream.peek(len(WARC_MAGIC)).startswith(WARC_MAGIC):
                raise ValueError("it does not begin like one")
            iterator = ArchiveIterator(stream, no_record_parse=False)
            for record in iterator:
                found = _record_from(record)
                iterator.read_to_end(record)
                if getattr(record.raw_stream, "limit", 0) > 0:
                    raise ReplayError(f"{path}: it is cut off; the records before the cut were read")
                yield found
    except ERRORS as error:
        raise ReplayError(f"{path}: not a readable WARC file: {clean(str(error))[:80]}") from error
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


class _Members(io.RawIOBase):
    """The content of a gzip file up to its end, even if it is cut: ``gzip`` withholds what precedes the cut."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._member, self._rest = file, zlib.decompressobj(31), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            data = self._rest or self._file.read(1 << 16)
            self._member = zlib.decompressobj(31) if data and self._member.eof else self._member
            content = self._member.decompress(data, len(buffer))
            self._rest = self._member.unconsumed_tail or self._member.unused_data
            if content or not data:
                buffer[: len(content)] = content
                return len(content)


def _record_from(record: Any) -> Record:
    http = record.http_headers
    body, _ = body_of(record, MAX_BODY_BYTES)
    content_type = (http or record.rec_headers).get_header("Content-Type") or ""
    url = (record.rec_headers.get_header("WARC-Target-URI") or "").removeprefix("<").removesuffix(">")
    when = parse_warc_date(record.rec_headers.get_header("WARC-Date") or "")
    encodings = (http.get_header("Content-Encoding") or "") if http is not None else ""
    return Record(record.rec_type, url, when, content_type, status_of(record) or 0, encodings, body)
