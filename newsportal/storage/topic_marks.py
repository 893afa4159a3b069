"""What a change of topics does to one article: pure, the same in every store."""

from __future__ import annotations

from collections.abc import Mapping

from newsportal.items import TopicMark
from newsportal.storage.answers import Marking
from newsportal.storage.editors import EDITOR

KEYWORDS = "keywords"
"""``TopicMark.by`` of what a topic's words brought in; ``classify.topics.KEYWORDS``, which stands above."""


def added(marking: Marking, known: Mapping[str, str | None]) -> list[TopicMark]:
    """The marks that are not there yet. ``known``: topic → by whom."""
    return sorted((mark for mark in marking.add if mark.topic not in known), key=lambda mark: mark.topic)


def dropped(marking: Marking, known: Mapping[str, str | None]) -> list[str]:
    """The topics that go: of what keywords and editors brought alone. A source, a search and a model have their own reasons."""
    return sorted(topic for topic in marking.drop if known.get(topic) in (KEYWORDS, EDITOR))
