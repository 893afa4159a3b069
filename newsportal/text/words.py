"""Word segmentation: one interface to several segmenters.

``rjieba`` (jieba's algorithm and dictionary, compiled) if there is a wheel for the machine, else ``jieba``; both choose the most probable
path through the dictionary, and use a hidden Markov model for unknown words. :func:`signature` identifies the segmenter and the user words
in use: stored segmentations (a search index) are valid as long as it stays the same.
"""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from newsportal.text.characters import cache_once, encodable, fold_characters

_STOP_CHARACTERS = (
    "的了是在和与與有这這那不也就都而及着著或被把为為于於从從对對将將但并並因所以其之们們个個中上到说說要会會能让讓向等后後还還很又已"
)
_STOP_WORDS = (
    "the of and to in is that it for on was with as by at be this from are or an have has not but his her they we you he she who which "
    "will would der die das und den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach "
    "wird bei einer um am le la les de des du et en un une est que qui dans pour pas sur au avec son sa ses il elle par plus ce cette ne "
    "se el los las del y una por con para su al lo como más pero sus o este sí porque esta entre cuando muy sin sobre también il che di "
    "non per sono della nel alla i gli da dei delle è si os do em não dos mas foi ao ele w na z się nie to jest że jak od и в во не что "
    "он на я с со как а то все она так его но да ты к у же вы за бы по ve bir bu için ile çok het een van niet te zijn op aan met voor "
    "och att det som på av är för har"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
STOP_CHARACTER = re.compile(f"[{_STOP_CHARACTERS}のはをがにでとも은는이가을를의에]")
WORDS = re.compile(r"\w+")


def has_stop_word(text: str) -> bool:
    """Return whether ``text`` has a word typical of sentences: a stop word of Chinese (as characters, without segmentation), Japanese,
    Korean or a European language (thesis E, definition 2.6)."""
    return (not text.isascii() and STOP_CHARACTER.search(text) is not None) or not STOP_WORDS.isdisjoint(WORDS.findall(text.lower()))


WORD = re.compile(r"\w", re.UNICODE)

ENGINES = ("rjieba", "jieba")
"""In order of preference; the first that can be imported is used (docs/algorithms/words.md compares them)."""

MAX_USER_WORD = 32  # maximum length of a user word. jieba's dictionary ends at 16; longer ones are sentences.

ENDLESS_RUN = re.compile("([\u4e00-\u9fff]{1000})")
"""Such long Chinese without punctuation is not text: jieba's Markov model (quadratic: 47 s for 的 100,000 times) gets it in pieces."""


class Cutter(NamedTuple):
    """A segmenter with its dictionary. Both functions are thread-safe."""

    signature: str  # segmenter, its version and a hash of the user words
    cut: Callable[[str], Iterable[str]]
    cut_for_search: Callable[[str], Iterable[str]]


def segment(text: str) -> list[str]:
    """Return the words of ``text`` in order, with punctuation, without white space."""
    return [word for word in cutter().cut(encodable(text)) if not word.isspace()]


def search_words(text: str) -> Iterator[str]:
    """Return the words of ``text`` for an index: segmented, with the shorter words in every long word (search mode)."""
    return (word for word in cutter().cut_for_search(encodable(text)) if WORD.search(word))


_MAKING = Lock()
_user_words: frozenset[str] = frozenset()
_cutter: Cutter | None = None


def set_user_words(words: Iterable[str]) -> None:
    """Set the user words of this process (replacing earlier ones), each to be segmented as one word.

    They are meant for names missing in the dictionary; folded texts (search, keywords) use them, too. Surrounding blanks are removed;
    empty, single-character and overlong ones (:data:`MAX_USER_WORD`) are ignored.
    """
    global _user_words, _cutter
    valid = {word for word in map(str.strip, words) if 1 < len(word) <= MAX_USER_WORD and WORD.search(word)}
    user_words = frozenset(valid | set(map(fold_characters, valid)))
    with _MAKING:
        if user_words != _user_words:
            _user_words, _cutter = user_words, None


def cutter() -> Cutter:
    """Return the current segmenter, created on first use: the dictionary takes a tenth of a second (jieba: half a second)."""
    global _cutter
    if (current := _cutter) is not None:
        return current
    with _MAKING:
        if _cutter is None:
            _cutter = open_cutter(_user_words)
        return _cutter


def signature() -> str:
    """Return segmenter, version and user words. Texts segmented under the same signature were segmented alike."""
    return cutter().signature


def open_cutter(user_words: Iterable[str] = (), engine: str | None = None) -> Cutter:
    """Open a segmenter with user words: the named one (``ImportError`` if not installed), else the first of :data:`ENGINES`."""
    words = sorted(set(user_words))
    if engine:
        return _OPENERS[engine](words)
    for name in ENGINES[:-1]:
        with suppress(ImportError):  # no wheel for this machine
            return _OPENERS[name](words)
    return _OPENERS[ENGINES[-1]](words)


def _signature(name: str, user_words: Sequence[str]) -> str:
    joined = "\n".join(user_words).encode("utf-8", "replace")
    return f"{name} {version(name)}" + (f" +{blake2b(joined, digest_size=8).hexdigest()}" if user_words else "")


def _rjieba(user_words: Sequence[str]) -> Cutter:
    import rjieba

    if not user_words:
        return Cutter(_signature("rjieba", user_words), rjieba.cut, rjieba.cut_for_search)
    with_words = rjieba.Jieba()
    for word in user_words:
        with_words.add_word(word, None, None)
    return Cutter(_signature("rjieba", user_words), with_words.cut, with_words.cut_for_search)


def _jieba(user_words: Sequence[str]) -> Cutter:
    """Load the dictionary ourselves: jieba would write and trust a file in the shared temporary folder."""
    with warnings.catch_warnings():  # jieba 0.42.1 has invalid escapes and imports pkg_resources
        warnings.simplefilter("ignore")
        import jieba

        jieba.setLogLevel("CRITICAL")
        tokenizer = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
    for word in user_words:
        tokenizer.add_word(word)
    return Cutter(_signature("jieba", user_words), _in_pieces(tokenizer.cut), _in_pieces(tokenizer.cut_for_search))


def _in_pieces(cut: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    return lambda text: chain.from_iterable(map(cut, filter(None, ENDLESS_RUN.split(text))))


_OPENERS: dict[str, Callable[[Sequence[str]], Cutter]] = {"rjieba": _rjieba, "jieba": _jieba}

DICTIONARY_FILE, IDF_FILE = "dict.txt", "analyse/idf.txt"  # files of jieba


@cache_once
def dictionary() -> frozenset[str]:
    """Return the 349,046 words of the dictionary (60 MB, read in 0.3 s on first use)."""
    return frozenset(word for word, _ in parts_of_speech())


def parts_of_speech() -> Iterator[tuple[str, str]]:
    """Yield each word of the dictionary with its ICTCLAS part of speech: ``n…`` nouns (``nr`` persons, ``ns`` places), ``v`` verbs …"""
    for line in _lines(DICTIONARY_FILE):
        word, _, rest = line.partition(" ")
        yield word, rest.rpartition(" ")[2]


def word_idf() -> dict[str, float]:
    """Return the inverse document frequency of 270,000 words, ln(documents / documents with the word), as counted by jieba's author.

    Reads the file at every call (0.2 s): callers keep what they need.
    """
    pairs = (line.rpartition(" ") for line in _lines(IDF_FILE))
    return {word: float(value) for word, _, value in pairs if word}


def dictionary_version() -> tuple[tuple[int, int], ...]:
    """Return size and time of the files of :func:`parts_of_speech` and :func:`word_idf`: derived data is valid while they are unchanged."""
    facts = (_path(name).stat() for name in (DICTIONARY_FILE, IDF_FILE))
    return tuple((fact.st_size, fact.st_mtime_ns) for fact in facts)


def _lines(name: str) -> Iterator[str]:
    with _path(name).open(encoding="utf-8") as lines:
        yield from (line.rstrip("\n") for line in lines)


def _path(name: str) -> Path:
    """Return the path of a file of jieba, without importing jieba."""
    spec = find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("jieba is not installed; its dictionary is needed: pip install jieba", name="jieba")
    return Path(spec.submodule_search_locations[0]) / name


# Forward maximum matching, the segmenter of paper B: at each position the longest word of the dictionary is taken.

TOKEN = re.compile(r"[A-Za-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|\S")
"""A word of letters and digits, a run of Chinese characters, or any other character except white space."""


def forward_maximum(text: str, words: Collection[str] | None = None) -> list[str]:
    """Segment ``text`` by the longest match in ``words`` (by default jieba's dictionary), with punctuation, without white space. A
    character that starts no word is returned on its own."""
    lexicon, longest = _default() if words is None else (frozenset(words), _longest(frozenset(words)))
    cut: list[str] = []
    longest_of, add = longest.get, cut.append
    for piece in TOKEN.findall(text):
        if len(piece) == 1 or piece.isascii():
            add(piece)
        else:
            place, end = 0, len(piece)
            while place < end:
                word = piece[place : place + 2]
                length = longest_of(word, 1)
                if length == 1:
                    word = word[0]
                elif length > 2:  # the two characters may not be a word by themselves
                    word = piece[place : place + length]
                    while word not in lexicon and len(word) > 1:
                        word = word[:-1]
                add(word)
                place += len(word)
    return cut


def _longest(lexicon: frozenset[str]) -> dict[str, int]:
    """Return the length of the longest word that starts with two given characters: most positions need one or two lookups."""
    longest: dict[str, int] = {}
    for word in lexicon:
        if len(word) > longest.get(word[:2], 1):
            longest[word[:2]] = len(word)
    return longest


@cache
def _default() -> tuple[frozenset[str], Mapping[str, int]]:
    return dictionary(), _longest(dictionary())
