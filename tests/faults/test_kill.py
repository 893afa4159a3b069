"""After kill -9 at any point the same command resumes: nothing lost, nothing stored twice. SIGTERM and Ctrl-C end a crawl cleanly."""

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

ASKS_AGAIN = "retries articles that an earlier run could not fetch"


def notes(report: dict[str, Any]) -> set[str]:
    return {note["text"] for row in report["sources"] for note in row["notes"]}


def of_site(web: MadeUpWeb, stored: Collection[str]) -> list[str]:
    """Return the URLs of stored articles of the site with the most."""
    urls = [article["url"] for article in web.manifest()["articles"] if identity(article["url"]) in stored]
    ((most, _),) = Counter(urlsplit(url).netloc for url in urls).most_common(1)
    return [url for url in urls if urlsplit(url).netloc == most]


@pytest.mark.parametrize("articles", [0, 40])
def test_killed_crawl_resumes_without_loss_or_duplicates(portal: Any, web: MadeUpWeb, undisturbed: Any, articles: int) -> None:
    everything = undisturbed["hub"]
    with web.holding(of_site(web, everything)[:1]):
        crawl = portal.start("hub")
        portal.wait_until(lambda: portal.waiting() > 0 and len(portal.identities()) >= articles)
        crawl.kill()
        crawl.communicate()
    half = portal.identities()
    assert articles <= len(half) < len(everything), "the crawl must be killed midway"
    assert portal.waiting() > 0
    report = portal.crawl_report("hub")
    assert ASKS_AGAIN in notes(report)
    assert report["total"]["stored"] + report["total"]["folded"] == len(set(everything) - set(half))
    assert portal.identities() == everything
    assert portal.waiting() == 0


def test_killed_feed_crawl_keeps_entries_sharing_a_link(portal: Any, undisturbed: Any) -> None:
    crawl = portal.start("rss")
    portal.wait_until(lambda: any("#" in name for name in portal.identities()))
    crawl.kill()
    crawl.communicate()
    portal.crawl_report("rss")
    shared = [name for name in undisturbed["rss"] if "#" in name]
    assert len(shared) > 5
    assert [name for name in portal.identities() if "#" in name] == shared
    assert portal.waiting() == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_crawl_cleanly_and_next_run_completes(portal: Any, web: MadeUpWeb, undisturbed: Any, sign: signal.Signals) -> None:
    with web.holding(of_site(web, undisturbed["hub"])):  # two of them are fetched at a time
        crawl = portal.start("hub", "--log-level", "INFO")
        portal.wait_until(lambda: len(portal.identities()) >= 20)
        crawl.send_signal(sign)
        portal.wait_until(lambda: f"Received {sign.name}" in crawl.errors)
    output, errors = crawl.communicate(timeout=900)
    assert (crawl.returncode, "Traceback" in errors) == (0, False), errors
    report = json.loads(output)
    assert report["reason"] == "shutdown"
    assert report["total"]["left"] > 0
    assert report["total"]["new"] == sum(report["total"][key] for key in ("parsed", "left")) + sum(report["total"]["failed"].values())
    assert portal.waiting() >= report["total"]["left"]
    saved = [json.loads(run) if isinstance(run, str) else run for (run,) in portal.query("SELECT report FROM runs")]
    assert [(run["reason"], run["ended"] is not None) for run in saved] == [("shutdown", True)]
    portal.crawl_report("hub")
    assert portal.identities() == undisturbed["hub"]
    assert portal.waiting() == 0


def test_articles_behind_failed_list_page_come_with_next_run(portal: Any, web: MadeUpWeb, undisturbed: Any) -> None:
    """Otherwise the first page, whose entries are stored by then, would end the visit before the second. Hub pages would link to the same
    articles, so none is followed."""
    text = portal.sources.read_text("utf-8")
    portal.sources.write_text(text.replace("  pages: 5\n", "  pages: 5\n  depth: 0\n"), "utf-8")
    assert "depth: 0" in portal.sources.read_text("utf-8")
    second = [hub["pages"][1] for hub in web.manifest()["hubs"] if hub["page"] == 1 and len(hub["pages"]) > 1]
    for url in second:
        web.fail(url, status=404)
    failed = portal.crawl_report("hub")["total"]["list_failed"]
    assert failed["http-404"] > 1
    missing = set(undisturbed["hub"]) - set(portal.identities())
    assert len(missing) > 5
    portal.crawl_report("hub")
    assert portal.identities() == undisturbed["hub"]
