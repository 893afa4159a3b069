"""The claim: from its front page alone a region finds 97 % of a site's articles, at two requests per article at most.

    python benchmarks/regions.py [SITE...]

Sites of the made-up Web, and three of other shapes with endless addresses (`tests/site/madeup/regions.py`), are crawled on loopback with
the real spider, stages and store: with the seeds alone (`depth: 0`) and as by default. Requests count robots.txt and list pages, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "site"))

from madeup import MadeUpWeb
from madeup.regions import shapes

from tests.region_crawls import NOW, served, visit

SITES = ("kunzhou", "haitang", "xifeng", "beichen", "harbour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", help=f"by default {', '.join(SITES)} and the three shapes")
    sites = parser.parse_args().sites
    print("| site | articles | `depth: 0` | default | requests an article | hub pages |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, MadeUpWeb(now=NOW) as web:
        for site in [site for site in SITES if site in (sites or SITES)]:
            gold = [article["url"] for article in web.manifest()["articles"] if article["site"] == site and article["expect"] == "store"]
            row(Path(folder), site, web.url(site, ""), gold, lambda: len(web.requests))
        for site, shape in shapes(NOW).items():
            if site in (sites or (site,)):
                with served(shape) as address:
                    row(Path(folder), site, address, [address + path for path in shape.articles], shape.requests.total)


def row(folder: Path, site: str, address: str, gold: list[str], count_requests: Callable[[], int]) -> None:
    seeds_only = visit(folder / site / "seeds", address, gold, count_requests, depth=0)
    default = visit(folder / site / "hubs", address, gold, count_requests)
    figures = (len(gold), seeds_only.found, default.found, f"{default.requests / max(1, default.found):.2f}", default.lists - 1)
    print(f"| {site} | {' | '.join(map(str, figures))} |", flush=True)


if __name__ == "__main__":
    main()
