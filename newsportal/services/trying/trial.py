"""Try a source: fetch and parse one list page as the crawl would, and one article, thread or photo story of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from newsportal.errors import EgressDenied, EngineBlocked, FetchFailed, NewsportalError, NotApplicable
from newsportal.extractors import Extract, gallery
from newsportal.extractors.article import best
from newsportal.extractors.article.rule import ArticleRule, apply
from newsportal.extractors.feeds import feed, sitemap
from newsportal.extractors.feeds.sitemap import choose_children, choose_entries
from newsportal.extractors.forum import kinds, post_extractor
from newsportal.extractors.forum.thread import read_page
from newsportal.extractors.gallery.page import find_entries
from newsportal.extractors.lists import boards, engines, hub
from newsportal.extractors.lists.custom_engine import cross_check
from newsportal.extractors.lists.result_pages import read_results as read_results
from newsportal.extractors.lists.result_pages import target_of
from newsportal.items import Extraction, Link, Page
from newsportal.messages import Message, Value, reason_message
from newsportal.net import egress
from newsportal.net.egress.client import SignIn, no_sign_in
from newsportal.sources import CustomEngine, Feed, Forum, Gallery, HotList, Region, Sitemap, Source, Sources, Topic
from newsportal.sources.places import Place
from newsportal.sources.uris import mask
from newsportal.text import dom

Fetch = Callable[[str], Page]  # returns the page of a URL. Raises EgressDenied or FetchFailed.
USUAL = "新闻"  # a query with results every day
MAX_TRIED = 3  # articles (boards, threads) tried until one is readable: the first may be a video, a notice, or for members
MAX_BOARDS = 20  # boards of a forum named in a note
MAX_STORY_PAGES = 5  # pages fetched: enough to check that further pages of a photo story are found
SHOWN = 3  # posts of a thread, or captions of a photo story, in its preview


@dataclass(frozen=True, slots=True)
class Trial:
    """Result for one list page. ``failure``: why there are no links; ``notes``: anomalies."""

    key: str
    url: str
    links: tuple[Link, ...] = ()
    notes: tuple[Message, ...] = ()
    failure: Message | None = None


@dataclass(frozen=True, slots=True)
class ArticleTrial:
    """Result for one article. ``note``: introduces the text of a thread or a photo story."""

    url: str
    found: Extraction | None = None
    failure: Message | None = None
    note: Message | None = None


class PageUnavailable(NewsportalError):
    """Raised by :func:`page_of` for a page that could not be fetched; its message becomes ``Trial.failure`` or ``ArticleTrial.failure``."""


def page_of(url: str, fetch: Fetch) -> Page:
    """Fetch ``url``. Raises :class:`PageUnavailable`."""
    try:
        page = fetch(url)
    except (EgressDenied, FetchFailed) as error:
        raise PageUnavailable(Message("fetch.failed", url=mask(error.url), why=reason_message(error.reason))) from error
    if page.status >= 400:
        raise PageUnavailable(Message("fetch.status", status=page.status))
    return page


def fetch_once(fetch: Fetch) -> Fetch:
    """Return ``fetch`` with a cache of the last 16 pages."""
    return lru_cache(maxsize=16)(fetch)


def source_fetcher(sources: Sources, source: Source) -> Fetch:
    """Return a fetcher as in a crawl of ``source``: with its browser, and its sign-in."""
    if not isinstance(source, Place):
        return fetcher(sources)
    return fetcher(sources, source.verify_certificate, source.render, sign_in=source.sign_in)


def fetcher(sources: Sources, verify: bool = True, render: bool = False, *, follow: bool = True, sign_in: SignIn = no_sign_in) -> Fetch:
    """Return a fetcher as in the crawl: same egress policy, user agent, limits, and browser if any. With ``follow=False`` a redirect raises
    ``Redirected`` (except in a browser, which follows its own). ``sign_in`` returns additional headers for a URL."""
    polite = sources.politeness
    policy = egress.Policy(polite.allow_private)
    headers = {"user-agent": sources.user_agent}
    if render:
        from newsportal.net.rendering import Limits, standalone
        from newsportal.net.rendering.chromium import Setup

        options = sources.rendering.model_dump()
        setup = Setup(browser=options.pop("browser"), limits=Limits(**options))
        return lambda url: standalone.fetch(url, policy, setup, headers=headers, verify=verify, sign_in=sign_in)
    return lambda url: egress.fetch(
        url, policy, max_bytes=polite.max_size, timeout=polite.timeout, headers=headers, verify=verify, follow=follow, sign_in=sign_in
    )


def trials(source: Source, sources: Sources, fetch: Fetch, query: str | None = None) -> Iterator[Trial]:
    """Yield one trial for a feed, sitemap, region or engine; for a topic, one for each of its engines."""
    if isinstance(source, Topic):
        yield from (engine_trial(name, sources, fetch, query or source.queries[0]) for name in source.engines)
    elif isinstance(source, CustomEngine):
        yield engine_trial(source.name, sources, fetch, query or query_for(source.name, sources))
    else:
        assert isinstance(source, Feed | Sitemap | Region | HotList)  # forums and galleries have trials of their own
        url = source.seeds[0] if isinstance(source, Region) else source.url
        yield _trial(source.key, url, lambda page: READERS[type(source)](source, page, fetch), fetch)


def engine_trial(name: str, sources: Sources, fetch: Fetch, query: str) -> Trial:
    """Query an engine for the first page of ``query``. A custom wrapper is tried on several pages: of this query and of daily news."""
    declared = sources.engine(name)
    engine = declared.built() if declared else engines.load_engine(name)
    key = f"engine:{name}"
    found = _trial(key, engine.request(query), lambda page: _engine_links(key, engine, page), fetch)
    if declared is None or not engine.has_parser or found.failure is not None:
        return found
    addresses = [engine.request(term, page) for term in (query, USUAL) for page in range(2 if engine.has_pages else 1)]
    pages, notes = [], list(found.notes)
    for address in dict.fromkeys(addresses):
        try:
            pages.append(page_of(address, fetch))
        except PageUnavailable as error:
            notes.append(error.message)
    check = cross_check(engine, [dom.document(page) for page in pages], max((page.fetched for page in pages), default=None))
    notes.append(Message("check.engine-trial", pages=check.pages, results=check.results, agreed=check.agreed))
    return replace(found, notes=(*notes, *check.problems, Message("check.trusted" if check.trusted else "check.untrusted")))


def first_reading(trial: Trial, read: Callable[[Link], ArticleTrial]) -> ArticleTrial | None:
    """Return the result of ``read`` for the first readable link of a trial; the last failure if there is none; ``None`` without links."""
    reading = None
    for link in trial.links[:MAX_TRIED]:
        try:
            return read(link)
        except (PageUnavailable, NotApplicable) as error:
            reading = ArticleTrial(link.url, failure=error.message)
    return reading


def try_article(trial: Trial, rule: ArticleRule | None, fetch: Fetch, free: Extract = best.extract) -> ArticleTrial | None:
    """Extract the first readable article: by the source's rule if it finds a body, else by ``free``, as the crawl does."""

    def read(link: Link) -> ArticleTrial:
        page = page_of(link.url, fetch)
        document = dom.document(page)
        ruled = apply(rule, document, page.fetched) if rule else None
        return ArticleTrial(page.url, ruled if ruled is not None and ruled.text else free(document, link, page.fetched))

    return first_reading(trial, read)


