"""Decode the bytes of a feed into text for a parser: right encoding, bounded size, no characters that XML forbids.

In many feeds header, XML declaration and bytes disagree. Valid UTF-8 is read as UTF-8; otherwise the declared encodings are tried strictly,
in the order of RFC 3023; otherwise the encoding is guessed (:func:`guess_encoding`).
"""

import codecs
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from html.entities import html5
from itertools import islice

from charset_normalizer import from_bytes

from newsportal.text import CONTROL

# Guessing the encoding: East Asian multi-byte encodings by their common characters. Each encoding keeps its common characters in one block
# of lead bytes (GB 2312 and Big5 level 1, KS X 1001's syllables, kana). Text decoded correctly lies in that block; text decoded wrongly is
# scattered, or decoding fails.

SAMPLE_BYTES = 20_000  # bytes beyond ASCII to examine
MARKUP = re.compile(rb"<[^<>]{0,2000}>|<!--.*?-->", re.DOTALL)
NON_ASCII_RUN = re.compile(rb"[\x80-\xff][\x80-\xff@-~]*")
COMMON_CHARACTERS = {
    "gb18030": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]"),
    "big5hkscs": re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]"),
    "cp949": re.compile(rb"[\xb0-\xc8][\xa1-\xfe]"),
}
KANA = re.compile("[\u3041-\u30fe]")
EAST_ASIAN = re.compile("[\u1100-\u11ff\u3041-\u30fe\u3400-\u9fff\uac00-\ud7a3]")
JAPANESE = ("euc_jp", "cp932")
MIN_KANA = 0.2  # of the East Asian characters: Japanese has 0.4 to 0.7, other languages none
KOREAN = "cp949"
MIN_HANGUL = 0.95  # Hangul syllables fill a narrower block than Chinese characters, of which 0.6 fall into it when read as Korean
MIN_KOREAN_BYTES = 20
MIN_EVERYDAY = 0.75
# Encodings with ASCII, and so the markup, in its usual place.
SINGLE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874")
FALLBACK = "cp1252"


def guess_encoding(body: bytes) -> str:
    """Return the most likely encoding of ``body``; never fails."""
    sample = b" ".join(NON_ASCII_RUN.findall(MARKUP.sub(b" ", body)))[:SAMPLE_BYTES]
    if not sample:
        return FALLBACK
    shares = {encoding: share for encoding in (*JAPANESE, *COMMON_CHARACTERS) if (share := _share(sample, encoding)) is not None}
    for encoding in JAPANESE:
        if shares.get(encoding, 0.0) >= MIN_KANA:
            return encoding
    if shares.get(KOREAN, 0.0) >= MIN_HANGUL and len(sample) >= MIN_KOREAN_BYTES:
        return KOREAN
    best = max((encoding for encoding in COMMON_CHARACTERS if encoding in shares), key=lambda encoding: shares[encoding], default=None)
    if best and shares[best] >= MIN_EVERYDAY:
        return best
    found = from_bytes(sample, cp_isolation=list(SINGLE_BYTE)).best()
    return found.encoding if found else FALLBACK


def _share(sample: bytes, encoding: str) -> float | None:
    """Return the share of common characters when ``sample`` is decoded with ``encoding``; ``None`` if decoding fails."""
    text = ""
    for end in (len(sample), len(sample) - 1):  # strict, except for a character cut at the end
        with suppress(UnicodeDecodeError):
            text = sample[:end].decode(encoding)
            break
    characters = EAST_ASIAN.findall(text)
    if not characters:
        return None
    if encoding in JAPANESE:
        return sum(1 for character in characters if KANA.match(character)) / len(characters)
    everyday = COMMON_CHARACTERS[encoding]
    return sum(1 for character in characters if everyday.fullmatch(character.encode(encoding, "ignore"))) / len(characters)


CONTROL_RUN = re.compile(f"{CONTROL.pattern}+")  # one match per run: fifty million zeros one by one take seconds
MAX_BYTES = 8 * 1024 * 1024  # fifty times the largest feed of the development set; more is cut, and entries before the cut are read
MAX_TAGS = 15_000  # three times the largest feed of the development set; feedparser takes 55 to 140 µs per tag
MAX_PREFIXES = 100  # of namespaces; feedparser searches all of them at each tag
PREFIX = re.compile(r"xmlns:([^\s=<>/]+)")
MAX_MARKS = 120_000  # tags and references in the result; a feed of the development set has 71,000
MAX_REFERENCES = 600_000  # tags and references examined in the input: a feed may write Chinese as references
SUPERSETS = {
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80"), "gb18030"),
    "big5": "big5hkscs",
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "ascii", "us-ascii"), "cp1252"),
}  # Labels commonly used for a superset
GZIP = b"\x1f\x8b"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
    (b"{\0", "utf-16-le"),
    (b"\0{", "utf-16-be"),
)
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)")
DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>")
GOOD_PER_BAD_BYTE = 20  # one bad byte per 20 non-ASCII characters is damage, not another encoding
DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
MAX_PROLOG_CHARS = 200_000  # characters in which a document type is searched
CDATA = re.compile(r"(<!\[CDATA\[.*?(?:\]\]>|\Z))", re.DOTALL)
REFERENCE = re.compile(r"&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,7})|(\w{1,40}))?(;)?")
ASCII_END = 127
XML_NAMES = frozenset(("lt", "gt", "amp", "quot", "apos"))


