"""A distributed fit equals a local one: the sums of the parts merged without Spark, and the command with a real Spark."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import run

from newsportal.items import Article, Link
from newsportal.recommend import best
from newsportal.recommend.base import Item, View
from newsportal.recommend.best import Best
from newsportal.recommend.blend import LocalLog
from newsportal.recommend.clicks import hours, to_columns
from newsportal.services import spark
from newsportal.services.recommending import parts
from newsportal.services.spark import has_java
from newsportal.store import open_store
from newsportal.store.store import Store

NOW = datetime.now(UTC).replace(microsecond=0)
HOUR = timedelta(hours=1)


class ListRdd:
    """The part of Spark's RDD that a fit needs, on lists."""

    def __init__(self, elements: Iterable[Any]) -> None:
        self.elements = list(elements)
        self.context = self

    def broadcast(self, value: Any) -> Any:
        return type("Shared", (), {"value": value})

    def map(self, step: Callable[[Any], Any]) -> ListRdd:
        return ListRdd(map(step, self.elements))

    def flatMap(self, step: Callable[[Any], Iterable[Any]]) -> ListRdd:  # noqa: N802
        return ListRdd(chain.from_iterable(map(step, self.elements)))

    def groupByKey(self) -> ListRdd:  # noqa: N802
        found: dict[Any, list[Any]] = {}
        for key, value in reversed(self.elements):  # in arbitrary order
            found.setdefault(key, []).append(value)
        return ListRdd(found.items())

    def mapValues(self, step: Callable[[Any], Any]) -> ListRdd:  # noqa: N802
        return ListRdd((key, step(value)) for key, value in self.elements)

    def treeReduce(self, step: Callable[[Any, Any], Any]) -> Any:  # noqa: N802
        return reduce(step, self.elements)

    def collect(self) -> list[Any]:
        return self.elements

    def toLocalIterator(self) -> Iterator[Any]:  # noqa: N802
        return iter(self.elements)

    def cache(self) -> ListRdd:
        return self


@pytest.fixture(scope="module")
def items() -> tuple[Item, ...]:
    chance = random.Random(1)
    stories = [
        Item(f"s{n:04}", NOW - HOUR * 400 * chance.random(), tuple({f"w{chance.randrange(200)}" for _ in range(6)}), (f"t{n % 5}",))
        for n in range(600)
    ]
    return tuple(stories)


@pytest.fixture(scope="module")
def views() -> list[View]:
    chance = random.Random(2)
    views = []
    for _ in range(6000):
        reader, story = int(150 * chance.random() ** 2), int(650 * chance.random() ** 2)
        views.append(View(f"r{reader:03}", f"s{story:04}", 1 + chance.randrange(8), 8, NOW - HOUR * 300 * chance.random()))
    return views


@pytest.fixture(scope="module")
def partitioned(items: tuple[Item, ...], views: list[View]) -> spark.Log:
    """The log in five parts, one of them without views."""
    cuts = ["", "r003", "r004", "r00400", "r070", "~"]
    some = ([view for view in views if after < view.reader <= until] for after, until in pairwise(cuts))
    return spark.Log(ListRdd(parts.part(part, items) for part in some), items, hours(NOW))


def test_distributed_log_equals_local_log(items: tuple[Item, ...], views: list[View], partitioned: spark.Log) -> None:
    local = LocalLog(to_columns(best.Log(views, items)).before(hours(NOW)))
    assert (len(partitioned), partitioned.readers, partitioned.stories) == (len(local), local.readers, local.stories)
    assert (partitioned.alpha(), partitioned.rate()) == (local.alpha(), local.rate())
    for share in (0.0, 0.1, 0.5, 0.7, 0.85, 1.0):
        assert partitioned.quantile(share) == local.quantile(share)
    begin, end = local.quantile(0.6), local.quantile(0.8)
    distributed, expected = partitioned.moments(begin, end), local.moments(begin, end)
    assert len(distributed) == len(expected) > 50
    for actual, other in zip(distributed, expected, strict=True):
        assert (actual.situation, actual.now) == (other.situation, other.now)
        assert np.array_equal(actual.history, other.history)
        assert np.array_equal(actual.targets, other.targets)


