"""Words for categories, doubts, mistakes of ``sources.yaml`` and sources, in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from gettext import NullTranslations
from typing import Any

from newsportal.classify.topics import is_doubtful
from newsportal.errors import Problem
from newsportal.messages import label, render
from newsportal.portal.context import Portal
from newsportal.portal.desk.source_fields import FAMILIES, KINDS
from newsportal.portal.language import _
from newsportal.services.accounts.base import Entry
from newsportal.store.results import StoredArticle
from newsportal.text import clean

BY_MODEL = "model "

WAYS = {
    "source": _("the category of its source"),
    "editor": _("chosen by an editor"),
    "lexicon": _("chosen by its words"),
    "model": _("chosen by a trained model"),
}  # who chose a category, by ``StoredArticle.category_by``.


def chosen(article: StoredArticle, words: NullTranslations) -> str | None:
    """Why an article has its category: who chose it, how sure, and by which words. ``None`` where that is not known."""
    by = article.category_by or ""
    way = WAYS.get("model" if by.startswith(BY_MODEL) else by)
    if not article.category or way is None:
        return None
    said = words.gettext(way)
    if article.category_score is not None:
        said += f" ({article.category_score:.0%})"
    return f"{said}: {clean(article.category_reason)}" if article.category_reason else said


def doubtful(article: StoredArticle) -> tuple[str, ...]:
    """The topics that keywords brought the article into, and whose model takes it for foreign."""
    return tuple(mark.topic for mark in article.topic_marks if is_doubtful(mark))


BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("MicroMessenger", "WeChat"), ("HeadlessChrome", "Chrome"),
            ("Chrome", "Chrome"), ("Version", "Safari"), ("curl", "curl"))  # fmt: skip
SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)  # part of a ``User-Agent`` header → name; the first that is there counts, for each browser names those it descends from


def browser(agent: str) -> str:
    """``Chrome 156, Linux`` of a ``User-Agent`` header; one of no known browser in its first words."""
    versions = ((name, re.search(rf"\b{mark}\w*/(\d+)", agent)) for mark, name in BROWSERS)
    found = next((f"{name} {version[1]}" for name, version in versions if version), clean(agent)[:40])
    return ", ".join(filter(None, (found, next((name for mark, name in SYSTEMS if mark in agent), ""))))


ADDS = (".add", ".make")  # actions of which a value that is not set says nothing


def detailed(entry: Entry, words: NullTranslations) -> list[tuple[str, str]]:
    """What the log of changes keeps of an entry, as names and values in the reader's words."""
    spelled = ((name, _spelled(value, words)) for name, value in entry.details.items() if name != "key")
    found = [(label("detail", name, words.gettext), value) for name, value in spelled if value or not entry.action.endswith(ADDS)]
    return [(name, value or words.gettext(_("not set"))) for name, value in found]


def _spelled(value: Any, words: NullTranslations) -> str:
    if isinstance(value, bool):
        return words.gettext(_("yes") if value else _("no"))
    if isinstance(value, Mapping):
        return "; ".join(f"{label('detail', str(name), words.gettext)}: {_spelled(one, words)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "、".join(filter(None, (_spelled(one, words) for one in value)))
    return "" if value is None else "、".join(str(value).split("\n"))


def worded(problem: Problem, words: NullTranslations) -> str:
    """A mistake with its hint, in a line."""
    return " ".join(render(one, words.gettext) for one in (problem.message, problem.hint) if one)


def by_field(problems: Iterable[Problem], kind: str, place: int, words: NullTranslations) -> tuple[dict[str, str], list[str]]:
    """Mistakes by the key of the entry ``kind[place]`` that they are about, and those about anything else, with their places."""
    fields: dict[str, str] = {}
    others = []
    start = f"{kind}[{place}]"
    for problem in problems:
        inside = problem.key.startswith((f"{start}.", f"{start}["))
        # a name that occurs twice is reported at its second place, whichever entry was changed
        if problem.message.code == "sources.double" and problem.key.startswith(f"{kind}["):
            fields.setdefault("name", worded(problem, words))
        elif inside or problem.key == start:
            key = re.sub(r"\[\d+\]", "", problem.key[len(start) :].lstrip(".")) or "name"
            fields.setdefault(key, worded(problem, words))
        else:
            others.append(f"{problem.line}: {problem.key}: {worded(problem, words)}")
    return fields, others


def called(key: str, name: str, words: NullTranslations) -> str:
    """A source's name with its kind; a key of no known kind stays as it is."""
    family = FAMILIES.get(key.partition(":")[0])
    if family is None:
        return key
    kind = _("Search engine") if family == "engines" else KINDS[family]  # most engines are those that come with newsportal
    return words.gettext(_("%(name)s (%(kind)s)")) % {"name": name, "kind": words.gettext(kind)}


def all_called(portal: Portal, words: NullTranslations) -> dict[str, str]:
    """Key → what it is called, in the order of the file."""
    return {one.key: called(one.key, one.name, words) for one in portal.sources}


def calling(portal: Portal, words: NullTranslations) -> Callable[[str], str]:
    """Key → what it is called, also one that is no longer in the file: by what its key says."""
    names = all_called(portal, words)
    return lambda key: names.get(key) or called(key, key.partition(":")[2], words)


def key_of(text: str | None, names: Mapping[str, str]) -> str | None:
    """The source that somebody means by what it is called, by its key or its name alone; what means none is taken for a key."""
    if text is None or text in names:
        return text
    typed = text.strip()
    same = (key for key, name in names.items() if name == typed)
    return next(same, None) or next((key for key in names if key.partition(":")[2] == typed), typed)
