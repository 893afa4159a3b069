"""The pages that a photo story requests next, for any order of responses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newsportal.extractors.gallery.further_pages import MAX_PAGES
from newsportal.items import GalleryPage, Image, Link
from newsportal.sources import Gallery
from newsportal.spiders.fetcher import Outcome
from newsportal.spiders.photo_story import MAX_CONCURRENT, MIN_GUESSES, Guesses, StoryVisit

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
GONE = Outcome("http-404", "HTTP 404")


def url(number: int) -> str:
    return f"https://pic.example/s/7_{number}.html"


def page(number: int, total: int | None = None, **more: object) -> GalleryPage:
    image = Image(f"https://pic.example/{number}.jpg", f"这是老桥的第{number}张照片")
    return GalleryPage(url(number), number, total, "老桥", images=(image,), published=NOW, **more)  # type: ignore[arg-type]


def new_visit(pattern: str | None = "{id}_{n}.html") -> StoryVisit:
    return StoryVisit(Link(url(1), "gallery:图站"), Gallery(name="图站", seeds=("https://pic.example/",), pattern=pattern))


def request_next(story: StoryVisit) -> list[int]:
    """Return the numbers of the pages requested now."""
    urls = story.next_urls()
    return [int(address.rpartition("_")[2].partition(".")[0]) for address in urls]


def receive(story: StoryVisit, number: int, total: int | None = None, **more: object) -> None:
    story.request(url(number))
    story.add_page(page(number, total, **more), url(number))


def fail_page(story: StoryVisit, number: int, outcome: Outcome) -> None:
    story.fail(url(number), outcome)


def test_known_pages_are_requested_in_small_batches() -> None:
    story = new_visit()
    receive(story, 1, 20)
    assert request_next(story) == list(range(2, MAX_CONCURRENT + 2))
    assert request_next(story) == [], "the host has enough requests"
    receive(story, 5, 20)
    assert request_next(story) == [MAX_CONCURRENT + 2]


def test_unknown_page_count_is_probed_one_by_one() -> None:
    story = new_visit()
    receive(story, 1)
    assert request_next(story) == [2]
    receive(story, 2)
    assert request_next(story) == [3]
    fail_page(story, 3, GONE)
    assert request_next(story) == []
    gallery = story.story()
    assert (gallery.complete, gallery.missing, gallery.failure, len(gallery.images)) == (True, (), None, 2)


def test_pages_in_any_order_make_one_story() -> None:
    story = new_visit()
    for number in (3, 1, 4, 2):
        receive(story, number, 4)
    gallery = story.story()
    assert gallery.complete
    assert [image.url for image in gallery.images] == [f"https://pic.example/{number}.jpg" for number in (1, 2, 3, 4)]
    assert (gallery.identity, gallery.total, gallery.weight) == ("pic.example/s/7_1.html", 4, 5)


def test_failed_page_is_missing_and_retried_on_later_visit() -> None:
    story = new_visit()
    receive(story, 1, 3)
    assert request_next(story) == [2, 3]
    fail_page(story, 2, Outcome("http-503", "HTTP 503", transient=True))
    receive(story, 3, 3)
    assert request_next(story) == [], "only once per visit"
    gallery = story.story()
    assert (gallery.complete, gallery.missing, gallery.failure, gallery.later) == (False, (2,), "http-503", True)


@pytest.mark.parametrize(
    ("outcome", "failure", "later"),
    [
        (GONE, "http-404", True),
        (Outcome("http-403", "HTTP 403"), "http-403", True),
        (Outcome("robots", "robots.txt", forbidden=True), "robots", False),
    ],
)
def test_unavailable_listed_page_is_missing(outcome: Outcome, failure: str, later: bool) -> None:
    story = new_visit()
    receive(story, 1, 3)
    request_next(story)
    fail_page(story, 2, outcome)
    receive(story, 3, 3)
    gallery = story.story()
    assert (gallery.complete, gallery.failure, gallery.later) == (False, failure, later)


def test_refusal_of_guessed_page_ends_story() -> None:
    story = new_visit()
    receive(story, 1)
    assert request_next(story) == [2]
    fail_page(story, 2, Outcome("http-403", "HTTP 403"))
    assert story.story().complete


def test_login_page_is_missing_but_soft_404_ends_story() -> None:
    story = new_visit()
    receive(story, 1)
    request_next(story)
    story.reject(url(2), "soft-404")
    assert story.story().complete
    other = new_visit()
    receive(other, 1)
    request_next(other)
    other.reject(url(2), "login")
    gallery = other.story()
    assert (gallery.complete, gallery.failure) == (False, "login")


def test_redirected_page_is_not_requested_again() -> None:
    story = new_visit(pattern=None)
    requested = "https://pic.example/show?id=7&page=2"
    receive(story, 1, pages=(requested,), next=requested)
    assert story.next_urls() == [requested]
    story.add_page(page(2), requested)
    assert story.next_urls() == []
    assert story.story().complete


def test_slideshow_is_complete_with_first_page() -> None:
    story = new_visit()
    receive(story, 1, 9, whole=True)
    assert story.next_urls() == []
    assert story.story().complete


def test_stored_pages_are_not_requested_and_other_pages_joined() -> None:
    story = new_visit()
    story.begin([page(1, 4), page(3, 4)])
    assert request_next(story) == [2, 4]
    receive(story, 2, 4)
    story.merge([page(1, 4), page(2, 4), page(3, 4), page(4, 4)])
    assert len(story.pages) == 4
    assert story.story().complete


def test_slow_story_is_resumed_on_next_visit() -> None:
    story = new_visit()
    receive(story, 1, 5)
    story.stop("too-slow")
    assert story.next_urls() == []
    gallery = story.story()
    assert (gallery.complete, gallery.failure, gallery.later) == (False, "too-slow", True)


def test_requests_per_story_are_bounded() -> None:
    story = new_visit(pattern=None)
    receive(story, 1, pages=tuple(url(1000 + at) for at in range(150)))
    while numbers := request_next(story):
        for number in numbers:
            fail_page(story, number, GONE)
        receive(story, numbers[0], pages=tuple(url(1000 * numbers[0] + at) for at in range(150)))
        assert len(story.requested) + len(story.open) <= MAX_PAGES
    assert len(story.requested) == MAX_PAGES


PASSES = Outcome("http-503", "HTTP 503", transient=True)


@pytest.mark.parametrize("outcome", [GONE, PASSES, Outcome("robots-denied", "denied", forbidden=True)])
def test_failed_guess_means_one_page(outcome: Outcome) -> None:
    story = new_visit(pattern=None)
    receive(story, 1)
    assert request_next(story) == [2]
    fail_page(story, 2, outcome)
    assert story.story().complete


def test_successful_guess_becomes_pattern() -> None:
    story = new_visit(pattern=None)
    receive(story, 1)
    receive(story, 2)
    assert request_next(story)[-1:] == [3]
    fail_page(story, 3, PASSES)
    gallery = story.story()
    assert (gallery.complete, gallery.failure, gallery.later) == (False, "http-503", True)
    again = new_visit(pattern=None)
    again.begin(story.pages)
    assert request_next(again) == [3], "the next visit continues"


def test_unsuccessful_guessing_stops_for_the_source() -> None:
    guesses = Guesses()
    for _ in range(MIN_GUESSES):
        story = replace(new_visit(pattern=None), guesses=guesses)
        receive(story, 1)
        assert story.guess is not None
    story = replace(new_visit(pattern=None), guesses=guesses)
    receive(story, 1)
    assert (story.guess, request_next(story), story.story().complete) == (None, [], True)
    guesses.correct = 1
    story = replace(new_visit(pattern=None), guesses=guesses)
    receive(story, 1)
    assert story.guess is not None


def test_invalid_page_url_is_not_requested() -> None:
    story = new_visit(pattern=None)
    receive(story, 1, pages=("http://pic.example:99999/2.html", url(2)))
    assert request_next(story) == [2]
    assert story.ended == {"http://pic.example:99999/2.html": "bad-address"}
