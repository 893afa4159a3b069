"""Query plans of article lists for editors, stories of a day and event pages in SQLite: none of them scans all articles."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from newsportal.store.dialects import open_engine, reading
from newsportal.store.events import Events
from newsportal.store.lists import ArticleFilter, Lists
from newsportal.store.results import StoryFilter
from newsportal.store.schema import prepare

DAY = datetime(2026, 5, 20, tzinfo=UTC)
FILTERS = {
    "hidden": ({"hidden": True}, "ix_articles_hidden"),
    "corrected": ({"corrected": True}, "ix_articles_corrected"),
    "judged": ({"judged": True}, "ix_articles_category_by"),
    "unsure": ({"unsure": 0.6, "hidden": False}, "COVERING INDEX ix_articles_category_score"),
    "short": ({"shorter": 100, "hidden": False}, "COVERING INDEX ix_articles_length"),
    "undated": ({"undated": True, "hidden": False}, "ix_articles_published"),
    "source": ({"source": "feed:x"}, "ix_articles_source"),
    "category": ({"category": "文化"}, "ix_articles_category_moment"),
    "short of a source": ({"shorter": 100, "hidden": False, "source": "feed:x"}, "ix_articles_length"),
    "hidden of a source": ({"hidden": True, "source": "feed:x"}, "ix_articles_hidden"),
    "unsure of a source": ({"unsure": 0.6, "hidden": False, "source": "feed:x"}, "ix_articles_source"),
    "next page": ({"before": "1700000000000000~abc"}, "ix_articles_moment (moment<?)"),
    "unsure since a day": ({"unsure": 0.6, "hidden": False, "since": DAY}, "ix_articles_moment (moment>?)"),
}
"""Filters, and the index that each uses."""

OTHERS: dict[str, tuple[Callable[[Engine], object], str]] = {
    "stories of a day": (
        lambda engine: Lists(engine).stories(StoryFilter(since=DAY, until=DAY + timedelta(days=1))),
        "SEARCH version USING INDEX ix_articles_moment (moment>? AND moment<?)",
    ),
    "sites of an event": (lambda engine: Events(engine).reporting_sites("x"), "SEARCH articles USING INDEX ix_articles_story_id_moment"),
    "pinned events": (lambda engine: Events(engine).pinned(), "SEARCH events USING INDEX ix_events_pinned_id (pinned>?)"),
    "redirect of an event": (
        lambda engine: Events(engine).merged_into("x"),
        "SEARCH event_redirects USING INDEX sqlite_autoindex_event_redirects_1",
    ),
}
"""Other queries, and the index that each uses."""


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """SQLite's query plan for each of them."""
    engine = open_engine(f"sqlite:///{tmp_path_factory.mktemp('lists')}/news.db")
    prepare(engine)
    queries: list[tuple[str, Any]] = []
    event.listen(engine, "before_cursor_execute", lambda _1, _2, statement, values, _3, _4: queries.append((statement, values)))
    found = {}
    with reading(engine) as connection:
        pick = {
            name: lambda engine, which=which: Lists(engine).select_articles(ArticleFilter(**which)) for name, (which, _) in FILTERS.items()
        }
        for name, question in {**pick, **{name: question for name, (question, _) in OTHERS.items()}}.items():
            queries.clear()
            question(engine)
            statement, values = next(query for query in queries if "FROM" in query[0])
            found[name] = " | ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values))
    engine.dispose()
    return found


@pytest.mark.parametrize("name", FILTERS)
def test_list_uses_its_index(plans: dict[str, str], name: str) -> None:
    assert "SEARCH articles USING" in plans[name]
    assert FILTERS[name][1] in plans[name]


@pytest.mark.parametrize("name", OTHERS)
def test_other_queries_use_an_index(plans: dict[str, str], name: str) -> None:
    assert OTHERS[name][1] in plans[name]
    assert "SCAN" not in plans[name]
