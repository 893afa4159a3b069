"""Regions follow the hub pages of a site and miss hardly any of its articles (漏采)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from madeup.regions import shapes

from tests.region_crawls import NOW, served, visit

pytestmark = pytest.mark.slow

MAX_REQUESTS = 2.0  # per article found


def gold_of(web: Any, site: str) -> list[str]:
    return [article["url"] for article in web.manifest()["articles"] if article["site"] == site and article["expect"] == "store"]


def test_hub_pages_lead_to_articles_missing_on_front_page(web: Any, tmp_path: Path) -> None:
    web.reset()
    gold = gold_of(web, "kunzhou")
    seeds_only = visit(tmp_path / "seeds", web.url("kunzhou", ""), gold, lambda: len(web.requests), depth=0)
    found = visit(tmp_path / "hubs", web.url("kunzhou", ""), gold, lambda: len(web.requests))
    assert (len(gold), seeds_only.found, seeds_only.state.hubs) == (26, 12, {})
    assert found.found >= 25
    assert found.requests <= MAX_REQUESTS * found.found
    (row,) = found.report["sources"]
    (note,) = [note for note in row["notes"] if note["code"] == "note.hub-pages"]
    assert note["params"] == {"asked": found.lists - 1, "followed": len(found.state.hubs)}


@pytest.mark.parametrize("shape", ["tree", "numbers", "journal"])
def test_other_site_structures_are_covered_within_bounds(shape: str, tmp_path: Path) -> None:
    site = shapes(NOW)[shape]
    with served(site) as address:
        gold = [address + path for path in site.articles]
        first = visit(tmp_path, address, gold, site.requests.total)
        again = visit(tmp_path, address, gold, site.requests.total)
    assert first.share >= 0.97
    assert first.requests <= MAX_REQUESTS * first.found
    assert (again.lists, again.found) == (1, first.found)  # only the front page: no hub page is due so soon


def test_hub_pages_per_visit_are_limited(tmp_path: Path) -> None:
    site = shapes(NOW)["tree"]
    with served(site) as address:
        found = visit(tmp_path, address, [address + path for path in site.articles], site.requests.total, hubs=3)
    assert found.lists == 4
    assert sum(page.asked > 0 for page in found.state.hubs.values()) == 3


def test_missing_hub_page_does_not_fail_region(web: Any, tmp_path: Path) -> None:
    web.reset()
    web.fail("/sport/index.htm", times=9, status=404, site="kunzhou")
    found = visit(tmp_path, web.url("kunzhou", ""), gold_of(web, "kunzhou"), lambda: len(web.requests))
    assert found.report["sources"][0]["list_failed"] == {"http-404": 1}
    assert (found.state.last_error, found.state.unfinished) == (None, None)
    web.reset()
