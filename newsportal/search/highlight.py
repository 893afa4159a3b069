"""Highlighting: words are found in the folded text, whose characters have the same positions, and marked in the original."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from newsportal.search.base import Hit
from newsportal.store.columns import EPOCH, MICROSECOND
from newsportal.text import CONTROL, INVISIBLE, fold_characters

SNIPPET_CHARS = 120  # three lines of Chinese in a result list on a phone
CONTEXT_CHARS = 24  # characters of context before the first mark
MAX_MARKS = 200  # marks considered for a snippet; they include the best passage of a long text
BLANK = re.compile(rf"\s|{CONTROL.pattern}|{INVISIBLE.pattern}")
LATIN = re.compile(r"[0-9a-z]")
SENTENCE_END = re.compile("[。！？!?；;\n]")


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern with longer words first; words of letters must not be inside other words (``art`` is not in ``party``)."""
    parts = []
    for word in sorted(words, key=len, reverse=True):
        before = r"(?<![0-9a-z])" if LATIN.match(word[0]) else ""
        after = r"(?![0-9a-z])" if LATIN.match(word[-1]) else ""
        parts.append(f"{before}{re.escape(word)}{after}")
    return re.compile("|".join(parts))


def match_spans(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Return the positions of the (plain) ``words`` in ``text``: (start, end) in order, adjacent ones joined."""
    terms = tuple(dict.fromkeys(word for word in words if word))
    if not terms:
        return []
    found: list[tuple[int, int]] = []
    for match in _pattern(terms).finditer(fold_characters(text)):
        if found and found[-1][1] == match.start():
            found[-1] = (found[-1][0], match.end())
        else:
            found.append(match.span())
    return found


def mark_words(text: str, words: Iterable[str]) -> str:
    parts: list[str] = []
    last = 0
    for start, end in match_spans(text, words):
        parts += [escape(text[last:start]), "<mark>", escape(text[start:end]), "</mark>"]
        last = end
    return "".join([*parts, escape(text[last:])])


def one_line(text: str) -> str:
    """Replace each line end, control and invisible character of ``text`` by a blank, keeping positions."""
    return BLANK.sub(" ", text)


def excerpt(text: str, words: Iterable[str], width: int = SNIPPET_CHARS) -> tuple[int, int]:
    """Return the passage of at most ``width`` characters with most different words, then most marks; the first if equal."""
    found = match_spans(text, words)[:MAX_MARKS]
    if not found:
        return 0, min(width, len(text))
    folded = fold_characters(text)

    def marks(left: int) -> tuple[int, int]:
        inside = [span for span in found[left:] if span[1] - found[left][0] <= width - CONTEXT_CHARS]
        return len({folded[start:end] for start, end in inside}), len(inside)

    mark = found[max(range(len(found)), key=marks)][0]
    start = max(0, mark - CONTEXT_CHARS)  # or after the end of a sentence shortly before the mark, never inside a word of letters
    start = max((match.end() for match in SENTENCE_END.finditer(text, start, mark)), default=start)
    while 0 < start < mark and text[start - 1].isascii() and text[start - 1].isalnum() and text[start].isascii() and text[start].isalnum():
        start += 1
    return start, min(start + width, len(text))


def snippet(text: str, words: Iterable[str], width: int = SNIPPET_CHARS) -> str:
    """Return the best passage as escaped HTML with marks; ``…`` shows where text is omitted."""
    terms = tuple(words)
    start, end = excerpt(text, terms, width)
    before, after = "…" if start > 0 else "", "…" if end < len(text) else ""
    return f"{before}{mark_words(one_line(text[start:end]), terms)}{after}"


def build_hit(article: Mapping[str, Any], score: float, folded: int, words: Sequence[str]) -> Hit:
    """Build a hit from an article of an index, with ``words`` marked; ``folded`` other hits of its story were collapsed.

    It has ``id``, ``story_id``, ``url``, ``title``, ``text``, ``site``, and ``published`` and ``moment`` (microseconds since 1970).
    """
    published = article.get("published")
    return Hit(
        id=article["id"],
        story_id=article["story_id"],
        url=article["url"],
        score=score,
        title=article["title"],
        title_html=mark_words(one_line(article["title"]), words),
        snippet_html=snippet(article["text"], words),
        site=article.get("site"),
        published=None if published is None else EPOCH + published * MICROSECOND,
        moment=EPOCH + article["moment"] * MICROSECOND,
        folded=folded,
    )
