"""The stage that sets category and topics, with a real store and real models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.classify.base import Answer, Example, Reason, train
from newsportal.classify.chi_cosine import ChiCosine
from newsportal.classify.lexicon import Lexicon
from newsportal.classify.topics import IN, OUT, corpus_of
from newsportal.crawl import record
from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import LinkTracker, tracker_of
from newsportal.errors import NotApplicable
from newsportal.items import Article, Link, TopicMark
from newsportal.pipelines.classify import Choice, ClassifyPipeline
from newsportal.store.labels import CATEGORIES

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
URL = "https://b.example/2026/0305/1.html"

SOURCES = """\
topics:
  - {name: 河湾, keywords: {any: [新桥]}, auto_classify: true}
  - {name: 山前, keywords: [山前]}
categories:
  - {name: 航运, words: [渡轮, 集装箱]}
  - {name: 彩票, enabled: false}
feeds:
  - {name: 定, url: "https://a.example/rss", category: 生活}
  - {name: 选, url: "https://b.example/rss", category: 生活, auto_classify: true}
  - {name: 空, url: "https://c.example/rss"}
regions:
  - {name: 区, prefix: "https://d.example/", auto_classify: true}
"""

FINANCE, SPORT, NOTHING = "央行宣布降息，股市高开，投资者乐观", "主教练换上前锋，球队在主场绝杀夺冠", "路边的树绿了，大家都很高兴"


@pytest.fixture
def tracker(tmp_path: Path) -> Iterator[LinkTracker]:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    empty_store(tmp_path / "data" / "newsportal.db").close()
    crawler = Crawler(Spider, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    found = tracker_of(crawler)
    yield found
    found.store.close()


def article(text: str, source: str = "feed:选", title: str = "题", **link: Any) -> Article:
    return Article(URL, Link(URL, source, **link), NOW, identity="b.example/1", title=title, text=text)


def keep_model(tracker: LinkTracker, corpus: str, examples: list[Example], macro_f1: float | None = 0.9) -> int:
    corpora = tracker.store.corpora
    corpora.create(corpus, now=NOW)
    report = {"report": None if macro_f1 is None else {"macro_f1": macro_f1}}
    version = corpora.save_model(corpus, train("chi_cosine", examples).to_bytes(), algorithm="chi_cosine", facts=report, now=NOW)
    corpora.activate(corpus, version, now=NOW)
    return version


def examples(one: tuple[str, str], other: tuple[str, str]) -> list[Example]:
    return [Example(f"{text} {number}", (label,)) for label, text in (one, other) for number in range(20)]


MONEY_AND_BALLS = examples(("财经", FINANCE), ("体育", SPORT))


def category_and_source(found: Article) -> tuple[str | None, str | None]:
    return found.category, found.category_by


def notes(tracker: LinkTracker, source: str = "feed:选") -> tuple[str, ...]:
    return next((tuple(map(str, row.notes)) for row in tracker.report() if row.source == source), ())


def test_only_configured_sources_are_classified(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article(FINANCE, "feed:定", category="生活"))) == ("生活", "source")
    assert category_and_source(stage.classified(article(FINANCE, "feed:空"))) == (None, None)
    assert category_and_source(stage.classified(article(FINANCE, "engine:x", topic="山前"))) == (None, None)
    assert category_and_source(stage.classified(article(FINANCE, "feed:选", category="生活"))) == ("财经", "lexicon")
    assert category_and_source(stage.classified(article(SPORT, "region:区"))) == ("体育", "lexicon")
    assert category_and_source(stage.classified(article(FINANCE, "engine:x", topic="河湾"))) == ("财经", "lexicon")


def test_category_of_source_is_the_fallback(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article(NOTHING, category="生活"))) == ("生活", "source")
    assert category_and_source(stage.classified(article(NOTHING, "region:区"))) == (None, None)


def test_score_and_reason_are_recorded(tracker: LinkTracker) -> None:
    found = ClassifyPipeline(tracker).classified(article(FINANCE, title="央行降息"))
    assert found.category_score is not None
    assert 0.5 < found.category_score <= 1
    assert {"央行", "降息"} <= set((found.category_reason or "").split(" · "))


def test_configured_categories_are_added_or_disabled(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article("渡轮停航，集装箱积压"))) == ("航运", "lexicon")
    assert stage.classified(article("双色球开奖，奖池破亿，彩民中奖", "region:区")).category != "彩票"


def test_good_model_is_used_and_new_version_is_loaded(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "RECHECK", 0.0)
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "lexicon")
    keep_model(tracker, CATEGORIES, MONEY_AND_BALLS)
    assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "model 1")
    assert stage.classified(article(FINANCE)).category_reason
    keep_model(tracker, CATEGORIES, examples(("体育", FINANCE), ("财经", SPORT)))
    assert category_and_source(stage.classified(article(FINANCE))) == ("体育", "model 2")


def test_only_deciding_classifier_is_explained(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    explain = Lexicon.explain

    def noted(self: Lexicon, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        asked.append(label)
        return explain(self, title, text, label, limit)

    monkeypatch.setattr(Lexicon, "explain", noted)
    keep_model(tracker, CATEGORIES, examples(("财经", FINANCE), ("社会", "警方抓获两名嫌疑人")))
    stage = ClassifyPipeline(tracker)
    found = stage.classified(article(FINANCE))
    assert (found.category_by, bool(found.category_reason), asked) == ("model 1", True, [])
    found = stage.classified(article(SPORT))
    assert (found.category_by, bool(found.category_reason), asked) == ("lexicon", True, ["体育"])


def test_labels_unknown_to_model_are_left_to_lexicon(tracker: LinkTracker) -> None:
    keep_model(tracker, CATEGORIES, examples(("财经", FINANCE), ("社会", "警方抓获两名嫌疑人")))
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article(SPORT))) == ("体育", "lexicon")
    assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "model 1")


def test_model_is_rechecked_only_after_interval(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    stage.classified(article(FINANCE))
    keep_model(tracker, CATEGORIES, MONEY_AND_BALLS)
    assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "lexicon"), "the next check is due in some seconds"


@pytest.mark.parametrize("figure", [0.4, None])
def test_poor_model_is_not_used_but_noted(tracker: LinkTracker, figure: float | None) -> None:
    keep_model(tracker, CATEGORIES, MONEY_AND_BALLS, macro_f1=figure)
    stage = ClassifyPipeline(tracker)
    assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "lexicon")
    assert any("good_enough" in note and "version 1" in note for note in notes(tracker))


def test_broken_model_falls_back_to_lexicon_and_is_logged_once(tracker: LinkTracker, caplog: pytest.LogCaptureFixture) -> None:
    corpora = tracker.store.corpora
    corpora.create(CATEGORIES, now=NOW)
    version = corpora.save_model(CATEGORIES, b"no model", algorithm="linear", facts={"report": {"macro_f1": 1.0}}, now=NOW)
    corpora.activate(CATEGORIES, version, now=NOW)
    stage = ClassifyPipeline(tracker)
    for _ in range(3):
        assert category_and_source(stage.classified(article(FINANCE))) == ("财经", "lexicon")
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert sum("cannot be used" in note for note in notes(tracker)) == 1


def test_topic_model_adds_articles_and_scores_keyword_matches(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_model(tracker, corpus_of("河湾"), examples((IN, "河湾镇 码头 渔船 靠岸"), (OUT, SPORT)))
    stage = ClassifyPipeline(tracker)
    scores = {"渔船": 0.99, "球队": 0.01}

    def classify(_: object, title: str, text: str) -> Answer:
        return Answer(scores={IN: next((score for word, score in scores.items() if word in text), 0.5)})

    monkeypatch.setattr(ChiCosine, "classify", classify)
    assert stage.classified(article("渔船靠岸")).topic_marks == (TopicMark("河湾", "model 1", 0.99),)
    doubted = stage.classified(article("新桥边的球队"))
    assert (doubted.topics, doubted.topic_marks) == (("河湾",), (TopicMark("河湾", "keywords", 0.01),)), "it stays"
    assert stage.classified(article("新桥通车")).topic_marks == (TopicMark("河湾", "keywords", 0.5),)
    assert stage.classified(article("别的事")).topics == ()


def test_trained_topic_model_scores_articles(tracker: LinkTracker) -> None:
    keep_model(tracker, corpus_of("河湾"), examples((IN, "河湾镇 码头 渔船 靠岸"), (OUT, SPORT)))
    stage = ClassifyPipeline(tracker)
    near, far = (stage.classified(article(text)).topic_marks for text in ("新桥 河湾镇 码头 渔船 靠岸", f"新桥 {SPORT}"))
    assert (near[0].score or 0) > (far[0].score or 0)


def test_report_counts_categories_by_classifier(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)

    async def crawl() -> None:
        for text in (FINANCE, SPORT, NOTHING):
            await stage.process_item(article(text, category="生活"))
        await stage.process_item(article(FINANCE, "feed:定", category="生活"))
        await stage.close_spider()

    asyncio.run(crawl())
    assert notes(tracker) == ("category by lexicon: 2, source: 1",)
    assert notes(tracker, "feed:定") == ()


def test_category_set_by_editor_is_kept(tracker: LinkTracker) -> None:
    stage = ClassifyPipeline(tracker)
    added = tracker.store.add(stage.classified(article(FINANCE)), now=NOW)
    tracker.store.set_category(added.id, "读书", by="editor", now=NOW)
    tracker.store.add(stage.classified(replace(article(SPORT), title="改了")), now=NOW)
    found = tracker.store.article(added.id)
    assert found is not None
    assert (found.title, found.category, found.category_by) == ("改了", "读书", "editor")


def test_article_has_keywords(tracker: LinkTracker) -> None:
    found = ClassifyPipeline(tracker).classified(
        article("青溪大桥通车。青溪大桥长三公里，连接两岸，通车后过江只要五分钟。", title="青溪大桥通车")
    )
    assert {"青溪大桥", "通车"} <= set(found.keywords[:4])


def test_article_is_stored_without_keywords_on_timeout(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise NotApplicable("reading-time")

    monkeypatch.setattr("newsportal.crawl.reader_pool.CrawlReaders.call", refused)
    found = asyncio.run(ClassifyPipeline(tracker).process_item(article(FINANCE)))
    assert (found.category, found.keywords) == ("财经", ())


def test_confident_model_overrides_weak_lexicon(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_model(tracker, CATEGORIES, examples(("财经", FINANCE), ("社会", "警方抓获两名嫌疑人")))
    stage = ClassifyPipeline(tracker)
    answers = {"lexicon": Choice("体育", "lexicon", 0.4), "model 1": Choice("财经", "model 1", 0.9)}
    monkeypatch.setattr("newsportal.pipelines.classify.chosen_by", lambda _, name, __: answers[name])
    assert category_and_source(stage.classified(article(SPORT))) == ("体育", "lexicon")
    answers["model 1"] = replace(answers["model 1"], score=0.99)
    assert category_and_source(stage.classified(article(SPORT))) == ("财经", "model 1")
