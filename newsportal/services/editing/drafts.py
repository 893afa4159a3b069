"""A body as lines that an editor types, and lines as a body again; what a draft changes in an article, what is written down of it; and
moves of versions from one story to another.

Every paragraph is a line, a heading a line that begins with ``##``. What is no plain text (pictures, tables, lists, quotations) is a line
``⟦3⟧ …``: it may be moved or deleted as a whole, and comes back as it was. Paragraphs that nobody touched keep their markup (links,
emphasis); what is typed is text alone, whatever it looks like, so no markup comes in this way.
"""

from __future__ import annotations

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
from newsportal.search.overview import AROUND, similar
from newsportal.services.editing.differences import Likeness, likeness
from newsportal.store.corrections import Correction
from newsportal.store.results import StoredArticle, Story, StoryFilter, is_gallery, is_thread
from newsportal.store.store import Store
from newsportal.text import dom

HEADING: Final = re.compile(r"h[2-6]")
TYPED_HEADING: Final = re.compile(r"##+\s*(?=\S)")
TYPED_MARK: Final = re.compile(r"⟦\s*(\d{1,5})\s*⟧")
PLAIN: Final = frozenset(("p", "div", "span", "a", "em", "strong", "b", "i", "sub", "sup"))
"""Elements that are text if they hold no picture."""

SAID: Final = 40  # characters of what a part holds that its line shows


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a body: its markup, its text (a paragraph a line), the addresses of its pictures. ``number``: of one that is typed as
    ``⟦number⟧``; ``typed``: what stands for it."""

    html: str
    lines: tuple[str, ...]
    typed: tuple[str, ...]
    number: int | None = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """What came of typed lines. ``pictures``: their addresses, in order."""

    text: str
    html: str
    pictures: tuple[str, ...]


def blocks_of(html: str | None, text: str, images: Sequence[Image], base: str) -> list[Block]:
    """The parts of an article's body; pictures that do not stand in it come last, so that they can be taken out as well."""
    body = sanitise(html, base) if html else "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
    told = set(text.splitlines())
    found: list[Block] = []
    for markup in _parts(body):
        found.append(_block(markup, sum(block.number is not None for block in found) + 1, told))
    shown = {address for block in found for address in block.pictures}
    for image in images:
        if image.url not in shown:
            caption = f"<figcaption>{escape(image.caption)}</figcaption>" if image.caption else ""
            figure = sanitise(f'<figure><img src="{escape(image.url)}" alt="">{caption}</figure>', base)
            found.append(_block(figure, sum(block.number is not None for block in found) + 1, told))
    return [block for block in found if block.typed]


def typed(blocks: Sequence[Block]) -> str:
    """The lines that an editor gets to change."""
    return "\n".join(line for block in blocks for line in block.typed)


def read(lines: str, blocks: Sequence[Block], base: str) -> Body:
    """The body that typed lines make of the parts there were. Raises ``ValueError`` (the mark) for a part that is not there."""
    by_number = {block.number: block for block in blocks if block.number is not None}
    plain: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        if block.number is None:
            plain[block.typed[0]].append(block)
    written = [line for line in map(str.strip, lines.splitlines()) if line]
    chosen, place = list[Block](), 0
    while place < len(written):
        block = _unchanged_block(written, place, plain) or _marked(written[place], by_number) or _new(written[place])
        chosen.append(block)
        place += max(1, len(block.typed))
    html = sanitise("\n".join(block.html for block in chosen), base)
    pictures = tuple(dict.fromkeys(address for block in chosen for address in block.pictures))
    return Body("\n".join(line for block in chosen for line in block.lines), html, pictures)


def _unchanged_block(written: Sequence[str], place: int, plain: dict[str, list[Block]]) -> Block | None:
    """The part that stands there as it was; each is taken once."""
    for block in plain.get(written[place], ()):
        if tuple(written[place : place + len(block.typed)]) == block.typed:
            plain[written[place]].remove(block)
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
    told = line[heading.end() :] if heading else line
    name = "h2" if heading else "p"
    return Block(f"<{name}>{escape(told)}</{name}>", (told,), (line,))


