"""Between threads and rows, and what becomes of a thread's posts when it is read again. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.items import Article, Image, Post, Thread, content_id
from newsportal.storage.rows import name as looked_up
from newsportal.storage.rows import storable
from newsportal.storage.threads import StoredPost

POST_NAME_CHARS: Final = 40
"""Names of posts are the forums' own numbers, or hashes."""

EARLIER: Final = 5
"""Former texts that are kept of an edited post."""

MAX_TEXT: Final = 200_000
"""Characters of a thread's posts that are its article's text: what the search finds and lists show. All posts are kept."""


@dataclass
class Plan:
    """What is to be written of a thread's posts: new rows; names that change, in order; columns that change, by the name after that."""

    fresh: list[dict[str, Any]] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    edited: int = 0


def identity_of(thread: Thread) -> str:
    """What a thread is known by. Raises ``StoreError`` where nobody said."""
    if thread.identity is None:
        raise StoreError(f"{thread.url}: a thread without an identity cannot be stored")
    return storable(thread.identity)


def article_of(thread: Thread) -> Article:
    """The thread as lists and the search see it: by who opened it, and when."""
    first = thread.posts[0] if thread.posts else None
    return Article(
        url=thread.url,
        link=thread.link,
        fetched=thread.fetched,
        identity=thread.identity,
        title=thread.title,
        text="",
        published=(first.published if first else None) or thread.link.published,
        author=(first.author if first else None) or thread.link.author,
        site=thread.link.site,
        images=first.images if first else (),
        language=thread.language,
        category=thread.category,
        category_by="source" if thread.category else None,
        topics=thread.topics,
        topic_marks=thread.topic_marks,
        algorithm="forum",
    )


def state(thread: Thread, now: datetime) -> dict[str, Any]:
    """The columns of ``threads`` that a visit fills."""
    return {
        "board": looked_up(thread.board) if thread.board else None,
        "visited": now,
        "last_page": storable(thread.last_page or thread.url),
        "whole": thread.whole,
        "replies": thread.replies,
        "listed": thread.listed,
    }


def plan(id: str, there: Mapping[str, Mapping[str, Any]], posts: Iterable[Post], now: datetime) -> Plan:
    """Append the posts that are not ``there`` (name → row), change those that say something else."""
    made, known = Plan(), dict(there)
    named = {post_name(post): post for post in reversed(tuple(posts))}
    place = max((row["place"] for row in known.values()), default=-1)
    for name, post in reversed(named.items()):
        row = _row(post)
        old = name if name in known else _renamed(known, named, name, post)
        if old is None:
            place += 1
            made.fresh.append({"thread_id": id, "name": name, "place": place, **row, "first_seen": now, "changed": None, "earlier": []})
            continue
        if old != name:
            made.renamed.append((old, name))
            known[name] = known.pop(old)  # another post of the same author and minute is not this one
        values = _values(row, known[name], now)
        made.edited += "changed" in values
        if values:
            made.changed[name] = values
    return made


def _values(row: Mapping[str, Any], known: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The columns of a post to change: all if it says something else, its author if nobody knew him."""
    if row["text"] != known["text"]:
        former = [*known["earlier"], known["text"]][-EARLIER:]
        return {**row, "published": row["published"] or known["published"], "changed": now, "earlier": former}
    return {"author": row["author"]} if row["author"] and known["author"] is None else {}


def _renamed(there: Mapping[str, Mapping[str, Any]], named: Collection[str], name: str, post: Post) -> str | None:
    """The name of another kind that the post has, if it is there: one page shows the site's numbers, the next one floors alone; a post by
    itself may have shown no author. It takes the new name. Posts with numbers of their own are never taken for one another."""
    if post.published is None:
        return None
    for old, row in there.items():
        same = row["published"] == post.published and row["author"] in (None, _maybe(post.author))
        if same and old not in named and _kind(old) != _kind(name):
            return old
    return None


def _kind(name: str) -> str:
    """How a post came by its name: ``floor``, ``said``, or the site's own number."""
    kind, dash, _ = name.partition("-")
    return kind if dash and kind in ("floor", "said") else "own"


def post_name(post: Post) -> str:
    """A post's name as it is kept; of one that the site has no number for, what it says."""
    name = storable(post.id or "said-" + content_id(f"{post.author}\n{post.date_text}\n{post.text}"))
    return name if len(name) <= POST_NAME_CHARS else content_id(name)


def _row(post: Post) -> dict[str, Any]:
    return {
        "floor": post.floor,
        "author": _maybe(post.author),
        "published": post.published,
        "date_text": _maybe(post.date_text),
        "text": storable(post.text),
        "quoted": _maybe(post.quoted),
        "images": [{key: value for key, value in asdict(image).items() if value is not None} for image in post.images],
    }


def _maybe(text: str | None) -> str | None:
    return None if text is None else storable(text)


def text_of(texts: Iterable[str]) -> str:
    """The posts' texts in order as the article's, a paragraph a line."""
    said: list[str] = []
    length = 0
    for text in texts:
        said.append(text[: MAX_TEXT - length])
        length += len(text) + 1
        if length >= MAX_TEXT:
            break
    return "\n".join(said)


def post_of(row: Mapping[str, Any]) -> StoredPost:
    """A row of ``posts``."""
    values = {key: row[key] for key in StoredPost.__dataclass_fields__}
    return StoredPost(**{**values, "images": tuple(Image(**image) for image in row["images"]), "earlier": tuple(row["earlier"])})
