"""Characters: what is cleaned away, the forms in which texts are compared, and the script that a reader reads. The only door to OpenCC."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from importlib.resources import files
from threading import Lock
from typing import Any, Literal, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Soft hyphen, zero-width and direction marks: they carry no text, and titles are padded with them."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 and terminals cannot take: control characters but tab and line feed, lone surrogates, non-characters."""

NO_LETTERS = re.compile(r"[\W_]+")
CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Chinese characters (unified ideographs with extensions and compatibility forms)."""

_CJK_RUNS = re.compile(f"{CJK.pattern}+")
_HAN_RUNS = re.compile("[\u4e00-\u9fef]+")  # letters in every version of Unicode since 11


def clean(text: str) -> str:
    """``text`` on one line: no invisible or control characters, every run of white space one space."""
    text = " ".join(text.split())
    if text.isprintable():  # of what is taken out nothing is
        return text
    return " ".join(CONTROL.sub(" ", INVISIBLE.sub("", text)).split())


def encodable(text: str) -> str:
    """``text`` with question marks for lone surrogates, which no segmenter and no RE2 takes: one character for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def normalise(text: str) -> str:
    """The form in which texts are compared: NFKC (full width becomes half width), simplified characters, lower case, cleaned.

    Characters alone decide, not words: where one has several simplified forms (瞭解 is 了解, 瞭望 stays) all of them become one, so
    that both scripts come out alike. It is no text to read.
    """
    return clean(unicodedata.normalize("NFKC", text).translate(_joining())).lower()


def letters(text: str) -> str:
    """The letters and digits of the normalised text alone: punctuation and white space differ between reposts."""
    return NO_LETTERS.sub("", normalise(text))


def chinese_share(text: str) -> float:
    """The share (0 to 1) of Chinese characters among the letters of ``text``."""
    found = len(text) - len(_CJK_RUNS.sub("", text)) if CJK.search(text) else 0
    others = _HAN_RUNS.sub("", text) if found else ""
    total = len(text) - len(others) + sum(map(str.isalpha, others))
    return found / total if total else 0.0


FOLDED_PLANES = 0x30000  # characters up to here are folded: the basic plane, the supplementary and the ideographic plane


