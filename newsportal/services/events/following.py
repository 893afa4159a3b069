"""Assign stories to events as the change log reports them. The store is authoritative: the clusters in memory are loaded from it at the
start, after writes of another process, and after edits."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import takewhile
from typing import Final

from newsportal.classify.keywords import terms as weighted_terms
from newsportal.errors import StoreError
from newsportal.events import MAX_TERMS, EventClusters, EventState, Story, combined_state, places_among
from newsportal.events.summaries import RepeatedSentences
from newsportal.store.events import Assignment
from newsportal.store.results import Change, StoredArticle, is_thread
from newsportal.store.store import Store

CHANGES: Final = 100  # rows of the change log processed in one transaction
AT_ONCE: Final = 5  # transactions per call, so that callers can stop in between and a portal stays responsive
LOOKED_BACK: Final = 500  # earlier rows of the change log read to learn the repeated sentences of sites
MAX_EVENTS: Final = 100_000
"""Most recently active events in memory: about a kilobyte each. A story of an older event starts a new one."""

PLACES_AMONG: Final = 20  # keywords of a story among which its places are found: later ones are only mentioned


def story_of(id: str, title: str, text: str, published: datetime | None) -> Story:
    """Return an article as input of :mod:`newsportal.events`."""
    terms = {term.word: term.weight for term in weighted_terms(title, text, MAX_TERMS)}
    return Story(id, title, published, terms, places_among(list(terms)[:PLACES_AMONG]))


def vector_of(state: EventState) -> str:
    """Serialise the state of an event for the store."""
    titles = [(title, published.isoformat() if published else None) for title, published in state.titles]
    terms = {term: round(weight, 4) for term, weight in state.terms.items()}
    return json.dumps([state.stories, terms, state.places, titles], separators=(",", ":"))


def state_of(id: str, vector: bytes) -> EventState:
    stories, terms, places, titles = json.loads(vector)
    dated = ((title, datetime.fromisoformat(published) if published else None) for title, published in titles)
    return EventState(id, stories, terms, places, tuple(dated))


def vector_over(id: str, articles: Iterable[StoredArticle]) -> str:
    """Return the vector of an event whose stories have these articles as heads."""
    return vector_of(combined_state(id, (story_of(article.story_id, article.title, article.text, article.moment) for article in articles)))


class EventFollower:
    """Assigns stories to events, one instance per process. ``follow`` may be called repeatedly; it raises the errors of stores."""

    def __init__(self) -> None:
        self._clusters: EventClusters | None = None
        self._sentences: RepeatedSentences | None = None
        self._position = self._edit = 0

    def follow(self, store: Store, stopped: Callable[[], bool] = lambda: False) -> int:
        """Assign new stories since the last call, up to a limit; return the number of change log rows read."""
        steps = (0 if stopped() else self._step(store) for _ in range(AT_ONCE))
        return sum(takewhile(bool, steps))

    def _step(self, store: Store) -> int:
        after = store.events.position()
        if after > store.last_seq():  # an older backup was restored
            store.events.clear()
            after, self._clusters = 0, None
        changes = store.changes(after, CHANGES)
        if not changes:
            return 0
        clusters = self._present(store, after)
        if self._sentences is None:
            self._sentences = RepeatedSentences()
            for earlier in _articles(store, store.changes(max(0, after - LOOKED_BACK), LOOKED_BACK)):
                self._sentences.add(earlier.story_id, earlier.site or earlier.source, earlier.text)
        articles = _articles(store, changes)
        assigned = store.events.of([article.story_id for article in articles])
        latest_first = sorted(articles, key=lambda article: (article.moment, article.id), reverse=True)
        new = {article.story_id: article for article in latest_first if article.story_id not in assigned}  # the earliest of each story
        in_order = sorted(new.values(), key=lambda article: (article.moment, article.id))
        for article in in_order:
            self._sentences.add(article.story_id, article.site or article.source, article.text)
        assignments = list[Assignment]()
        for article in in_order:
            text = self._sentences.remove_from(article.site or article.source, article.text)
            match = clusters.add(story_of(article.story_id, article.title, text, article.moment))
            assignments.append(Assignment(article.story_id, match.event, match.score, match.terms))
        vectors = {event: vector_of(clusters.state(event)) for event in {assignment.event_id for assignment in assignments}}
        moved = any(change.kind != "article" for change in changes)
        self._clusters = None  # until written: if writing fails, the additions must be forgotten
        upto = changes[-1].seq
        if store.events.assign(assignments, vectors, after=after, up_to=upto, touched=list(assigned), again=moved, edited=self._edit):
            self._clusters, self._position = clusters, upto
        return len(changes)

    def _present(self, store: Store, after: int) -> EventClusters:
        if self._clusters is None or self._position != after or len(self._clusters) > 1.2 * MAX_EVENTS:
            self._edit = store.events.last_edit()
            self._clusters = EventClusters()
            for id, vector in store.events.vectors(MAX_EVENTS):
                self._clusters.restore(state_of(id, vector))
        while edits := store.events.edits(after=self._edit):
            self._edit = edits[-1].number
            changed = {id for edit in edits for id in edit.events}
            for id in changed:
                self._clusters.remove(id)
            for id, vector in store.events.vectors(MAX_EVENTS, changed):
                self._clusters.restore(state_of(id, vector))
        return self._clusters


def _articles(store: Store, changes: Iterable[Change]) -> list[StoredArticle]:
    """Return the changed articles, without forum threads, which are not news."""
    found = store.articles(list({change.id for change in changes if change.kind == "article"}))
    return [article for article in found if article.hidden is None and not is_thread(article.source)]


def rebuild(store: Store, progress: Callable[[int, int], object]) -> int:
    """Assign all stories again, except those that editors moved. Return the number of change log rows read. ``progress``: the position in
    the log, and its end. May be stopped at any time: :meth:`EventFollower.follow` continues."""
    for id in store.events.clear():
        members = store.events.members([id]).get(id, [])
        heads = [story.head for member in members if (story := store.story(member.story_id)) is not None]
        store.events.save_vectors({id: vector_over(id, heads)})
    follower, total = EventFollower(), 0
    while count := follower.follow(store):
        total += count
        progress(store.events.position(), store.last_seq())
    if store.events.position() < store.last_seq():
        raise StoreError("the events could not be updated to the end of the change log: another process updates them, too; run it again")
    return total