def _parts(body: str) -> Iterator[str]:
    """The markup of the topmost elements; loose text is a paragraph."""
    for top in dom.css(dom.parse_html(f"<div>{body}</div>"), "body > div")[:1]:
        if top.text and top.text.strip():
            yield f"<p>{escape(top.text.strip())}</p>"
        for node in top:
            yield dom.html_of(node)
            if node.tail and node.tail.strip():
                yield f"<p>{escape(node.tail.strip())}</p>"


def _block(markup: str, number: int, told: set[str]) -> Block:
    root = dom.parse_html(f"<div>{markup}</div>")
    node = dom.css(root, "body > div > *")[0]
    lines, pictures = tuple(dom.lines_of(node)), tuple(str(one) for one in dom.xpath(node, "descendant-or-self::img/@src"))
    name = str(node.tag)
    if not pictures and HEADING.fullmatch(name):
        return Block(markup, lines, tuple(f"## {line}" for line in lines))
    if not pictures and name in PLAIN:
        return Block(markup, lines, lines)
    if not lines and not pictures:
        return Block(markup, (), ())
    captions = [*lines, *(str(one) for one in dom.xpath(node, "descendant-or-self::img/@alt"))]
    said = " ".join(captions)[:SAID]
    return Block(markup, tuple(line for line in lines if line in told), (f"⟦{number}⟧ {said}".strip(),), number, pictures)


TOLD: Final = 200  # characters of a value that are written down; the article's revisions have the whole


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the editor's form. ``lines``: the body as ``blocks.typed`` writes it; ``None``: it has none to be edited."""

    title: str
    lines: str | None
    published: datetime | None
    author: str


def parts(article: StoredArticle) -> list[Block]:
    return blocks_of(article.html, article.text, article.images, article.url)


def has_text(article: StoredArticle) -> bool:
    """Whether its text is its own: that of a thread is its posts', that of a photo story its captions'."""
    return not is_thread(article.source) and not is_gallery(article.source)


def draft_of(article: StoredArticle, *, body: bool = True) -> Draft:
    lines = typed(parts(article)) if body and has_text(article) else None
    return Draft(article.title, lines, article.published, article.author or "")


def correction(article: StoredArticle, draft: Draft) -> Correction:
    """What the draft says otherwise than the article. Raises ``ValueError`` for a part of the body that is not there."""
    said: Correction = {}
    if draft.title.strip() != article.title.strip():
        said["title"] = draft.title.strip()
    if draft.author.strip() != (article.author or "").strip():
        said["author"] = draft.author.strip() or None
    minutes = [moment and moment.replace(second=0, microsecond=0) for moment in (draft.published, article.published)]
    if minutes[0] != minutes[1]:  # forms tell no seconds
        said["published"] = draft.published
    blocks = parts(article) if draft.lines is not None else []
    if draft.lines is not None and _lines(draft.lines) != _lines(typed(blocks)):
        body = read(draft.lines, blocks, article.url)
        said["text"], said["html"] = body.text, body.html
        said["images"] = tuple(image for image in article.images if image.url in body.pictures)
    return said


