"""The form of an article in files as a JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from newsportal.items import PAGE_TEXTS

TEXT: Final = {"type": "string"}
MOMENT: Final = {"type": "string", "format": "date-time"}
SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
SIZE: Final = {"type": "integer", "minimum": 0}


def _told(kind: dict[str, Any], description: str) -> dict[str, Any]:
    return {**kind, "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


IMAGE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": TEXT,
        "caption": TEXT,
        "width": _told(SIZE, "pixels"),
        "height": _told(SIZE, "pixels"),
        "format": _told(TEXT, "what its first bytes say: jpeg, png, gif, webp, avif"),
        "page": _told(TEXT, "where it stands, if not on the article's own page"),
        "print": _told(TEXT, "its perceptual hash, 16 hexadecimal digits"),
        "dropped": _told(TEXT, "why it is not shown"),
    },
}

POST: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "name": _told(TEXT, "what it is known by in its thread: the forum's number, or a hash"),
        "place": _told(SIZE, "its place in the order of reading, from 0"),
        "floor": {"type": "integer"},
        "author": TEXT,
        "published": MOMENT,
        "date_text": _told(TEXT, "its time as written"),
        "text": TEXT,
        "quoted": _told(TEXT, "other people's words that it answers"),
        "images": _list(IMAGE, "its pictures"),
        "first_seen": MOMENT,
        "changed": _told(MOMENT, "when it was noticed last that it had been edited"),
        "earlier": _list(TEXT, "texts that it had before"),
    },
}

MARK: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["topic", "by"],
    "properties": {
        "topic": TEXT,
        "by": _told(TEXT, "source, search, keywords, or model VERSION"),
        "score": {"type": ["number", "null"], "description": "how likely the topic's model holds it"},
    },
}

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "An article as newsportal exports and imports it",
    "description": "One object a line (JSON lines). What was not found is left out. An import needs url, title and text; it takes "
    "id, story, revision, the folds and what was corrected from nobody: they are worked out anew, a correction is the text itself.",
    "type": "object",
    "required": ["url", "title", "text"],
    "properties": {
        "id": _told(TEXT, "hash of the identity, 20 hexadecimal digits"),
        "story": _told(TEXT, "id of the story that it belongs to"),
        "identity": _told(TEXT, "what it is known by: the canonical form of its address"),
        "url": _told({"type": "string", "minLength": 1}, "its address; an import takes those of the Web alone (https, http)"),
        "title": TEXT,
        "text": _told(TEXT, "one paragraph a line"),
        "html": _told(TEXT, "its body, sanitised"),
        "summary": _told(TEXT, "what a list page or a feed said of it"),
        **{name: _told(TEXT, description) for name, description in PAGE_TEXTS.items()},
        "site": TEXT,
        "source": _told(TEXT, "who brought it: feed:NAME, engine:NAME, region:NAME, forum:NAME, gallery:NAME …"),
        "published": MOMENT,
        "fetched": _told(MOMENT, "when its page was read last"),
        "first_seen": _told(MOMENT, "when it was stored first"),
        "category": TEXT,
        "category_by": _told(TEXT, "source, lexicon, model VERSION, editor"),
        "category_score": SHARE,
        "category_reason": _told(TEXT, "the words that decided"),
        "topics": _list(TEXT, "topics of sources.yaml that it is in"),
        "topic_marks": _list(MARK, "how it came into each"),
        "keywords": _list(TEXT, "its words, the weightiest first"),
        "images": _list(IMAGE, "its pictures in order"),
        "revision": _told({"type": "integer", "minimum": 1}, "how many states of its text were seen"),
        "corrected": _told(MOMENT, "when an editor corrected it last"),
        "corrected_fields": _list(TEXT, "what was corrected: title, text, published, author"),
        "fold_of": _told(TEXT, "id of the article that it repeats"),
        "fold_reason": _told(TEXT, "why they are one story"),
        "fold_score": SHARE,
        "board": _told(TEXT, "of a forum's thread: its board"),
        "posts": _list(POST, "of a forum's thread: its posts in order"),
        "complete": _told({"type": "boolean"}, "of a photo story: whether all its pages were read"),
        "missing": _list({"type": "integer"}, "of a photo story: the numbers of pages that could not be had"),
    },
}