@pytest.mark.slow
def test_distributed_fit_equals_local_fit(items: tuple[Item, ...], views: list[View], partitioned: spark.Log) -> None:
    distributed = best.fit_log(partitioned, hours(NOW))
    local = best.fit_clicks(to_columns(best.Log(views, items)), hours(NOW))
    assert distributed.facts == local.facts
    for table in ("joint", "after"):
        one, other = getattr(distributed.stats, table), getattr(local.stats, table)
        assert np.array_equal(one.starts, other.starts)
        assert np.array_equal(one.story, other.story)
        assert np.array_equal(one.value, other.value)
    assert np.array_equal(distributed.stats.popular, local.stats.popular)
    assert distributed.pack() == local.pack(), "bit for bit"
    for column in ("starts", "story", "began", "by"):
        assert np.array_equal(getattr(distributed.stats.rows, column), getattr(local.stats.rows, column))
    _assert_same(
        distributed, local, {f"r{number:03}": [view for view in views if view.reader == f"r{number:03}"] for number in range(0, 150, 10)}
    )


def _assert_same(distributed: Best, local: Best, histories: dict[str, list[View]]) -> None:
    for reader, history in histories.items():
        one, other = (model.recommend(history, NOW, 20, reader=reader) for model in (distributed, local))
        assert [(found.story, found.by, found.reason_story) for found in one] == [
            (found.story, found.by, found.reason_story) for found in other
        ]
        assert [found.score for found in one] == pytest.approx([found.score for found in other], abs=1e-9)
        assert one


def test_log_without_views_can_be_fitted(items: tuple[Item, ...]) -> None:
    empty = spark.Log(ListRdd([parts.part([], items)] * 2), items, hours(NOW))
    assert best.fit_log(empty, hours(NOW)).facts == best.fit_clicks(to_columns(best.Log([], items)), hours(NOW)).facts


BOTH = """
import sys
from datetime import datetime
from newsportal.services import spark
from newsportal.services.recommending import parts
from newsportal.store import open_store
uri, now = sys.argv[1], datetime.fromisoformat(sys.argv[2])
spark.PARTS_A_CORE = 1  # each of 40 jobs has a task per part; two parts have all that is merged
store = open_store(uri)
for name, fit in (("one", parts.fit(store, now)), ("many", spark.fit(store, uri, "local[2]", now))):
    open(name, "wb").write(fit.model)
"""


@pytest.mark.slow
@pytest.mark.skipif(not (find_spec("pyspark") and has_java()), reason="needs the extra spark and Java (make tools)")
def test_spark_fit_equals_local_fit(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/news.db"
    store = open_store(uri)
    readers = _fill(store)
    command = [sys.executable, "-c", BOTH, uri, NOW.isoformat()]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    local, distributed = (best.unpack((tmp_path / name).read_bytes()) for name in ("one", "many"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes(), "bit for bit"
    _assert_same(distributed, local, {reader: store.readers.history(reader) for reader in readers})
    assert [facts["by"] for _, facts in store.readers.fits()] == ["spark local[2]", "embedded"]
    store.close()


@pytest.mark.slow
def test_missing_requirement_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("store: sqlite:///news.db\n", "utf-8")
    open_store(f"sqlite:///{tmp_path}/news.db").close()
    result = run("recommend", "fit", "--spark", "local[1]", cwd=tmp_path, JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "install" in result.stderr


def _fill(store: Store) -> list[str]:
    chance = random.Random(3)
    ids = []
    for number in range(120):
        link = Link(f"https://news.example/{number}", f"feed:{number % 4}")
        text = "".join(chr(0x4E00 + (number * 977 + place * (331 + number)) % 20_000) for place in range(200))
        at = NOW - HOUR * (number + 1)
        article = Article(link.url, link, at, identity=link.url, title=text[:10], text=text, published=at)
        ids.append(store.add(article, now=at).story_id)
    log = [
        View(f"r{chance.randrange(60)}", ids[int(120 * chance.random() ** 2)], chance.randrange(9), 8, NOW - HOUR * 50 * chance.random())
        for _ in range(2500)
    ]
    store.readers.import_views(log, now=NOW)
    return [f"r{number}" for number in range(0, 60, 7)]
