"""The claim: photo stories are collected and folded better than the paper reports for its method (99.5 / 97.2 % and 95 / 92.3 %).

    python benchmarks/galleries.py [--hosts KEY...] [--seed N]

The made-up picture Web of the tests is crawled twice on loopback (some pages fail at the first visit), with the real spider, stages and
store; the figures are taken from the store. Of duplicates, pairs are counted: the paper's rule alone, the cosine of the words of title
and first sentence from 0.3 on, asks the same stored stories. The made-up Web is harder than news of a day: nearly every story has others
of the same subject, series share their titles, events are told anew each day, and one copy in seven says nothing in the same words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "site"))

from madeup.photos import STATIC, MadeUpPhotos, alike
from madeup.photos.measure import Collection, collected, folded
from madeup.photos.server import HEAD

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import PAPER_COSINE, PhotoStory, compare, cosine, pictures_of
from newsportal.items import Image
from newsportal.store.store import Store
from newsportal_lab.evaluate.dedup import Score, score_pairs
from tests.photo_crawls import crawl, opened, stored_galleries

if TYPE_CHECKING:
    from madeup.photos.gold import GoldStory

PICTURE_ENDINGS = (".jpg", ".png")
Pairs = set[frozenset[str]]


def stories(store: Store, gold: Iterable[GoldStory]) -> dict[str, tuple[str, str, tuple[Image, ...]]]:
    """Gold key → title, text and pictures, as they are stored."""
    keys = {story.url: story.key for story in gold}
    return {
        keys[article.url]: (article.title, article.text, tuple(picture.image for picture in store.galleries.pictures(article.id)))
        for article in store.all_articles()
        if article.url in keys
    }


def by_rule(stored: dict[str, tuple[str, str, tuple[Image, ...]]], *, words_alone: bool) -> Pairs:
    """The pairs that a rule joins, every two stories compared."""
    by_key = {key: PhotoStory(key, title, unit_vector(title, text), pictures_of(images)) for key, (title, text, images) in stored.items()}
    return {
        frozenset(pair)
        for pair in combinations(by_key, 2)
        if (cosine(*(by_key[key].words for key in pair)) >= PAPER_COSINE if words_alone else compare(*(by_key[key] for key in pair)))
    }


def line(name: str, precision: float, recall: float, more: str = "") -> None:
    print(f"{name:52}{100 * precision:9.1f}{100 * recall:9.1f}  {more}")


def print_collection(found: Collection) -> None:
    print(f"{'collection of stories':52}{'P %':>9}{'R %':>9}")
    line("paper C, as it tells", 0.995, 0.972, "602 sites")
    line("newsportal: whole stories", found.precision, found.recall, f"{found.right} of {found.stories}, {found.stored} stored")
    line("newsportal: pictures", found.pictures_right / max(1, found.pictures_stored), found.pictures_right / found.pictures)
    line("newsportal: captions", found.captions_right / max(1, found.captions), found.captions_right / max(1, found.captions))
    for key, fault in found.wrong.items():
        print(f"  {key} {fault}")


def print_pairs(name: str, score: Score, hard: int) -> None:
    line(
        name, score.precision, score.recall, f"{score.hits} of {score.wanted}, {score.given - score.hits} wrong, {hard} of the look-alikes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", nargs="+", default=list(STATIC), metavar="KEY", help=f"of {', '.join(STATIC)}, weilan (needs a browser)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other stories told again elsewhere")
    parser.add_argument("--grain", action="store_true", help="pictures of over 64 kB, which are fetched whole only as far as --prints says")
    parser.add_argument("--prints", type=int, default=6, help="pictures.prints: so many pictures of a story are fetched whole")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, MadeUpPhotos(seed=options.seed, grain=options.grain) as photos:
        head = f"pictures: {{prints: {options.prints}}}\n{HEAD}"
        sources = photos.sources(Path(folder) / "sources.yaml", *options.hosts, head=head)
        seconds, requests = [], []
        for visit in range(2):
            photos.visit, photos.requests = visit, []
            started = time.monotonic()
            crawl(sources)
            seconds.append(time.monotonic() - started)
            requests.append(len(photos.requests))
            pictures = sum(request.path.endswith(PICTURE_ENDINGS) for request in photos.requests)
            print(f"visit {visit + 1}: {seconds[-1]:.0f} s, {requests[-1]} requests, {pictures} of them for pictures")
        gold = photos.gold(*options.hosts)
        store = opened(sources)
        stored, texts = stored_galleries(store), stories(store, gold)
        store.close()
        print(f"{len(stored) / seconds[0]:.1f} stories/s, {requests[0] / max(1, len(stored)):.1f} requests a story\n")
        print_collection(collected(stored, gold, 1))
        joined, right = folded(stored, gold)
        hard = alike(photos.world, options.hosts)
        print(f"\n{f'duplicates ({len(hard)} pairs look alike and are none)':52}{'P %':>9}{'R %':>9}")
        line("paper C, as it tells", 0.95, 0.923)
        cosines, every = by_rule(texts, words_alone=True), by_rule(texts, words_alone=False)
        print_pairs(f"paper C's rule here: cosine ≥ {PAPER_COSINE}", score_pairs(cosines, set(right)), len(cosines & hard))
        print_pairs("words and pictures, every two compared", score_pairs(every, set(right)), len(every & hard))
        print_pairs("newsportal: stories as stored", score_pairs(set(joined), set(right)), len(set(joined) & hard))


if __name__ == "__main__":
    main()
