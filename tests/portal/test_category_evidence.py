"""Story pages say who chose the category, and which topics are uncertain."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from gettext import NullTranslations

import httpx
import pytest

from newsportal.items import Article, Link, TopicMark
from newsportal.portal.language import translations
from newsportal.portal.wording import category_reason, doubtful_topics
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ARTICLE = StoredArticle("a", "a", "x.example/a", "https://x.example/a", "题", NOW, NOW, "feed:x", category="财经")


@pytest.mark.parametrize(
    ("by", "score", "reason", "english", "chinese"),
    [
        ("source", None, None, "the category of its source", "来源的分类"),
        ("editor", None, None, "chosen by an editor", "由编辑选定"),
        ("lexicon", 0.714, "央行 · 降息", "chosen by its words (71%): 央行 · 降息", "按词语判断（71%）：央行 · 降息"),
        ("model 12", 0.98, None, "chosen by a trained model (98%)", "由训练的模型判断（98%）"),
    ],
)
def test_reason_of_category_is_described(by: str, score: float | None, reason: str | None, english: str, chinese: str) -> None:
    article = replace(ARTICLE, category_by=by, category_score=score, category_reason=reason)
    assert category_reason(article, NullTranslations()) == english
    assert category_reason(article, translations("zh")) == chinese


def test_unknown_reason_is_not_described() -> None:
    assert category_reason(ARTICLE, NullTranslations()) is None
    assert category_reason(replace(ARTICLE, category=None, category_by="editor"), NullTranslations()) is None
    assert category_reason(replace(ARTICLE, category_by="a later version's word"), NullTranslations()) is None


def test_only_keyword_topics_can_be_uncertain() -> None:
    marks = tuple(TopicMark(f"{by} {score}", by, score) for by in ("keywords", "source", "search") for score in (0.01, 0.5, None))
    assert doubtful_topics(replace(ARTICLE, topic_marks=marks)) == ("keywords 0.01",)


def test_story_page_shows_reason_of_category(client: httpx.Client, store: Store) -> None:
    at = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    url = "https://judged.example/1.html"
    link = Link(url=url, source="feed:甲")
    text = "央行今天宣布降息，商业银行随后下调存款利率，分析人士说这在意料之中。"
    added = store.add(
        Article(
            url=url, link=link, fetched=at, identity=url, title="央行宣布降息", text=text, published=at,
            category="财经", category_by="lexicon", category_score=0.71, category_reason="央行 · 降息",
        ),
        now=at,
    )  # fmt: skip
    assert "按词语判断（71%）：央行 · 降息</p>" in client.get(f"/story/{added.story_id}").text
