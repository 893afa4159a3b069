"""What a forum gives right now: its boards, the threads of one, and the posts of one thread, each page read as the crawl would."""

from __future__ import annotations

from urllib.parse import urlsplit

from newsportal.extractors.forum import kinds, poster
from newsportal.extractors.forum.kinds import Signpost
from newsportal.extractors.forum.thread import read_page
from newsportal.items import Extraction, Link
from newsportal.messages import Message
from newsportal.services.discovery.proposal import Proposal, newest_first, rated
from newsportal.services.discovery.search import NoSource
from newsportal.services.trying.trial import Fetch, Reading, Trial, Unread, first_reading, page_of
from newsportal.sources import Forum
from newsportal.sources.uris import mask
from newsportal.text import dom

MAX_TRIED = 3  # boards, and threads, that are tried until one can be read: the first may be for members
MAX_SHOWN = 20
SHOWN_POSTS = 3


def forum_trial(source: Forum, fetch: Fetch) -> tuple[Trial, Reading | None]:
    """The front page (or the first board of the file), a board and a thread."""
    url = source.boards[0] if source.boards else source.url
    try:
        found = _looked(url, fetch)
        notes = [Message("look.boards", number=len(found.boards), names=tuple(board.title for board in found.boards[:MAX_SHOWN]))]
        notes = notes if found.boards else []
        listed, at = found, url
        for board in found.boards[:MAX_TRIED]:
            if listed.threads:
                break
            at, listed = board.url, _looked(board.url, fetch)
            code = "look.members" if listed.kind == "login" else "look.threads"
            notes.append(Message(code, name=board.title, number=len(listed.threads)))
    except Unread as error:
        return Trial(source.key, mask(url), failure=error.message), None
    links = tuple(Link(one.url, source.key, one.title, published=one.last) for one in listed.threads)
    failure = None if links else Message("find.members" if listed.kind == "login" else "find.no-threads")
    trial = Trial(source.key, mask(at), links, tuple(notes), failure)
    return trial, first_reading(trial, lambda link: _read_thread(link, fetch))


def _read_thread(link: Link, fetch: Fetch) -> Reading:
    page = page_of(link.url, fetch)
    found = read_page(dom.document(page), poster("best"), page.fetched, asked=link.url)
    first = found.posts[0]
    text = "\n".join(f"[{post.author or '?'}] {post.text}" for post in found.posts[:SHOWN_POSTS])
    read = Extraction(link.title or found.title, text, published=first.published, author=first.author, algorithm="forum best")
    return Reading(page.url, read, note=Message("look.posts", number=len(found.posts)))


def _looked(url: str, fetch: Fetch) -> Signpost:
    page = page_of(url, fetch)
    return kinds.look(dom.document(page), page.fetched)


def propose_forum(url: str, fetch: Fetch) -> Proposal:
    """The forum at ``url`` as an entry of sources.yaml. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``."""
    page = fetch(url)
    if page.status >= 400:
        raise NoSource("fetch.status", status=page.status)
    document = dom.document(page)
    found = kinds.look(document, page.fetched)
    if not found.boards and not found.threads:
        raise NoSource("find.members" if found.kind == "login" else "find.no-threads")
    name = urlsplit(page.url).hostname or page.url
    links = newest_first([Link(one.url, "", one.title, published=one.last) for one in found.threads])
    return rated(Proposal("forums", {"name": name, "url": page.url}, len(found.boards) or len(found.threads), links), page.fetched)
