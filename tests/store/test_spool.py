"""Documents spooled until all of them have arrived."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from newsportal.errors import CorpusError, StoreUnavailable
from newsportal.store import labels
from newsportal.store.labels import NewDocument

ODD = NewDocument("财/经", "一行\r\n又一行\u2028\x00\ud800", "題\n", "第 1 篇", None)


def test_documents_round_trip() -> None:
    article = NewDocument("体育", article_id="0" * 20)
    with labels.spool_documents([ODD, article]) as documents:
        assert list(documents) == [ODD, article]


def test_errors_of_the_source_are_passed_on() -> None:
    def broken():
        yield ODD
        raise CorpusError("a.jsonl:2: no label")

    with pytest.raises(CorpusError, match="no label"), labels.spool_documents(broken()):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    full = partial(open, "/dev/full", "w", encoding="utf-8")
    monkeypatch.setattr(labels, "TemporaryFile", lambda *_, **__: full())
    with pytest.raises(StoreUnavailable, match=r"No space left.*TMPDIR"), labels.spool_documents([NewDocument("类", "字")]):
        pass
