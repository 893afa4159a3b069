"""The tables of the rooms beside the articles. Their rows have the columns of the SQL tables under the same names, moments as microseconds;
``id`` is the one column of the SQL primary key, or all of them in one text (:func:`row_id`).

What differs:

- A labelled document's own id is called ``document`` (:data:`RENAMED`), for ``id`` names the row.
- A photo story's row holds its ``labels`` (``topic:旅游``), so there is no table of them.
- A sighting has the ``site`` of its story beside it.
- Models and the latest fit are in ``pieces``.
- What has keys of any text (``told`` of visits, ``facts``, ``said``, ``words``) is written as JSON in a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from newsportal.items import content_id
from newsportal.storage.documents.base import Table

ROW_ID_CHARS: Final = 255
"""The longest id of a row (``documents.base``)."""

RENAMED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({"labelled": {"id": "document"}, "former_labels": {"id": "document"}})
"""Table → the SQL column that has another name here → that name."""


def row_id(*parts: str | int) -> str:
    """The id of a row whose primary key has several columns, in their order: no two keys have one id."""
    texts = list(map(str, parts))
    joined = "|".join(texts)
    plain = 0 < len(joined) <= ROW_ID_CHARS and not any("|" in text for text in texts)
    return joined if plain else content_id(json.dumps(texts))


VISITS: Final = Table(
    "visits",
    {"id": "key", "source": "key", "at": "number", "brought": "number"},
    (("source", "-at"), ("source", "brought", "-at"), ("at",)),
)

SUBSCRIPTIONS: Final = Table("subscriptions", {"id": "key", "source": "key", "token": "key"}, (("token",),))

CORPORA: Final = Table("corpora", {"id": "key", "name": "key"})

LABELLED: Final = Table(
    "labelled",
    {
        "id": "key", "corpus_id": "key", "document": "key", "article_id": "key",
        "label": "key", "label_source": "key", "label_at": "number",
    },
    (("corpus_id", "document"), ("corpus_id", "label", "document"), ("article_id",)),
)  # fmt: skip

FORMER_LABELS: Final = Table(
    "former_labels",
    {"id": "key", "corpus_id": "key", "document": "key", "number": "number"},
    (("corpus_id", "document", "number"),),
)

MODELS: Final = Table(
    "models",
    {"id": "key", "corpus_id": "key", "version": "number", "activated": "number", "kept": "flag"},
    (("corpus_id", "-version"),),
    binary=frozenset({"held_out"}),
)
"""The model itself is in ``pieces`` while it is ``kept``."""

PICTURES: Final = Table(
    "pictures",
    {
        "id": "key", "print": "key", "looked": "number", "refused": "key", "frequent": "key", "since": "number",
    },
    (("print",), ("-since", "id"), ("frequent",)),
)  # fmt: skip

PICTURE_STORIES: Final = Table("picture_stories", {"id": "key", "site": "key"}, (("site",),))

SIGHTINGS: Final = Table(
    "picture_sightings",
    {"id": "key", "picture_id": "key", "story_id": "key", "site": "key"},
    (("picture_id", "story_id"), ("story_id",)),
)

SWITCHED_OFF: Final = Table("readers_off", {"id": "key", "reader": "key"})

VIEWS: Final = Table(
    "views",
    {
        "id": "key", "reader": "key", "article_id": "key", "seen": "number", "pictures": "number", "first": "number", "at": "number",
    },
    (("reader", "article_id"), ("reader", "-at", "article_id"), ("-at", "reader", "article_id"), ("first",), ("article_id",)),
    binary=frozenset({"places"}),
)  # fmt: skip

OFFERS: Final = Table(
    "offers",
    {"id": "key", "reader": "key", "story_id": "key", "day": "number", "at": "number", "opened": "key"},
    (("reader", "story_id"), ("day",)),
)

MONTHS: Final = Table("reading_months", {"id": "key", "start": "number"})

FITS: Final = Table("fits", {"id": "key", "number": "number", "made": "number"}, (("-number",),))
"""The model of the latest fit is in ``pieces``."""

THREADS: Final = Table("threads", {"id": "key"})

POSTS: Final = Table("posts", {"id": "key", "thread_id": "key", "name": "key", "place": "number"}, (("thread_id", "place", "name"),))

GALLERIES: Final = Table(
    "galleries",
    {
        "id": "key", "complete": "flag", "pictures": "number", "visited": "number", "score": "float", "moment": "number",
        "labels": "keys",
    },
    (("-score", "-id"), ("-moment", "-id"), ("labels", "-score", "-id"), ("labels", "-moment", "-id"), ("complete", "-visited", "id")),
)  # fmt: skip

GALLERY_PAGES: Final = Table(
    "gallery_pages",
    {"id": "key", "gallery": "key", "page": "key", "number": "number", "seen": "number"},
    (("gallery", "number", "seen", "page"), ("seen",)),
)

REFUSED: Final = Table("gallery_refused", {"id": "key", "name": "key", "seen": "number"}, (("seen",),))

GALLERY_PICTURES: Final = Table(
    "gallery_pictures",
    {"id": "key", "gallery_id": "key", "number": "number", "name": "key", "print": "key", "dropped": "key"},
    (("gallery_id", "number"), ("name",), ("print",)),
)

GALLERY_WORDS: Final = Table("gallery_words", {"id": "key", "gallery_id": "key"})

GALLERY_KEYS: Final = Table(
    "gallery_keys",
    {"id": "key", "key": "number", "gallery_id": "key", "moment": "number"},
    (("key", "moment"), ("gallery_id",)),
)

ROOM_TABLES: Final = (
    VISITS, SUBSCRIPTIONS, CORPORA, LABELLED, FORMER_LABELS, MODELS, PICTURES, PICTURE_STORIES, SIGHTINGS, SWITCHED_OFF, VIEWS, OFFERS,
    MONTHS, FITS, THREADS, POSTS, GALLERIES, GALLERY_PAGES, REFUSED, GALLERY_PICTURES, GALLERY_WORDS, GALLERY_KEYS,
)  # fmt: skip
"""In an order in which they may be written."""
