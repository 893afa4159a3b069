"""The encoding of bytes that say nothing of it, or lie: the multi-byte encodings of East Asia by their everyday characters.

Each encoding keeps its everyday characters in one block of lead bytes (GB 2312 and Big5 level 1, KS X 1001's syllables, kana).
Text read in the right encoding lies in that block, text read in a wrong one is scattered or does not decode at all.
"""

from __future__ import annotations

import re

from charset_normalizer import from_bytes

SAMPLE = 20_000  # bytes beyond ASCII that are judged
MARKUP = re.compile(rb"<[^<>]{0,2000}>|<!--.*?-->", re.DOTALL)
RUN = re.compile(rb"[\x80-\xff][\x80-\xff@-~]*")
EVERYDAY = {
    "gb18030": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]"),
    "big5hkscs": re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]"),
    "cp949": re.compile(rb"[\xb0-\xc8][\xa1-\xfe]"),
}
KANA = re.compile("[\u3041-\u30fe]")
EAST_ASIAN = re.compile("[\u1100-\u11ff\u3041-\u30fe\u3400-\u9fff\uac00-\ud7a3]")
JAPANESE = ("euc_jp", "cp932")
MIN_KANA = 0.2  # of the East Asian characters: Japanese has 0.4 to 0.7, other languages none
KOREAN = "cp949"
MIN_HANGUL = 0.95  # syllables fill a narrower block than Chinese characters, 0.6 of which lie in it when read so
MIN_KOREAN_BYTES = 20
MIN_EVERYDAY = 0.75
SINGLE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874")
"""Encodings that leave ASCII, and so the markup, where it is."""

FALLBACK = "cp1252"


def guess(body: bytes) -> str:
    """The name of the encoding ``body`` is most likely in; any body gets one."""
    sample = b" ".join(RUN.findall(MARKUP.sub(b" ", body)))[:SAMPLE]
    if not sample:
        return FALLBACK
    shares = {encoding: share for encoding in (*JAPANESE, *EVERYDAY) if (share := _share(sample, encoding)) is not None}
    for encoding in JAPANESE:
        if shares.get(encoding, 0.0) >= MIN_KANA:
            return encoding
    if shares.get(KOREAN, 0.0) >= MIN_HANGUL and len(sample) >= MIN_KOREAN_BYTES:
        return KOREAN
    best = max((encoding for encoding in EVERYDAY if encoding in shares), key=lambda encoding: shares[encoding], default=None)
    if best and shares[best] >= MIN_EVERYDAY:
        return best
    found = from_bytes(sample, cp_isolation=list(SINGLE_BYTE)).best()
    return found.encoding if found else FALLBACK


def _share(sample: bytes, encoding: str) -> float | None:
    """The share of everyday characters when ``sample`` is read so; ``None`` when it cannot be."""
    text = _decoded(sample, encoding)
    if text is None:
        return None
    characters = EAST_ASIAN.findall(text)
    if not characters:
        return None
    if encoding in JAPANESE:
        return sum(1 for character in characters if KANA.match(character)) / len(characters)
    everyday = EVERYDAY[encoding]
    return sum(1 for character in characters if everyday.fullmatch(character.encode(encoding, "ignore"))) / len(characters)


def _decoded(sample: bytes, encoding: str) -> str | None:
    """Strictly, but for a character cut at the end."""
    for end in (len(sample), len(sample) - 1):
        try:
            return sample[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None
