"""Pages to try a rule, template or source on: pasted, fetched, or from the crawl's archive."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from newsportal.errors import NewsportalError, NotApplicable, Unfetched
from newsportal.extractors import extractor
from newsportal.extractors.article.rule import ArticleRule
from newsportal.extractors.article.site import site_of
from newsportal.extractors.article.tidy import read_fragment
from newsportal.extractors.feeds.mail import parse_mail
from newsportal.extractors.lists import engines
from newsportal.items import Link, Page
from newsportal.messages import Message, did_you_mean, to_json
from newsportal.net.archive import open_index
from newsportal.net.egress import Policy, TooLarge, decompress
from newsportal.net.egress.mailbox import read_mailbox
from newsportal.services.trying.crosscheck import cross_check
from newsportal.services.trying.trial import (
    MAX_TRIED,
    ArticleTrial,
    Fetch,
    PageUnavailable,
    Trial,
    engine_trial,
    fetch_once,
    fetcher,
    forum_trial,
    gallery_trial,
    page_of,
    query_for,
    source_fetcher,
    trials,
    try_article,
)
from newsportal.sources import Feed, Forum, Gallery, HotList, Newsletter, Region, Sitemap, Source, Sources
from newsportal.sources.places import ArticlePlace
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

MAX_PAGES: Final = 40  # newest pages of a site that are tried: a second or two of extraction
LARGEST: Final = 1 << 30  # bytes of an archive that is scanned interactively: some ten seconds
NEWEST: Final = 3  # stored articles whose pages are fetched if there is no archive, to limit requests and waiting
MAX_PAGE: Final = 16 << 20  # bytes of a decompressed page; the crawl's limit (politeness.max_size)
MAX_MAILS: Final = 5  # mails of a newsletter that are read


def archive_of(sources: Sources) -> Path | None:
    """Return the crawl's archive, or the replayed one, if it exists and is not too large."""
    files = (file for file in (sources.archive, sources.replay) if file is not None)
    return next((file for file in files if file.is_file() and file.stat().st_size <= LARGEST), None)


def saved_pages(archive: Path, sites: frozenset[str], now: datetime, limit: int = MAX_PAGES) -> list[Page]:
    """Return the newest HTML pages of these sites (hosts without ``www.``). Raises ``ReplayError`` for an invalid archive. ``now`` is used
    as time of fetching, to which relative dates refer."""
    with open_index(archive) as index:
        found: list[Page] = []
        for url in reversed(index.urls()):
            if site_of(url) not in sites:
                continue
            recorded = index.get(url, MAX_PAGE)
            headers = {name.lower(): value for name, value in recorded.headers} if recorded else {}
            kind = headers.get("content-type", "")
            if recorded is None or recorded.status != 200 or "html" not in kind:
                continue
            try:
                body = decompress(recorded.body, headers.get("content-encoding", ""), MAX_PAGE)
            except (TooLarge, ValueError):
                continue  # unreadable: counted by the crawl
            found.append(Page(url, body, now, 200, kind))
            if len(found) >= limit:
                break
        return found


def sites_of(addresses: Iterator[str]) -> frozenset[str]:
    return frozenset(site for address in addresses if (site := site_of(address)) is not None)


def page_at(sources: Sources, url: str, html: str, now: datetime) -> Page:
    """Return the pasted page, else fetch it. Raises ``PageUnavailable``, and the errors of fetching."""
    return pasted_page(url, html, now) if html.strip() else page_of(url, fetcher(sources))


def pasted_page(url: str, html: str, now: datetime) -> Page:
    return Page(url or "about:blank", html.encode(), now, 200, "text/html; charset=utf-8")


def pages_of(store: Store, sources: Sources, source: Source, url: str, html: str, now: datetime) -> tuple[list[Page], str]:
    """Return the requested pages, and their origin (a slug). Raises ``PageUnavailable`` and the errors of reading an archive."""
    if html.strip():
        return [pasted_page(url, html, now)], "pasted"
    fetch = source_fetcher(sources, source)
    if url:
        return [page_of(url, fetch)], "fetched"
    newest = store.stories(StoryFilter(source=source.key, limit=20)).stories
    addresses = [story.head.url for story in newest if story.head.source == source.key]
    archive = archive_of(sources)
    if archive is not None and (saved := saved_pages(archive, sites_of(iter([*addresses, *addresses_of(source)])), now)):
        return saved, "archive"
    return [page for address in addresses[:NEWEST] if (page := _fetched(address, fetch)) is not None], "newest"


def _fetched(address: str, fetch: Fetch) -> Page | None:
    try:
        return page_of(address, fetch)
    except PageUnavailable:
        return None  # the other pages suffice


