"""A source's own selectors for its article pages, for sites where the generic extractor is not good enough."""

from dataclasses import dataclass
from datetime import datetime

from newsportal.errors import NotApplicable
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.tidy import copy_of, markup_of
from newsportal.extractors.fields.date import parse_date
from newsportal.extractors.lists import selector
from newsportal.extractors.lists.selector import Piece
from newsportal.items import Extraction
from newsportal.text import dom


@dataclass(frozen=True, slots=True)
class ArticleRule:
    """Selectors of :mod:`newsportal.extractors.lists.selector`; the first match counts, for ``body`` all, without ``remove``."""

    body: str | None = None
    title: str | None = None
    date: str | None = None
    author: str | None = None
    remove: tuple[str, ...] = ()


def apply(rule: ArticleRule, document: dom.Document, fetched: datetime) -> Extraction:
    """Return the fields that the rule finds; ``None`` for a field without a match, or with a regular expression that is too slow. Raises
    ``ValueError`` for an invalid selector (sources.yaml is validated before)."""
    fields = {"title": rule.title, "author": rule.author, "date": rule.date}
    found = {name: selector.text_of(next(iter(_pieces(document, expression)), None)) for name, expression in fields.items()}
    bodies = []
    for piece in _pieces(document, rule.body):
        body = _parsed(piece) if isinstance(piece, str) else copy_of(piece)
        for part in (part for expression in rule.remove for part in selector.select(body, expression)):
            if isinstance(part, str):
                body = _parsed(dom.html_of(body).replace(part, ""))
            else:
                part.drop_tree()
        bodies.append(body)
    text = "\n".join(line for body in bodies for line in dom.lines_of(body)) or None
    return Extraction(
        title=found["title"],
        text=text,
        html=sanitise("".join(map(markup_of, bodies)), document.base) if text else None,
        published=parse_date(found["date"], fetched) if found["date"] else None,
        author=found["author"],
        algorithm="rule",
    )


def _pieces(document: dom.Document, rule: str | None) -> list[Piece]:
    try:
        return selector.select_in(document, rule) if rule else []
    except NotApplicable:
        return []


def _parsed(html: str) -> dom.Element:
    return dom.css(dom.parse_html(f"<div>{html}</div>"), "div")[0]
