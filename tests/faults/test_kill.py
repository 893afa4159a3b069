"""kill -9 at any point, then the same command again: nothing lost, nothing twice. SIGTERM and Ctrl-C end a crawl in order."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from newsportal.dedup.canonical import identity

if TYPE_CHECKING:
    from madeup import MadeUpWeb

pytestmark = pytest.mark.slow

ASKS_AGAIN = "asks again for articles that an earlier run could not fetch"


def notes(report: dict[str, Any]) -> set[str]:
    return {note["text"] for row in report["sources"] for note in row["notes"]}


def of_site(web: MadeUpWeb, stored: Collection[str]) -> list[str]:
    """The addresses of stored articles of the site that has most."""
    urls = [one["url"] for one in web.manifest()["articles"] if identity(one["url"]) in stored]
    ((most, _),) = Counter(urlsplit(url).netloc for url in urls).most_common(1)
    return [url for url in urls if urlsplit(url).netloc == most]


@pytest.mark.parametrize("articles", [0, 40])
def test_killed_it_loses_nothing_and_stores_nothing_twice(portal: Any, web: MadeUpWeb, whole: Any, articles: int) -> None:
    everything = whole["hub"]
    with web.holding(of_site(web, everything)[:1]):
        crawl = portal.start("hub")
        portal.until(lambda: portal.waiting() > 0 and len(portal.identities()) >= articles)
        crawl.kill()
        crawl.communicate()
    half = portal.identities()
    assert articles <= len(half) < len(everything), "it must be killed in the middle"
    assert portal.waiting() > 0
    report = portal.finished("hub")
    assert ASKS_AGAIN in notes(report)
    assert report["total"]["stored"] + report["total"]["folded"] == len(set(everything) - set(half))
    assert portal.identities() == everything
    assert portal.waiting() == 0


def test_killed_on_feeds_entries_that_share_one_link_are_all_kept(portal: Any, whole: Any) -> None:
    crawl = portal.start("rss")
    portal.until(lambda: any("#" in name for name in portal.identities()))
    crawl.kill()
    crawl.communicate()
    portal.finished("rss")
    shared = [name for name in whole["rss"] if "#" in name]
    assert len(shared) > 5
    assert [name for name in portal.identities() if "#" in name] == shared
    assert portal.waiting() == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_ends_in_order_and_the_next_run_completes(portal: Any, web: MadeUpWeb, whole: Any, sign: signal.Signals) -> None:
    with web.holding(of_site(web, whole["hub"])):  # of which two are under way at a time
        crawl = portal.start("hub", "--log-level", "INFO")
        portal.until(lambda: len(portal.identities()) >= 20)
        crawl.send_signal(sign)
        portal.until(lambda: f"Received {sign.name}" in crawl.errors)
    output, errors = crawl.communicate(timeout=900)
    assert (crawl.returncode, "Traceback" in errors) == (0, False), errors
    report = json.loads(output)
    assert report["reason"] == "shutdown"
    assert report["total"]["left"] > 0
    assert report["total"]["new"] == sum(report["total"][key] for key in ("parsed", "left")) + sum(report["total"]["failed"].values())
    assert portal.waiting() >= report["total"]["left"]
    saved = [json.loads(run) if isinstance(run, str) else run for (run,) in portal.asked("SELECT report FROM runs")]
    assert [(run["reason"], run["ended"] is not None) for run in saved] == [("shutdown", True)]
    portal.finished("hub")
    assert portal.identities() == whole["hub"]
    assert portal.waiting() == 0


def test_what_lies_behind_a_list_page_that_failed_comes_with_the_next_run(portal: Any, web: MadeUpWeb, whole: Any) -> None:
    """Else the first page, whose entries are all stored by then, would end the visit before the second. Hub pages would lead to the same
    articles, so none is followed."""
    text = portal.sources.read_text("utf-8")
    portal.sources.write_text(text.replace("  pages: 5\n", "  pages: 5\n  depth: 0\n"), "utf-8")
    assert "depth: 0" in portal.sources.read_text("utf-8")
    second = [hub["pages"][1] for hub in web.manifest()["hubs"] if hub["page"] == 1 and len(hub["pages"]) > 1]
    for url in second:
        web.fail(url, status=404)
    failed = portal.finished("hub")["total"]["list_failed"]
    assert failed["http-404"] > 1
    lost = set(whole["hub"]) - set(portal.identities())
    assert len(lost) > 5
    portal.finished("hub")
    assert portal.identities() == whole["hub"]
