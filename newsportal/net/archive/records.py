"""Sequential reading of the records of a WARC file."""

import gzip
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
    """Yield every record with a URL. Raises :class:`ReplayError`; if the file ends inside a record, the records before it are yielded."""
    try:
        with path.open("rb") as file:
            for record in ArchiveIterator(_one_stream(file), no_record_parse=False):
                if record.rec_headers.get_header("WARC-Target-URI"):
                    yield _record_from(record)
    except EOFError:
        return  # the crawl that wrote it was killed
    except ERRORS as error:
        raise ReplayError(f"{path}: not a readable WARC file: {clean(str(error))[:80]}") from error
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


def _one_stream(file: IO[bytes]) -> Any:
    """Decompress here: warcio refuses files compressed as a single stream."""
    zipped = file.read(2) == GZIP_MAGIC
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if zipped else file
    if not stream.read(len(WARC_MAGIC)).startswith(WARC_MAGIC):
        raise ValueError("it does not begin like one")
    stream.seek(0)
    return stream


def _record_from(record: Any) -> Record:
    http = record.http_headers
    body, _ = body_of(record, MAX_BODY_BYTES)
    content_type = (http or record.rec_headers).get_header("Content-Type") or ""
    url = record.rec_headers.get_header("WARC-Target-URI").removeprefix("<").removesuffix(">")
    when = parse_warc_date(record.rec_headers.get_header("WARC-Date") or "")
    encodings = (http.get_header("Content-Encoding") or "") if http is not None else ""
    return Record(record.rec_type, url, when, content_type, status_of(record) or 0, encodings, body)
