"""Warming of caches at start, and errors meanwhile."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from newsportal.errors import StoreError
from newsportal.portal.background import FIRST_TEMPLATES, WarmUp, warm_up_steps
from newsportal.portal.context import Portal
from newsportal.portal.render import environment
from newsportal.search import open_index
from newsportal.services.accounts import open_accounts
from newsportal.sources import Sources
from newsportal.store import open_store


def portal(folder: Path, index: Any = None) -> Portal:
    return Portal(open_store(f"sqlite:///{folder}/news.db"), index, Sources(), open_accounts("sqlite://"))


@pytest.mark.slow  # templates are compiled
def test_templates_totals_and_front_page_are_prepared(tmp_path: Path) -> None:
    environment.cache_clear()
    context = portal(tmp_path)
    with closing(context.store):
        for step in warm_up_steps(context):
            step()
        assert context.counts._values
        assert context.fronts._fronts[False].front.latest.stories == ()
    assert environment("zh").cache is not None
    assert {name for _, name in environment("zh").cache} >= set(FIRST_TEMPLATES)


def test_segmenter_is_loaded_only_with_an_index(tmp_path: Path) -> None:
    with closing(open_index(f"sqlite:///{tmp_path}/index.db")) as index:
        with_search = portal(tmp_path, index)
        without = portal(tmp_path)
        with closing(with_search.store), closing(without.store):
            assert len(list(warm_up_steps(with_search))) == len(list(warm_up_steps(without))) + 1


def test_error_does_not_end_warming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = portal(tmp_path)
    calls: list[str] = []

    def away() -> None:
        calls.append("tally")
        raise StoreError("away")

    monkeypatch.setattr(context.store, "tally", away)
    warming = WarmUp(context)
    warming.start()
    warming.join(600)
    warming.stop()
    context.store.close()
    assert len(calls) == 2  # the totals, and the front page, which needs them
