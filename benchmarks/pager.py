"""The claim: the search for further pages of an article takes 0.3 ms per page, since it runs on every page of a crawl.

    python benchmarks/pager.py FOLDER [--repeat 3]

FOLDER holds ``<id>.html`` or ``<id>.html.gz``. The parsed page is at hand, as in the crawl; of the repeats the fastest counts. The
milliseconds of ``best`` on the same parsed pages stand beside.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from newsportal.cli.pages import saved_pages
from newsportal.errors import NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.lists.pagination import find_pager
from newsportal.items import Page
from newsportal.text import dom

NOW = datetime.now(UTC)
NOWHERE = "about:blank"


def parsed(folder: Path) -> list[dom.Document]:
    documents = [dom.document(Page(page.url or NOWHERE, page.body, NOW)) for page in saved_pages(folder) if page.error is None]
    for document in documents:
        document.root, document.base  # noqa: B018  parsed before anything is measured
    return documents


def spent(run: Callable[[dom.Document], object], document: dom.Document, repeat: int) -> float:
    """Milliseconds."""
    fastest = float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        run(document)
        fastest = min(fastest, time.perf_counter() - began)
    return 1000 * fastest


def best(document: dom.Document) -> None:
    with suppress(NotApplicable):
        extractor("best")(document, None, NOW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    documents = parsed(options.folder)
    several = sum(find_pager(document).next is not None for document in documents)
    print(f"{len(documents)} pages, {several} with a next page")
    for name, run in (("pager", find_pager), ("best", best)):
        times = sorted(spent(run, document, options.repeat) for document in documents)
        ninth = times[int(0.9 * (len(times) - 1))]
        print(f"{name:8}{statistics.median(times):8.2f} ms in the median{ninth:8.2f} ms for nine of ten{times[-1]:8.2f} ms at the most")


if __name__ == "__main__":
    main()
