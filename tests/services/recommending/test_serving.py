"""Recommendations for a reader: from the latest fit and later views, each story once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copy

import pytest
from factories import empty_store

from newsportal.errors import StoreUnavailable
from newsportal.items import Article, Link
from newsportal.recommend.base import Log
from newsportal.recommend.clicks import hours, to_columns
from newsportal.recommend.formulas import DAY
from newsportal.services.recommending import serving
from newsportal.services.recommending.parts import fit, items
from newsportal.services.recommending.serving import Recommender
from newsportal.sources.parts import Recommending
from newsportal.store import open_store
from newsportal.store.readers import Fit
from newsportal.store.store import Store
from newsportal_lab.evaluate import rankers

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def add(store: Store, number: int, at: datetime = NOW - HOUR) -> str:
    link = Link(f"https://news.example/{number}", f"feed:{number % 3}")
    text = "".join(chr(0x4E00 + (number * 977 + place * (331 + number)) % 20_000) for place in range(240))
    article = Article(link.url, link, at, identity=f"news.example/{number}", title=text[:12], text=text, published=at)
    return store.add(article, now=at).story_id


def add_views(store: Store, ids: list[str]) -> None:
    """Add views of two groups of readers, one of even and one of odd stories."""
    for reader in range(40):
        for step in range(6):
            number = reader % 2 + 2 * ((reader * 7 + step * 3) % 20)
            store.readers.record_view(f"r{reader}", ids[number], [1], pictures=1, now=NOW - HOUR + timedelta(seconds=reader * 60 + step))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder of stores with 60 stories, to be copied: with the stories only, with views, and with views and a fit; ids of the stories."""
    folder = tmp_path_factory.mktemp("prepared")
    with closing(empty_store(folder / "stories.db")) as store:
        ids = [add(store, number, NOW - HOUR * (number + 1)) for number in range(60)]
    with closing(open_store(f"sqlite:///{copy(folder / 'stories.db', folder / 'viewed.db')}")) as store:
        add_views(store, ids)
    with closing(open_store(f"sqlite:///{copy(folder / 'viewed.db', folder / 'fitted.db')}")) as store:
        fit(store, NOW)
    return folder, ids


@pytest.fixture
def ids(prepared: tuple[Path, list[str]]) -> list[str]:
    return prepared[1]


@pytest.fixture(params=["stories"])
def store(request: pytest.FixtureRequest, prepared: tuple[Path, list[str]], tmp_path: Path) -> Iterator[Store]:
    """A copy of a prepared store, of that with the stories only unless a test names another."""
    with closing(open_store(f"sqlite:///{copy(prepared[0] / f'{request.param}.db', tmp_path)}")) as opened:
        yield opened


viewed = pytest.mark.parametrize("store", ["viewed"], indirect=True)
fitted = pytest.mark.parametrize("store", ["fitted"], indirect=True)


def test_new_stories_are_recommended_before_any_view(store: Store, ids: list[str]) -> None:
    assert Recommender(store, fresh=0).recommended(None, NOW, 5)[0].origin is None
    assert len({item.story.id for item in Recommender(store, fresh=0).recommended("林", NOW, 500)}) == 60
    store.readers.record_view("林", ids[0], [1], pictures=1, now=NOW)
    assert ids[0] not in {item.story.id for item in Recommender(store, fresh=0).recommended("林", NOW, 60)}


@viewed
def test_neighbours_are_used_before_the_first_fit(store: Store, ids: list[str]) -> None:
    found = Recommender(store, fresh=0).recommended("r0", NOW, 8)
    assert sum(ids.index(item.story.id) % 2 == 0 for item in found) >= 6, "the kind of stories that r0 views"
    assert any(item.origin for item in found)


