"""Invented articles for the tests of stores and search."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from newsportal.items import Article, FoldKey, Link

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SAME_TITLE = FoldKey("title:河湾镇桥通车", "same-title", score=0.9, same_site=False)
SAME_TEXT = FoldKey("text:abc", "same-text", score=1.0, window=30 * 86400.0)


def article(name: str = "a", *, host: str = "news.example", source: str = "feed:快讯", topic: str | None = None, **changes: Any) -> Article:
    """An article called ``name`` as the pipelines hand it to the store."""
    url = f"https://{host}/{name}.html"
    plain = Article(
        url=url,
        link=Link(url=url, source=source, topic=topic, summary=f"{name} 的摘要"),
        fetched=NOW,
        identity=f"{host}/{name}",
        title=f"标题 {name}",
        text=f"第一段 {name}\n第二段",
        published=NOW - HOUR,
    )
    return replace(plain, **changes)
