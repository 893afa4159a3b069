"""The form of a topic: what stands in its fields, what was typed into them, and mistakes beside the field they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from gettext import NullTranslations
from typing import Final

from newsportal.classify.topics import TopicRule, rule
from newsportal.errors import Problem
from newsportal.portal.problems import by_field
from newsportal.portal.source_file import one
from newsportal.sources import Breadth, Sources, Topic
from newsportal.sources.loading import built_in
from newsportal.topics.changing import Draft, words


@dataclass(frozen=True, slots=True)
class Typed:
    """What is in the form: texts as typed. ``before``: what the topic is called in the file, ``None`` for a new one."""

    before: str | None = None
    digest: str = ""
    name: str = ""
    any: str = ""
    must: str = ""
    never: str = ""
    query: str = ""
    pages: str = ""
    engines: tuple[str, ...] = ()
    hours: bool = False  # the file names pages for hours of the day, which the field does not show
    enabled: bool = True
    auto_classify: bool = False
    follow: bool = True  # stored articles, once it is saved
    faults: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def draft(self) -> Draft:
        """As it is written into the file."""
        return Draft(
            self.name.strip(), words(self.must), words(self.any), words(self.never), words(self.query), self.engines,
            self.pages.strip() or None, not self.hours, self.enabled, self.auto_classify,
        )  # fmt: skip

    def rule(self) -> TopicRule:
        """What it would find: as the file has it, a topic without words looks for its name."""
        must, any_, never = words(self.must), words(self.any), words(self.never)
        named = self.name.strip()
        return rule(named, must, any_ or (() if must or not named else (named,)), never)


def typed_of(topic: Topic, digest: str) -> Typed:
    """The form of a topic as the file has it."""
    kept = topic.keywords
    own = kept.any if kept.any != (topic.name,) or kept.must else ()
    pages = set(topic.breadth.by_hour)
    plain = topic.breadth != Breadth() and len(pages) == 1
    return Typed(
        topic.name, digest, topic.name, "\n".join(own), "\n".join(kept.must), "\n".join(kept.not_), "\n".join(topic.query),
        str(next(iter(pages))) if plain else "", topic.engines, len(pages) > 1, topic.enabled, topic.auto_classify,
    )  # fmt: skip


def typed(sent: Mapping[str, Sequence[str]]) -> Typed:
    """What was typed."""

    return Typed(
        one(sent, "before") or None, one(sent, "digest"), one(sent, "name"), one(sent, "any"), one(sent, "must"), one(sent, "not"),
        one(sent, "query"), one(sent, "pages"), tuple(dict.fromkeys(sent.get("engines", ()))), bool(one(sent, "hours")),
        bool(one(sent, "enabled")), bool(one(sent, "auto_classify")), bool(one(sent, "follow")),
    )  # fmt: skip


FIELDS: Final = {
    "name": "name", "keywords.any": "any", "keywords.must": "must", "keywords.not": "not", "keywords": "any", "query": "query",
    "engines": "engines", "breadth": "pages", "breadth.default": "pages", "enabled": "enabled", "auto_classify": "auto_classify",
}  # fmt: skip
"""Key of the file → field of the form."""


def with_faults(form: Typed, problems: Sequence[Problem], place: int, language: NullTranslations) -> Typed:
    """The form with mistakes beside their fields."""
    beside, others = by_field(problems, "topics", place, language)
    faults = {FIELDS[key]: text for key, text in beside.items() if key in FIELDS}
    more = [text for key, text in beside.items() if key not in FIELDS]
    return replace(form, faults=faults, others=(*others, *more))


def engines_of(known: Sources) -> list[str]:
    """The engines that a topic may ask: those of the file first."""
    return [*(engine.name for engine in known.engines), *built_in()]