Links = tuple[tuple[Link, ...], tuple[Message, ...]]  # links and notes


def _trial(key: str, url: str, read: Callable[[Page], Links], fetch: Fetch, empty: Message | None = None) -> Trial:
    """Try a list page. ``empty``: the failure for a page without links."""
    try:
        links, notes = read(page_of(url, fetch))
    except (PageUnavailable, NotApplicable) as error:
        return Trial(key, mask(url), failure=error.message)
    except EngineBlocked:
        return Trial(key, mask(url), failure=reason_message("blocked"))
    return Trial(key, mask(url), links, notes, None if links else empty or Message("discovery.no-articles"))


def warning_messages(warnings: Iterable[str]) -> Iterator[Message]:
    return (Message(f"warning.{warning}") for warning in warnings)


def query_for(engine: str, sources: Sources) -> str:
    """Return the query of the first topic that uses ``engine``, else of the first topic, else a word with news every day."""
    topics = [topic for topic in sources.topics if engine in topic.engines] or list(sources.topics)
    return topics[0].queries[0] if topics else USUAL


def _feed_links(source: Feed, page: Page, fetch: Fetch) -> Links:
    found = feed.parse_feed(page.body, page.url, page.content_type, page.fetched)
    links = (
        Link(entry.url, source.key, entry.title, entry.summary, source.publisher, entry.published or entry.updated)
        for entry in found.entries
        if entry.url
    )
    return tuple(links), (Message("trial.feed", format=found.format, number=len(found.entries)), *warning_messages(found.warnings))


