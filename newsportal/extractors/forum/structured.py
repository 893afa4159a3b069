"""Posts that a page tells machines: JSON-LD of kind DiscussionForumPosting, QAPage and their comments and answers (schema.org)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from newsportal.extractors.fields.date import read_date
from newsportal.extractors.fields.embedded import decoded
from newsportal.extractors.fields.metadata import type_of
from newsportal.extractors.forum.tree import MAX_POSTS
from newsportal.items import Post
from newsportal.text import clean, dom

KINDS: Final = re.compile(r"DiscussionForumPosting|SocialMediaPosting|Question$|Comment$|Answer$")
REPLIES: Final = ("comment", "suggestedAnswer", "acceptedAnswer")
MAX_JSON: Final = 4_000_000
TAG: Final = re.compile(r"<[a-zA-Z/][^<>]{0,2000}>")
BREAKS: Final = re.compile(r"<(?:br|/p|/div|/li)[^<>]{0,200}>|\r?\n", re.IGNORECASE)


def structured_posts(document: dom.Document, now: datetime) -> list[Post]:
    """The opening post and its replies as JSON-LD tells them; none where it tells no texts."""
    found: list[Post] = []
    for script in document.root.iter("script"):
        text = script.text or ""
        if "ld+json" not in (script.get("type") or "").lower() or len(text) > MAX_JSON:
            continue
        data = decoded(text)
        # threads stand at its top, in its graph or as its main thing
        tops = data if isinstance(data, list) else [data]
        graph = [inner for top in tops if isinstance(top, dict) and isinstance(top.get("@graph"), list) for inner in top["@graph"]]
        mains = [top.get("mainEntity") for top in (*tops, *graph) if isinstance(top, dict)]
        for thing in (*tops, *graph, *mains):
            if not found and isinstance(thing, dict) and KINDS.search(type_of(thing)):
                found = [post for one in _thread(thing) if (post := _post(one, now))]
    return found


def _thread(thing: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A posting and what answers it, in order; never recursive."""
    waiting: deque[Any] = deque([thing])
    seen = 0
    while waiting and seen < MAX_POSTS:
        one = waiting.popleft()
        if isinstance(one, list):
            waiting.extendleft(reversed(one))
        elif isinstance(one, dict):
            seen += 1
            yield one
            waiting.extendleft(one[name] for name in reversed(REPLIES) if name in one)


def _post(thing: Mapping[str, Any], now: datetime) -> Post | None:
    text = thing.get("text") or thing.get("articleBody")
    if not isinstance(text, str) or not text.strip():
        return None
    lines = (clean(TAG.sub(" ", line)) for line in BREAKS.sub("\n", text).split("\n"))
    author = thing.get("author")
    author = author[0] if isinstance(author, list) and author else author
    name = author.get("name") if isinstance(author, dict) else author
    date = thing.get("datePublished") or thing.get("dateCreated")
    date = date if isinstance(date, str) else None
    body = "\n".join(line for line in lines if line)
    return Post(
        author=clean(name) or None if isinstance(name, str) else None,
        published=read_date(date, now) if date else None,
        text=body,
        date_text=date,
        block_text=body,
        full_text=body,
    )