def addresses_of(source: Source) -> list[str]:
    if isinstance(source, Region):
        return [source.prefix, *source.seeds]
    return [source.url] if isinstance(source, Feed | Sitemap) else []


Tried = list[tuple[Trial, ArticleTrial | None]]


def try_source(name: str, sources: Sources, query: str | None = None) -> Tried:
    """Try the source (or engine, or topic) of this key or name. Raises ``NewsportalError`` if there is none."""
    found = sources.find(name)
    engine = name.removeprefix("engine:")
    if not found and engine in engines.engine_names():
        fetch = fetcher(sources)
        trial = engine_trial(engine, sources, fetch, query or query_for(engine, sources))
        return [(trial, try_article(trial, None, fetch))]
    if not found:
        raise NewsportalError(unknown_source(name, sources))
    source = found[0]
    fetch = source_fetcher(sources, source)
    if isinstance(source, Forum):
        return [forum_trial(source, fetch)]
    if isinstance(source, Gallery):
        return [gallery_trial(source, fetch)]
    if isinstance(source, HotList) and not source.articles:
        return [(trial, None) for trial in trials(source, sources, fetch)]
    if isinstance(source, Newsletter):
        trial, reading = newsletter_trial(source, sources)
        return [(trial, try_article(trial, source.article, fetch_once(fetch)) if source.articles and trial.links else reading)]
    rule, fetch = source.article if isinstance(source, ArticlePlace) else None, fetch_once(fetch)
    choice = getattr(source, "extractor", None) or sources.extractor
    free = extractor(choice.method, **choice.options)
    return [
        (replace(trial, notes=(*trial.notes, *check_rule(trial, rule, fetch))), try_article(trial, rule, fetch, free))
        for trial in trials(source, sources, fetch, query)
    ]


def check_rule(trial: Trial, rule: ArticleRule | None, fetch: Fetch) -> Iterator[Message]:
    """Yield the comparison of a source's rule with the template-free extractor on its first articles."""
    pages = [page for link in trial.links[:MAX_TRIED] if (page := _fetched(link.url, fetch)) is not None] if rule else []
    if rule and pages:
        found = cross_check(rule, pages)
        counts = {name: getattr(found, name) for name in ("read", "similar", "titles", "dates")}
        yield Message("check.rule-trial", pages=len(found.pages), **counts)


def unknown_source(name: str, sources: Sources) -> str:
    hint = did_you_mean(name, [source.name for source in sources.all()] + list(engines.engine_names()))
    return f"sources.yaml has no source {name!r}" + (f"; {hint}" if hint else "; see: newsportal source list")


def plain(trial: Trial, reading: ArticleTrial | None) -> dict[str, Any]:
    links = [{"url": link.url, "title": link.title, "published": link.published and link.published.isoformat()} for link in trial.links]
    failure, notes = trial.failure and to_json(trial.failure), [to_json(note) for note in trial.notes]
    row: dict[str, Any] = {"key": trial.key, "url": trial.url, "failure": failure, "notes": notes, "links": links}
    if reading is None:
        return row | {"article": None}
    found = reading.found
    fields = {"title": found.title, "published": found.published and found.published.isoformat(), "author": found.author} if found else {}
    text: dict[str, Any] = {"text": found.text, "algorithm": found.algorithm} if found else {}
    text |= {"note": to_json(reading.note)} if reading.note else {}
    return row | {"article": {"url": reading.url, "failure": reading.failure and to_json(reading.failure), **fields, **text}}


def newsletter_trial(source: Newsletter, sources: Sources) -> tuple[Trial, ArticleTrial | None]:
    """Return what a first visit would take from the mailbox, and the first readable mail."""
    address, polite = source.mailbox.address, sources.politeness
    request = replace(source.wanted(None, datetime.now(UTC)), limit=MAX_MAILS)
    try:
        found = read_mailbox(source.mailbox, request, Policy(polite.allow_private), polite.timeout)
    except Unfetched as error:
        return Trial(source.key, address, failure=error.message), None
    links: list[Link] = []
    reading = None
    for raw in found.mails:
        try:
            mail = parse_mail(raw.raw, raw.received, raw.is_truncated)
        except NotApplicable as why:
            reading = reading or ArticleTrial(address, failure=why.message)
            continue
        links += source.links(mail)
        if reading is None or reading.found is None:
            result = replace(read_fragment(mail.html, mail.url), title=mail.title, published=mail.published, author=mail.author)
            reading = ArticleTrial(mail.url, result)
    notes = (Message("trial.mails", number=len(found.mails) + found.remaining),)
    return Trial(source.key, address, tuple(links), notes, None if found.mails else Message("discovery.no-mails")), reading