def _sitemap_links(source: Sitemap, page: Page, fetch: Fetch, depth: int = 0) -> Links:
    """Return the entries of a sitemap that a visit would take; for robots.txt or an index, those of its latest sitemap."""
    if urlsplit(page.url).path == "/robots.txt":
        found = sitemap.Sitemap("index", tuple(sitemap.SitemapEntry(url) for url in sitemap.sitemaps_in_robots(page.body, page.url)))
    else:
        found = sitemap.parse_sitemap(page.body, page.url, page.content_type, page.fetched)
    if found.kind == "index":
        others = [entry for entry in found.entries if entry.url not in (source.url, page.url)]  # an index may list itself
        newest = choose_children(others, page.url, timedelta(days=source.max_age), page.fetched, 1).entries
        following = newest[0].url if newest else None
        note = Message("trial.sitemap-index", number=len(found.entries), url=mask(page.url))
        if following is None or depth >= MAX_TRIED:
            return (), (note, *warning_messages(found.warnings))
        links, notes = _sitemap_links(source, page_of(following, fetch), fetch, depth + 1)
        return links, (note, Message("trial.newest-sitemap", url=mask(following)), *notes)
    rules = hub.HubRules(allow=source.allow, deny=source.deny)
    choice = choose_entries(found.entries, page.url, rules, timedelta(days=source.max_age), page.fetched)
    skipped = (Message(f"skipped.{reason}", number=number) for reason, number in sorted(choice.skipped.items()))
    selected = (Link(entry.url, source.key, entry.title, None, source.publisher, entry.latest) for entry in choice.entries)
    return tuple(selected), (Message("trial.entries", number=len(found.entries)), *skipped, *warning_messages(found.warnings))


def _region_links(source: Region, page: Page, fetch: Fetch) -> Links:
    rules = hub.HubRules(prefix=source.prefix, allow=source.allow, deny=source.deny)
    classified = hub.links(dom.document(page), rules, page.fetched)
    links = (Link(link.url, source.key, link.text or None, published=link.published) for link in classified if link.kind == "article")
    more = sum(link.kind == "hub" for link in classified)
    return tuple(links), (Message("trial.links", number=len(classified), more=more),)


def _engine_links(key: str, engine: engines.Engine, page: Page) -> Links:
    found = read_results(engine, dom.document(page), page.fetched)
    links = (Link(target_of(result), key, result.title, result.summary, result.site, result.published) for result in found.results)
    changed = (Message("trial.layout-changed"),) if found.changed else ()
    return tuple(links), (Message("trial.reader", way=found.by), *changed)


def _list_links(source: HotList, page: Page, fetch: Fetch) -> Links:
    found = boards.read_board(page, source.rules)
    links = tuple(Link(entry.url, source.key, f"{entry.rank}. {entry.title}", site=source.publisher) for entry in found)
    return links, (Message("trial.ranked-entries", number=len(found), heats=sum(entry.heat is not None for entry in found)),)


READERS: Mapping[type[Source], Callable[[Any, Page, Fetch], Links]] = {
    Feed: _feed_links, Sitemap: _sitemap_links, Region: _region_links, HotList: _list_links,
}  # fmt: skip
"""Readers of the list pages by kind of source."""


