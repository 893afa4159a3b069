"""Recommendation on logs split in time: the paper's method, popularity, item neighbours, V-SKNN, implicit ALS and ours in one table.

python benchmarks/recommend.py FOLDER [SET...]    (FOLDER holds ml-100k, rsc15 and sim, see docs/algorithms/recommendation.md)
python benchmarks/recommend.py --speed [--views N]    (10,000 readers, 100,000 made stories)
python benchmarks/recommend.py --by-reader FOLDER    (what the share seen of each story adds)

ml-100k and sim: cuts at 0.5, 0.7 and 0.85 of the views, targets: what a reader sees first until the next cut. sim-unlabelled: sim
without topics, which the peers do not use. rsc15: the last day, next click; a story seen before in the session is no target, because no
portal recommends it. rsc15-again: such clicks too, as papers on sessions count; all methods may name stories of the history then, and
ours, which never does, is given the latest stories of the history in front.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from newsportal.recommend import best, formulas
from newsportal.recommend.base import Item, Log, View
from newsportal.recommend.clicks import Clicks, hours
from newsportal_lab.evaluate import ranking
from newsportal_lab.evaluate.rankers import METHODS, Question, ScoringRanker, age_half_life
from newsportal_lab.evaluate.ranking import AGAIN, NEXT, WINDOW, Split

SHOWN = 1000
"""Questions, from the first, that lists are also measured for as readers see them."""

DAWN = datetime(2020, 1, 1, tzinfo=UTC)


def lines(path: Path, delimiter: str) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = csv.reader(stream, delimiter=delimiter)
        next(rows)
        yield from rows


def seconds(text: str) -> datetime:
    return datetime.fromtimestamp(float(text), UTC)


def first_seen(views: Sequence[View]) -> list[Item]:
    first: dict[str, datetime] = {}
    for view in views:
        first[view.story] = min(first.get(view.story, view.at), view.at)
    return [Item(story, at) for story, at in first.items()]


def ml_100k(folder: Path) -> Iterator[Split]:
    views = [View(reader, story, 1, 1, seconds(at)) for reader, story, _, at in lines(folder / "ml-100k.inter.gz", "\t")]
    yield from ranking.splits(Log(views, first_seen(views)), WINDOW)


def sim(folder: Path) -> Iterator[Split]:
    rows = list(lines(folder / "log.csv.gz", ","))
    views = [View(row[0], row[1], int(row[3]), int(row[4]), DAWN + timedelta(hours=float(row[2]))) for row in rows]
    items = {row[1]: Item(row[1], DAWN + timedelta(hours=float(row[5])), (), (f"topic:{row[6]}",)) for row in rows}
    yield from ranking.splits(Log(views, list(items.values())), WINDOW)


def sim_unlabelled(folder: Path) -> Iterator[Split]:
    for split in sim(folder):
        items = tuple(replace(item, labels=()) for item in split.training.items)
        yield replace(split, training=replace(split.training, items=items))


def rsc15(folder: Path, kind: str = NEXT) -> Iterator[Split]:
    parts = [
        [View(part[:5] + session, story, 1, 1, seconds(at)) for session, story, at in lines(folder / f"{part}.txt.gz", "\t")]
        for part in ("train_full", "test")
    ]
    views = [view for part in parts for view in part]
    cut = min(hours(view.at) for view in parts[1])
    yield ranking.split(Log(views, first_seen(views)), kind, cut, np.inf, max_questions=10_000)


SETS = {"ml-100k": ml_100k, "rsc15": rsc15, "rsc15-again": partial(rsc15, kind=AGAIN), "sim": sim, "sim-unlabelled": sim_unlabelled}
FOLDERS = {"rsc15-again": "rsc15", "sim-unlabelled": "sim"}
"""Folders of sets that are not named after the set."""


def als(clicks: Clicks, now: float, *, fades: float | None = None) -> ScoringRanker:
    """ALS of ``implicit`` (Hu, Koren, Volinsky 2008) with 64 factors; readers are folded in with their views so far."""
    from implicit.als import AlternatingLeastSquares
    from scipy import sparse

    model = AlternatingLeastSquares(factors=64, regularization=0.05, alpha=10.0, iterations=15, random_state=6, num_threads=1)
    shape = (len(clicks.readers), clicks.stories)
    model.fit(sparse.csr_matrix((np.ones(len(clicks)), (clicks.reader, clicks.story)), shape=shape), show_progress=False)

    def scores(question: Question) -> Any:
        if not len(question.history):
            return formulas.popularity(clicks, now, 48.0)
        row = sparse.csr_matrix(
            (np.ones(len(question.history)), (np.zeros(len(question.history), dtype=int), question.history)), (1, shape[1])
        )
        near = model.item_factors @ model.recalculate_user(0, row)
        return np.maximum(near, 1e-6) * formulas.decay(clicks.published, question.now, fades) if fades else near

    return ScoringRanker(clicks, {item.story: number for number, item in enumerate(clicks.items)}, scores)


def als_decay(clicks: Clicks, now: float) -> ScoringRanker:
    return als(clicks, now, fades=age_half_life(clicks))


class AsShown:
    """Our method as shown to readers: diversified, with stories to explore."""

    def __init__(self, model: best.Best) -> None:
        self.model = model

    def rank(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        recommended = self.model.recommend(history, now, n, reader=history[0].reader if history else "new")
        return tuple(item.story for item in recommended)


class SeenFirst:
    """Our method, preceded by the latest stories of the history."""

    def __init__(self, model: best.Best) -> None:
        self.model = model

    def rank(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        seen = [view.story for view in sorted(history, key=lambda view: view.at, reverse=True) if view.story in self.model.numbers]
        return (*list(dict.fromkeys(seen))[: n // 2], *self.model.rank(history, now, n))[:n]


def again(model: Any) -> Any:
    """Return the model, allowed to recommend stories that were seen."""
    return SeenFirst(model) if isinstance(model, best.Best) else replace(model, again=True)


PEERS: Mapping[str, Any] = {"als": als, "als-decay": als_decay}


def measure(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        for number, split in enumerate(SETS[name](folder / FOLDERS.get(name, name))):
            new = sum(not question.history for question in split.questions)
            print(
                f"{name} {number + 1}: {len(split.training)} views, {len(split.questions)} questions, {new} of new readers",
                flush=True,
            )
            print(f"{'':16}{'recall@20':>10}{'NDCG@20':>10}{'hit@20':>10}{'ms':>8}{'p95':>8}{'fit s':>8}")
            for method, learn in {**METHODS, **PEERS}.items():
                start = perf_counter()
                model = learn(split.training, split.cut)
                fit_seconds = perf_counter() - start
                score = ranking.measure(again(model) if name.endswith("-again") else model, split.questions)
                cells = f"{score.recall:10.3f}{score.ndcg:10.3f}{score.hit:10.3f}{score.median:8.2f}{score.p95:8.2f}{fit_seconds:8.1f}"
                print(f"{method:16}{cells}", flush=True)
                if isinstance(model, best.Best) and not name.endswith("-again"):
                    score = ranking.measure(AsShown(model), split.questions[:SHOWN])
                    print(f"{'best, as shown':16}{score.recall:10.3f}{score.ndcg:10.3f}{score.hit:10.3f}", flush=True)


FOLDS = 5


def by_reader(folder: Path) -> None:
    """Whether it helps to know how much of each story was seen: learnt from four fifths of the readers of sim, asked about the others; the
    same with every story seen whole. NDCG@20 of what they looked at, and of what they looked at to the share α or more."""
    share = {(row[0], row[1]): int(row[3]) / int(row[4]) for row in lines(folder / "sim" / "log.csv.gz", ",")}
    for number, split in enumerate(sim(folder / "sim")):
        questions = [question for question in split.questions if question.history]
        rows = []
        for fold in range(FOLDS):
            of_fold = [question for question in questions if int(question.history[0].reader) % FOLDS == fold]
            names = np.array([int(name) % FOLDS for name in split.training.readers])
            training = _chosen(split.training, names[split.training.reader] != fold)
            by_share = best.fit_clicks(training, split.cut)
            by_view = best.fit_clicks(replace(training, share=np.ones(len(training))), split.cut)
            for question in of_fold:
                reader = question.history[0].reader
                liked = frozenset(story for story in question.targets if share[reader, story] >= by_share.stats.alpha)
                history = [replace(view, seen=view.pictures) for view in question.history]
                answers = (by_view.rank(history, question.now, 20), by_share.rank(question.history, question.now, 20))
                row = [ranking.figures(answer, question.targets)[1] for answer in answers]
                rows.append(row + [ranking.figures(answer, liked)[1] if liked else np.nan for answer in answers])
        looked_whole, looked_seen, liked_whole, liked_seen = np.nanmean(rows, axis=0)
        print(f"sim {number + 1}: {len(rows)} questions, NDCG@20 {looked_whole:.4f} -> {looked_seen:.4f}", end="")
        print(f"; of what is liked {liked_whole:.4f} -> {liked_seen:.4f}", flush=True)


def _chosen(clicks: Clicks, rows: Any) -> Clicks:
    return replace(clicks, reader=clicks.reader[rows], story=clicks.story[rows], at=clicks.at[rows], share=clicks.share[rows])


def made(views: int, readers: int = 10_000, stories: int = 100_000) -> Clicks:
    """A month of a portal: stories of 30 topics, most looked at in their first hours."""
    from newsportal.recommend.base import Log
    from newsportal.recommend.clicks import to_columns

    draw, span = np.random.default_rng(0), 30 * 24.0
    published = np.sort(span * draw.random(stories))
    topic = draw.integers(0, 30, stories)
    words = 20_000 * draw.random((stories, 15)) ** 2
    items = [
        Item(f"{n:06}", DAWN + timedelta(hours=float(at)), tuple(f"w{int(w)}" for w in item_words), (f"topic:{kind}",))
        for n, (at, kind, item_words) in enumerate(zip(published, topic, words, strict=True))
    ]
    at = span * draw.random(views)
    story = (np.searchsorted(published, at - draw.exponential(15, views)) - 1 - (3 * draw.pareto(1.2, views)).astype(int)).clip(0)
    reader = (readers * draw.random(views) ** 1.5).astype(int)
    rows = zip(reader.tolist(), story.tolist(), at.tolist(), strict=True)
    return to_columns(Log((View(f"{u:05}", f"{s:06}", 1, 1, DAWN + timedelta(hours=h)) for u, s, h in rows), items))


def speed(views: int) -> None:
    from resource import RUSAGE_SELF, getrusage

    clicks = made(views)
    now = DAWN + timedelta(days=30)
    start = perf_counter()
    model = best.fit_clicks(clicks, hours(now))
    elapsed, memory = perf_counter() - start, getrusage(RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(clicks)} views of {len(clicks.readers)} readers, {clicks.stories} stories: fit {elapsed:.0f} s, {memory:.1f} GB at most")
    starts, times = clicks.starts(), []
    for reader in range(0, len(clicks.readers), 20):
        rows = range(starts[reader], starts[reader + 1])[-500:]
        history = [View("r", clicks.items[clicks.story[row]].story, 1, 1, seconds(str(clicks.at[row] * 3600))) for row in rows]
        start = perf_counter()
        model.recommend(history, now, 20, reader="r")
        times.append((perf_counter() - start) * 1000)
    print(f"an answer: median {np.median(times):.1f} ms, p95 {np.quantile(times, 0.95):.1f} ms")
    start = perf_counter()
    packed = model.pack()
    print(f"packed: {len(packed) / 1e6:.0f} MB in {perf_counter() - start:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; default: all")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--by-reader", action="store_true", help="what the share seen of each story adds, cross-validated by reader")
    parser.add_argument("--views", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.speed:
        speed(options.views)
    if options.by_reader:
        by_reader(options.folder)
    elif options.folder:
        measure(options.folder, options.sets or list(SETS))


if __name__ == "__main__":
    main()
