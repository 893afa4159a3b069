"""What a channel of photo stories gives right now: the stories of its first index page, and one story over a few of its pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from newsportal.errors import NotApplicable
from newsportal.extractors import gallery
from newsportal.extractors.gallery.links import entries
from newsportal.items import Extraction, Link
from newsportal.messages import Message, Value
from newsportal.services.discovery.finders import title_of
from newsportal.services.discovery.proposal import Proposal, newest_first, rated
from newsportal.services.discovery.search import NoSource
from newsportal.services.trying.trial import Fetch, Reading, Trial, Unread, first_reading, page_of
from newsportal.sources import Gallery
from newsportal.sources.uris import mask
from newsportal.text import dom

MAX_PAGES = 5  # pages of the story that are fetched: enough to see whether its further pages are found
MIN_STORIES = 3  # a page with fewer links to photo stories is no index page
SHOWN_CAPTIONS = 3


def gallery_trial(source: Gallery, fetch: Fetch) -> tuple[Trial, Reading | None]:
    url = source.seeds[0]
    try:
        page = page_of(url, fetch)
    except Unread as error:
        return Trial(source.key, mask(url), failure=error.message), None
    found = entries(dom.document(page), page.fetched, seed=source.seed, banned=source.banned_seed)
    links = tuple(Link(one.url, source.key, one.title, published=one.published) for one in found)
    why = Message("find.no-seed", seed=repr(source.seed)) if source.seed else Message("find.no-galleries")
    trial = Trial(source.key, mask(url), links, (Message("look.galleries", number=len(links)),), None if links else why)
    return trial, first_reading(trial, lambda link: _read_story(link, source.pattern, fetch))


def _read_story(link: Link, pattern: str | None, fetch: Fetch) -> Reading:
    first = page_of(link.url, fetch)
    met = [gallery.read(dom.document(first), link=link, now=first.fetched)]
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
    story = gallery.assemble(met, link=link, pattern=pattern, ended=ended)
    captions = " / ".join([image.caption for image in story.images if image.caption][:SHOWN_CAPTIONS])
    read = Extraction(story.title, captions, published=story.published, author=story.author, origin=story.origin, algorithm="gallery")
    return Reading(first.url, read, note=_size(story, len(met)))


def _size(story: gallery.Assembly, pages: int) -> Message:
    size: dict[str, Value] = {"number": len(story.images), "pages": pages}
    if story.complete:
        return Message("look.pictures", **size)
    if pages >= MAX_PAGES:
        return Message("look.pictures-first", **size)
    return Message("look.pictures-lacking", missing=str(story.missing or "–"), **size)


def propose_gallery(url: str, fetch: Fetch) -> Proposal:
    """The index page at ``url`` as an entry of sources.yaml. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``."""
    page = fetch(url)
    if page.status >= 400:
        raise NoSource("fetch.status", status=page.status)
    document = dom.document(page)
    found = entries(document, page.fetched)
    if len(found) < MIN_STORIES:
        raise NoSource("find.few-galleries", number=len(found))
    name = title_of(document) or urlsplit(page.url).hostname or page.url
    links = newest_first([Link(one.url, "", one.title, one.summary, published=one.published) for one in found])
    why = (Message("found.galleries", number=len(found)),)
    return rated(Proposal("galleries", {"name": name, "seeds": page.url}, len(found), links, why=why), page.fetched)
