"""Publishers that are killed at a given step: ``python killed_publisher.py FOLDER TARGET.yaml`` reads step numbers and answers each with
``killed`` or ``alive``. Each publisher is a process forked from one that has imported everything.

Steps are counted at lasting effects: before and after each call of the outbox that writes, each write of the target, and each statement and
commit of its database.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cms import work_on
from sqlalchemy import event

from newsportal.services.publishing import tables
from newsportal.services.publishing.run import publish
from newsportal.store import open_store
from newsportal.store.outbox import Outbox


class KillAtStep:
    """Kills the process at the step of this number."""

    def __init__(self, step: int) -> None:
        self.left = step

    def step(self, *_: Any) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.step()
            result = call(*arguments, **options)
            self.step()
            return result

        return wrapped


def main(folder: Path, target: str, step: int) -> None:
    death = KillAtStep(step)
    for name in ("follow", "lease_due", "settle"):
        setattr(Outbox, name, death.around(getattr(Outbox, name)))
    for name in ("put", "remove"):
        setattr(tables.TableTarget, name, death.around(getattr(tables.TableTarget, name)))
    opening = tables.open_engine

    def opened(uri: str, *, create: bool) -> Any:
        engine = opening(uri, create=create)
        event.listen(engine, "commit", death.step)
        event.listen(engine, "before_cursor_execute", death.step)
        return engine

    tables.open_engine = opened  # type: ignore[assignment]
    store = open_store(f"sqlite:///{folder}/news.db")
    with work_on(store, folder, target) as work:
        publish(work)
    store.close()


def serve(folder: Path, target: Path) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                main(folder, target.read_text("utf-8"), int(line))
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(status)  # the error is on standard error
        exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print({0: "alive", -signal.SIGKILL: "killed"}.get(exit_code, f"failed {exit_code}"), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