def test_early_counts_are_refreshed_until_the_first_fit(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[datetime] = []
    count = serving.early_model
    monkeypatch.setattr(serving, "early_model", lambda store, now, days: moments.append(now) or count(store, now, days))
    recommender = Recommender(store, fresh=0)
    assert len(recommender.recommended(None, NOW, 100)) == 60
    new = add(store, 999, NOW)
    for reader in range(30):
        store.readers.record_view(f"n{reader}", new, [1], pictures=1, now=NOW + timedelta(seconds=30))
    assert new in {item.story.id for item in recommender.recommended(None, NOW + timedelta(minutes=1), 5)}
    assert moments == [NOW]
    recommender.recommended(None, NOW + timedelta(minutes=11), 5)
    assert moments == [NOW, NOW + timedelta(minutes=11)]
    fit(store, NOW + timedelta(minutes=12))
    recommender.recommended(None, NOW + timedelta(minutes=30), 5)
    assert len(moments) == 2, "the fit is used"


def test_empty_store_recommends_nothing(tmp_path: Path) -> None:
    with closing(empty_store(tmp_path / "empty.db")) as store:
        assert Recommender(store, fresh=0).recommended("林", NOW, 5) == []


@fitted
def test_fit_is_used_with_reasons(store: Store, ids: list[str]) -> None:
    found = Recommender(store, fresh=0).recommended("r0", NOW, 8)
    viewed = {view.story for view in store.readers.history("r0")}
    assert len(found) == 8
    assert not viewed & {item.story.id for item in found}
    assert sum(ids.index(item.story.id) % 2 == 0 for item in found) >= 6
    because = [item.origin for item in found if item.origin]
    assert because
    assert {story.id for story in because} <= viewed


@pytest.mark.slow
@fitted
def test_views_since_the_fit_count(store: Store, ids: list[str]) -> None:
    recommender = Recommender(store, fresh=0)
    new = add(store, 999, NOW + HOUR)
    for reader in range(30):
        store.readers.record_view(f"n{reader}", new, [1], pictures=1, now=NOW + HOUR)
    later = NOW + 2 * HOUR
    assert new in {item.story.id for item in recommender.recommended(None, later, 10)}
    assert new in {item.story.id for item in recommender.recommended("r0", later, 20)}
    store.readers.record_view("r0", new, [1], pictures=1, now=later)
    assert new not in {item.story.id for item in recommender.recommended("r0", later, 20)}


@fitted
def test_folded_stories_are_recommended_once_and_not_if_seen(store: Store, ids: list[str]) -> None:
    recommender = Recommender(store, fresh=0)
    recommender.refresh(NOW)
    before = [item.story.id for item in recommender.recommended("r0", NOW, 6)]
    viewed = store.readers.history("r0")[0].story
    store.fold(before[0], viewed, reason="by-hand", now=NOW)
    store.fold(before[1], before[2], reason="by-hand", now=NOW)
    after = [item.story.id for item in recommender.recommended("r0", NOW, 60)]
    assert not {before[0], before[1], viewed} & set(after)
    assert after.count(before[2]) == 1
    assert len(after) == len(set(after))


@viewed
def test_newer_fit_is_used_and_broken_one_ignored(store: Store, ids: list[str], caplog: pytest.LogCaptureFixture) -> None:
    model = fit(store, NOW)
    recommender = Recommender(store, fresh=0)
    recommender.recommended("r0", NOW, 5)
    store.readers.save_fit(Fit(NOW + HOUR, {}, b"nonsense"))
    assert recommender.recommended("r0", NOW + HOUR, 5)
    assert "is not used" in caplog.text
    assert Recommender(store, fresh=0).recommended("r0", NOW + HOUR, 5), "without any fit"
    store.readers.save_fit(Fit(NOW + 2 * HOUR, model.facts, model.model))
    caplog.clear()
    assert [item.story.id for item in recommender.recommended("r0", NOW + 2 * HOUR, 5)]
    assert caplog.text == ""


def test_refresh_does_not_delay_readers(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    recommender = Recommender(store, clock=lambda: clock[0])
    assert len(recommender.recommended(None, NOW, 100)) == 60
    new = add(store, 999, NOW)
    assert len(recommender.recommended(None, NOW, 100)) == 60, "less than a minute has passed"
    going = threading.Event()
    refresh = recommender.refresh

    def slow(now: datetime) -> None:
        going.wait(600)
        refresh(now)

    monkeypatch.setattr(recommender, "refresh", slow)
    clock[0] = 61
    for _ in range(3):
        assert len(recommender.recommended(None, NOW, 100)) == 60
    looking = [thread for thread in threading.enumerate() if thread.name == "recommender"]
    assert len(looking) == 1
    going.set()
    looking[0].join(600)
    assert new in {item.story.id for item in recommender.recommended(None, NOW, 100)}


def test_unavailable_store_leaves_known_recommendations(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    recommender = Recommender(store, clock=lambda: clock[0])
    recommender.recommended(None, NOW, 5)

    def away(now: datetime) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(recommender, "refresh", away)
    clock[0] = 61
    assert recommender.recommended(None, NOW, 5)
    for thread in threading.enumerate():
        if thread.name == "recommender":
            thread.join(600)
    assert recommender.recommended(None, NOW, 5)


@viewed
def test_fit_omits_old_views(store: Store, ids: list[str]) -> None:
    assert fit(store, NOW).facts["let_go"] == 0
    model = fit(store, NOW + timedelta(days=400))
    assert (model.facts["views"], model.facts["let_go"]) == (0, 240)
    assert store.readers.fits()[0][1]["by"] == "embedded"


@viewed
def test_fit_reports_progress(store: Store, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.services.recommending.parts.EVERY", 50)
    steps: list[tuple[float, str]] = []
    fit(store, NOW, since=NOW - timedelta(days=1), progress=lambda share, step: steps.append((share, step)))
    assert steps == [*((number / 240, "views") for number in (50, 100, 150, 200)), (1.0, "fit")]


@fitted
def test_method_of_the_paper_can_be_chosen(store: Store, ids: list[str]) -> None:
    method = Recommending(method="paper", alpha=0.4, unit="days")
    found = Recommender(store, method, fresh=0).recommended("r0", NOW, 8)
    learnt = to_columns(Log(store.readers.recent(NOW - 30 * 24 * HOUR), items(store.readers, NOW)))
    expected = rankers.paper(learnt, hours(NOW), unit=DAY, alpha=0.4).rank(store.readers.history("r0"), NOW, 8)
    assert [item.recommendation.story for item in found] == list(expected)
    assert {item.recommendation.by for item in found} == {"neighbours"}
    assert expected != Recommender(store, fresh=0).recommended("r0", NOW, 8)
    new = Recommender(store, method, fresh=0).recommended(None, NOW, 3)
    assert [item.recommendation.by for item in new] == ["fresh"] * 3