def made_once(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """As :func:`functools.cache`, and what all threads of a crawl ask for at the same moment is made once."""
    cached, lock = cache(make), Lock()

    @wraps(make)
    def once(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return once


@cache
def all_characters() -> str:
    """The characters of the folded planes: the place of each is its code point."""
    return array("I", range(FOLDED_PLANES)).tobytes().decode("utf-32", "surrogatepass")


BLOCK = 256  # characters looked at together for whether any of them changes: most blocks are ideographs and Hangul, which do not


@made_once
def _changed_forms() -> tuple[str, ...]:
    """The characters that NFKC or lower case changes."""
    blocks = (all_characters()[start : start + BLOCK] for start in range(0, FOLDED_PLANES, BLOCK))
    return tuple(
        character
        for block in blocks
        if not (unicodedata.is_normalized("NFKC", block) and block == block.lower())
        for character in block
        if not (unicodedata.is_normalized("NFKC", character) and character == character.lower())
    )


@made_once
def _folding() -> dict[int, str]:
    """One character for one: full width, compatibility form, traditional and capital become the plain one."""
    simple = {traditional: forms[0] for traditional, forms in _dictionary("TSCharacters.txt")}
    table: dict[int, str] = {}
    for character in {*simple, *_changed_forms()}:
        plain = unicodedata.normalize("NFKC", character)
        plain = simple.get(plain, plain).lower()
        if len(plain) == 1 and plain != character:
            table[ord(character)] = plain
    return table


@made_once
def _joining() -> dict[int, str]:
    """As :func:`_folding`, and all simplified forms of a character become one."""
    folded = _folding()
    one: dict[str, str] = {}
    several = [(old, new) for old, forms in _dictionary("TSCharacters.txt") if len(forms) > 1 for new in forms]
    words = [(old, new) for old_word, new_words in _dictionary("TSPhrases.txt") for old, new in zip(old_word, new_words[0], strict=False)]
    for pair in (*several, *words):
        first, second = (_end(one, folded.get(ord(character), character)) for character in pair)
        if first != second:
            one[second] = first
    return {code: _end(one, plain) for code, plain in folded.items()} | {ord(form): _end(one, form) for form in one}


def changed_characters() -> dict[str, str]:
    """The characters of the folded planes that :func:`normalise` does not leave as they are, with their :func:`letters`."""
    changed = frozenset(_changed_forms()).union(map(chr, _joining()))
    forms = unicodedata.normalize("NFKC", "\n".join(changed)).translate(_joining()).lower()  # no line break is among them
    return dict(zip(changed, (NO_LETTERS.sub("", form) for form in forms.split("\n")), strict=True))


def _end(one: dict[str, str], form: str) -> str:
    while form in one:
        form = one[form]
    return form


def _dictionary(name: str) -> list[tuple[str, list[str]]]:
    """One of OpenCC's: each traditional character or word with its simplified forms, the usual one first."""
    lines = (files("opencc") / "dictionary" / name).read_text(encoding="utf-8").splitlines()
    entries = (line.split("\t") for line in lines if "\t" in line)
    return [(entry, translations.split(" ")) for entry, translations in entries]


def fold_characters(text: str) -> str:
    """``text`` with every character in its plain form, at the same place: ``fold_characters(text)[i]`` comes from ``text[i]``.

    What :func:`normalise` does as far as it goes character by character: fast enough for full texts (40 MB/s), and found places can
    be marked in the original. Characters whose plain form is longer (``㎏``) stay.
    """
    return text.translate(_folding())


def visible_length(text: str) -> int:
    """The number of characters that are not white space."""
    return sum(map(len, text.split()))


# Chinese in the script that a reader reads. For showing only: texts are stored, searched and compared as :func:`normalise` has them.

Script = Literal["simplified", "traditional"]

CONVERSIONS: dict[Script, str] = {"simplified": "t2s", "traditional": "s2tw"}
"""OpenCC's: ``s2tw`` has the forms that readers in Taiwan and Hong Kong write (為, 吃), ``s2t`` those of its own standard (爲, 喫)."""

TAGS: dict[Script, str] = {"simplified": "zh-Hans", "traditional": "zh-Hant"}
"""What stands in ``lang`` then: the browser chooses letter forms by it."""

REMEMBERED_CHARS = 400  # titles and beginnings stand on many pages and are remembered; whole texts are not
REMEMBERED = 10_000  # of them, some 10 MB

MAX_CHARS = 100_000  # characters of one text that are converted (0.2 s); what follows stays as it is. A long novel's chapter has 10,000.
KANA = re.compile("[\u3041-\u30ff]")  # Japanese: its characters are its own
TAG = re.compile(r'<(?:"[^"]*"|[^">])*>')


def convert(text: str, script: Script) -> str:
    """``text`` in ``script``. What is not Chinese stays; so does a text with Japanese letters."""
    if text.isascii() or not CJK.search(text) or KANA.search(text):
        return text
    if len(text) <= REMEMBERED_CHARS:
        return _remembered(text, script)
    return _converted(text[:MAX_CHARS], script) + text[MAX_CHARS:]


def convert_html(fragment: str, script: Script) -> str:
    """A clean fragment of HTML with its text in ``script``; tags stay letter by letter."""
    if KANA.search(fragment):
        return fragment
    pieces: list[str] = []
    last = 0
    for tag in TAG.finditer(fragment, 0, MAX_CHARS):
        pieces += [convert(fragment[last : tag.start()], script), tag[0]]
        last = tag.end()
    return "".join([*pieces, convert(fragment[last:], script)])


def _converted(text: str, script: Script) -> str:
    return str(_converter(script).convert(text))


_remembered = lru_cache(maxsize=REMEMBERED)(_converted)


@made_once
def _converter(script: Script) -> Any:
    """Loading its dictionaries takes 0.1 s, once."""
    from opencc import OpenCC

    return OpenCC(CONVERSIONS[script])