@dataclass(frozen=True, slots=True)
class FeedText:
    text: str
    warnings: tuple[str, ...] = ()


def decode_feed(body: bytes, content_type: str | None) -> FeedText:
    """Decode a feed, after unpacking one superfluous layer of gzip. Never raises."""
    if body.startswith(GZIP):  # partial data is kept, up to one byte beyond the limit
        with suppress(zlib.error):
            body = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, MAX_BYTES + 1)
    warnings = ["too-large"] if len(body) > MAX_BYTES else []
    text, agreed = _decoded(body[:MAX_BYTES], content_type)
    warnings += [] if agreed else ["wrong-encoding"]
    cleaned = CONTROL_RUN.sub("", text.replace("\x85", "\n"))
    warnings += ["illegal-characters"] if len(cleaned) < len(text) else []
    return FeedText(cleaned.lstrip("\ufeff \t\r\n"), tuple(warnings))


def repair_xml(source: FeedText) -> FeedText:
    """Return XML for a strict parser: no document type (so no entities), character references decoded (HTML's names too), lone ``&``
    escaped, forbidden references dropped; cut at ``MAX_MARKS``, ``MAX_TAGS`` and ``MAX_PREFIXES``."""
    text, warnings = DECLARATION.sub("", source.text, count=1), list(source.warnings)
    if found := DOCTYPE.search(text, 0, MAX_PROLOG_CHARS):
        warnings += ["entities-declared"] if "<!ENTITY" in found.group().upper() else []
        text = text[: found.start()] + text[found.end() :]
    bounded = _cut(text, MAX_REFERENCES)
    pieces = CDATA.split(bounded)
    pieces[::2] = (REFERENCE.sub(_reference, piece) for piece in pieces[::2])
    mended = "".join(pieces)
    cut = _cut_prefixes(_cut(_cut(mended, MAX_MARKS), MAX_TAGS, "<"))
    warnings += ["too-many-tags"] if len(bounded) < len(text) or len(cut) < len(mended) else []
    return FeedText(cut, tuple(warnings))


def _decoded(body: bytes, content_type: str | None) -> tuple[str, bool]:
    """Return the text, and whether it is in the declared encoding."""
    for mark, encoding in BOMS:
        if body.startswith(mark):
            bom = len(mark) if mark[0] not in b"<{\0" or mark in (codecs.BOM_UTF32_BE,) else 0
            return body[bom:].decode(encoding, "replace"), True
    header = CHARSET.search(content_type or "")
    declaration = DECLARED.match(body[:400])
    labels = [header.group(1)] if header else []
    labels += [declaration.group(1).decode("ascii", "replace")] if declaration else []
    declared = [label.lower() for label in labels if _is_text_codec(label)]
    if _is_utf8(body):
        return body.decode("utf-8", "replace"), not declared or body.isascii() or "utf-8" in declared or "utf8" in declared
    for place, label in enumerate(declared):
        with suppress(UnicodeDecodeError, LookupError):
            return body.decode(SUPERSETS.get(label, label)), place == 0
    return body.decode(guess_encoding(body), "replace"), not declared


def _is_text_codec(label: str) -> bool:
    """Return whether a label is a text codec. Excludes codecs for other data (``zlib``, ``rot13``) and slow ones (``idna``)."""
    try:
        return codecs.lookup(label)._is_text_encoding and label.lower() not in ("idna", "punycode", "unicode_escape", "raw_unicode_escape")
    except (LookupError, ValueError):
        return False


def _is_utf8(body: bytes) -> bool:
    """Return whether the body is UTF-8, with a few bad bytes allowed, such as a character cut at the end."""
    if body.isascii():
        return not re.search(rb"\x1b[$(]|~\{", body[:MAX_PROLOG_CHARS])  # ISO 2022 and HZ are seven-bit encodings
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    non_ascii = len(text) - sum(map(str.isascii, text)) if bad else 1
    return bad == 0 or bad * GOOD_PER_BAD_BYTE < non_ascii


def _cut(text: str, marks: int, mark: str = "[<&]") -> str:
    if text.count("<") + text.count("&") <= marks:
        return text
    return next((text[: match.start()] for match in islice(re.finditer(mark, text), marks, None)), text)


def _cut_prefixes(text: str) -> str:
    prefixes: set[str] = set()
    for match in PREFIX.finditer(text):
        prefixes.add(match[1])
        if len(prefixes) > MAX_PREFIXES:
            return text[: match.start()]
    return text


def _reference(match: re.Match[str]) -> str:
    decimal, hexadecimal, name, end = match.groups()
    if name in XML_NAMES and end:
        return match.group()
    if name and end and f"{name};" in html5:
        return "".join(_character(ord(character)) for character in html5[f"{name};"])
    if end and (decimal or hexadecimal):
        return _character(int(decimal) if decimal else int(hexadecimal, 16))
    return f"&amp;{match.group()[1:]}"


def _character(code: int) -> str:
    """Return the character, as a reference if it would be markup, or nothing if XML forbids it."""
    # the characters allowed by XML 1.0
    if not (code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF):
        return ""
    return chr(code) if code > ASCII_END else f"&#{code};"