def forum_trial(source: Forum, fetch: Fetch) -> tuple[Trial, ArticleTrial | None]:
    """Try the front page (or the first configured board), a board and a thread."""
    url = source.boards[0] if source.boards else source.url
    notes: list[Message] = []
    try:
        front = page = _forum_page(url, fetch)
        if front.boards:
            titles = tuple(board.title for board in front.boards[:MAX_BOARDS])
            notes.append(Message("trial.boards", number=len(front.boards), names=titles))
        for board in front.boards[:MAX_TRIED]:
            if page.threads:
                break
            url, page = board.url, _forum_page(board.url, fetch)
            code = "trial.members-only" if page.kind == "login" else "trial.threads"
            notes.append(Message(code, name=board.title, number=len(page.threads)))
    except PageUnavailable as error:
        return Trial(source.key, mask(url), failure=error.message), None
    links = tuple(Link(thread.url, source.key, thread.title, published=thread.last) for thread in page.threads)
    failure = None if links else Message("discovery.members-only" if page.kind == "login" else "discovery.no-threads")
    trial = Trial(source.key, mask(url), links, tuple(notes), failure)
    return trial, first_reading(trial, lambda link: _read_thread(link, fetch))


def _forum_page(url: str, fetch: Fetch) -> kinds.ForumPage:
    page = page_of(url, fetch)
    return kinds.classify(dom.document(page), page.fetched)


def _read_thread(link: Link, fetch: Fetch) -> ArticleTrial:
    page = page_of(link.url, fetch)
    found = read_page(dom.document(page), post_extractor("best"), page.fetched, requested=link.url)
    first = found.posts[0]
    text = "\n".join(f"[{post.author or '?'}] {post.text}" for post in found.posts[:SHOWN])
    result = Extraction(link.title or found.title, text, published=first.published, author=first.author, algorithm="forum best")
    return ArticleTrial(page.url, result, note=Message("trial.posts", number=len(found.posts)))


def gallery_trial(source: Gallery, fetch: Fetch) -> tuple[Trial, ArticleTrial | None]:
    """Try the stories of the first index page, and one story on a few of its pages."""

    def read(page: Page) -> Links:
        found = find_entries(dom.document(page), page.fetched, seed=source.seed, banned=source.banned_seed)
        links = tuple(Link(entry.url, source.key, entry.title, published=entry.published) for entry in found)
        return links, (Message("trial.galleries", number=len(links)),)

    failure = Message("discovery.seed-not-found", seed=repr(source.seed)) if source.seed else Message("discovery.no-galleries")
    trial = _trial(source.key, source.seeds[0], read, fetch, failure)
    return trial, first_reading(trial, lambda link: _read_gallery(link, source.pattern, fetch))


def _read_gallery(link: Link, pattern: str | None, fetch: Fetch) -> ArticleTrial:
    first = page_of(link.url, fetch)
    pages = [gallery.read(dom.document(first), link=link, now=first.fetched)]
    ended: set[str] = set()
    while len(pages) + len(ended) < MAX_STORY_PAGES and (open_urls := gallery.urls_left(pages, ended, pattern)):
        url = open_urls[0]
        try:
            answer = page_of(url, fetch)
            page = gallery.read(dom.document(answer), now=answer.fetched)
        except (PageUnavailable, NotApplicable):
            ended.add(url)
            continue
        if not (is_end := gallery.end_reason(page, pages, requested=url)):
            pages.append(page)
        if is_end or page.url != url:
            ended.add(url)
    story = gallery.assemble(pages, link=link, pattern=pattern, ended=ended)
    captions = " / ".join([image.caption for image in story.images if image.caption][:SHOWN])
    result = Extraction(story.title, captions, published=story.published, author=story.author, origin=story.origin, algorithm="gallery")
    size: dict[str, Value] = {"number": len(story.images), "pages": len(pages)}
    if story.complete:
        note = Message("trial.pictures", **size)
    elif len(pages) >= MAX_STORY_PAGES:
        note = Message("trial.first-pictures", **size)
    else:
        note = Message("trial.pictures-missing", missing=str(story.missing or "–"), **size)
    return ArticleTrial(first.url, result, note=note)
