"""Tokenization of texts and queries: words for ranking, characters and pairs of characters so that nothing is missed.

A text is folded (simplified, half width, lower case) and split into *runs* of Chinese characters, or of letters and digits. A Chinese run
is segmented into words (jieba); if jieba segments a text and a query differently, pairs of characters still match: 「张伟峰」 has 张伟 and
伟峰 wherever the boundaries are.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from newsportal.text import CJK, INVISIBLE, fold_characters, search_words, segment

_CJK = CJK.pattern[1:-1]
RUN = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")
MAX_WORD = 64  # longer runs of letters (base64, hashes) are cut: no query needs them


def plain(text: str) -> str:
    return fold_characters(unicodedata.normalize("NFKC", INVISIBLE.sub("", text)))


def runs(text: str) -> Iterator[str]:
    """Yield Chinese runs and words of letters or digits, in order, in plain form."""
    for found in RUN.finditer(plain(text)):
        yield found[0] if is_chinese(found[0]) else found[0][:MAX_WORD]


def is_chinese(run: str) -> bool:
    return CJK.match(run) is not None


def index_words(text_runs: Iterable[str]) -> Iterator[str]:
    """Yield the words for search and ranking from :func:`runs`. Single Chinese characters are left to :func:`grams`."""
    for run in text_runs:
        yield from (word for word in search_words(run) if len(word) > 1) if is_chinese(run) else (run,)


def query_words(text: str) -> list[str]:
    """Return the distinct words of a query in order, including single characters."""
    return list(dict.fromkeys(word for run in runs(text) for word in (segment(run) if is_chinese(run) else [run])))


def grams(text_runs: Iterable[str]) -> set[str]:
    """Return all single Chinese characters, all pairs of adjacent ones, and all words of letters and digits of :func:`runs`."""
    found: set[str] = set()
    for run in text_runs:
        if is_chinese(run):
            found.update(run, map(str.__add__, run, run[1:]))
        else:
            found.add(run)
    return found


def query_grams(text: str) -> list[str]:
    """Return the :func:`grams` that a text must have to contain every run of ``text``: pairs, and runs of a single character."""
    found: list[str] = []
    for run in runs(text):
        found.extend(map(str.__add__, run, run[1:]) if is_chinese(run) and len(run) > 1 else [run])
    return list(dict.fromkeys(found))


def sequence(text: str) -> str:
    """Return ``text`` in the form for comparing phrases: every Chinese character and every word between spaces, without punctuation."""
    return f" {' '.join(token for run in runs(text) for token in (run if is_chinese(run) else [run]))} "
