"""Photo stories crawled into a store in Elasticsearch: the same stories, in the same groups, as in a SQLite file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from servers import Servers

from newsportal.storage import open_store
from tests.photo_crawls import crawl, kept_in

if TYPE_CHECKING:
    from madeup.photos import MadeUpPhotos
    from madeup.photos.measure import Kept

pytestmark = pytest.mark.slow

HOSTS = ("qiushui", "songling")
"""One whose stories have one page each, and one with several; some stories are on both."""


@pytest.fixture(scope="module")
def photos() -> Iterator[MadeUpPhotos]:
    from madeup.photos import MadeUpPhotos

    with MadeUpPhotos() as photos:
        yield photos


def crawled(photos: MadeUpPhotos, folder: Path, uri: str) -> tuple[dict[str, int], list[Kept]]:
    """What a crawl of the hosts could not read, by reason, and what it leaves in an empty store, by address."""
    photos.reset()
    photos.visit = 1
    sources = photos.sources(folder / "sources.yaml", *HOSTS)
    said = re.sub(r"^store:.*\n", "", sources.read_text("utf-8"), flags=re.MULTILINE)
    sources.write_text(f"store: {uri}\n{said}", "utf-8")
    failed = crawl(sources)["total"]["failed"]
    with closing(open_store(uri, create=False)) as store:
        return failed, sorted(kept_in(store), key=lambda one: one.url)


def groups(kept: list[Kept]) -> list[list[str]]:
    """The addresses of stories that are one, where there are several."""
    found = defaultdict(list)
    for one in kept:
        found[one.story].append(one.url)
    return [urls for urls in found.values() if len(urls) > 1]


def test_a_crawl_ends_with_the_same_photo_stories_in_elasticsearch(photos: MadeUpPhotos, servers: Servers, tmp_path: Path) -> None:
    from madeup.photos.measure import collected

    with servers.database("elasticsearch") as database:
        failed, there = crawled(photos, tmp_path / "elasticsearch", database.uri)
    failed_here, here = crawled(photos, tmp_path / "sqlite", f"sqlite:///{tmp_path}/news.db")
    assert failed == failed_here
    assert collected(there, photos.gold(*HOSTS), 1).right == len(photos.gold(*HOSTS))
    assert groups(there)
    assert sorted(map(sorted, groups(there))) == sorted(map(sorted, groups(here)))
    whole = [(one.url, one.complete, one.title, one.author, one.published, one.pictures) for one in there]
    assert whole == [(one.url, one.complete, one.title, one.author, one.published, one.pictures) for one in here]
