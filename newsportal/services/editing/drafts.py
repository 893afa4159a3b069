"""Convert a body to editable lines and back; compute and log the corrections of a draft; move versions between stories.

Every paragraph is a line, a heading a line that begins with ``##``. Other content (pictures, tables, lists, quotations) is a line ``⟦3⟧
…``, which can be moved or deleted as a unit and is restored unchanged. Unchanged paragraphs keep their markup (links, emphasis); typed text
is plain text, so that no markup can be injected.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import Image
from newsportal.search.base import Index, Query
from newsportal.search.overview import TIME_SPAN, similar
from newsportal.services.editing.differences import Similarity, compare_articles
from newsportal.store.corrections import Correction
from newsportal.store.results import StoredArticle, Story, StoryFilter, is_gallery, is_thread
from newsportal.store.store import Store
from newsportal.text import dom

HEADING: Final = re.compile(r"h[2-6]")
TYPED_HEADING: Final = re.compile(r"##+\s*(?=\S)")
TYPED_MARK: Final = re.compile(r"⟦\s*(\d{1,5})\s*⟧")
PLAIN: Final = frozenset(("p", "div", "span", "a", "em", "strong", "b", "i", "sub", "sup"))
"""Elements that are plain text if they contain no picture."""

LABEL_CHARS: Final = 40  # characters of a part's content shown in its line


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a body: markup, text (a paragraph per line), URLs of pictures. ``number``: shown as ``⟦number⟧``; ``typed``: its lines."""

    html: str
    lines: tuple[str, ...]
    typed: tuple[str, ...]
    number: int | None = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The body read from edited lines. ``pictures``: their URLs, in order."""

    text: str
    html: str
    pictures: tuple[str, ...]


def blocks_of(html: str | None, text: str, images: Sequence[Image], base: str) -> list[Block]:
    """Return the parts of an article's body; pictures outside it are appended, so that they can be removed as well."""
    body = sanitise(html, base) if html else "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
    text_lines = set(text.splitlines())
    found: list[Block] = []
    for markup in _parts(body):
        found.append(_block(markup, sum(block.number is not None for block in found) + 1, text_lines))
    included = {address for block in found for address in block.pictures}
    for image in images:
        if image.url not in included:
            caption = f"<figcaption>{escape(image.caption)}</figcaption>" if image.caption else ""
            figure = sanitise(f'<figure><img src="{escape(image.url)}" alt="">{caption}</figure>', base)
            found.append(_block(figure, sum(block.number is not None for block in found) + 1, text_lines))
    return [block for block in found if block.typed]


def editable_lines(blocks: Sequence[Block]) -> str:
    """Return the lines for the editor."""
    return "\n".join(line for block in blocks for line in block.typed)


def parse_lines(lines: str, blocks: Sequence[Block], base: str) -> Body:
    """Build the body from edited lines and the original parts. Raises ``ValueError`` (the mark) for an unknown part."""
    by_number = {block.number: block for block in blocks if block.number is not None}
    plain: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        if block.number is None:
            plain[block.typed[0]].append(block)
    edited = [line for line in map(str.strip, lines.splitlines()) if line]
    parts, place = list[Block](), 0
    while place < len(edited):
        block = _unchanged_block(edited, place, plain) or _marked(edited[place], by_number) or _new(edited[place])
        parts.append(block)
        place += max(1, len(block.typed))
    html = sanitise("\n".join(block.html for block in parts), base)
    pictures = tuple(dict.fromkeys(address for block in parts for address in block.pictures))
    return Body("\n".join(line for block in parts for line in block.lines), html, pictures)


def _unchanged_block(edited: Sequence[str], place: int, plain: dict[str, list[Block]]) -> Block | None:
    """Return the unchanged part at this place; each is used once."""
    for block in plain.get(edited[place], ()):
        if tuple(edited[place : place + len(block.typed)]) == block.typed:
            plain[edited[place]].remove(block)
            return block
    return None


def _marked(line: str, by_number: dict[int, Block]) -> Block | None:
    mark = TYPED_MARK.match(line)
    if mark is None:
        return None
    block = by_number.get(int(mark[1]))
    if block is None:
        raise ValueError(mark[0])
    return Block(block.html, block.lines, (line,), block.number, block.pictures)


def _new(line: str) -> Block:
    heading = TYPED_HEADING.match(line)
    content = line[heading.end() :] if heading else line
    name = "h2" if heading else "p"
    return Block(f"<{name}>{escape(content)}</{name}>", (content,), (line,))


