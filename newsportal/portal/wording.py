"""Texts for categories, doubts, errors in ``sources.yaml``, and sources, in the reader's language."""

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
from newsportal.services.accounts.base import AuditEntry
from newsportal.store.results import StoredArticle
from newsportal.text import clean

BY_MODEL = "model "

CATEGORY_ORIGINS = {
    "source": _("the category of its source"),
    "editor": _("chosen by an editor"),
    "lexicon": _("chosen by its words"),
    "model": _("chosen by a trained model"),
}  # who chose a category, by ``StoredArticle.category_by``.


def category_reason(article: StoredArticle, words: NullTranslations) -> str | None:
    """Return why an article has its category: who chose it, how certain, and by which words. ``None`` if unknown."""
    by = article.category_by or ""
    origin = CATEGORY_ORIGINS.get("model" if by.startswith(BY_MODEL) else by)
    if not article.category or origin is None:
        return None
    text = words.gettext(origin)
    if article.category_score is not None:
        text = words.gettext(_("%(text)s (%(share)s)")) % {"text": text, "share": f"{article.category_score:.0%}"}
    reason = article.category_reason and {"text": text, "words": clean(article.category_reason)}
    return words.gettext(_("%(text)s: %(words)s")) % reason if reason else text


def doubtful_topics(article: StoredArticle) -> tuple[str, ...]:
    """Return the topics that the article matched by keywords but that their model doubts."""
    return tuple(mark.topic for mark in article.topic_marks if is_doubtful(mark))


BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("MicroMessenger", "WeChat"), ("HeadlessChrome", "Chrome"),
            ("Chrome", "Chrome"), ("Version", "Safari"), ("curl", "curl"))  # fmt: skip
SYSTEMS = (("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Mac OS X", "macOS"),
           ("Linux", "Linux"))  # fmt: skip
"""Part of a ``User-Agent`` header → name; the first match counts, because browsers also name those they descend from."""


def browser(agent: str) -> str:
    """Return ``Chrome 156, Linux`` for a ``User-Agent`` header; its beginning if the browser is unknown."""
    versions = ((name, re.search(rf"\b{mark}\w*/(\d+)", agent)) for mark, name in BROWSERS)
    found = next((f"{name} {version[1]}" for name, version in versions if version), clean(agent)[:40])
    return ", ".join(filter(None, (found, next((name for mark, name in SYSTEMS if mark in agent), ""))))


ADD_ACTIONS = (".add", ".make")  # actions whose log entries omit empty values


def audit_details(entry: AuditEntry, words: NullTranslations) -> list[tuple[str, str]]:
    """Return the details of an entry in the audit log as names and values in the reader's language."""
    labelled = ("role", "about")  # details whose values have labels
    named = ((name, label(name, str(value), words.gettext) if name in labelled else value) for name, value in entry.details.items())
    values = ((name, _format_value(value, words)) for name, value in named if name != "key")
    rows = [(label("detail", name, words.gettext), value) for name, value in values if value or not entry.action.endswith(ADD_ACTIONS)]
    return [(name, value or words.gettext(_("not set"))) for name, value in rows]


def _format_value(value: Any, words: NullTranslations) -> str:
    if isinstance(value, bool):
        return words.gettext(_("yes") if value else _("no"))
    if isinstance(value, Mapping):
        return "; ".join(f"{label('detail', str(name), words.gettext)}: {_format_value(item, words)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return "、".join(filter(None, (_format_value(item, words) for item in value)))
    return "" if value is None else "、".join(str(value).split("\n"))


def problem_text(problem: Problem, words: NullTranslations) -> str:
    """Return an error with its hint, in one line."""
    return " ".join(render(part, words.gettext) for part in (problem.message, problem.hint) if part)


def by_field(problems: Iterable[Problem], kind: str, place: int, words: NullTranslations) -> tuple[dict[str, str], list[str]]:
    """Split errors into those of the entry ``kind[place]``, by its key, and the others, with their lines."""
    fields: dict[str, str] = {}
    others = []
    start = f"{kind}[{place}]"
    for problem in problems:
        inside = problem.key.startswith((f"{start}.", f"{start}["))
        # a duplicate name is reported at its second occurrence, whichever entry was changed
        if problem.message.code == "sources.duplicate-name" and problem.key.startswith(f"{kind}["):
            fields.setdefault("name", problem_text(problem, words))
        elif inside or problem.key == start:
            key = re.sub(r"\[\d+\]", "", problem.key[len(start) :].lstrip(".")) or "name"
            empty = problem.message.code in ("sources.missing", "sources.empty-text", "sources.empty-name")
            fields.setdefault(key, words.gettext(_("Please fill this in.")) if empty else problem_text(problem, words))
        else:
            others.append(f"{problem.line}: {problem.key}: {problem_text(problem, words)}")
    return fields, others


def display_name(key: str, name: str, words: NullTranslations) -> str:
    """Return a source's name with its kind; keys of unknown kinds are returned unchanged."""
    family = FAMILIES.get(key.partition(":")[0])
    if family is None:
        return key
    return words.gettext(_("%(name)s (%(kind)s)")) % {"name": name, "kind": words.gettext(KINDS[family])}


def display_names(portal: Portal, words: NullTranslations) -> dict[str, str]:
    """Return key → display name, in the order of the file."""
    return {source.key: display_name(source.key, source.name, words) for source in portal.sources}


def display_name_function(portal: Portal, words: NullTranslations) -> Callable[[str], str]:
    """Return a function from key to display name; for a source no longer in the file it uses the key."""
    names = display_names(portal, words)
    return lambda key: names.get(key) or display_name(key, key.partition(":")[2], words)


def find_key(text: str | None, names: Mapping[str, str]) -> str | None:
    """Return the key of the source with this display name, key, or name; text that matches none is returned as a key."""
    if text is None or text in names:
        return text
    typed = text.strip()
    same = (key for key, name in names.items() if name == typed)
    return next(same, None) or next((key for key in names if key.partition(":")[2] == typed), typed)
