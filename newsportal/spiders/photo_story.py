"""The state of a photo story during a visit: pages received, in progress and lost, and those to request next. No input or output."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import can_request, name_of
from newsportal.extractors import gallery
from newsportal.items import Gallery, GalleryPage, Link
from newsportal.sources import Gallery as Source
from newsportal.spiders.fetcher import Outcome

MAX_CONCURRENT: Final = 8
"""Concurrent requests for pages of one story whose URLs are known; delays and limits of the host apply as well."""

GONE: Final = frozenset({"http-404", "http-410", "replay-missing"})  # HTTP statuses of pages that do not exist
TRANSIENT_REASONS: Final = frozenset({"login", "captcha", "error-page", "challenge"})
"""Reasons why an existing page cannot be read: it is missing, rather than the end of its story."""

MIN_GUESSES: Final = 5  # Stories of a source whose next page is guessed before the guesses are evaluated
MIN_RIGHT: Final = 0.1
"""Minimum share of correct guesses to continue. Both chosen: stories of one page cost five requests per visit of a source."""


@dataclass(slots=True)
class Guesses:
    """Counts of guessed next pages of a source's stories in this visit, and of those that existed."""

    tried: int = 0
    correct: int = 0

    @property
    def is_worthwhile(self) -> bool:
        return self.tried < MIN_GUESSES or self.correct >= MIN_RIGHT * self.tried


@dataclass(slots=True)
class StoryVisit:
    """``pages`` are the story's pages, ``stored_urls`` the URLs of stored ones. Of the URLs ``requested``, ``pending`` are in progress,
    ``answered`` redirected to a page with another URL, ``ended`` are not pages of the story, and ``failed`` may be retried. ``open`` URLs
    wait. ``guess`` is the pattern tried if the source has none and the page has no link to the next."""

    link: Link
    source: Source
    pages: list[GalleryPage] = field(default_factory=list)
    stored_urls: set[str] = field(default_factory=set)
    requested: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    ended: dict[str, str] = field(default_factory=dict)
    failed: dict[str, Outcome] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    guesses: Guesses = field(default_factory=Guesses)
    guess: str | None = None
    slow: bool = False
    counted: bool = False

    @property
    def name(self) -> str:
        return name_of(self.link)

    @property
    def pattern(self) -> str | None:
        return self.source.pattern or self.guess

    @property
    def is_unproven(self) -> bool:
        """Whether only a guessed URL suggests that the story continues."""
        return self.guess is not None and len(self.pages) == 1

    @property
    def is_complete(self) -> bool:
        return any(page.whole for page in self.pages)

    def begin(self, pages: Iterable[GalleryPage]) -> None:
        """Begin with the pages stored by earlier visits and other workers."""
        self.pages = list(pages)
        self.stored_urls = {page.url for page in self.pages}
        self.requested |= self.stored_urls  # a first page that is read again links to them all
        self.guess = gallery.proven_pattern(self.pages) if self.source.pattern is None else None
        self._add_open(gallery.urls_left(self.pages, (), self.pattern))

    def add_page(self, page: GalleryPage, url: str) -> None:
        """Add a page of the story, which may link to others."""
        self.pending.discard(url)
        self.guesses.correct += self.is_unproven
        self.pages.append(page)
        self.answered.add(url)
        if len(self.pages) == 1 and self.source.pattern is None and self.guesses.is_worthwhile:
            self.guess = gallery.guess_pattern(page)
            self.guesses.tried += self.guess is not None
        self._add_open(gallery.more_urls(page, {*self.requested, *self.open}, self.pattern, self.pages))

    def merge(self, pages: Iterable[GalleryPage]) -> None:
        """Add pages that other workers stored meanwhile."""
        urls = {page.url for page in self.pages}
        self.pages += [page for page in pages if page.url not in urls]

    def reject(self, url: str, reason: str) -> None:
        """Handle an unreadable response: the story has ended there, or the page exists but cannot be read now."""
        self.pending.discard(url)
        if (reason in TRANSIENT_REASONS or reason.startswith("error: ")) and not self.is_unproven:
            self.failed[url] = Outcome(reason, reason)
        else:
            self.ended[url] = reason

    def fail(self, url: str, outcome: Outcome) -> None:
        """Handle a failed request. A dead link is an end; so is any refusal of a page suggested only by the pattern."""
        self.pending.discard(url)
        linked = any(page.total or url == page.next or url in page.pages for page in self.pages)
        guessed = self.pattern is not None and not linked
        is_end = not outcome.transient and not outcome.forbidden and (outcome.reason in GONE or guessed)
        if is_end or self.is_unproven:
            self.ended[url] = outcome.reason
        else:
            self.failed[url] = outcome

    def next_urls(self) -> list[str]:
        """Return the URLs to request now: known pages concurrently, a next link after the page before it."""
        if self.is_complete or self.slow:
            return []
        urls = self.open[: max(MAX_CONCURRENT - len(self.pending), 0)]
        for url in urls:
            self.request(url)
        return urls

    def request(self, url: str) -> None:
        if url in self.open:
            self.open.remove(url)
        self.requested.add(url)
        self.pending.add(url)

    def stop(self, reason: str) -> None:
        self.slow = True

    def _add_open(self, urls: Iterable[str]) -> None:
        for url in urls:
            if not can_request(url):
                self.ended[url] = "bad-address"
            elif url not in self.requested and url not in self.open:
                self.open.append(url)

    def story(self) -> Gallery:
        """The story after this visit."""
        link, source = self.link, self.source
        ends = (*self.ended, *self.answered)
        story = gallery.assemble(self.pages, link=link, pattern=self.pattern, ended=ends)
        outcome = next(iter(self.failed.values()), None)
        return story.gallery(
            link,
            utcnow(),
            identity=self.name,
            site=source.publisher,
            category=link.category,
            failure=None if story.complete else self._failure(outcome),
            later=not story.complete and not (outcome is not None and outcome.forbidden and not outcome.transient),
            weight=source.weight,
        )

    def _failure(self, outcome: Outcome | None) -> str:
        """Return the reason code for the missing pages."""
        if outcome is not None:
            return outcome.reason
        return "too-slow" if self.slow else next((reason for reason in self.ended.values() if reason in GONE), "missing-pages")
