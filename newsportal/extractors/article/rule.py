"""A source's own rule for its article pages: CSS selectors, where the template-free reader is not good enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.tidy import copy_of, markup_of
from newsportal.extractors.fields.date import parse_date
from newsportal.items import Extraction
from newsportal.text import dom


@dataclass(frozen=True, slots=True)
class ArticleRule:
    """CSS selectors; the first match counts, for ``body`` all of them. ``remove`` is taken out of the body first."""

    body: str | None = None
    title: str | None = None
    date: str | None = None
    author: str | None = None
    remove: tuple[str, ...] = ()


def apply(rule: ArticleRule, document: dom.Document, fetched: datetime) -> Extraction:
    """What the rule finds; ``None`` for what it does not. Raises ``ValueError`` for a bad selector (sources.yaml is checked before)."""
    selectors = {"title": rule.title, "author": rule.author, "date": rule.date}
    firsts = {name: next(iter(document.css(selector)), None) if selector else None for name, selector in selectors.items()}
    found = {name: (dom.text_of(node) or None) if node is not None else None for name, node in firsts.items()}
    bodies = [copy_of(node) for node in document.css(rule.body)] if rule.body else []
    for body in bodies:
        for selector in rule.remove:
            for node in dom.css(body, selector):
                node.drop_tree()
    text = "\n".join(line for body in bodies for line in dom.lines_of(body)) or None
    return Extraction(
        title=found["title"],
        text=text,
        html=sanitise("".join(map(markup_of, bodies)), document.base) if text else None,
        published=parse_date(found["date"], fetched) if found["date"] else None,
        author=found["author"],
        algorithm="rule",
    )
