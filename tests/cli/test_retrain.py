"""``newsportal retrain``: stored articles become training documents for models of categories and topics."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from newsportal.classify.topics import IN, OUT, corpus_of
from newsportal.items import Article, Link, TopicMark
from newsportal.services.learning.training import RetrainResult, retrain
from newsportal.sources import load
from newsportal.store import open_store
from newsportal.store.labels import CATEGORIES
from newsportal.store.store import Store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)

SOURCES = """\
store: sqlite:///news.db
topics:
  - {name: 码头, keywords: [渡轮]}
feeds:
  - {name: 球, url: "https://a.example/rss", category: 体育}
  - {name: 钱, url: "https://b.example/rss", category: 财经}
  - {name: 选, url: "https://c.example/rss", category: 财经, auto_classify: true}
classifier: {least_new: 50}
"""

WORDS = {
    "体育": "主场 客场 前锋 后卫 教练 球迷 进球 射门 比分 夺冠 联赛 决赛 门将 裁判 训练",
    "财经": "股市 降息 央行 投资 基金 利率 债券 汇率 贷款 通胀 财报 券商 利润 市值 股东",
    "码头": "渡轮 码头 渔船 靠岸 海风 灯塔 缆绳 船员 潮水 栈桥 航线 货轮 港湾 汽笛 船票",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    return path


@pytest.fixture
def store(sources: Path) -> Iterator[Store]:
    found = open_store(load(sources).store)
    yield found
    found.close()


def article(kind: str, number: int, source: str, marks: tuple[TopicMark, ...] = ()) -> Article:
    chance = random.Random(f"{kind} {number}")
    words = WORDS[kind].split()
    text = "。".join("，".join(chance.sample(words, 6)) for _ in range(12))
    url = f"https://{source.partition(':')[2]}.example/{kind}/{number}"
    title = " ".join((("渡轮",) if kind == "码头" else ()) + tuple(chance.sample(words, 3)))
    return Article(
        url, Link(url, source), NOW, identity=url, title=f"{title} {number}", text=text, published=NOW - timedelta(minutes=number),
        topics=tuple(mark.topic for mark in marks), topic_marks=marks,
    )  # fmt: skip


def write(store: Store, articles: Iterable[Article]) -> None:
    store.add_all([(article, ()) for article in articles], now=NOW)


def fill(store: Store, number: int, start: int = 0) -> None:
    kinds = (("体育", "feed:球"), ("财经", "feed:钱"))
    write(store, (article(kind, n, source) for n in range(start, start + number) for kind, source in kinds))


def trained(store: Store, sources: Path, *, force: bool = False) -> dict[str, RetrainResult]:
    return {result.corpus: result for result in retrain(load(sources), store, force=force, algorithm="chi_cosine")}


def test_empty_store_trains_nothing(store: Store, sources: Path) -> None:
    results = trained(store, sources)
    assert {name: result.version for name, result in results.items()} == {CATEGORIES: None, corpus_of("码头"): None}
    assert "no articles" in str(results[CATEGORIES].reason)


def test_categories_are_trained_when_enough_articles_are_new(store: Store, sources: Path) -> None:
    fill(store, 20)
    assert "40 articles" in str(trained(store, sources)[CATEGORIES].reason)
    fill(store, 40, 20)
    first = trained(store, sources)[CATEGORIES]
    assert (first.version, first.active, first.documents) == (1, True, 120)
    assert (first.macro_f1 or 0) > 0.9
    second = trained(store, sources)[CATEGORIES]
    assert (second.version, second.new) == (None, 0)
    assert trained(store, sources, force=True)[CATEGORIES].version is None, "nothing is new"
    fill(store, 30, 60)
    assert trained(store, sources)[CATEGORIES].version == 2


def test_automatically_classified_articles_are_not_trained_on(store: Store, sources: Path) -> None:
    fill(store, 45)
    write(store, (article("码头", n, "feed:选") for n in range(45)))
    trained(store, sources)
    assert {row.label for row in store.corpora.count(CATEGORIES)} == {"体育", "财经"}
    assert sum(row.documents for row in store.corpora.count(CATEGORIES)) == 90


@pytest.mark.slow
def test_topic_model_is_trained_on_its_articles(store: Store, sources: Path) -> None:
    fill(store, 160)
    write(store, (article("码头", n, "feed:选", (TopicMark("码头", "keywords"),)) for n in range(110)))
    write(store, (article("体育", 1000 + n, "feed:选", (TopicMark("码头", "model 1", 0.99),)) for n in range(110, 120)))
    result = trained(store, sources)[corpus_of("码头")]
    assert (result.version, result.active) == (1, True)
    assert {row.label: row.documents for row in store.corpora.count(corpus_of("码头"))} == {IN: 110, OUT: 320}


def test_topic_with_too_few_articles_is_not_trained(store: Store, sources: Path) -> None:
    fill(store, 60)
    write(store, (article("码头", n, "feed:选", (TopicMark("码头", "keywords"),)) for n in range(20)))
    result = trained(store, sources)[corpus_of("码头")]
    assert (result.version, str(result.reason)) == (None, "it needs 100 articles")
    assert store.corpora.find(corpus_of("码头")) is None
    assert result.sentence() == "topic:码头: 20 labelled articles, 0 of them new; not trained: it needs 100 articles"
