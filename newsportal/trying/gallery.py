"""What a channel of photo stories gives right now: the stories of its first index page, and one story over a few of its pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from newsportal import dom
from newsportal.discovery.finders import title_of
from newsportal.discovery.proposal import Proposal, newest_first, rated
from newsportal.discovery.search import NoSource
from newsportal.errors import NotApplicable
from newsportal.extractors import gallery
from newsportal.extractors.gallery.links import entries
from newsportal.items import Extraction, GalleryPage, Link
from newsportal.sources import Gallery
from newsportal.sources.uris import mask
from newsportal.text.counting import counted
from newsportal.trying.trial import Fetch, Reading, Trial, Unread, page_of

MAX_TRIED = 3
"""Stories that are tried until one can be read: the first link may lead to a list or a film."""

MAX_PAGES = 5
"""Pages of the story that are fetched: enough to see whether its further pages are found."""

MIN_STORIES = 3
"""A page with fewer links to photo stories is no index page."""

SHOWN_CAPTIONS = 3


def gallery_trial(source: Gallery, fetch: Fetch) -> tuple[Trial, Reading | None]:
    """The first index page and a story of it."""
    url = source.seeds[0]
    try:
        page = page_of(url, fetch)
    except Unread as error:
        return Trial(source.key, mask(url), failure=str(error)), None
    found = entries(dom.document(page), page.fetched, seed=source.seed, banned=source.banned_seed)
    links = tuple(Link(one.url, source.key, one.title, published=one.published) for one in found)
    why = f"no link contains {source.seed!r}" if source.seed else "no link looks like a photo story; seed: tells how they are named"
    trial = Trial(source.key, mask(url), links, (f"{len(links)} photo stories",), None if links else why)
    return trial, _story(trial, source.pattern, fetch)


def _story(trial: Trial, pattern: str | None, fetch: Fetch) -> Reading | None:
    """The first story that can be read; the last failure if none can."""
    reading = None
    for link in trial.links[:MAX_TRIED]:
        try:
            first = page_of(link.url, fetch)
            met = [gallery.read(dom.document(first), link=link, now=first.fetched)]
        except (Unread, NotApplicable) as error:
            reading = Reading(link.url, failure=str(error))
            continue
        return Reading(first.url, _told(met, _ended(met, pattern, fetch), pattern, link))
    return reading


def _ended(met: list[GalleryPage], pattern: str | None, fetch: Fetch) -> set[str]:
    """Read on, a few pages at most; answers the addresses that are none of the story's pages."""
    ended: set[str] = set()
    while len(met) + len(ended) < MAX_PAGES and (wanted := gallery.open_pages(met, ended, pattern)):
        url = wanted[0]
        try:
            answer = page_of(url, fetch)
            page = gallery.read(dom.document(answer), now=answer.fetched)
        except (Unread, NotApplicable):
            ended.add(url)
            continue
        if gallery.is_end(page, met, asked=url):
            ended.add(url)
        else:
            met.append(page)
            if page.url != url:
                ended.add(url)
    return ended


def _told(met: list[GalleryPage], ended: set[str], pattern: str | None, link: Link) -> Extraction:
    story = gallery.assemble(met, link=link, pattern=pattern, ended=ended)
    captions = [image.caption for image in story.images if image.caption]
    total = f" of {story.total}" if story.total else ""
    whole = "that is all" if story.complete else "there are more" if len(met) >= MAX_PAGES else f"missing: {story.missing or 'some'}"
    size = f"{counted(len(story.images), 'picture')} on {counted(len(met), 'page')}{total}"
    text = f"{size}; {whole}. {' / '.join(captions[:SHOWN_CAPTIONS]) or 'no captions'}"
    return Extraction(story.title, text, published=story.published, author=story.author, origin=story.origin, algorithm="gallery")


def propose_gallery(url: str, fetch: Fetch) -> Proposal:
    """The index page at ``url`` as an entry of sources.yaml. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``."""
    page = fetch(url)
    if page.status >= 400:
        raise NoSource(f"{url}: the server answers {page.status}")
    document = dom.document(page)
    found = entries(document, page.fetched)
    if len(found) < MIN_STORIES:
        raise NoSource(f"{page.url} has only {len(found)} links that look like photo stories; write it into sources.yaml with a seed:")
    name = title_of(document) or urlsplit(page.url).hostname or page.url
    links = newest_first([Link(one.url, "", one.title, one.summary, published=one.published) for one in found])
    why = (f"{len(found)} links that look like photo stories",)
    return rated(Proposal("galleries", {"name": name, "seeds": page.url}, len(found), links, why=why), page.fetched)
