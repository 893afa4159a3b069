"""A fetched result page to results: the wrapper first, the template-free reader where it fails, and never a captcha as news.

what                                              answer
the wrapper reads the page                        its results
… but far fewer than repeat in the page           its results in the longer list, by="generic", changed
it finds nothing, and the page is a wall          EngineBlocked(reason, rest)
it finds nothing, and the page says so            no results, no alarm
it finds nothing, and something repeats           the template-free reader's results, by="generic", changed
nothing at all                                    no results, changed if the page is no feed
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from newsportal.errors import EngineBlocked, NotApplicable
from newsportal.extractors.lists import blocked, feed_results
from newsportal.extractors.lists.engines import Engine, Result, ResultPage, load, names
from newsportal.extractors.lists.redirect import resolve
from newsportal.extractors.lists.result_fields import published
from newsportal.extractors.lists.result_list import page_host, result_list
from newsportal.extractors.lists.wrapper import absolute
from newsportal.text.dom import Document

FEW = 0.5  # a wrapper that finds less than this share of what repeats in the page is suspected to know only half of the layout
WITHIN = 0.6  # share of the wrapper's results that the longer list must hold; else something else repeats
LEFTOVER = 2  # so few results beside a real list are what is left of an old layout (a box above the results), not the list: both are kept
MANY = 5  # entries of a real list; pages that say 「没有找到」 still show a few links (hot words, tips)


def read(engine: Engine, document: Document, fetched: datetime) -> ResultPage:
    """The results of a page that ``engine`` answered at ``fetched`` (aware; relative dates count from it).

    Raises ``EngineBlocked`` for a captcha, login, consent or quota page: the caller rests the engine for ``rest`` seconds.
    """
    if feed_results.is_feed(document):
        return ResultPage(tuple(feed_results.parse(document, fetched)), "wrapper")
    if (listed := feed_results.parse_json(document, fetched)) is not None:
        return ResultPage(tuple(listed), "wrapper")
    wrapped: list[Result] = []
    with suppress(NotApplicable):  # a wrapper that cannot work here (a slow pattern) finds nothing, and the change is reported
        wrapped = engine.parse(document, fetched) if engine.parse else []
    if not wrapped and (wall := blocked.wall(document, certain=True)):
        raise EngineBlocked(wall.reason, wall.rest)
    free = [
        Result(
            title=entry.title,
            link=absolute(document, entry.link),
            site=entry.site,
            summary=entry.summary,
            date=entry.date,
            published=published(entry.date, fetched, f"{entry.title}{entry.summary}"),
        )
        for entry in result_list(document)
    ]
    if wrapped:
        longer = _longer(wrapped, free)
        return ResultPage(tuple(longer or wrapped), "generic" if longer else "wrapper", changed=bool(longer))
    changed = engine.parse is not None
    if len(free) < MANY:
        if wall := blocked.wall(document):
            raise EngineBlocked(wall.reason, wall.rest)
        if blocked.says_nothing_found(document):
            return ResultPage((), "wrapper" if changed else "generic")
    return ResultPage(tuple(free), "generic", changed)


def _longer(wrapped: Sequence[Result], free: Sequence[Result]) -> list[Result] | None:
    """The longer list with the wrapper's results in it, if the wrapper read only a part of the page's results."""
    if len(wrapped) >= FEW * len(free):
        return None
    known = {result.link: result for result in wrapped}
    within = sum(1 for result in free if result.link in known)
    if within < WITHIN * len(known) and not (len(wrapped) <= LEFTOVER and len(free) >= MANY):
        return None
    rest = [result for result in wrapped if result.link not in {other.link for other in free}]
    return rest + [known.get(result.link, result) for result in free]


def target_of(result: Result) -> str:
    """The article's address as far as it is known without a request: what the page says, or what the link itself holds."""
    target = result.target or ""
    return resolve(target if target.startswith(("http://", "https://")) else result.link)


# Whose result page is this? For saved pages that come without a word about their engine.

UNKNOWN = Engine(name="unknown", url="##QUERY##")  # Nobody's page that we know: the template-free reader reads it
AT_LEAST = 3  # results a wrapper must find to be believed on a page whose host says nothing


def guess(document: Document) -> Engine:
    """The engine whose wrapper reads most of ``document``, among those of its host if it says one; of equals the first."""
    host = page_host(document)
    engines = [load(name) for name in names()]
    own = [engine for engine in engines if any(f".{part}" in f".{host}" for part in engine.hosts)]
    candidates = sorted(own, key=lambda engine: engine.kind == "news") or engines
    found = [(_weight(engine, document), -order, engine) for order, engine in enumerate(candidates)]
    weight, _, engine = max(found, key=lambda one: one[:2])
    return engine if weight > (0 if own else AT_LEAST) else UNKNOWN


def _weight(engine: Engine, document: Document) -> float:
    """Results the wrapper finds; a summary and a site make one count fully, since wide rules find titles anywhere."""
    results = engine.parse(document, datetime.now(UTC)) if engine.parse else []
    return sum(0.4 + 0.3 * bool(result.summary) + 0.3 * bool(result.site) for result in results)
