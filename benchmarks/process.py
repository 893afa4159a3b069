"""The cost of extracting articles from an archive in one process, in several, and on Spark; the results are compared.

    python benchmarks/process.py ARCHIVE --sources sources.yaml [--mode 1] [--mode 2] [--mode 'local[1]'] [--mode 'local[2]']

A mode is a number of processes or a Spark master. Start-up is the time until a first part of nothing is answered; pages a second are of
what comes after it (reading through the file, list pages, articles, folding), by the clock; the processor's seconds are of all processes,
start-up included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from psutil import Process

from newsportal import sources
from newsportal.processing.mapping import Mapped, on_spark, processes
from newsportal.processing.storing import Summary, process_archives
from newsportal.processing.tracker import Shared, share
from newsportal.store import open_store

MODES = ("1", "2", "local[1]", "local[2]")
Found = dict[str, tuple[str, str, str | None]]  # identity -> story, text, category


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--mode", action="append")
    options = parser.parse_args()
    loaded = sources.load(options.sources)
    sources.use_custom_words(loaded)
    shared, first = share(loaded, None), None
    print(f"{'mode':10} {'start-up':>9} {'seconds':>8} {'pages/s':>8} {'processor':>9}  stored folded failed lists")
    for mode in options.mode or MODES:
        began, used = time.perf_counter(), processor()
        with mapping(shared, mode) as mapped:
            list(mapped(nothing, range(2)))
            started = time.perf_counter()
            summary, found = processed(shared, options.archive, mapped)
            seconds, used = time.perf_counter() - started, processor() - used
        speed = (summary.pages + summary.lists) / seconds
        counts = f"{summary.stored:6} {summary.folded:6} {sum(summary.failed.values()):6} {summary.lists:5}"
        print(f"{mode:10} {started - began:7.1f} s {seconds:8.1f} {speed:8.1f} {used:7.1f} s  {counts}", flush=True)
        assert first is None or found == first, "the modes do not agree"
        first = found


@contextmanager
def mapping(shared: Shared, mode: str) -> Iterator[Mapped]:
    with processes(shared, int(mode)) if mode.isdecimal() else on_spark(shared, mode) as mapped:
        yield mapped


def processor() -> float:
    """Return the processor seconds of this process and of its live child processes."""
    parent = Process()
    return sum(times.user + times.system for times in (process.cpu_times() for process in (parent, *parent.children(recursive=True))))


def nothing(shared: Shared, task: int) -> int:
    return task


def processed(shared: Shared, archive: str, mapped: Mapped) -> tuple[Summary, Found]:
    with TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/articles.db")) as store:
        summary = Summary()
        process_archives(shared, [str(Path(archive).absolute())], store, mapped, summary)
        return summary, {article.identity: (article.story_id, article.text, article.category) for article in store.all_articles()}


if __name__ == "__main__":
    main()