def details(article: StoredArticle, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the log of changes keeps: each field before and after, long ones cut."""
    fields = [field for field in ("title", "author", "published", "text") if field in said]
    return {field: [_storable(getattr(article, field)), _storable(said[field])] for field in fields}


def _storable(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value[:TOLD] if isinstance(value, str) else value


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


MOST_REASON: Final = 300  # characters of why an article is hidden
BY_HAND: Final = "by-hand"  # the reason of a fold that an editor made


@dataclass(frozen=True, slots=True)
class Moved:
    """An article that was put into another story; ``came_from``: the story that it was in."""

    article: str
    story: str = field(metadata={"description": "Where it is now."})
    came_from: str
    back: str | None = field(metadata={"description": "The story it may be put back into; null if that is gone: then take it out again."})


@dataclass(frozen=True, slots=True)
class Editor:
    """Who changes articles, and when. Each change is written down by ``log``: action, id, details."""

    store: Store
    by: str
    now: datetime
    log: Callable[[str, str, Mapping[str, Any]], None]

    def correct(self, article: StoredArticle, said: Correction, seen: int | None = None) -> int:
        """Put an editor's words in place of the page's; answers the article's state. ``seen``: the state he saw, by default ``article``'s.
        Raises ``Superseded`` and ``StoreError``."""
        state = article.revision if seen is None else seen
        number = self.store.correct(article.id, said, by=self.by, now=self.now, seen=state)
        if number != article.revision:
            self.log("article.correct", article.id, {"revision": number, **details(article, said)})
        return number

    def withdraw(self, article: StoredArticle) -> int:
        """The article says again what its page says; answers its state."""
        number = self.store.withdraw(article.id, now=self.now)
        if number != article.revision:
            self.log("article.withdraw", article.id, {"revision": number, "fields": list(article.corrected_fields)})
        return number

    def hide(self, ids: Collection[str], reason: str) -> list[str]:
        """Hide these; answers those that were not hidden."""
        why = reason.strip()[:MOST_REASON]
        hidden = self.store.hide(ids, by=self.by, reason=why, now=self.now)
        for id in hidden:
            self.log("article.hide", id, {"reason": why})
        return hidden

    def show(self, ids: Collection[str]) -> list[str]:
        """Show these again; answers those that were hidden."""
        shown = self.store.show(ids, now=self.now)
        for id in shown:
            self.log("article.show", id, {})
        return shown

    def fold(self, article_id: str, story_id: str) -> Moved:
        """Move an article into the story of that id, or of that article. Raises ``StoreError`` if either is unknown, or it is there."""
        came_from = _where(self.store, article_id)
        target = self.store.story(story_id, hidden=True)
        if target is None:
            raise StoreError(f"no story {story_id!r}")
        if target.id == came_from:
            raise StoreError(f"article {article_id!r} is in that story already")
        self.store.fold(article_id, target.id, reason=BY_HAND, now=self.now)
        left = self.store.story(came_from, hidden=True)
        self.log("article.fold", article_id, {"from": came_from, "to": target.id})
        return Moved(article_id, target.id, came_from, came_from if left is not None and left.id == came_from else None)

    def unfold(self, article_id: str) -> Moved:
        """Take an article out into a story of its own. Raises ``StoreError`` if it is unknown, or alone."""
        came_from = _where(self.store, article_id)
        story_id = self.store.unfold(article_id, now=self.now)
        if story_id == came_from:
            raise StoreError(f"article {article_id!r} is alone in its story")
        self.log("article.unfold", article_id, {"from": came_from, "to": story_id})
        return Moved(article_id, story_id, came_from, came_from)


def _where(store: Store, article_id: str) -> str:
    article = store.article(article_id)
    if article is None:
        raise StoreError(f"no article {article_id!r}")
    return article.story_id


CANDIDATES: Final = 10  # stories that are offered
HITS: Final = 30  # articles that are asked for: several may be of one story


@dataclass(frozen=True, slots=True)
class Candidate:
    story: Story
    likeness: Likeness


def story_id_of(text: str) -> str:
    """The id of the story that an editor names: its id, or its address in this portal."""
    _, found, rest = text.strip().partition("/story/")
    return (rest if found else text.strip()).split("/")[0].split("?")[0].split("#")[0][:100]


def candidates(store: Store, index: Index | None, article: StoredArticle, asked: str | None = None) -> list[Candidate]:
    """Stories that ``asked`` finds, the most alike first. None: stories about the same things, without an index the newest around it."""
    ids = [story_id_of(asked)] if asked else []
    if index is not None:
        hits = index.search(Query(asked, limit=HITS)).hits if asked else similar(index, article, limit=HITS)
        ids += [hit.story_id for hit in hits]
    elif not asked:
        around = StoryFilter(since=article.moment - AROUND, until=article.moment + AROUND, limit=HITS)
        ids += [story.id for story in store.stories(around).stories]
    stories = {story.id: story for story in store.listed(list(dict.fromkeys(ids))).values() if story.id != article.story_id}
    whole = {head.id: head for head in store.articles([story.head.id for story in stories.values()])}
    found = [Candidate(story, likeness(article, whole[story.head.id])) for story in stories.values() if story.head.id in whole]
    return sorted(found, key=lambda one: (-one.likeness.shared, one.likeness.apart))[:CANDIDATES]
