"""Cutting text into words: one door before several segmenters.

``rjieba`` (jieba's algorithm and dictionary, compiled) where there is a wheel for the machine, ``jieba`` itself elsewhere; both cut by
the most probable path through the dictionary and by a hidden Markov model where it ends. Which of them is at work, with which words
of one's own, is told by :func:`signature`: what is kept of cuts (a search index) is good as long as it stays the same.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import version
from itertools import chain
from threading import Lock
from typing import NamedTuple

from newsportal.text.characters import fold_characters

WORD = re.compile(r"\w", re.UNICODE)

ENGINES = ("rjieba", "jieba")
"""In the order in which they are tried; the first that can be imported is taken (docs/algorithms/words.md compares them)."""

MAX_OWN_WORD = 32
"""Characters of the longest own word. jieba's dictionary ends at 16; what is longer is a sentence."""


ENDLESS = re.compile("([\u4e00-\u9fff]{1000})")
"""Chinese without any punctuation for so long is no text. jieba's Markov model takes quadratic time there (47 s for 的 100,000 times), so
that it gets such runs in pieces."""


class Cutter(NamedTuple):
    """A segmenter with its dictionary. Both functions may be called from several threads at once."""

    signature: str  # segmenter, its version and a hash of the own words
    cut: Callable[[str], Iterable[str]]
    cut_for_search: Callable[[str], Iterable[str]]


def segment(text: str) -> list[str]:
    """The words of ``text`` in order, with punctuation, without white space."""
    return [word for word in _cut(cutter().cut, text) if not word.isspace()]


def search_words(text: str) -> Iterator[str]:
    """The words of ``text`` for an index: segmented, and every long word's shorter words too (search mode)."""
    return (word for word in _cut(cutter().cut_for_search, text) if WORD.search(word))


def _cut(cut: Callable[[str], Iterable[str]], text: str) -> Iterable[str]:
    """Lone surrogates, which no segmenter takes, become question marks: one character for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return cut(text)


_MAKING = Lock()
_own: frozenset[str] = frozenset()
_cutter: Cutter | None = None


def use_words(words: Iterable[str]) -> None:
    """From now on this process cuts with these words of one's own (in place of earlier ones), each as one word.

    They are meant for names that the dictionary does not have; folded texts (search, keywords) are cut with them too. Blanks around
    them are taken off; empty, single and overlong ones (:data:`MAX_OWN_WORD`) say nothing and are left out.
    """
    global _own, _cutter
    given = {word for word in map(str.strip, words) if 1 < len(word) <= MAX_OWN_WORD and WORD.search(word)}
    own = frozenset(given | set(map(fold_characters, given)))
    with _MAKING:
        if own != _own:
            _own, _cutter = own, None


def cutter() -> Cutter:
    """The segmenter at work. It is made when it is first needed: the dictionary takes a tenth of a second (jieba: half a second)."""
    global _cutter
    if (made := _cutter) is not None:
        return made
    with _MAKING:
        if _cutter is None:
            _cutter = open_cutter(_own)
        return _cutter


def signature() -> str:
    """Segmenter, version and own words. Texts cut under the same signature were cut alike."""
    return cutter().signature


def open_cutter(own: Iterable[str] = (), engine: str | None = None) -> Cutter:
    """A segmenter with words of one's own: the named one (``ImportError`` if it is not here), else the first of :data:`ENGINES`."""
    words = sorted(set(own))
    if engine:
        return _OPENERS[engine](words)
    for name in ENGINES[:-1]:
        with suppress(ImportError):  # no wheel for this machine
            return _OPENERS[name](words)
    return _OPENERS[ENGINES[-1]](words)


def _signature(name: str, own: Sequence[str]) -> str:
    together = "\n".join(own).encode("utf-8", "replace")
    return f"{name} {version(name)}" + (f" +{blake2b(together, digest_size=8).hexdigest()}" if own else "")


def _rjieba(own: Sequence[str]) -> Cutter:
    import rjieba

    if not own:
        return Cutter(_signature("rjieba", own), rjieba.cut, rjieba.cut_for_search)
    with_words = rjieba.Jieba()
    for word in own:
        with_words.add_word(word, None, None)
    return Cutter(_signature("rjieba", own), with_words.cut, with_words.cut_for_search)


def _jieba(own: Sequence[str]) -> Cutter:
    """A dictionary of our own making: jieba's start would write and trust a file in the common temporary folder."""
    with warnings.catch_warnings():  # jieba 0.42.1 has invalid escapes and imports pkg_resources
        warnings.simplefilter("ignore")
        import jieba

        jieba.setLogLevel("CRITICAL")
        tokenizer = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
    for word in own:
        tokenizer.add_word(word)
    return Cutter(_signature("jieba", own), _in_pieces(tokenizer.cut), _in_pieces(tokenizer.cut_for_search))


def _in_pieces(cut: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    def cut_pieces(text: str) -> Iterable[str]:
        return chain.from_iterable(map(cut, filter(None, ENDLESS.split(text))))

    return cut_pieces


_OPENERS: dict[str, Callable[[Sequence[str]], Cutter]] = {"rjieba": _rjieba, "jieba": _jieba}
