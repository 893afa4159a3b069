"""Each page fetches the sizes of its photo stories in one query."""

from __future__ import annotations

from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest

from newsportal.store.results import Story, StoryFilter
from newsportal.store.store import Store

ALBUMS = 12
MIN_SHOWN = 3
"""Photo stories on each of the pages."""


@pytest.fixture
def picture_store(fresh: Store, albums: ModuleType) -> Store:
    return fill_with_albums(fresh, albums)


def fill_with_albums(store: Store, albums: ModuleType) -> Store:
    for number in range(ALBUMS):
        store.galleries.save(albums.album(albums.PLACES[number], "https://p.example", number + 1, ago=number), now=albums.NOW)
    return store


class CallCounter:
    """Wrapper of a store or its photo stories that counts method calls."""

    def __init__(self, wrapped: object, calls: Counter[str]) -> None:
        self._wrapped, self._calls = wrapped, calls

    def __getattr__(self, name: str) -> Any:
        self._calls[name] += 1
        found = getattr(self._wrapped, name)
        return CallCounter(found, self._calls) if name == "galleries" else found


@pytest.mark.parametrize("path", ["/", "/latest", "/for-you"])
def test_page_fetches_all_gallery_sizes_at_once(serve: Any, picture_store: Store, path: str) -> None:
    calls: Counter[str] = Counter()
    client: httpx.Client = serve(CallCounter(picture_store, calls))
    client.get(path)
    calls.clear()
    text = client.get(path, params={"another": "address"}).text  # a different URL, to bypass the cache of responses
    assert sum(f"{number} 张" in text for number in range(3, ALBUMS + 1)) >= MIN_SHOWN
    assert (calls["sizes"], calls["gallery"]) == (1, 0)


def test_photo_stories_are_found_in_template_arguments(picture_store: Store) -> None:
    from newsportal.portal.context import photo_stories
    from newsportal.portal.reading.for_you import Suggestion

    first, second, third, *_ = picture_store.stories(StoryFilter()).stories
    plain = Story(third.id, SimpleNamespace(source="feed:甲", id="x"), 1, 1, third.first_seen, third.last_seen)  # type: ignore[arg-type]
    arguments = {
        "lead": first,
        "boards": {"旅游": (1, (second,))},
        "days": ((None, [plain]),),
        "suggested": [Suggestion(third, "新")],
        "n": 3,
    }
    assert sorted(photo_stories(arguments)) == sorted(story.head.id for story in (first, second, third))
