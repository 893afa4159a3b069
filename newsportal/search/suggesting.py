"""Query completion: the suggestions that articles provide, and the part of a query to complete. Every index suggests the same."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from newsportal.search.match import QUOTES
from newsportal.search.words import RUN, index_words, is_chinese, plain, runs
from newsportal.text import STOP_WORDS, segment

MAX_CHARS = 32  # maximum length of a suggestion, and of the text completed
QUOTED = re.compile("《([^《》]{2,32})》|“([^“”]{2,32})”|「([^「」]{2,32})」|『([^『』]{2,32})』")
"""Names within a title: works, slogans, nicknames."""

LAST_WORD = re.compile(r'(?:^|(?<=[\s"+:-]))[^\s"+:-][^\s"+:]*$')  # the word being typed
MAX_TRIES = 3  # if a tail starts no suggestion, its last words are completed: 旅游公 → 旅游 + 公 → 旅游公园


class Suggestion(NamedTuple):
    """A suggestion. ``plain`` is compared with the input, ``shown`` is displayed. ``topic``: whether it is a topic of the portal."""

    plain: str
    shown: str
    topic: bool


class Completion(NamedTuple):
    """A completion to search: ``head`` is kept; it is followed by suggestions whose plain form begins with ``prefix``."""

    head: str
    prefix: str


def suggestions_of(title: str, topics: Iterable[str]) -> set[Suggestion]:
    """Return topics as they are, names in quotes from the title, and its significant words of two characters or more."""
    found = {Suggestion(comparable(topic), topic, True) for topic in topics}
    for quoted in QUOTED.findall(title):
        name = next(filter(None, quoted)).strip()
        found.add(Suggestion(comparable(name), name, False))
    found.update(Suggestion(word, word, False) for word in index_words(runs(title)) if word not in STOP_WORDS and not word.isdecimal())
    return {offer for offer in found if len(offer.plain) > 1 and len(offer.shown) <= MAX_CHARS}


def comparable(text: str) -> str:
    """Return ``text`` in the form for comparing suggestions: plain, only letters, digits and Chinese characters."""
    return "".join(RUN.findall(plain(text)))


def completions(typed: str) -> Iterator[Completion]:
    """Yield what may be completed, longest first; nothing if no word has begun."""
    found = LAST_WORD.search(typed[-10 * MAX_CHARS :].translate(QUOTES))
    if not found:
        return
    head = typed[: len(typed) - len(found[0])]
    tail = plain(found[0])
    if prefix := comparable(tail)[:MAX_CHARS]:
        yield Completion(head, prefix)
    words = segment(tail[-MAX_CHARS:]) if is_chinese(tail[-1:]) else []
    for at in range(1, min(len(words), MAX_TRIES)):
        if prefix := comparable("".join(words[at:])):
            yield Completion(head + "".join(words[:at]), prefix)


Lookup = Callable[[str, int], Sequence[tuple[str, str]]]
"""(prefix, limit) → (plain, shown) of matching suggestions: topics first, then by frequency, then by displayed form."""


def suggest(typed: str, limit: int, lookup: Lookup) -> tuple[str, ...]:
    found = (head + display for head, prefix in completions(typed) for folded, display in lookup(prefix, limit + 1) if folded != prefix)
    return tuple(islice(dict.fromkeys(found), max(0, limit)))
