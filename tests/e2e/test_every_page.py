"""Every page that an administrator reaches by links and routes passes axe-core, has one heading and its own title, and fits the screen."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from fastapi.routing import iter_route_contexts

from newsportal.extractors.article.site import SiteKnowledge, pack_page
from newsportal.items.visits import Visit
from newsportal.services.accounts import Role
from newsportal.services.accounts.alerts import Alert
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.records import Records
from newsportal.services.learning.training import train_corpus
from newsportal.sources.editing import save_version
from newsportal.store.events import Assignment
from newsportal.store.labels import NewDocument
from newsportal.store.results import StoryFilter

LABELS = {"体育": "主场 客场 前锋 后卫 教练 球迷 进球 射门", "财经": "股市 降息 央行 投资 基金 利率 债券 汇率"}

BEGINNINGS = (
    "/",
    "/desk",
    "/photos",
    "/search?q=峡谷",
    "/search?q=zzzz",
    "/story/{bridge}/{bridge}",
    "/articles?show=hidden",
    "/alerts/new?channel=feishu&about=topic&topic=旅游",
    "/sources/write?kind=galleries",
    "/sources/{source}/run",
    "/jobs/{job}",
    "/templates/site?name=port.example",
    "/models/新闻/1/delete",
    "/boards",
    "/offline",
)

NO_PAGES = re.compile(
    r"/(api/.*|.*feed.*\.(\{ending\}|xml|json|opml)|feed|rss|.*\.xml|opml|picture/.*|.*export\..*|metrics|healthz?|readyz)"
)
"""Paths for programs."""

NOT_REACHED = {
    "/login": "who is signed in goes on to the front page",
    "/sources/checks/{id}": "stays only while somebody looks",
    "/monitor/log": "a part of a page",
    "/search/suggest": "no page",
    "/robots.txt": "no page",
    "/favicon.ico": "no page",
    "/manifest.webmanifest": "no page",
    "/service-worker.js": "no page",
    "/oembed": "no page",
    "/websub/{token}": "no page",
}


@pytest.fixture(scope="module")
def site(full_site: Any) -> Any:
    """The site with one object of every kind that has a page."""
    documents = []
    for label, words in LABELS.items():
        for number in range(12):
            chance = random.Random(f"{label} {number}")
            documents.append(
                NewDocument(label, "。".join("，".join(chance.sample(words.split(), 4)) for _ in range(4)), f"{label}{number}")
            )
    corpora = full_site.store.corpora
    corpora.add("新闻", documents, source="imported", now=datetime(2026, 5, 1, tzinfo=UTC))
    for _ in range(2):
        train_corpus(full_site.store, "新闻", "chi_cosine", share=0.3, now=lambda: datetime(2026, 5, 2, tzinfo=UTC), activate=True)
    fill(full_site)
    return full_site


def fill(site: Any) -> None:
    store, people, now = site.store, site.accounts.people, site.newsroom.NOW
    site.session("admin")
    person = people.by_name("admin of the tests")
    site.accounts.alerts.add(Alert("a" * 16, person.id, "旅游", "topic", "旅游", "webhook", {"url": "https://hooks.example/"}, now))
    people.add("another of the tests", "correct horse battery staple", Role.READER, now=now)
    site.accounts.marks.star(person.id, store.article(site.ids["沿江三省"]).story_id, True, now=now)
    site.accounts.searches.save(person.id, "峡谷", "q=峡谷", now=now)
    store.correct(site.ids["bridge"], {"title": "更正后的标题", "published": None}, by="林编辑", now=now)
    store.hide([store.stories(StoryFilter(limit=9)).stories[-1].head.id], by="林编辑", reason="误登", now=now)
    assignments = [Assignment(site.ids[name], "bridge", 0.5, ("峡谷",)) for name in ("bridge", "沿江三省")]
    assert store.events.assign(assignments, {"bridge": "[0,{},{},[]]"}, after=store.events.position(), up_to=store.last_seq())
    lines = SiteKnowledge()
    lines.learn("https://port.example/news/1.html", ["首页", "关于我们的站点", "海港网版权所有"], "题")
    store.save_site_lines({"port.example": {url: pack_page(page) for url, page in lines.pages()}}, now=now, max_sites=10)
    config = site.app.state.portal.config
    Records(config.jobs_folder).save(Job("walk1", "rss", "done", started=now, ended=now))
    save_version(config.folder / "sources.yaml", b"portal: {title: before}\n")
    for number in range(30):
        store.visits.add(Visit(config.feeds[0].key, now - number * timedelta(hours=3), list_pages=1, entries=9, new=number % 5, stored=2))
    site.ids |= {"job": "walk1", "source": config.feeds[0].key}


def patterns(app: Any) -> dict[str, re.Pattern[str]]:
    """Return the routes of pages."""
    found = {
        route.path: re.compile(re.sub(r"\\\{\w+(:path)?\\\}", "[^/]+", re.escape(route.path)))
        for route in iter_route_contexts(app.routes)
        if route.path and "GET" in (getattr(route, "methods", None) or ()) and not NO_PAGES.fullmatch(route.path)
    }
    return dict(sorted(found.items(), key=lambda item: "{" in item[0]))  # literal paths before parameters


def pattern_of(address: str, patterns: dict[str, re.Pattern[str]]) -> str | None:
    path = unquote(urlsplit(address).path)
    return next((name for name, pattern in patterns.items() if pattern.fullmatch(path)), None)


BEYOND = "document.documentElement.scrollWidth > innerWidth"
SEEN = f"""({{
    title: document.title,
    headings: document.querySelectorAll("h1").length,
    beyond: {BEYOND},
    links: [...document.links ?? []].filter(link => link.origin === location.origin).map(link => link.pathname + link.search),
}})"""


def wrong_with(page: Any, facts: dict[str, Any], violations: Any, path: str) -> list[object]:
    faults: list[object] = [(path, "runs over the edge")] if facts["beyond"] else []
    if facts["headings"] != 1:
        faults.append((path, f"{facts['headings']} main headings"))
    faults += [(path, *violation) for violation in violations(page, leaving=True)]
    return faults + ([(path, "runs over the edge, unfolded")] if page.evaluate(BEYOND) else [])


def test_linked_pages_are_accessible_and_have_own_titles(visit: Any, violations: Any, site: Any, appearance: dict[str, Any]) -> None:
    routes, visitor = patterns(site.app), visit("admin", **appearance)
    waiting, visited, titles, faults = [path.format(**site.ids) for path in BEGINNINGS], set[str](), dict[str, set[str]](), list[object]()
    while waiting:
        path = waiting.pop(0)
        name = pattern_of(path, routes)
        kind = f"{name}?" if name and "?" in path else name
        if kind is None or name is None or kind in visited:
            continue
        visited.add(kind)
        page = visitor.go(path)
        assert "500" not in "".join(visitor.faults), path
        facts = page.evaluate(SEEN)
        if not facts["title"]:  # a file
            continue
        titles.setdefault(facts["title"], set()).add(name)
        waiting += sorted(set(facts["links"]))
        faults += wrong_with(page, facts, violations, path)
    assert not faults
    assert {title: paths for title, paths in titles.items() if len(paths) > 1} == {}, "pages with the same title"
    assert set(routes) - {kind.rstrip("?") for kind in visited} - set(NOT_REACHED) == set(), "no link leads there: name why in NOT_REACHED"
