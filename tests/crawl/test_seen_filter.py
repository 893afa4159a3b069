"""The filter in front of the store: saved between crawls, synchronised with the store, and harmless when unavailable or damaged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from newsportal.crawl import seen_filter
from newsportal.crawl.link_tracker import LinkTracker, tracker_of
from newsportal.crawl.seen_filter import LocalFilter, RedisFilter
from newsportal.errors import StoreError
from newsportal.items import Article, Link
from newsportal.sources import Sources
from newsportal.store import open_store
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "news.db.known"


def put(store: Store, *names: str) -> None:
    for name in names:
        link = Link(f"https://{name}", "feed:甲")
        store.add(Article(url=link.url, link=link, fetched=NOW, identity=name, title=f"题 {name}", text=f"正文 {name}"), now=NOW)


class RecordingStore:
    """A store that records the positions from which its identities are read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.since: list[int] = []

    def identities(self, *, after: int = 0) -> Iterator[str]:
        self.since.append(after)
        return self._store.identities(after=after)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class TestLocal:
    def test_restart_reads_only_newer_identities(self, store: Store, file: Path) -> None:
        put(store, "a.example/1", "a.example/2")
        LocalFilter(store, file).save()
        put(store, "a.example/3")
        store.add_aliases(["m.a.example/3"], "a.example/3")
        recording: Any = RecordingStore(store)
        again = LocalFilter(recording, file)
        stored = {"a.example/1", "a.example/2", "a.example/3", "m.a.example/3"}
        assert again.candidates([*stored, "a.example/4"]) == stored
        assert recording.since == [2]

    def test_filter_is_filled_from_the_store_without_a_file(self, store: Store) -> None:
        put(store, "a.example/1")
        filled = LocalFilter(store)
        filled.save()
        assert filled.candidates(["a.example/1", "a.example/2"]) == {"a.example/1"}

    @pytest.mark.parametrize("damage", [b"", b"newsportal known 0\n", b"\x80\x04pickle", None])
    def test_damaged_file_is_rebuilt_with_a_warning(
        self, store: Store, file: Path, damage: bytes | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        put(store, "a.example/1")
        LocalFilter(store, file).save()
        content = file.read_bytes()
        file.write_bytes(content[:-20] + b"x" * 20 if damage is None else damage)
        again = LocalFilter(store, file)
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert str(file) in caplog.text
        assert again.candidates(["a.example/1"]) == {"a.example/1"}
        again.save()
        assert file.read_bytes() == content

    def test_changed_settings_rebuild_the_filter(self, store: Store, file: Path) -> None:
        put(store, "a.example/1")
        LocalFilter(store, file).save()
        assert LocalFilter(store, file, capacity=5000).candidates(["a.example/1"]) == {"a.example/1"}

    def test_file_of_a_later_store_is_not_used(self, store: Store, file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        put(store, "a.example/1", "a.example/2", "a.example/3")
        LocalFilter(store, file).save()
        other = open_store(f"sqlite:///{tmp_path}/restored.db")
        put(other, "a.example/9")
        assert LocalFilter(other, file).candidates(["a.example/9", "a.example/1"]) == {"a.example/9"}
        assert "belongs to another store" in caplog.text
        other.close()

    def test_unwritable_file_is_not_an_error(self, store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        (tmp_path / "taken").mkdir()
        LocalFilter(store, tmp_path / "taken").save()
        assert "could not be written" in caplog.text
        assert not list(tmp_path.glob("*.new"))

    def test_spiders_of_a_process_may_save_concurrently(self, store: Store, file: Path, caplog: pytest.LogCaptureFixture) -> None:
        put(store, "a.example/1")
        shared = LocalFilter(store, file)
        with ThreadPoolExecutor(8) as pool:
            for saved in [pool.submit(shared.save) for _ in range(64)]:
                saved.result()
        assert not caplog.records
        assert LocalFilter(store, file).candidates(["a.example/1"]) == {"a.example/1"}

    def test_articles_of_another_process_are_known_after_a_while(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        ours = LocalFilter(store)
        put(store, "a.example/1")
        assert ours.candidates(["a.example/1"]) == set()
        monkeypatch.setattr(seen_filter, "CATCH_UP", -1.0)
        assert ours.candidates(["a.example/1"]) == {"a.example/1"}


@pytest.fixture
def connect(redis_server: Any, store: Store) -> Callable[..., RedisFilter]:
    def make_filter(of: Any = store, **options: Any) -> RedisFilter:
        sources = Sources.model_validate({"url_filter": {"redis": redis_server.url, **options}})
        found = seen_filter.open_filter(sources, Settings({"REDIS_URL": redis_server.url}), of)
        assert isinstance(found, RedisFilter)
        return found

    return make_filter


class TestShared:
    def test_shared_filter_is_filled_once(self, store: Store, connect: Callable[..., RedisFilter]) -> None:
        put(store, "a.example/1", "a.example/2")
        first = connect()
        recording: Any = RecordingStore(store)
        second = connect(recording)
        assert recording.since == [2], "earlier identities are not read again"
        put(store, "a.example/3")
        first.add(["a.example/3"])
        assert second.candidates(["a.example/1", "a.example/3", "a.example/4"]) == {"a.example/1", "a.example/3"}

    def test_redis_outage_falls_back_to_the_store(
        self, store: Store, connect: Callable[..., RedisFilter], redis_server: Any, caplog: pytest.LogCaptureFixture, monkeypatch: Any
    ) -> None:
        put(store, "a.example/1")
        shared_one = connect()
        shared = shared_one
        redis_server.kill()
        put(store, "a.example/2")
        shared.add(["a.example/2"])
        assert shared.find_stored(["a.example/1", "a.example/2", "a.example/3"]) == {"a.example/1", "a.example/2"}
        assert caplog.text.count("is unavailable") == 1, "logged once"
        redis_server.start()
        monkeypatch.setattr(shared_one, "_away_until", 0.0)
        assert shared.find_stored(["a.example/1", "a.example/2", "a.example/3"]) == {"a.example/1", "a.example/2"}
        assert "is available again" in caplog.text
        assert shared_one.candidates(["a.example/1", "a.example/2", "a.example/3"]) == {"a.example/1", "a.example/2"}, (
            "missed identities were added"
        )

    def test_start_without_redis_works(
        self, store: Store, connect: Callable[..., RedisFilter], redis_server: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        redis_server.kill()
        put(store, "a.example/1")
        shared = connect()
        assert shared.find_stored(["a.example/1", "a.example/2"]) == {"a.example/1"}
        shared.save()
        assert "is unavailable" in caplog.text

    def test_emptied_redis_is_filled_again(
        self, store: Store, connect: Callable[..., RedisFilter], redis_server: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        put(store, "a.example/1")
        ours = connect()
        redis_server.kill()
        redis_server.start()
        assert ours.candidates(["a.example/1", "a.example/2"]) == {"a.example/1"}
        assert "refilled from the store" in caplog.text

    def test_full_redis_falls_back_to_the_store(
        self, store: Store, connect: Callable[..., RedisFilter], redis_server: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        put(store, "a.example/1")
        redis_server.kill()
        redis_server.start("--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
        full = connect(capacity=100_000_000)
        full.add([f"b.example/{n}" for n in range(2000)])
        assert full.candidates(["a.example/1", "x.example/1"]) >= {"a.example/1"}
        assert "is unavailable" in caplog.text

    def test_password_is_never_shown(self, store: Store, redis_server: Any, caplog: pytest.LogCaptureFixture) -> None:
        redis_server.kill()
        redis_server.start("--requirepass", "right")
        url = redis_server.url.replace("redis://", "redis://:geheim@")
        opened = seen_filter.open_filter(Sources(), Settings({"REDIS_URL": url}), store)
        assert opened.candidates(["a.example/1"]) == {"a.example/1"}
        assert "is unavailable" in caplog.text
        assert "geheim" not in caplog.text

    def test_filters_of_two_stores_are_separate(self, redis_server: Any) -> None:
        settings = Settings({"REDIS_HOST": "127.0.0.1", "REDIS_PORT": redis_server.port})
        a, b = (seen_filter.shared_bloom(Sources.model_validate({"store": f"sqlite:////srv/{name}.db"}), settings) for name in "ab")
        a.open(), b.open()
        a.add(["a.example/1"])
        assert b.candidates(["a.example/1"]) == set()

    def test_filter_is_configured_by_file_and_command_line(
        self, redis_server: Any, tmp_path: Path, crawler_for: Callable[..., Crawler]
    ) -> None:
        (tmp_path / "sources.yaml").write_text(f"url_filter: {{redis: '{redis_server.url}'}}\n", "utf-8")
        assert crawler_for().settings["REDIS_URL"] == redis_server.url
        tracker = tracker_of(crawler_for())
        assert isinstance(tracker.stored_urls, RedisFilter)
        tracker.store.close()


def test_invalid_url_error_lists_allowed_schemes(store: Store) -> None:
    with pytest.raises(StoreError, match="allowed: redis://"):
        seen_filter.open_filter(Sources(), Settings({"REDIS_URL": "http://:geheim@127.0.0.1"}), store)


class TestTold:
    def test_status_before_the_first_crawl(self, tmp_path: Path) -> None:
        status = seen_filter.filter_status(Sources.model_validate({"store": f"sqlite:///{tmp_path}/news.db"}))
        assert (status.fill, "no filter yet" in status.says) == (None, True)

    def test_status_of_a_file(self, store: Store, file: Path, tmp_path: Path) -> None:
        put(store, "a.example/1")
        sources = Sources.model_validate({"store": f"sqlite:///{tmp_path}/news.db"})
        assert sources.seen_file == file
        LocalFilter(store, file).save()
        status = seen_filter.filter_status(sources)
        assert status.fill is not None
        assert "1 of 100,000 entered" in status.says
        assert "change 1" in status.says
        file.write_bytes(b"?")
        assert "is not used" in seen_filter.filter_status(sources).says

    def test_status_of_redis(self, redis_server: Any) -> None:
        sources = Sources.model_validate({"url_filter": {"redis": redis_server.url}})
        assert "answers; 0 of 100,000 entered" in seen_filter.filter_status(sources).says
        redis_server.kill()
        with pytest.raises(StoreError, match="is unavailable"):
            seen_filter.filter_status(sources)


def test_articles_of_earlier_runs_are_known_at_start(tracker: LinkTracker) -> None:
    put(tracker.store, "a.example/1")
    tracker.store.add_aliases(["a.example/old"], "a.example/1")
    fresh = LocalFilter(tracker.store)
    assert fresh.find_stored(["a.example/1", "a.example/old", "a.example/2"]) == {"a.example/1", "a.example/old"}


def test_store_decides_on_false_positives(tracker: LinkTracker) -> None:
    tracker.stored_urls.add(["a.example/gone"])
    assert tracker.stored_urls.find_stored(["a.example/gone"]) == set()
