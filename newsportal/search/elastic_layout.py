"""Elasticsearch mapping, and documents of articles.

The mapping follows the news object of Ma's thesis (2016, section 4.3, example 4.2) in current syntax: no type, ``text`` and ``keyword``
instead of ``string``, and a whitespace analyser on words segmented here (``title_words``, ``text_words``), so that no plug-in is needed and
every index finds the same. The thesis' ``src``, ``pubdate`` and ``content`` are ``site``, ``pubdate`` and ``text``. If the server has the
thesis' analyser (smartcn) or ik, it also analyses ``title`` and ``text``, as ``title.server`` and ``text.server``, for tools that query
Elasticsearch themselves; our results do not depend on it.
"""

import json
from typing import Any

from newsportal.search.counting import TOPIC_SEPARATOR
from newsportal.search.docs import Doc, DocTerms
from newsportal.search.suggesting import Suggestion
from newsportal.search.words import sequence
from newsportal.text.words import signature

VERSION = 1  # increased if articles are segmented or stored differently: older indices are then rebuilt automatically
ANALYSERS = {"analysis-ik": "ik_max_word", "analysis-smartcn": "smartcn"}
"""Plug-in of the server -> its analyser; the first one installed is used."""

POSITION = "~position"  # id of the document with the position in the change log; ids of articles are hashes
MAX_FACET_CHARS = 1_000  # longer names of sites and categories are not in facets (Elasticsearch's limit is 32 kB)
SEPARATOR = "\t"  # separates the plain and the displayed form of a suggestion
SETTINGS: dict[str, Any] = {"number_of_shards": 1, "auto_expand_replicas": "0-1", "refresh_interval": "5s"}
"""One shard holds ten million articles, ranks them by one statistic, and allows exact facet counts. Writes become visible at the end of
:meth:`follow`, which refreshes the index."""

_EXACT = {"type": "keyword", "doc_values": False}
_WORDS = {"type": "text", "analyzer": "whitespace"}
_ORDER = {"type": "text", "analyzer": "whitespace", "norms": False}
_KEPT: dict[str, Any] = {"type": "text", "index": False}
_FACET = {"type": "keyword", "ignore_above": MAX_FACET_CHARS}

NAME_FIELDS = ("site", "author", "topic", "category")

SEARCH_FIELDS: dict[str, Any] = {
    "title_words": _WORDS,
    "text_words": _WORDS,
    "title_order": _ORDER,  # all characters and words in order, for phrases
    "text_order": _ORDER,
    "grams": _EXACT,
    "title_grams": _EXACT,
    "labels": _EXACT,
    **{f"in_{name}": _EXACT for name in NAME_FIELDS},
    "offered_topics": {"type": "keyword"},
    "offered": {"type": "keyword"},
}
"""Fields for searching; excluded from the stored source of documents."""

STORED_FIELDS: dict[str, Any] = {
    "id": {"type": "keyword"},
    "story_id": {"type": "keyword"},
    "url": {"type": "keyword", "index": False, "doc_values": False},
    "site": _FACET,
    "author": {"type": "keyword", "index": False, "doc_values": False},
    "category": _FACET,
    "topics": _FACET,
    "kind": {"type": "keyword"},
    "pubdate": {"type": "date", "format": "epoch_millis"},
    "moment": {"type": "long"},
    "published": {"type": "long", "index": False, "doc_values": False},
    "position": {"type": "long", "index": False, "doc_values": False},
}


def mapping(plugin: str | None) -> dict[str, Any]:
    """Return the mapping of a new index; ``plugin`` is one of :data:`ANALYSERS`, if the server has one."""
    analysed = {"fields": {"server": {"type": "text", "analyzer": ANALYSERS[plugin]}}} if plugin else {}
    return {
        "dynamic": "strict",
        "_meta": {"version": VERSION, "cuts": signature(), "plugin": plugin},
        "_source": {"excludes": list(SEARCH_FIELDS)},
        "properties": {**STORED_FIELDS, "title": _KEPT | analysed, "text": _KEPT | analysed, **SEARCH_FIELDS},
    }


def document(doc: Doc, words: DocTerms) -> dict[str, Any]:
    return {
        **{name: getattr(doc, name) for name in ("id", "story_id", "url", "site", "author", "category", "kind", "published", "moment")},
        "topics": list(filter(None, doc.topics.split(TOPIC_SEPARATOR))),
        "pubdate": doc.moment // 1000,
        "title": doc.title,
        "text": doc.text,
        "title_words": " ".join(words.title),
        "text_words": " ".join(words.text),
        "title_order": sequence(doc.title),
        "text_order": sequence(doc.text),
        "grams": list(words.grams),
        "title_grams": list(words.title_grams),
        "labels": list(words.labels),
        **{f"in_{name}": list(found) for name, found in words.name_grams.items()},
        "offered_topics": [_offered(offer) for offer in words.suggestions if offer.topic],
        "offered": [_offered(offer) for offer in words.suggestions if not offer.topic],
    }


def _offered(offer: Suggestion) -> str:
    return f"{offer.plain}{SEPARATOR}{offer.shown}"


def index_lines(alias: str, doc: Doc, words: DocTerms, seq: int) -> tuple[bytes, bytes]:
    """Return the lines that write an article, unless a later version exists. ``alias`` must exist: a write creates no index."""
    return json_line({"index": {**_target(alias, doc.id, seq), "require_alias": True}}), json_line(document(doc, words))


def delete_lines(alias: str, id: str, seq: int) -> tuple[bytes]:
    """Return the line that deletes an article, unless a later version exists."""
    return (json_line({"delete": _target(alias, id, seq)}),)


def _target(alias: str, id: str, seq: int) -> dict[str, Any]:
    return {"_index": alias, "_id": id, "version": seq, "version_type": "external_gte"}


def json_line(value: dict[str, Any]) -> bytes:
    """Return a line of JSON; lone surrogates become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
