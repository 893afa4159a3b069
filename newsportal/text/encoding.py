"""Detection of encodings if header, meta element and bytes disagree: the bytes decide.

1. A byte order mark, or the zero bytes of UTF-16 markup, decide at once.
2. Valid UTF-8 is UTF-8; also with a few invalid bytes (other encodings are never that close to it).
3. Otherwise every candidate, declared ones first, decodes a sample and is scored by its resemblance to a language: common
   Chinese characters, kana, Hangul, Cyrillic and accented letters inside words count for it; rare ideographs, runs of accented
   letters, private-use and replacement characters against it. A declared one wins unless another is clearly better.
4. charset-normalizer guesses if no candidate scores well and nothing is declared.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Final

BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_LABELS: Final = """
utf-8: utf8 utf-8 unicode-1-1-utf-8 unicode
utf-16-le: utf-16le utf-16 ucs-2
utf-16-be: utf-16be
gb18030: gb18030 gb2312 gb_2312 gb_2312-80 gb2312-80 gbk x-gbk cp936 ms936 gb csgb2312 chinese iso-ir-58 euc-cn hz-gb-2312
big5hkscs: big5 big5-hkscs big-5 big5hk x-x-big5 cn-big5 csbig5 big5-eten cp950
euc_jis_2004: euc-jp x-euc-jp eucjp
cp932: shift_jis shift-jis sjis x-sjis ms_kanji windows-31j ms932 cp932
iso2022_jp: iso-2022-jp csiso2022jp
cp949: euc-kr euckr ks_c_5601-1987 ks_c_5601 ksc5601 ksc_5601 windows-949 korean uhc cp949
cp1252: iso-8859-1 latin1 latin-1 iso8859-1 iso_8859-1 windows-1252 cp1252 ascii us-ascii x-cp1252 l1
iso8859-15: iso-8859-15 latin-9 iso8859-15
cp1250: windows-1250 cp1250 x-cp1250
iso8859-2: iso-8859-2 latin2 iso8859-2
cp1251: windows-1251 cp1251 x-cp1251
koi8-r: koi8-r koi koi8
koi8-u: koi8-u
iso8859-5: iso-8859-5
cp1253: windows-1253 cp1253
iso8859-7: iso-8859-7 greek
cp1254: windows-1254 iso-8859-9 latin5 cp1254
cp1255: windows-1255 iso-8859-8 iso-8859-8-i hebrew
cp1256: windows-1256 iso-8859-6 arabic
cp1257: windows-1257 iso-8859-13 iso-8859-4
cp1258: windows-1258
cp874: windows-874 tis-620 iso-8859-11
"""
LABELS: Final[dict[str, str]] = {
    label: codec for codec, _, labels in (line.partition(":") for line in _LABELS.strip().splitlines()) for label in labels.split()
}
"""Labels used by pages → the most comprehensive codec (WHATWG's table, and other labels seen). No other labels are looked up."""

DECLARATION: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,400}?\b(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w:.+-]{2,40})", re.IGNORECASE
)
HEADER: Final = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.+-]{2,40})", re.IGNORECASE)

DECLARATION_BYTES: Final = 262_144  # bytes searched for a declaration: the standard says 1,024, pages put scripts and comments before it
USUAL_CODECS: Final = ("gb18030", "big5hkscs", "cp949", "cp932", "euc_jis_2004", "cp1252", "cp1251", "koi8-r")
"""Tried besides declared ones, most common on the Web first."""

SAMPLE_BYTES: Final = 6_000
NON_ASCII: Final = re.compile(rb"[\x80-\xff]")
MAX_INVALID_SHARE: Final = 0.05
"""UTF-8 with a smaller share of invalid sequences among multi-byte ones is still UTF-8; GBK read as UTF-8 exceeds 0.8."""

GOOD_SCORE: Final = 0.45
"""A declared encoding with this score is accepted at once: correct readings of news pages score 0.5 to 1, wrong ones below 0.3."""

BAD_SCORE: Final = 0.1  # below this no candidate is right; charset-normalizer knows rarer encodings
GARBLED_SHARE: Final = 0.005
"""Share of a text's characters: one undecodable character on every second page of a book may be the author's; one per paragraph is not."""

GARBLED_SCORE: Final = -0.2
"""Texts in scripts that are not scored have 0; GBK read as Latin-1 or Big5, and UTF-8 read as GBK, score lower."""

DECLARED_BONUS: Final = 0.12  # minimum advantage of another reading over the declared one


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """Return the text of ``body`` (``content_type``: the header), and the codec used. Never raises: invalid bytes become U+FFFD."""
    for mark, codec in BOMS:
        if body.startswith(mark):
            return body.decode(codec, "replace"), codec.removesuffix("-sig")
    if wide := _utf16(body):
        return body.decode(wide, "replace"), wide
    if b"\x1b" in body and b"\x1b$" in body and "iso2022_jp" in _declared(body, content_type):
        return body.decode("iso2022_jp", "replace"), "iso2022_jp"
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    sample = _sample(body)
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    if broken <= MAX_INVALID_SHARE * (beyond_ascii - broken):  # still UTF-8
        return body.decode("utf-8", "replace"), "utf-8"
    declared = [name for name in dict.fromkeys(_declared(body, content_type)) if not name.startswith("utf")]
    codec = _best_reading(sample, declared)
    return body.decode(codec, "replace"), codec


def is_garbled(text: str) -> bool:
    """Return whether ``text`` was decoded wrongly: U+FFFD, control and private-use characters, or no resemblance to a language."""
    if not text or text.isascii():
        return False
    odd = len(_UNREAD.findall(text))
    return odd > max(2, GARBLED_SHARE * len(text)) or _score(text[:SAMPLE_BYTES]) < GARBLED_SCORE


