"""Extraction and repost methods of the papers, selected for a crawl in ``sources.yaml``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from scrapy import Request, Spider
from trackers import make_crawler

from newsportal.crawl.article_reader import ArticleReader
from newsportal.crawl.link_tracker import LinkTracker, tracker_of
from newsportal.crawl.record import SiteMemory
from newsportal.dedup import FINDERS
from newsportal.errors import NotApplicable
from newsportal.extractors import EXTRACTORS
from newsportal.extractors.article.site import SiteKnowledge
from newsportal.items import Article, Extraction, Link, Page
from newsportal.pipelines.duplicate import DuplicatePipeline
from newsportal.services.trying.templates import forget_site, library_of
from newsportal.sources.methods import Duplicates, Extracting
from newsportal.store.store import Store
from newsportal.text import dom

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LEAD = "本报青河三月五日讯（记者 林港）山间古镇的石板路昨天重新铺好，镇上的老人说，走了六十年的路终于不再积水，孩子们上学近了。"
BODY = "".join(f"<p>{LEAD}第{number}天，来看路的人比买豆腐的人还多，店家把凳子搬到了门外。</p>" for number in "一二三四五")
HTML = f"<html><head><title>古镇的路铺好了</title></head><body><h1>古镇的路铺好了</h1><div class=text>{BODY}</div></body></html>"
TABLES = f"<table><tr><td>{LEAD * 3}<table id=inner><tr><td>{LEAD * 7}</td></tr></table></td></tr></table>"
SOURCES = """\
extractor: cevc
duplicates: {method: title_index, days: 9}
engines:
- {name: 站内, url: "https://s.example/?q=##QUERY##", extractor: summary_anchor}
feeds:
- {name: 甲, url: "https://a.example/rss"}
regions:
- {name: 乙, prefix: "https://b.example/", extractor: {method: table_stats, P: 50, T: 0.9}}
- {name: 丙, prefix: "https://c.example/", extractor: best}
"""


@pytest.fixture
def tracker(tmp_path: Path) -> Iterator[LinkTracker]:
    found = tracker_of(make_crawler(tmp_path, SOURCES))
    yield found
    found.store.close()


def article(source: str, html: str = HTML, **fields: str) -> Article:
    url = f"https://{source[-1:]}.example/2026/0305/1.html"
    return Article(url, Link(url, source, **fields), NOW, page=Page(url, html.encode(), NOW, content_type="text/html; charset=utf-8"))


def reader(tracker: LinkTracker) -> Callable[[Article], Extraction]:
    found = ArticleReader(tracker.sources, tracker.sites)
    return lambda item: found.read_first(item).found


def test_configurable_methods_match_registries() -> None:
    assert tuple(Extracting.model_fields["method"].annotation.__args__) == tuple(EXTRACTORS)  # type: ignore[union-attr]
    assert set(Duplicates.model_fields["method"].annotation.__args__) == set(FINDERS)  # type: ignore[union-attr]


def test_each_source_uses_its_method(tracker: LinkTracker) -> None:
    read = reader(tracker)
    assert [read(article(source)).algorithm for source in ("feed:甲", "region:丙", "region:乙")] == ["cevc", "best", "table_stats"]
    assert read(article("engine:站内", summary=LEAD)).algorithm == "summary_anchor"


def test_method_parameters_are_applied(tracker: LinkTracker) -> None:
    page = f"<html><head><title>古镇的路铺好了</title></head><body>{TABLES}</body></html>"
    document = dom.from_text(page, "https://b.example/1")
    extractors = {share: tracker.sites.extractor("table_stats", {"share": share}) for share in (0.65, 0.9)}
    assert reader(tracker)(article("region:乙", page)).text == extractors[0.9](document, None, NOW).text
    assert len(extractors[0.9](document, None, NOW).text or "") > len(extractors[0.65](document, None, NOW).text or "")


def test_summary_blocks_are_saved_between_crawls(tracker: LinkTracker) -> None:
    with pytest.raises(NotApplicable):
        reader(tracker)(article("engine:站内"))  # without a summary, and before any page of the site
    reader(tracker)(article("engine:站内", summary=LEAD))
    tracker.sites.save(NOW)
    later = ArticleReader(tracker.sources, SiteMemory(tracker.store, SiteKnowledge()))
    assert later.read_first(article("engine:站内")).found.text


def test_concurrent_processes_merge_what_they_learned(store: Store) -> None:
    first, other = (SiteMemory(store, SiteKnowledge()) for _ in range(2))
    for memory, host in ((first, "a"), (other, "b")):
        page = Page(f"https://{host}.example/1", HTML.encode(), NOW, content_type="text/html; charset=utf-8")
        memory.extractor("summary_anchor", {})(dom.document(page), Link(page.url, "engine:x", summary=LEAD), NOW)
    first.save(NOW)
    other.save(NOW)
    (saved,) = store.site_lines("extractor:summary_anchor").values()
    assert b"a.example" in saved
    assert b"b.example" in saved


def test_templates_are_saved_between_crawls_until_forgotten(store: Store) -> None:
    def read(memory: SiteMemory, host: str, number: int) -> None:
        page = Page(f"https://{host}.example/news/{number}", HTML.replace("天，", f"{host}{number}，").encode(), NOW)
        with suppress(NotApplicable):  # the first waits for a sibling
            memory.extractor("url_tree", {})(dom.document(page), None, NOW)

    first, other = (SiteMemory(store, SiteKnowledge()) for _ in range(2))
    for memory, host in ((first, "a"), (first, "b"), (other, "c")):
        for number in range(2):
            read(memory, host, number)
    first.save(NOW)
    other.save(NOW)
    assert [site for site, _, _ in library_of(store)[0]] == ["a.example", "b.example", "c.example"], "learned by two concurrent crawls"
    later = SiteMemory(store, SiteKnowledge())
    read(later, "c", 2)
    assert forget_site(store, "a.example", "templates", NOW)
    later.save(NOW)
    assert [site for site, _, _ in library_of(store)[0]] == ["b.example", "c.example"], "a crawl without its pages does not restore it"


def stored(number: int, title: str, text: str) -> Article:
    url = f"https://{number}.example/1"
    return Article(url, Link(url, "feed:甲"), NOW, url, title=title, text=text, published=NOW)


ROAD = "昨天，山间的路铺好了。老人说，走了六十年的路，终于不再积水。孩子们，上学近了。店家，把凳子搬到门外。"
ALIKE = (
    ("trie", "古镇修路", "古镇修路", ROAD, ROAD, None),
    ("title_index", "山间古镇修好石板路", "古镇石板路", ROAD, "别的话。", "title-words"),
    ("feature_string", "古镇修路", "别的题目", ROAD, ROAD.replace("老人说", "他们的老人都说"), "feature-string"),
    ("cosine", "山间古镇石板路", "古镇石板路重铺", "古镇石板路昨天铺好。", "古镇的石板路铺好了。", "cosine"),
)


@pytest.mark.parametrize(("method", "title", "other", "text", "again", "reason"), ALIKE)
def test_repost_method_decides_as_in_its_paper(
    store: Store, method: str, title: str, other: str, text: str, again: str, reason: str | None
) -> None:
    store.fold_by(method)
    first = store.add(stored(1, title, text), now=NOW)
    found = store.add(stored(2, other, again), now=NOW)
    assert (found.outcome, found.reason) == (("folded", reason) if reason else ("stored", None))
    assert (found.story_id == first.story_id) is bool(reason)


def test_articles_of_other_processes_are_compared(store: Store, tmp_path: Path) -> None:
    for each in (store, other := Store(f"sqlite:///{tmp_path}/news.db")):
        each.fold_by("title_index")
        assert each.find_titles({"x": "古镇修路"}, now=NOW) == set()
    first = other.add(stored(1, "山间古镇修路", ROAD), now=NOW)
    assert store.find_titles({"x": "古镇修路", "y": "港口", "z": ""}, now=NOW) == {"x"}
    assert store.add(stored(2, "古镇修路", "别的话。"), now=NOW).story_id == first.story_id
    other.close()


def test_reposts_within_transaction_and_after_rollback(store: Store) -> None:
    store.fold_by("title_index")
    with pytest.raises(Exception, match="identity"):
        store.add_all([(stored(1, "港口开放", ROAD), ()), (replace(stored(2, "港口", ROAD), identity=None), ())], now=NOW)
    assert store.add(stored(3, "港口开放", ROAD), now=NOW).outcome == "stored"
    both = store.add_all([(stored(4, "山间古镇修路", ROAD), ()), (stored(5, "古镇修路", ROAD), ())], now=NOW)
    assert [result.outcome for result in both] == ["stored", "folded"]


def test_window_of_days_applies(store: Store) -> None:
    store.fold_by("title_index", days=2)
    store.add(stored(1, "古镇修路", ROAD), now=NOW)
    assert store.add(stored(2, "古镇修路", "甲。"), now=NOW + timedelta(days=3)).outcome == "stored"
    assert store.add(stored(3, "古镇修路", "乙。"), now=NOW + timedelta(days=4)).outcome == "folded"


def test_default_judge_applies_again_after_reset(store: Store) -> None:
    store.fold_by("title_index")
    store.add(stored(1, "古镇修路", ROAD * 4), now=NOW)
    store.fold_by("judge")
    assert store.find_titles({"x": "古镇修路"}, now=NOW) == set()
    assert store.add(stored(2, "别的", ROAD * 4), now=NOW).reason == "same-text"


def test_duplicate_stage_leaves_decision_to_store(tracker: LinkTracker) -> None:
    stage = DuplicatePipeline(tracker)
    item = asyncio.run(stage.process_item(stored(1, "古镇修路", ROAD)))
    assert item.decision is None
    tracker.store.add(item, item.keys, now=NOW)
    assert tracker.store.add(stored(2, "古镇修路", "别的话。"), now=NOW).reason == "title-words"


def test_links_with_known_titles_are_counted_and_skipped(tracker: LinkTracker) -> None:
    tracker.store.add(stored(1, "山间古镇修路", ROAD), now=datetime.now(UTC))
    links = [Link(f"https://b.example/{n}", "region:乙", title=title) for n, title in enumerate(("古镇修路", "港口开放", None))]

    async def filter_links() -> list[str]:
        found = await tracker.filter_new(links, Spider("hub"), lambda link: Request(link.url, cb_kwargs={"link": link}))
        await tracker.note_waiting(["region:乙"])
        return [link.url for link in found.fresh]

    assert asyncio.run(filter_links()) == [link.url for link in links[1:]]
    (row,) = tracker.report()
    assert (row.entries, row.known, row.new) == (3, 1, 2)
    assert [note.code for note in row.notes] == ["note.known-titles"]
    assert dict(row.notes[0].params)["number"] == 1
