"""Lists of articles for editors in a SQLite store of any size: none of them reads every article."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from newsportal.store.dialects import open_engine, reading
from newsportal.store.lists import ArticleFilter, Lists
from newsportal.store.schema import prepare

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
    "a further page": ({"before": "1700000000000000~abc"}, "ix_articles_moment (moment<?)"),
}
"""What is asked, and the index that answers it."""


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """How SQLite looks for each of them."""
    engine = open_engine(f"sqlite:///{tmp_path_factory.mktemp('lists')}/news.db")
    prepare(engine)
    asked: list[tuple[str, Any]] = []
    event.listen(engine, "before_cursor_execute", lambda _1, _2, statement, values, _3, _4: asked.append((statement, values)))
    found = {}
    with reading(engine) as connection:
        for name, (which, _) in FILTERS.items():
            asked.clear()
            Lists(engine).pick(ArticleFilter(**which))  # type: ignore[arg-type]
            statement, values = next(one for one in asked if "FROM articles" in one[0])
            found[name] = " | ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values))
    engine.dispose()
    return found


@pytest.mark.parametrize("name", FILTERS)
def test_an_index_answers(plans: dict[str, str], name: str) -> None:
    assert "SEARCH articles USING" in plans[name]
    assert FILTERS[name][1] in plans[name]
