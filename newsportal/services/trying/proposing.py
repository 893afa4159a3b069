"""Proposals for a URL with a preview, and their entries in ``sources.yaml``: for ``source add`` and the wizard."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from newsportal.dedup.canonical import bare, identity
from newsportal.errors import FetchFailed, NewsportalError, StoreError
from newsportal.extractors.forum import kinds
from newsportal.extractors.gallery.page import find_entries
from newsportal.items import Link
from newsportal.messages import Message, format_time, to_json
from newsportal.services.discovery.finders import Kind, Proposal, forum_proposal, gallery_proposal
from newsportal.services.discovery.opml import Outline, read
from newsportal.services.discovery.search import MAX_REQUESTS, NoSource, find
from newsportal.services.trying.polite_fetch import PoliteFetcher, polite_fetcher
from newsportal.services.trying.trial import ArticleTrial, Trial, try_article
from newsportal.sources import Feed, Forum, Gallery, Region, Sitemap, Sources, edit
from newsportal.sources.changing import combine
from newsportal.sources.editing import Digest, append_entry
from newsportal.sources.uris import BadAddress, check_url, literal
from newsportal.sources.values import CONTROL, MAX_NAME_CHARS
from newsportal.store import open_store
from newsportal.text import clean, dom

Visited = Feed | Sitemap | Region | Forum | Gallery


class SourceExists(NewsportalError):
    """Raised by :func:`entry` for a URL already visited by the source ``key``. The caller shows it."""

    def __init__(self, address: str, key: str) -> None:
        super().__init__(Message("discovery.already-listed", address=address, key=key))
        self.key = key


def visits(source: Visited) -> Sequence[str]:
    return source.seeds if isinstance(source, Region | Gallery) else (source.url,)


def existing_source(proposal: Proposal, sources: Sources) -> Visited | None:
    """Return the source that visits this URL already, in any spelling (http or https)."""
    existing: Sequence[Visited] = getattr(sources, proposal.kind)
    address = bare(proposal.address)
    return next((source for source in existing if address in map(bare, visits(source))), None)


def entry(proposal: Proposal, name: str | None, category: str | None, sources: Sources, taken: Collection[str] = ()) -> dict[str, str]:
    """Return the proposal's values with a unique name; ``taken``: names used meanwhile. Raises ``SourceExists``."""
    existing = existing_source(proposal, sources)
    if existing is not None:
        raise SourceExists(proposal.address, existing.key)
    siblings: Sequence[Visited] = getattr(sources, proposal.kind)
    names = {source.name for source in siblings} | set(taken)
    literals = {key: literal(value) if value.startswith(("http://", "https://")) else value for key, value in proposal.values.items()}
    values = {**literals, "name": name if name and name not in taken else free_name(name or proposal.values["name"], names)}
    return values | ({"category": category} if category else {})


def free_name(base: str, taken: Collection[str]) -> str:
    """Return ``base`` as a valid name: without slashes and control characters, not too long, and not taken."""
    plain = clean(CONTROL.sub(" ", base).replace("/", "-"))[: MAX_NAME_CHARS - 4] or "source"
    numbered = (f"{plain} {number}" for number in range(2, len(taken) + 3))
    return plain if plain not in taken else next(name for name in numbered if name not in taken)


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of an import. ``new``: entries of sources.yaml; ``existing``: known URLs with the source's key; ``invalid``: URLs, reasons."""

    new: tuple[Mapping[str, str], ...]
    existing: tuple[tuple[str, str], ...]
    invalid: tuple[tuple[str, Message], ...]


def plan_import(outlines: Sequence[Outline], sources: Sources, category: str | None, *, enabled: bool = True) -> Plan:
    """Return which feeds of a list are new, in any spelling of their URLs; names are made unique, URLs checked as in sources.yaml."""
    existing = {bare(feed.url): feed.key for feed in sources.feeds}
    names = {feed.name for feed in sources.feeds}
    new: list[Mapping[str, Any]] = []
    present: list[tuple[str, str]] = []
    invalid: list[tuple[str, Message]] = []
    for outline in outlines:
        if (key := existing.get(bare(outline.url))) is not None:
            present.append((outline.url, key))
            continue
        try:
            check_url(outline.url)
        except BadAddress as error:
            invalid.append((outline.url, error.message))
            continue
        name = free_name(outline.title or outline.url.partition("://")[2], names)
        names.add(name)
        existing[bare(outline.url)] = f"feed:{name}"  # a list may have it with both http and https
        folder = category or (clean(CONTROL.sub(" ", outline.folder)) if outline.folder else None)
        values: dict[str, Any] = {"name": name, "url": literal(outline.url)}
        new.append(values | ({"category": folder} if folder else {}) | ({} if enabled else {"enabled": False}))
    return Plan(tuple(new), tuple(present), tuple(invalid))


