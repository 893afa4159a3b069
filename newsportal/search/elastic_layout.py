"""The index of Elasticsearch: its mapping, and an article as its document.

The mapping is that of the news object of Ma's thesis (2016, section 4.3, example 4.2) in today's form: no type, ``text`` and ``keyword``
where it says ``string``, and the analyser on the words that we cut ourselves (``title_words``, ``text_words``, by blanks), so that no
plug-in is needed and every index finds the same. What the thesis calls ``src``, ``pubdate`` and ``content`` is called ``site``,
``pubdate`` and ``text``. Where the server has the thesis's analyser (smartcn) or ik, ``title`` and ``text`` are analysed by it as well,
under ``title.server`` and ``text.server``: for tools that ask Elasticsearch themselves; our answers do not depend on it.
"""

from __future__ import annotations

import json
from typing import Any

from newsportal.search.counting import TOPIC_BREAK
from newsportal.search.docs import Cut, Doc
from newsportal.search.suggesting import Offer
from newsportal.search.words import sequence
from newsportal.text.words import signature

VERSION = 1  # raised when texts are cut or kept in another way: an older index is then built anew by itself
ANALYSERS = {"analysis-ik": "ik_max_word", "analysis-smartcn": "smartcn"}
"""Plug-in of the server -> its analyser; the first that is there is taken."""

POSITION = "~position"  # the id of the document that says how far the index is; ids of articles are hashes
SHOWN_KEYWORD_CHARS = 1_000  # longer names of sites and categories are no facet (Elasticsearch takes 32 kB at most)
OFFER_BREAK = "\t"  # between the plain and the shown form of a suggestion
SETTINGS: dict[str, Any] = {"number_of_shards": 1, "auto_expand_replicas": "0-1", "refresh_interval": "5s"}
"""One shard holds ten million articles, ranks them by one statistic, and lets facets be counted exactly. What is written shows at the
end of :meth:`follow`, which asks for it."""

_EXACT = {"type": "keyword", "doc_values": False}
_WORDS = {"type": "text", "analyzer": "whitespace"}
_ORDER = {"type": "text", "analyzer": "whitespace", "norms": False}
_KEPT: dict[str, Any] = {"type": "text", "index": False}
_FACET = {"type": "keyword", "ignore_above": SHOWN_KEYWORD_CHARS}

NAMED = ("site", "author", "topic", "category")

WORDS: dict[str, Any] = {
    "title_words": _WORDS,
    "text_words": _WORDS,
    "title_order": _ORDER,  # every character and word in order, for phrases
    "text_order": _ORDER,
    "grams": _EXACT,
    "title_grams": _EXACT,
    "labels": _EXACT,
    **{f"in_{name}": _EXACT for name in NAMED},
    "offered_topics": {"type": "keyword"},
    "offered": {"type": "keyword"},
}
"""What articles are found by; it is not kept in the source of the documents."""

SHOWN: dict[str, Any] = {
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
    """The mapping of a new index; ``plugin`` is one of :data:`ANALYSERS`, if the server has one."""
    analysed = {"fields": {"server": {"type": "text", "analyzer": ANALYSERS[plugin]}}} if plugin else {}
    return {
        "dynamic": "strict",
        "_meta": {"version": VERSION, "cuts": signature(), "plugin": plugin},
        "_source": {"excludes": list(WORDS)},
        "properties": {**SHOWN, "title": _KEPT | analysed, "text": _KEPT | analysed, **WORDS},
    }


def document(doc: Doc, words: Cut) -> dict[str, Any]:
    return {
        **{name: getattr(doc, name) for name in ("id", "story_id", "url", "site", "author", "category", "kind", "published", "moment")},
        "topics": list(filter(None, doc.topics.split(TOPIC_BREAK))),
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
        **{f"in_{name}": list(found) for name, found in words.named.items()},
        "offered_topics": [_offered(offer) for offer in words.offers if offer.topic],
        "offered": [_offered(offer) for offer in words.offers if not offer.topic],
    }


def _offered(offer: Offer) -> str:
    return f"{offer.plain}{OFFER_BREAK}{offer.shown}"


def written(alias: str, doc: Doc, words: Cut, seq: int) -> tuple[bytes, bytes]:
    """The lines that write an article, unless what is there is of a later change. ``alias`` must exist: no index is made by a write."""
    return line({"index": {**_target(alias, doc.id, seq), "require_alias": True}}), line(document(doc, words))


def deleted(alias: str, id: str, seq: int) -> tuple[bytes]:
    """The line that deletes an article, unless what is there is of a later change."""
    return (line({"delete": _target(alias, id, seq)}),)


def _target(alias: str, id: str, seq: int) -> dict[str, Any]:
    return {"_index": alias, "_id": id, "version": seq, "version_type": "external_gte"}


def line(value: dict[str, Any]) -> bytes:
    """A line of JSON; lone surrogates become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
