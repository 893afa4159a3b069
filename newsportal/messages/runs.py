"""Notes of a crawl's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "note.state": "is “%(after)s” now (was “%(before)s”): %(why)s",
    "note.state-again": "is “%(after)s” again (was “%(before)s”)",
    "note.other-worker": "another worker visits it now",
    "note.rests": "rests until %(until)s: %(reason)s",
    "note.layout-changed": "layout changed: the template-free reader took over",
    "note.retries-articles": "asks again for articles that an earlier run could not fetch",
    "note.one-address": "several entries of a list lead to one address, where only one article can be fetched",
    "note.links-wait": "%(number)s links wait for another try (%(reason)s), the first at %(at)s",
    "note.given-up": "articles that could not be fetched for %(days)s days or more are given up (%(reason)s)",
    "note.hung": "some pages hung in the browser in %(runs)s runs or more, and are left alone for %(days)s days",
    "note.canonical-taken": "some pages declare the address of another article (rel=canonical), and are stored under their own",
    "note.rule-finds-nothing": "the rule under article: finds no body on some pages",
    "note.text-from-feed": "text taken from the feed where pages fail (%(reason)s)",
    "note.further-pages": "further pages of some articles cannot be fetched (%(reason)s)",
    "note.pictures-left": "pictures left out: %(counts)s",
    "note.category-by": "category by %(counts)s",
    "note.model-broken": "version %(version)s of the model of %(corpus)s cannot be used: %(why)s",
    "note.model-unmeasured": (
        "version %(version)s of the model of %(corpus)s is not used: it has no figures, and classifier.good_enough asks for %(least)s"
    ),
    "note.model-weak": (
        "version %(version)s of the model of %(corpus)s is not used: "
        "its macro-F1 is %(figure)s, and classifier.good_enough asks for %(least)s"
    ),
    "note.topic-doubtful": "topic %(topic)s: some articles with its keywords may be about something else",
    "note.topic-by-model": "topic %(topic)s: its model found articles without its keywords",
    "note.rendered": "%(pages)s pages rendered in %(seconds)s s, with %(requests)s further requests",
    "note.rendered-restless": "%(number)s of them kept changing and were taken as they were",
    "note.rendered-denied": "%(number)s requests to forbidden addresses were refused",
    "note.members-only": "only members may read %(url)s",
    "note.many-boards": "more than %(most)s boards: the rest is left out; name those that matter under boards:",
    "note.board-failed": "cannot be read (%(reason)s): %(board)s",
    "note.deep-threads": "some threads have more than %(pages)s pages: the next visit reads on",
    "note.posts": "%(posts)s new posts in %(threads)s threads",
    "note.posts-edited": "%(number)s posts were edited",
    "note.galleries": "photo stories: %(counts)s",
    "note.complete": "%(number)s complete",
    "note.finished": "%(number)s finished",
    "note.incomplete": "%(number)s incomplete (%(reasons)s)",
    "note.not-tried": "%(number)s not tried any more",
    "note.deep-indexes": "indexes of sitemaps lie %(depth)s deep and more: the rest is left out",
    "left.foreign": "%(number)s addresses of other sites are left out",
    "left.old": "%(number)s entries are older than max_age",
    "left.rules": "%(number)s entries are excluded by allow and deny",
    "left.no-article": "%(number)s addresses do not look like articles",
    "left.many": "%(number)s further sitemaps are left to later visits",
    "left.limit": "%(number)s entries wait for the next visit",
    "warning.lastmod-moves": "its dates of change move although no page came or went: they are not believed",
    "warning.lastmod-now": "its dates of change are always now: they are not believed",
    "warning.lastmod-same": "its dates of change are all the same: they are not believed",
    "warning.entities-declared": "it declares entities, which are dropped",
    "warning.too-large": "it is too large: the rest is not read",
    "warning.too-many-tags": "it holds too much: the rest is not read",
    "warning.too-many-entries": "it holds too many entries: the rest is not read",
    "warning.not-well-formed": "the feed has mistakes; it was read all the same",
    "warning.shared-link": "several entries have the same link",
    "warning.entry-without-link": "some entries have no link",
    "warning.wrong-encoding": "it is written in another encoding than it says",
    "warning.illegal-characters": "it holds characters that XML does not allow",
    "warning.bad-address": "some of its addresses cannot be used",
    "warning.broken-gzip": "it is compressed, and broken: the rest is not read",
}
