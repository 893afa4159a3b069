"""What a reader app lists as feeds: topics, sources and a person's searches, each kind in a folder.

Apps hold an article in one feed: a story is in that of the first of its topics, else in that of its source (:meth:`Subscriptions.home_of`).
The stream of any feed has all of its stories, whichever feed they are in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from newsportal.items import content_id
from newsportal.portal.account.marks import mine
from newsportal.portal.context import Visit
from newsportal.portal.language import _, translations
from newsportal.portal.reading.feeds import base_address, feed_addresses
from newsportal.portal.reading.search import feed_of
from newsportal.portal.reading.search_query import parse_search
from newsportal.portal.render import address, topic_address
from newsportal.services.accounts.marks import Search
from newsportal.store.results import Story
from newsportal.text import clean

Kind = Literal["topic", "source", "search"]

FOLDERS: Final[Mapping[Kind, str]] = {"topic": _("Topics"), "source": _("Sources"), "search": _("Saved searches")}
MOST_SOURCES: Final = 500
"""Those that brought most: apps read the whole list of feeds at every synchronisation."""

FEED_ID_DIGITS: Final = 7
"""Hexadecimal: Fever's apps keep the id of a feed as a number of 32 bits with a sign."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A feed of the list. ``key``: the topic's name, the source's key, the id of the search."""

    kind: Kind
    key: str
    title: str
    home: str
    url: str

    @property
    def id(self) -> str:
        return f"feed/{self.kind}/{self.key}"

    @property
    def number(self) -> int:
        return int(content_id(self.id)[:FEED_ID_DIGITS], 16)


class Subscriptions:
    """Those of the person who asks; he is signed in and may keep."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self.base = base_address(visit.request)
        words = translations(visit.portal.site.language)  # whatever language an app asks for: a folder keeps its name
        self.folders: dict[Kind, str] = {kind: words.gettext(title) for kind, title in FOLDERS.items()}

    @cached_property
    def searches(self) -> dict[str, Search]:
        """By their ids."""
        accounts, person = mine(self._visit)
        return {search.id: search for search in accounts.searches.of(person)}

    @cached_property
    def all(self) -> tuple[Subscription, ...]:
        portal = self._visit.portal
        found = [self._made("topic", name, name, topic_address(name), feed_addresses(name, name).rss) for name in portal.topics()]
        by_source = portal.tally().by_source
        for key in sorted(by_source, key=lambda key: (-by_source[key], key))[:MOST_SOURCES]:
            source = portal.by_key.get(key)
            title = source.name if source is not None else key.partition(":")[2] or key
            home = address("/latest", source=key)
            found.append(self._made("source", key, title, home, feed_addresses(title, None, {"source": key}).rss))
        for search in self.searches.values():
            asked = parse_search(search.asked)
            found.append(self._made("search", search.id, search.name, asked.address(), feed_of(asked, self._visit).rss))
        return tuple(found)

    def _made(self, kind: Kind, key: str, title: str, home: str, url: str) -> Subscription:
        return Subscription(kind, key, clean(title) or key, self.base + home, self.base + url)

    @cached_property
    def by_id(self) -> dict[str, Subscription]:
        return {one.id: one for one in self.all}

    def home_of(self, story: Story) -> Subscription | None:
        """The one feed in which apps show ``story``."""
        ids = (*(f"feed/topic/{name}" for name in story.head.topics), f"feed/source/{story.head.source}")
        return next((self.by_id[id] for id in ids if id in self.by_id), None)
