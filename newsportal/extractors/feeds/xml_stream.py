"""Yield the bytes of a large XML file (sitemap, OPML) as pieces of text: unpacked, decoded, repaired, bounded. Never raises."""

import codecs
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from newsportal.extractors.feeds.feed_bytes import CHARSET, CONTROL_RUN, DECLARATION, DECLARED, DOCTYPE, GZIP, SUPERSETS

MAX_BYTES = 52_428_800  # size limit of an unpacked sitemap (sitemaps.org, "Sitemap file requirements": 50 MB)
CHUNK_BYTES = 1 << 16  # bytes unpacked, decoded and yielded at a time
HEAD_BYTES = 1 << 16  # bytes that must contain the XML declaration and the document type
FIRST_BYTES = 1 << 10  # bytes first passed to the decompressor, then doubled: it copies unused input, for each of up to a million members
MAX_MEMBERS = 10_000  # of one gzip file. Block formats (BGZF) have one for each 64 kB
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
SURROGATE = r"#x0*[dD][89a-fA-F][0-9a-fA-F]{2};|#0*5(?:529[6-9]|5[3-9]\d\d|6\d{3}|7[0-2]\d\d|73[0-3]\d|734[0-3]);"
# An ampersand that begins no valid XML reference, or a reference to a surrogate
INVALID_AMPERSAND = re.compile(rf"&(?:(?={SURROGATE})|(?!(?:#\d{{1,7}}|#x[0-9a-fA-F]{{1,6}}|amp|lt|gt|quot|apos);))")
MAX_LONE = 1_000_000  # of one file, twenty for each entry of a full sitemap; forty million take half a minute
ENTITY_DECLARATION = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
REFERENCE_CHARS = 12  # The longest reference; one cut at the end of a piece is completed by the next
# Encodings used by sitemaps and outlines. Anything else is read as UTF-8, as both specifications require.
ENCODINGS = frozenset("utf-8 utf8 utf-16 utf-16-le utf-16-be gb18030 big5hkscs cp1252 euc-kr euc-jp shift_jis windows-1251 koi8-r".split())


@dataclass
class XmlText:
    """Iterate once. ``warnings`` are complete at the end: ``too-large`` (cut), ``broken-gzip``, ``entities-declared`` (dropped),
    ``wrong-encoding`` (bytes not in the declared encoding)."""

    body: bytes = field(repr=False)
    content_type: str | None = None
    warnings: list[str] = field(default_factory=list)
    limit: int = MAX_BYTES

    def __iter__(self) -> Iterator[str]:
        """Yield pieces of the text without XML declaration and document type."""
        pieces = self._decoded()
        head = ""
        for piece in pieces:  # until the document type, if any, is complete
            head += piece
            if len(head) >= HEAD_BYTES:
                break
        head = DECLARATION.sub("", head.lstrip("\ufeff \t\r\n"), count=1)
        if (found := DOCTYPE.search(head, 0, HEAD_BYTES)) is not None:
            if "<!ENTITY" in found.group().upper():
                self.warn("entities-declared")
            head = head[: found.start()] + head[found.end() :]
        if ENTITY_DECLARATION.search(head):  # an unterminated document type must not reach a parser
            self.warn("entities-declared")
            return
        pending, lone = head, 0
        for piece in pieces:
            cut = pending.rfind("&", max(0, len(pending) - REFERENCE_CHARS))
            complete, rest = (pending[:cut], pending[cut:]) if cut >= 0 else (pending, "")
            mended, number = INVALID_AMPERSAND.subn("&amp;", complete)
            yield mended
            pending, lone = rest + piece, lone + number
            if lone > MAX_LONE:
                self.warn("too-large")
                return
        yield INVALID_AMPERSAND.sub("&amp;", pending)

    def warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _decoded(self) -> Iterator[str]:
        decoder = None
        total = 0
        plain = (self.body[start : start + CHUNK_BYTES] for start in range(0, len(self.body), CHUNK_BYTES))
        for piece in self._members() if self.body.startswith(GZIP) else plain:
            if total + len(piece) > self.limit:
                self.warn("too-large")
            piece, total = piece[: self.limit - total], total + len(piece)
            decoder = decoder or codecs.getincrementaldecoder(self._encoding(piece))("replace")
            text = decoder.decode(piece)
            if "\ufffd" in text:
                self.warn("wrong-encoding")
            yield CONTROL_RUN.sub("", text)
            if total > self.limit:
                return

    def _encoding(self, start: bytes) -> str:
        if marked := next((name for mark, name in BOMS if start.startswith(mark)), None):
            return marked
        header, declaration = CHARSET.search(self.content_type or ""), DECLARED.match(start[:400])
        label = (declaration.group(1).decode("ascii", "replace") if declaration else header.group(1) if header else "utf-8").lower()
        name = SUPERSETS.get(label, label)
        return name if name in ENCODINGS else "utf-8"

    def _members(self) -> Iterator[bytes]:
        """Yield the content of a gzip file, member by member, up to the first damage."""
        view, place = memoryview(self.body), 0
        for _ in range(MAX_MEMBERS):
            if view[place : place + 2].tobytes() != GZIP:
                return
            stream, size = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), FIRST_BYTES
            while not stream.eof:
                data = stream.unconsumed_tail or view[place : place + size]
                if not data:
                    self.warn("broken-gzip")
                    return
                if not stream.unconsumed_tail:
                    place, size = place + len(data), min(2 * size, CHUNK_BYTES)
                try:
                    output = stream.decompress(data, CHUNK_BYTES)
                except zlib.error:
                    self.warn("broken-gzip")
                    return
                if output:
                    yield output
            place -= len(stream.unused_data)
        self.warn("broken-gzip")
