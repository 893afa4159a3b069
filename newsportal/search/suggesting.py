"""What an article offers to complete a query with, and what of a query is completed. Every index suggests the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from newsportal.search.match import QUOTES
from newsportal.search.words import RUN, index_words, is_chinese, plain, runs
from newsportal.text import STOP_WORDS, segment

MAX_CHARS = 32  # of a suggestion, and of what is completed
QUOTED = re.compile("《([^《》]{2,32})》|“([^“”]{2,32})”|「([^「」]{2,32})」|『([^『』]{2,32})』")
"""Names within a title: works, slogans, what somebody is called."""

TAIL = re.compile(r'(?:^|(?<=[\s"+:-]))[^\s"+:-][^\s"+:]*$')  # the word that is being typed
MOST_TRIES = 3  # of a tail that begins no suggestion, the last words are completed: 旅游公 → 旅游 + 公 → 旅游公园


class Offer(NamedTuple):
    """``plain`` is what is compared with what was typed, ``shown`` what is suggested. ``topic``: it is one of the portal's topics."""

    plain: str
    shown: str
    topic: bool


class Completion(NamedTuple):
    """``head`` stays as it is; suggestions whose plain form begins with ``prefix`` follow it."""

    head: str
    prefix: str


def offers(title: str, topics: Iterable[str]) -> set[Offer]:
    """Topics as they are; of the title the names in quotes, and every word of two characters or more that says something."""
    found = {Offer(comparable(topic), topic, True) for topic in topics}
    for quoted in QUOTED.findall(title):
        name = next(filter(None, quoted)).strip()
        found.add(Offer(comparable(name), name, False))
    found.update(Offer(word, word, False) for word in index_words(runs(title)) if word not in STOP_WORDS and not word.isdecimal())
    return {offer for offer in found if len(offer.plain) > 1 and len(offer.shown) <= MAX_CHARS}


def comparable(text: str) -> str:
    """``text`` in the form in which suggestions are compared: plain, its letters, digits and Chinese characters alone."""
    return "".join(RUN.findall(plain(text)))


def completions(typed: str) -> Iterator[Completion]:
    """What may be completed, the longest first; nothing where no word has begun."""
    found = TAIL.search(typed[-10 * MAX_CHARS :].translate(QUOTES))
    if not found:
        return
    head = typed[: len(typed) - len(found[0])]
    tail = plain(found[0])
    if whole := comparable(tail)[:MAX_CHARS]:
        yield Completion(head, whole)
    words = segment(tail[-MAX_CHARS:]) if is_chinese(tail[-1:]) else []
    for at in range(1, min(len(words), MOST_TRIES)):
        if prefix := comparable("".join(words[at:])):
            yield Completion(head + "".join(words[:at]), prefix)


Look = Callable[[str, int], Sequence[tuple[str, str]]]
"""(prefix, limit) → (plain, shown) of what begins so: topics first, then the most frequent, then by what is shown."""


def suggest(typed: str, limit: int, look: Look) -> tuple[str, ...]:
    found = (head + shown for head, prefix in completions(typed) for folded, shown in look(prefix, limit + 1) if folded != prefix)
    return tuple(islice(dict.fromkeys(found), max(0, limit)))
