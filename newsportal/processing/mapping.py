"""Distribution of tasks to processes of this machine, or to Apache Spark; results are returned in the order of the tasks."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Final, Protocol, TypeVar

from newsportal.errors import NewsportalError
from newsportal.processing.tracker import Shared
from newsportal.services import spark
from newsportal.store.dialects import chunks

Task = TypeVar("Task")
Answer = TypeVar("Answer")

AHEAD: Final = 4  # tasks per process that are submitted or about to be
PARTS_A_CORE: Final = 4  # tasks per core in one of Spark's jobs: while one runs, the driver stores the results of the previous one


class Mapped(Protocol):
    """Applies ``function(shared, task)`` to each task, in order."""

    def __call__(self, function: Callable[[Shared, Task], Answer], tasks: Sequence[Task]) -> Iterator[Answer]: ...


@contextmanager
def processes(shared: Shared, number: int) -> Iterator[Mapped]:
    """Run tasks in ``number`` processes, or in this one if 1. Raises ``NewsportalError`` if one of them is killed."""
    if number < 2:
        yield lambda function, tasks: (function(shared, task) for task in tasks)
        return
    context = get_context("forkserver")
    context.set_forkserver_preload(["newsportal.processing.reading"])
    with ProcessPoolExecutor(number, context, _init_worker, (shared,)) as pool:

        def mapped(function: Callable[[Shared, Task], Answer], tasks: Sequence[Task]) -> Iterator[Answer]:
            pending: deque[Future[Any]] = deque()
            for task in tasks:
                pending.append(pool.submit(_run_task, function, task))
                if len(pending) >= AHEAD * number:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

        try:
            yield mapped
        except BrokenProcessPool as error:
            raise NewsportalError("a reading process was killed, possibly out of memory; try fewer with --workers") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_SHARED: list[Shared] = []


def _init_worker(shared: Shared) -> None:
    _SHARED[:] = [shared]


def _run_task(function: Callable[[Shared, Any], Any], task: Any) -> Any:
    return function(_SHARED[0], task)


@contextmanager
def on_spark(shared: Shared, master: str) -> Iterator[Mapped]:
    """Run tasks on Spark's executors, which need newsportal and the same paths of files. Raises ``DependencyMissing``, ``SparkFailed``."""
    with spark.session(master, "process") as context, ThreadPoolExecutor(1) as executor:
        broadcast = context.broadcast(shared)

        def collected(function: Callable[[Shared, Task], Answer], batch: Sequence[Task]) -> list[Answer]:
            found: list[Answer] = context.parallelize(batch, len(batch)).map(lambda task: function(broadcast.value, task)).collect()
            return found

        def mapped(function: Callable[[Shared, Task], Answer], tasks: Sequence[Task]) -> Iterator[Answer]:
            pending: deque[Future[list[Answer]]] = deque()
            for batch in chunks(tasks, PARTS_A_CORE * context.defaultParallelism):
                pending.append(executor.submit(collected, function, list(batch)))
                if len(pending) > 1:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()

        yield mapped
