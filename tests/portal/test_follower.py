"""The index follows the store while the portal runs; errors are recorded and do not stop it."""

from __future__ import annotations

import time
from pathlib import Path

from newsportal.errors import SearchError
from newsportal.portal.background import Follower
from newsportal.search import open_index
from newsportal.services.periodic import MAX_PAUSE
from newsportal.store.store import Store


def test_story_stored_while_serving_is_found(fresh: Store, serve, newsroom, tmp_path: Path) -> None:
    index = open_index(f"sqlite:///{tmp_path / 'index.db'}")
    client = serve(fresh, index, follow_every=0.05)
    newsroom.write(fresh, newsroom.article("晚到的消息", "这则消息在门户启动之后才入库。" * 3))
    until = time.monotonic() + 600
    while "data-story" not in client.get("/search", params={"q": "晚到"}).text:
        assert time.monotonic() < until
        time.sleep(0.05)


class FailingIndex:
    """Index that fails with the given errors, then works."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def follow(self, store: Store) -> int:
        if self.errors:
            raise self.errors.pop(0)
        return 0


def test_error_is_kept_until_success(fresh: Store) -> None:
    follower = Follower(FailingIndex(SearchError("away"), RuntimeError("bug")), fresh, every=1.0)  # type: ignore[arg-type]
    assert follower.run_step() == MAX_PAUSE
    assert follower.error == "away"
    assert follower.run_step() == MAX_PAUSE
    assert follower.error == "RuntimeError: bug"
    assert follower.run_step() == 1.0
    assert follower.error is None