def _utf16(body: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: markup is ASCII, so every second byte of it is zero."""
    head = body[:2048]
    if head.count(0) < max(8, len(head) / 20):
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if odd > 4 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 4 * odd else None


def _declared(body: bytes, content_type: str | None) -> Iterator[str]:
    match = HEADER.search(content_type or "")
    labels = [match[1]] if match else []
    labels += [found.decode("ascii") for found in DECLARATION.findall(body[:DECLARATION_BYTES])[:4]]
    yield from filter(None, (LABELS.get(label.lower().strip()) for label in labels))


def _best_reading(sample: bytes, declared: list[str]) -> str:
    best, best_score = "", -2.0
    for codec in dict.fromkeys((*declared, *USUAL_CODECS)):
        score = _score(sample.decode(codec, "replace"))
        if codec in declared:
            if score >= GOOD_SCORE:
                return codec
            score += DECLARED_BONUS
        if score > best_score:
            best, best_score = codec, score
    if best_score < BAD_SCORE and not declared:
        from charset_normalizer import from_bytes  # loaded late: most pages never need it

        found = from_bytes(sample).best()
        if found and not found.encoding.startswith("utf"):
            return LABELS.get(found.encoding.replace("_", "-"), found.encoding)
    return best


def _sample(body: bytes) -> bytes:
    """Return text with non-ASCII bytes, without tags. ``<`` is not a second byte in any of the encodings, so no character is split."""
    parts, size = [], 0
    for part in body[: 4 * DECLARATION_BYTES].split(b"<"):
        text = part.rpartition(b">")[2]
        if not text.isascii():
            first = NON_ASCII.search(text)
            parts.append(text[first.start() if first else 0 :][:2000])
            size += len(parts[-1])
            if size > SAMPLE_BYTES:
                break
    return b" ".join(parts) or body[:SAMPLE_BYTES]


_COMMON: Final = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都"
    "同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问"
    "很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论"
    "处走义各入几口认条平系气题活报记网市京北南据称者京闻时经济社会发展企业市场部门记者报道今年月日万元"
    "這個們來為國說時會對過發後裡種經麼學現當動還進樣開從實軍無與長機關點業將兩間問應戰頭體見產話東聲員論義條氣報記網據稱聞濟社會展門萬"
    "日本語見方何者入間者時分前東京新聞社長国会市内年月大中小行事場合性的目氏同後思言手力部気場地全体今回以上自員"
)
_KOREAN: Final = "이다는가을의에를은지고하한로서기사도자시대인어리나정일과해상있보수아부전들으"
_COMMON_CHARACTERS: Final = re.compile(
    rf"[{_COMMON}{_KOREAN}\u3041-\u30fc\u3001\u3002\u300a-\u300f\uff0c\uff1a\uff1b\uff01\uff1f\uff08\uff09]"
)
_FITTING: Final = re.compile(  # begins with a character, so that all others are skipped at once
    r"[À-ÖØ-öø-ÿŒœŠšŽž‘’“”–—…·©«»¿¡°€£\u0430-\u044f](?:(?<=[À-ÖØ-öø-ÿŒœŠšŽž])(?=[a-z\s,.;:!?])(?<![^\x00-\x7f].)"
    r"|(?<=[‘’“”–—…·©«»¿¡°€£])(?![^\x00-\x7f])(?<![^\x00-\x7f].)|(?<=[\u0430-\u044f])(?=[\u0430-\u044f])|(?<=[\u0430-\u044f]{2}))"
)
_AGAINST: Final = re.compile(
    r"(?=[^\x00-\x7f\u4e00-\u9fff]|[\u4e00-\u9fff][\uac00-\ud7a3]|[a-zA-Z][^\x00-\x7f])(?:[\ufffd\x80-\x9f\ue000-\uf8ff\uff61-\uff9f\u3400-\u4dbf\u2500-\u259f]|[À-ÿ]{3}|[\u4e00-\u9fff][\uac00-\ud7a3]|[\uac00-\ud7a3][\u4e00-\u9fff]"
    r"|[\u0430-\u044f][\u0410-\u042f]|[a-zA-Z][\u4e00-\u9fff][a-zA-Z]|[\u0400-\u040f\u0450-\u045f]{2}|[a-zA-Z][\u0400-\u04ff]|[\u0400-\u04ff][a-zA-Z])"
)
_MAY_BE_AGAINST: Final = re.compile(r"[À-ÿ\ufffd\x80-\x9f\ue000-\uf8ff\uff61-\uff9f\u3400-\u4dbf\u2500-\u259f\u0400-\u04ff\uac00-\ud7a3]")
_AMID_LETTERS: Final = re.compile(r"[a-zA-Z][\u4e00-\u9fff][a-zA-Z]")  # the other patterns of _AGAINST: most samples have neither

_UNREAD: Final = re.compile("[\ufffd\x80-\x9f\ue000-\uf8ff]")


def _score(text: str) -> float:
    """Score text from about -1 (garbage) to 1 (a language): share of non-ASCII characters for the reading minus the share against it."""
    total = len(text) - len(text.encode("ascii", "ignore"))
    if not total:
        return 0.0
    against = len(_AGAINST.findall(text)) if _MAY_BE_AGAINST.search(text) or _AMID_LETTERS.search(text) else 0
    return (len(_COMMON_CHARACTERS.findall(text)) + len(_FITTING.findall(text)) - 2 * against) / total