def _parts(body: str) -> Iterator[str]:
    """Yield the markup of the top-level elements; loose text becomes a paragraph."""
    for top in dom.css(dom.parse_html(f"<div>{body}</div>"), "body > div")[:1]:
        if top.text and top.text.strip():
            yield f"<p>{escape(top.text.strip())}</p>"
        for node in top:
            yield dom.html_of(node)
            if node.tail and node.tail.strip():
                yield f"<p>{escape(node.tail.strip())}</p>"


def _block(markup: str, number: int, text_lines: set[str]) -> Block:
    root = dom.parse_html(f"<div>{markup}</div>")
    node = dom.css(root, "body > div > *")[0]
    lines, pictures = tuple(dom.lines_of(node)), tuple(str(address) for address in dom.xpath(node, "descendant-or-self::img/@src"))
    name = str(node.tag)
    if not pictures and HEADING.fullmatch(name):
        return Block(markup, lines, tuple(f"## {line}" for line in lines))
    if not pictures and name in PLAIN:
        return Block(markup, lines, lines)
    if not lines and not pictures:
        return Block(markup, (), ())
    captions = [*lines, *(str(alt) for alt in dom.xpath(node, "descendant-or-self::img/@alt"))]
    label = " ".join(captions)[:LABEL_CHARS]
    return Block(markup, tuple(line for line in lines if line in text_lines), (f"⟦{number}⟧ {label}".strip(),), number, pictures)


LOGGED_CHARS: Final = 200  # characters of a value in the audit log; the article's revisions have the complete one


@dataclass(frozen=True, slots=True)
class Draft:
    """Values of the editing form. ``lines``: the body as written by :func:`editable_lines`; ``None``: not editable."""

    title: str
    lines: str | None
    published: datetime | None
    author: str


def blocks_of_article(article: StoredArticle) -> list[Block]:
    return blocks_of(article.html, article.text, article.images, article.url)


def has_text(article: StoredArticle) -> bool:
    """Return whether the article has its own text: that of a thread is its posts', that of a photo story its captions'."""
    return not is_thread(article.source) and not is_gallery(article.source)


def draft_of(article: StoredArticle, *, body: bool = True) -> Draft:
    lines = editable_lines(blocks_of_article(article)) if body and has_text(article) else None
    return Draft(article.title, lines, article.published, article.author or "")


def correction(article: StoredArticle, draft: Draft) -> Correction:
    """Return the fields in which the draft differs from the article. Raises ``ValueError`` for an unknown part of the body."""
    changes: Correction = {}
    if draft.title.strip() != article.title.strip():
        changes["title"] = draft.title.strip()
    if draft.author.strip() != (article.author or "").strip():
        changes["author"] = draft.author.strip() or None
    minutes = [moment and moment.replace(second=0, microsecond=0) for moment in (draft.published, article.published)]
    if minutes[0] != minutes[1]:  # forms have no seconds
        changes["published"] = draft.published
    blocks = blocks_of_article(article) if draft.lines is not None else []
    if draft.lines is not None and _lines(draft.lines) != _lines(editable_lines(blocks)):
        body = parse_lines(draft.lines, blocks, article.url)
        changes["text"], changes["html"] = body.text, body.html
        changes["images"] = tuple(image for image in article.images if image.url in body.pictures)
    return changes


