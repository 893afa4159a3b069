"""Assign articles to topics by keywords: must (all), any (at least one), not (none). Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from newsportal.items import TopicMark
from newsportal.text import normalise

LEAD_CHARS = 600  # characters of the body that are read: the subject of an article is in its title and first paragraphs
SOURCE, SEARCH, KEYWORDS, EDITOR = "source", "search", "keywords", "editor"
"""How an article was assigned to a topic without a model (``items.TopicMark.by``)."""

IN, OUT = "in", "out"  # the labels of a topic's corpus
SURE = 0.95  # Minimum probability to assign an article without a keyword: most articles are outside a topic, so that few errors are many
DOUBT = 0.05  # below it, an article matched by keywords is marked as possibly off-topic
ASCII_WORD = re.compile(r"^[a-z0-9][a-z0-9 .+#&-]*$")


@dataclass(frozen=True, slots=True)
class TopicRule:
    """A topic's normalised keywords. An empty rule (no ``must``, no ``any``) matches nothing."""

    name: str
    must: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def matches(self, text: str) -> bool:
        """Return whether the normalised ``text`` belongs to the topic."""
        if not self.must and not self.any:
            return False
        return (
            all(_holds(text, word) for word in self.must)
            and (not self.any or any(_holds(text, word) for word in self.any))
            and not any(_holds(text, word) for word in self.never)
        )


def make_rule(name: str, must: Sequence[str] = (), any: Sequence[str] = (), never: Sequence[str] = ()) -> TopicRule:
    plain = [tuple(filter(None, map(normalise, words))) for words in (must, any, never)]
    return TopicRule(name, *plain)


def match(rules: Iterable[TopicRule], title: str | None, text: str | None, summary: str | None = None) -> tuple[str, ...]:
    """Return the names of the matching topics, in the order of ``rules``."""
    looked_at = normalise("\n".join((title or "", summary or "", (text or "")[:LEAD_CHARS])))
    return tuple(rule.name for rule in rules if rule.matches(looked_at))


def corpus_of(topic: str) -> str:
    """Return the name of the corpus of a topic's model; its labels are ``IN`` and ``OUT``."""
    return f"topic:{topic}"


def example(rule: TopicRule, marks: Iterable[TopicMark], title: str, text: str, summary: str | None = None) -> str | None:
    """Return the label of a stored article as a training example of a topic's model: ``IN``, ``OUT``, or ``None``. Conservative on both
    sides. ``IN``: assigned by an editor, from a source of the topic, a keyword in the title, or found by a search whose words are in the
    lead. ``OUT``: not assigned and no match. Articles assigned by the model are not used: it would learn its own errors."""
    ways = {mark.by for mark in marks if mark.topic == rule.name}
    matches = bool(match((rule,), title, text, summary))
    if EDITOR in ways or SOURCE in ways or bool(match((rule,), title, None)) or (SEARCH in ways and matches):
        return IN
    return None if ways or matches else OUT


def is_doubtful(mark: TopicMark) -> bool:
    """Return whether an article was assigned by keywords but the topic's model rejects it. It stays, with a mark."""
    return mark.by == KEYWORDS and mark.score is not None and mark.score < DOUBT


def topic_mark(topic: str, by: str | None, score: float | None, version: str) -> TopicMark | None:
    """Return an article's mark for a topic, ``None`` if it does not belong. ``by``: how assigned without model; ``score``: the model's."""
    if by is not None:
        return TopicMark(topic, by, score)
    return TopicMark(topic, version, score) if score is not None and score >= SURE else None


def _holds(text: str, word: str) -> bool:
    """Match Chinese keywords as substrings and Latin ones as whole words, so that ``AI`` is not found in ``said``."""
    return _pattern(word).search(text) is not None if ASCII_WORD.match(word) else word in text


@lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])")
