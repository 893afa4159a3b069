"""``newsportal`` with one thread for blocking work: a page is read when what the one before taught of its site is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from newsportal.cli import main

ONE = ThreadPoolExecutor(1)
run_in_executor = asyncio.BaseEventLoop.run_in_executor


def run_in_one(loop: asyncio.BaseEventLoop, executor: Executor | None, function: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
    return run_in_executor(loop, executor or ONE, function, *args)


asyncio.BaseEventLoop.run_in_executor = run_in_one  # type: ignore[assignment, method-assign]

if __name__ == "__main__":
    main()