def details(article: StoredArticle, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details for the audit log: each field before and after, truncated."""
    fields = [field for field in ("title", "author", "published", "text") if field in changes]
    return {field: [_storable(getattr(article, field)), _storable(changes[field])] for field in fields}


def _storable(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value[:LOGGED_CHARS] if isinstance(value, str) else value


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


MAX_REASON_CHARS: Final = 300  # characters of the reason for hiding an article
BY_HAND: Final = "by-hand"  # the reason of a fold by an editor


@dataclass(frozen=True, slots=True)
class MovedArticle:
    """An article moved to another story; ``previous_story``: its former story."""

    article: str
    story: str = field(metadata={"description": "Where it is now."})
    previous_story: str
    undo_story: str | None = field(metadata={"description": "The story to fold it into to undo this; null if deleted: then unfold it."})


@dataclass(frozen=True, slots=True)
class Editor:
    """Operations on articles by one person at one time. Each change is recorded with ``log``: action, id, details."""

    store: Store
    by: str
    now: datetime
    log: Callable[[str, str, Mapping[str, Any]], None]

    def correct(self, article: StoredArticle, changes: Correction, seen: int | None = None) -> int:
        """Replace fields of the page; return the article's revision. ``seen``: the revision the editor saw, by default ``article``'s.
        Raises ``Superseded`` and ``StoreError``."""
        state = article.revision if seen is None else seen
        number = self.store.correct(article.id, changes, by=self.by, now=self.now, seen=state)
        if number != article.revision:
            self.log("article.correct", article.id, {"revision": number, **details(article, changes)})
        return number

    def withdraw(self, article: StoredArticle) -> int:
        """Restore the fields of the page; return the article's revision."""
        number = self.store.withdraw(article.id, now=self.now)
        if number != article.revision:
            self.log("article.withdraw", article.id, {"revision": number, "fields": list(article.corrected_fields)})
        return number

    def hide(self, ids: Collection[str], reason: str) -> list[str]:
        """Hide articles; return those that were not hidden."""
        cleaned = reason.strip()[:MAX_REASON_CHARS]
        hidden = self.store.hide(ids, by=self.by, reason=cleaned, now=self.now)
        for id in hidden:
            self.log("article.hide", id, {"reason": cleaned})
        return hidden

    def show(self, ids: Collection[str]) -> list[str]:
        """Show articles again; return those that were hidden."""
        changed = self.store.show(ids, now=self.now)
        for id in changed:
            self.log("article.show", id, {})
        return changed

    def fold(self, article_id: str, story_id: str) -> MovedArticle:
        """Move an article into the story with that id, or of that article. Raises ``StoreError`` if either is unknown or it is there."""
        origin = _story_of(self.store, article_id)
        target = self.store.story(story_id, hidden=True)
        if target is None:
            raise StoreError(f"no story {story_id!r}")
        if target.id == origin:
            raise StoreError(f"article {article_id!r} is already in that story")
        self.store.fold(article_id, target.id, reason=BY_HAND, now=self.now)
        remainder = self.store.story(origin, hidden=True)
        self.log("article.fold", article_id, {"from": origin, "to": target.id})
        return MovedArticle(article_id, target.id, origin, origin if remainder is not None and remainder.id == origin else None)

    def unfold(self, article_id: str) -> MovedArticle:
        """Move an article into a story of its own. Raises ``StoreError`` if it is unknown, or alone in its story."""
        origin = _story_of(self.store, article_id)
        story_id = self.store.unfold(article_id, now=self.now)
        if story_id == origin:
            raise StoreError(f"article {article_id!r} is the only article of its story")
        self.log("article.unfold", article_id, {"from": origin, "to": story_id})
        return MovedArticle(article_id, story_id, origin, origin)


def _story_of(store: Store, article_id: str) -> str:
    article = store.article(article_id)
    if article is None:
        raise StoreError(f"no article {article_id!r}")
    return article.story_id


CANDIDATES: Final = 10  # stories offered
HITS: Final = 30  # articles requested: several may belong to one story


@dataclass(frozen=True, slots=True)
class Candidate:
    story: Story
    similarity: Similarity


def story_id_of(text: str) -> str:
    """Return the id of a story given as its id or its URL in this portal."""
    _, found, rest = text.strip().partition("/story/")
    return (rest if found else text.strip()).split("/")[0].split("?")[0].split("#")[0][:100]


def candidates(store: Store, index: Index | None, article: StoredArticle, query: str | None = None) -> list[Candidate]:
    """Return stories found by ``query``, most similar first; without ``query`` similar stories, without an index the nearest in time."""
    ids = [story_id_of(query)] if query else []
    if index is not None:
        hits = index.search(Query(query, limit=HITS)).hits if query else similar(index, article, limit=HITS)
        ids += [hit.story_id for hit in hits]
    elif not query:
        around = StoryFilter(since=article.moment - TIME_SPAN, until=article.moment + TIME_SPAN, limit=HITS)
        ids += [story.id for story in store.stories(around).stories]
    stories = {story.id: story for story in store.by_id(list(dict.fromkeys(ids))).values() if story.id != article.story_id}
    full = {head.id: head for head in store.articles([story.head.id for story in stories.values()])}
    found = [Candidate(story, compare_articles(article, full[story.head.id])) for story in stories.values() if story.head.id in full]
    return sorted(found, key=lambda candidate: (-candidate.similarity.shared, candidate.similarity.interval))[:CANDIDATES]