ASKED = 50  # entries looked up in the store
NAMED = 10  # stored entries whose sources are looked up


@dataclass(frozen=True, slots=True)
class Overlap:
    """``stored`` of ``checked`` entries are in the store; ``by``: sources of the first of them, most frequent first."""

    checked: int
    stored: int
    by: tuple[str, ...] = ()

    def summary(self) -> str:
        return f"{self.stored} of {self.checked} entries are already stored" + (f", by {', '.join(self.by)}" if self.by else "")


def overlap(sources: Sources, links: Sequence[Link]) -> Overlap | None:
    """Return the overlap; ``None`` if there is no readable store: adding a source does not need it."""
    names = list(dict.fromkeys(identity(link.url) for link in links[:ASKED]))
    try:
        with closing(open_store(sources.store, create=False)) as store:
            found = store.find_stored(names)
            stored = [name for name in names if name in found]
            articles = [article for name in stored[:NAMED] for article in store.declared_by(name)[:1]]
    except StoreError:
        return None
    counts = Counter(article.source for article in articles)
    return Overlap(len(names), len(found), tuple(source for source, _ in counts.most_common(3)))


KINDS: dict[str, Kind] = {"feed": "feeds", "sitemap": "sitemaps", "region": "regions", "forum": "forums", "gallery": "galleries"}
MORE = 4  # requests beyond MAX_REQUESTS, for the preview of an article
MIN_GALLERIES = 3  # a page with fewer links to photo stories is not an index page
MAX_ADDRESSES = 10  # in one request: each may take some twenty fetches, a second apart
Family = Literal["feed", "sitemap", "region", "forum", "gallery"]


@dataclass(frozen=True, slots=True)
class Preview:
    """Preview of a proposal: an extracted article, and the overlap with the store. ``name`` in ``values``: under which it is added."""

    proposal: Proposal
    values: dict[str, str]
    reading: ArticleTrial | None
    overlap: Overlap | None


@dataclass(frozen=True, slots=True)
class Proposals:
    """Result for a URL: the best proposals with previews, ``others`` found as well, ``notes`` on failed requests."""

    previews: tuple[Preview, ...]
    others: tuple[Proposal, ...] = ()
    notes: tuple[Message, ...] = ()


def propose(
    url: str,
    sources: Sources,
    visit: PoliteFetcher,
    *,
    kind: Family | None = None,
    everything: bool = False,
    name: str | None = None,
    category: str | None = None,
) -> Proposals:
    """Find sources at ``url``; without ``https://`` or ``http://`` both are tried. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``,
    and ``NewsportalError`` for a URL that is visited already."""
    try:
        found, notes = _found(url if "://" in url else f"https://{url}", kind, everything, visit)
    except FetchFailed:
        if "://" in url:
            raise
        found, notes = _found(f"http://{url}", kind, everything, visit)
    selected = found if everything else found[:1]
    taken: set[str] = set()
    new = [proposal for proposal in selected if existing_source(proposal, sources) is None] or selected[:1]  # else entry() raises
    previews: list[Preview] = []
    for proposal in new:
        values = entry(proposal, name, category, sources, taken)
        taken.add(values["name"])
        trial = Trial(f"{proposal.family}:{values['name']}", proposal.address, proposal.links)
        reading = try_article(trial, None, visit) if proposal.kind in ("feeds", "sitemaps", "regions") else None
        previews.append(Preview(proposal, values, reading, overlap(sources, proposal.links)))
    return Proposals(tuple(previews), tuple(found[len(selected) :]), (*notes, Message("trial.requests", number=visit.requests)))


def write(path: Path, added: Sequence[tuple[Kind, dict[str, Any]]], expected: str | None = None) -> Digest:
    """Append entries to their lists in ``path``; return the result of :func:`newsportal.sources.edit`, whose errors it raises."""
    return edit(path, combine([append_entry(kind, values) for kind, values in added]), expected)


def _found(url: str, kind: Family | None, everything: bool, visit: PoliteFetcher) -> tuple[list[Proposal], list[Message]]:
    """Return the proposals, best first, and notes. Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``."""
    if kind in ("forum", "gallery"):
        page = visit(url)
        if page.status >= 400:
            raise NoSource("fetch.status", status=page.status)
        document = dom.document(page)
        if kind == "gallery":
            galleries = find_entries(document, page.fetched)
            if len(galleries) < MIN_GALLERIES:
                raise NoSource("discovery.few-galleries", number=len(galleries))
            return [gallery_proposal(page, document, galleries)], []
        forum = kinds.classify(document, page.fetched)
        if not forum.boards and not forum.threads:
            raise NoSource("discovery.members-only" if forum.kind == "login" else "discovery.no-threads")
        return [forum_proposal(page, forum, len(forum.boards) or len(forum.threads))], []
    only = KINDS[kind] if kind is not None else None
    found, notes = find(url, visit, visit.robots, everything=everything or only is not None, only=only)
    found = [proposal for proposal in found if only in (None, proposal.kind)]
    if not found:
        raise NoSource("discovery.none-of-kind")
    return found, notes


