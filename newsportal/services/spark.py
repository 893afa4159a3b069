"""Apache Spark: a session for a command, its errors, and the fit of recommendations.

Views are partitioned over the executors by readers, and sums are computed there. Executors run ``recommending.parts``, as do tests without
Spark, so newsportal must be installed on them; stories (names, words, labels) and sums are on the driver. If executors can open the store
(a server, or local Spark), each reads its own readers; else the driver reads all.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

import numpy as np

from newsportal.errors import DependencyMissing, SparkFailed
from newsportal.recommend import best, blend, formulas, neighbours, signals
from newsportal.recommend.base import Item
from newsportal.recommend.blend import Moment, ReaderViews
from newsportal.recommend.clicks import Clicks, Floats, Ints, hours
from newsportal.recommend.signals import Statistics
from newsportal.services.recommending import parts
from newsportal.services.recommending.parts import DAYS, alpha_of, items, save_fit
from newsportal.store import open_store
from newsportal.store.readers import Fit
from newsportal.store.store import Store

ENDED: Final = re.compile(r"(?!org\.|java\.|py4j\.)[\w.]*(?:Error|Exception|Unavailable|TooNew|Missing): \S")
"""The last line of a Python traceback."""


@contextmanager
def session(master: str, command: str) -> Iterator[Any]:
    """Open Spark at ``master`` (``local[*]``, ``spark://HOST:PORT``) for a command. Raises ``DependencyMissing`` without the extra;
    ``SparkFailed`` without Java, or for an error of Spark."""
    try:
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
    except ImportError as error:
        raise DependencyMissing(f"{command} --spark", "spark") from error
    if not has_java():
        raise SparkFailed(
            "Spark needs Java 17 or later, which was not found: sudo apt install openjdk-17-jre-headless, or set JAVA_HOME; "
            "without --spark, this machine does the work"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if master.startswith("local"):
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.python.daemon.module": __name__}
    try:
        with SparkContext(master, f"newsportal {command}", conf=SparkConf().setAll(list(options.items()))) as context:
            yield context
    except (PySparkException, Py4JError) as error:
        raise SparkFailed(f"Spark at {master} failed: {error_line(str(error)) or type(error).__name__}") from error


def error_line(text: str) -> str:
    """Return the last line of a Python worker's traceback in an error of Spark (pages of Java), else the first line."""
    lines = text.strip().splitlines()
    return next(filter(ENDED.match, lines), lines[0] if lines else "")


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None


VIEWS_A_PART: Final = 250_000  # about 10 MB of columns; pairs of a part take a few hundred while they are summed
PARTS_A_CORE: Final = 2
ASKED_AT_ONCE: Final = 1000  # readers of the sample whose views are fetched together

Parts = Any  # an RDD of Clicks, a range of readers each (pyspark is imported when needed)
Bounds = tuple[str, str | None]  # names of readers: after the first, up to the last


def fit(store: Store, uri: str, master: str, now: datetime, *, since: datetime | None = None, days: int = DAYS) -> Fit:
    """See :func:`newsportal.services.recommending.parts.fit`; computed by Spark at ``master`` (``local[*]``, ``spark://HOST:PORT``). Raises
    ``StoreError``; ``DependencyMissing`` without the extra; ``SparkFailed`` without Java, or for an error of Spark."""
    began = time.perf_counter()
    deleted = store.readers.prune_views(alpha=alpha_of(store), now=now)
    views, readers = store.readers.counts()
    stories = {item.story: item for item in items(store.readers, now, days=days)}
    ordered = tuple(stories[story] for story in sorted(stories))
    with session(master, "recommend fit") as context:
        count = max(PARTS_A_CORE * context.defaultParallelism, views // VIEWS_A_PART + 1)
        reader = _read_remotely if master.startswith("local") or not uri.startswith("sqlite") else _read_locally
        bounds = store.readers.split_readers(count)
        log = Log(reader(context, store, uri, list(zip(["", *bounds], [*bounds, None], strict=True)), since, ordered), ordered, hours(now))
        model = best.fit_log(log, hours(now))
    return save_fit(store, now, model, {"by": f"spark {master}", "views": views, "readers": readers, "let_go": deleted}, began)


def _read_remotely(context: Any, store: Store, uri: str, ranges: list[Bounds], since: datetime | None, items: tuple[Item, ...]) -> Parts:
    shared = context.broadcast(tuple(Item(item.story, item.published) for item in items))
    return context.parallelize(ranges, len(ranges)).map(lambda bounds: _range(uri, bounds, since, shared.value))


def _range(uri: str, bounds: Bounds, since: datetime | None, items: tuple[Item, ...]) -> Clicks:
    """Read a part on an executor."""
    with closing(open_store(uri, create=False)) as store:
        return parts.part(store.readers.views(since=since, after=bounds[0], until=bounds[1]), items)


def _read_locally(context: Any, store: Store, uri: str, ranges: list[Bounds], since: datetime | None, items: tuple[Item, ...]) -> Parts:
    """Read all parts on the driver, if only it can open the store: 40 bytes per view."""
    clicks = [parts.part(store.readers.views(since=since, after=after, until=until), items) for after, until in ranges]
    return context.parallelize(clicks, len(clicks))


class Log:
    """A distributed log: see :class:`newsportal.recommend.blend.TrainingLog`."""

    def __init__(self, read: Parts, items: tuple[Item, ...], now: float) -> None:
        self._parts = read.map(lambda part: part.before(now)).cache()
        self._items = items
        self._published = np.array([hours(item.published) for item in items], dtype=np.float64)
        self._sizes: list[parts.Size] = self._parts.map(parts.size).collect()
        self._ends: dict[parts.Column, Ints] = {}  # cumulative number of values by bin

    @property
    def stories(self) -> int:
        return len(self._items)

    @property
    def readers(self) -> int:
        return sum(size.readers for size in self._sizes)

    def __len__(self) -> int:
        return sum(size.views for size in self._sizes)

    def quantile(self, share: float) -> float:
        return self._values_at("at", share)[0]

    def alpha(self) -> float:
        return round(float(np.mean(self._values_at("share", 0.5))), 6) if len(self) else formulas.ALPHA

    def rate(self) -> float:
        return round(sum(size.ages for size in self._sizes) / len(self), 6)

    def statistics(self, moment: float) -> Statistics:
        totals: Floats = self._parts.map(partial(parts.totals, moment=moment)).treeReduce(np.add)
        popular, damped = totals[:-1], totals[-1]
        ranges = list(neighbours.blocks(popular[-1]))
        shared = self._parts.context.broadcast((damped, popular[-1]))
        shares = self._parts.flatMap(partial(parts.blocks, moment=moment, ranges=ranges)).groupByKey()
        pairs = dict(shares.mapValues(lambda group: parts.merged_sums(group, *shared.value)).collect())
        rows = parts.rows(self._parts.flatMap(partial(parts.latest, moment=moment)).toLocalIterator(), self.stories)
        sums = signals.Sums(popular, damped, neighbours.concatenate([pairs[number] for number in sorted(pairs)]), rows)
        return signals.assemble(self._items, self._published, moment, sums)

    def moments(self, begin: float, end: float) -> list[Moment]:
        names = sorted(self._parts.flatMap(partial(parts.names, begin=begin, end=end)).collect())
        order = np.random.default_rng(blend.SEED).permutation(len(names)).tolist()  # the order in which they are requested
        position = {reader: place for place, reader in enumerate(order)}
        fetched: dict[str, ReaderViews] = {}

        def looks(reader: int) -> ReaderViews:
            if names[reader] not in fetched:
                readers = frozenset(names[index] for index in order[position[reader] : position[reader] + ASKED_AT_ONCE])
                fetched.update(self._parts.flatMap(partial(parts.reader_views, readers=readers)).collect())
            return fetched[names[reader]]

        return list(blend.draw_moments(len(names), looks, begin, end))

    def _values_at(self, column: parts.Column, share: float) -> list[float]:
        """Return the values of the two ranks next to the share; twice the same if it is exactly a rank."""
        bounds = (min(size.bounds[column][0] for size in self._sizes), max(size.bounds[column][1] for size in self._sizes))
        if column not in self._ends:
            self._ends[column] = np.cumsum(self._parts.map(partial(parts.bins, column=column, bounds=bounds)).treeReduce(np.add))
        place = (len(self) - 1) * share
        ranks = (int(np.floor(place)), int(np.ceil(place)))
        ends = self._ends[column]
        first, last = (int(np.searchsorted(ends, rank, side="right")) for rank in ranks)
        found = self._parts.map(partial(parts.values_of, column=column, bounds=bounds, first=first, last=last)).collect()
        return parts.ranked(found, int(ends[first - 1]) if first else 0, ranks)


if __name__ == "__main__":  # the daemon that forks Python workers; each of them would read Spark's archives again, if these came first
    sys.path.sort(key=lambda path: path.endswith((".jar", ".zip")))
    sys.path_importer_cache.clear()
    from pyspark.daemon import manager

    manager()
