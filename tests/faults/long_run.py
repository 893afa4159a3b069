"""The long fault test (``make test-faults``): 200 workers killed with -9 over 5,000 pages on 20 hosts, on disk and with a Redis that is
killed three times. Prints a table; the exit status is 1 if a page was lost or stored twice, or a worker failed."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

sys.path.append(str(Path(__file__).resolve().parents[2]))  # to import tests
from workers import damage, farm, storm

if TYPE_CHECKING:
    from conftest import RedisServer


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--pages", type=int, default=250, help="of each host")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--restarts", type=int, default=3, help="of Redis")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--queue", choices=("disk", "redis"), help="only this one")
    return parser.parse_args()


def restarts(server: RedisServer, number: int) -> Callable[[float], None]:
    """Return a function that kills and restarts Redis, evenly over the crawl."""
    left = [(place + 1) / (number + 1) for place in range(number)]

    def between(share: float) -> None:
        if left and share >= left[0]:
            del left[0]
            server.kill()
            time.sleep(1.0)
            server.start("--appendonly", "yes")

    return between


def redis_server(folder: Path) -> RedisServer:
    """Return the Redis server of ``tests/conftest.py`` (the conftest beside this file has the same module name)."""
    spec = spec_from_file_location("all_tests", Path(__file__).parent.parent / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    server: RedisServer = module.RedisServer(folder)
    return server


def one(queue: str, options: argparse.Namespace, console: Console) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        server = redis_server(Path(folder)) if queue == "redis" else None
        if server is not None:
            server.start("--appendonly", "yes")
        try:
            with farm(Path(folder), options.hosts, options.pages, redis=server and server.url) as crawled:
                start = time.monotonic()
                between = restarts(server, options.restarts) if server else lambda share: None
                with console.status(queue) as status:

                    def tell(line: str) -> None:
                        status.update(f"{queue}: {line}")
                        if not console.is_terminal and crawled.killed % 10 == 0:
                            console.print(f"{queue}: {line}, {time.monotonic() - start:.0f} s")

                    storm(crawled, kills=options.kills, workers=options.workers, seed=options.seed, between=between, tell=tell)
                found = damage(crawled)
                statuses = crawled.stop()
                return {
                    **found,
                    "Redis restarted": options.restarts if server else 0,
                    "seconds": round(time.monotonic() - start),
                    "broken": sum(map(bool, statuses)) + crawled.log().count("the crawl failed:"),
                }
        finally:
            if server is not None:
                server.kill()


def main() -> int:
    options, console = arguments(), Console(soft_wrap=True)
    console.print(f"seed {options.seed}")
    rows = {queue: one(queue, options, console) for queue in ([options.queue] if options.queue else ["disk", "redis"])}
    table = Table("queue", *next(iter(rows.values())))
    for queue, row in rows.items():
        table.add_row(queue, *map(str, row.values()))
    console.print(table)
    return int(any(row["lost"] or row["stored twice"] or row["broken"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