def figures(found: Proposal) -> list[str]:
    newest = [f"newest {format_time(found.newest)}"] if found.newest is not None else []
    per_day = [f"about {found.per_day:g} a day"] if found.per_day is not None else []
    return [f"{found.entries} entries", *newest, *per_day, f"score {found.score:g}"]


def plain(preview: Preview) -> dict[str, Any]:
    proposal, reading = preview.proposal, preview.reading
    read = reading.found if reading else None
    extracted = {"title": read.title, "published": read.published and read.published.isoformat(), "text": read.text} if read else {}
    return {
        "key": f"{proposal.family}:{preview.values['name']}", "kind": proposal.family, "values": preview.values, "score": proposal.score,
        "entries": proposal.entries, "newest": proposal.newest and proposal.newest.isoformat(), "per_day": proposal.per_day,
        "reasons": [to_json(reason) for reason in proposal.reasons], "stored": asdict(preview.overlap) if preview.overlap else None,
        "links": [{"url": row.url, "title": row.title, "published": row.published and row.published.isoformat()} for row in proposal.links],
        "article": {"url": reading.url, "failure": reading.failure and to_json(reading.failure), **extracted} if reading else None,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """A source that can be added: its list in ``sources.yaml`` and its values. ``best``: preselected. ``proposal``, ``reading`` and
    ``overlap``: its preview, as far as it was fetched."""

    kind: Kind
    values: dict[str, Any]
    best: bool = True
    proposal: Proposal | None = None
    reading: ArticleTrial | None = None
    overlap: Overlap | None = None


@dataclass(frozen=True, slots=True)
class AddressResult:
    """Result for one URL; ``error``: why there is none; ``existing``: the source that has it already."""

    url: str
    choices: tuple[Choice, ...] = ()
    notes: tuple[Message, ...] = ()
    error: NewsportalError | None = None
    existing: str | None = None


def check_addresses(
    addresses: Sequence[str], sources: Sources, report: Callable[[str], None], *, kind: Family | None = None, everything: bool = False
) -> list[AddressResult]:
    """Process the URLs in order; ``report`` is called with every URL before it is fetched, and may raise to stop."""
    found = []
    taken: dict[Kind, set[str]] = {}
    for url in addresses[:MAX_ADDRESSES]:
        report(url)
        result, choices = _search_address(url, sources, report, kind, everything), list[Choice]()
        for choice in result.choices:
            names = taken.setdefault(choice.kind, set())
            if choice.proposal is not None and choice.values["name"] in names:
                choice = replace(choice, values={**choice.values, **entry(choice.proposal, None, None, sources, names)})
            names.add(choice.values["name"])
            choices.append(choice)
        found.append(replace(result, choices=tuple(choices)))
    return found


def _search_address(url: str, sources: Sources, report: Callable[[str], None], kind: Family | None, everything: bool) -> AddressResult:
    visit = polite_fetcher(sources, max_requests=MAX_REQUESTS + MORE, report=report)
    try:
        offer = propose(url, sources, visit, kind=kind, everything=everything)
    except SourceExists as error:
        return AddressResult(url, error=error, existing=error.key)
    except NewsportalError as error:
        report(url)  # raises if that was the reason
        return AddressResult(url, error=error)
    choices = [
        Choice(preview.proposal.kind, dict(preview.values), place == 0, preview.proposal, preview.reading, preview.overlap)
        for place, preview in enumerate(offer.previews)
    ]
    existing = None
    for other in offer.others:
        try:
            choices.append(Choice(other.kind, dict(entry(other, None, None, sources)), best=False, proposal=other))
        except SourceExists as error:
            existing = error.key
    return AddressResult(url, tuple(choices), offer.notes, existing=existing)


def parse_opml(body: bytes, sources: Sources) -> list[AddressResult]:
    """Return the feeds of an OPML list, with the sources of existing ones, without requests. Raises ``BadOpml``."""
    plan = plan_import(read(body).feeds, sources, None)
    found = [AddressResult(str(values["url"]), (Choice("feeds", dict(values)),)) for values in plan.new]
    found += [AddressResult(url, existing=key) for url, key in plan.existing]
    return [*found, *(AddressResult(url, error=NewsportalError(reason)) for url, reason in plan.invalid)]
