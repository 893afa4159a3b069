"""Extract the results of a fetched result page: by wrapper, else by the template-free reader; captcha pages are detected.

case                                              result
the wrapper finds results                         its results
… but far fewer than repeat in the page           its results within the longer list, by="generic", changed
it finds none, and the page is a wall             EngineBlocked(reason, rest)
it finds none, and the page says so               no results, not changed
it finds none, and something repeats              the template-free reader's results, by="generic", changed
nothing is found                                  no results, changed unless the engine has no wrapper or the page is a feed
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from newsportal.errors import EngineBlocked, NotApplicable
from newsportal.extractors.feeds import feed_bytes, feed_dialects
from newsportal.extractors.lists import selector
from newsportal.extractors.lists.engines import BlockPage, Engine, Result, ResultPage, block_pages, engine_names, load_engine
from newsportal.extractors.lists.redirect import resolve
from newsportal.extractors.lists.result_fields import parse_time
from newsportal.extractors.lists.result_list import find_results, page_host
from newsportal.extractors.lists.wrapper import absolute, parse_with
from newsportal.text.dom import Document, Element, text_of

MIN_SHARE = 0.5  # a wrapper that finds less than this share of the repeated records probably knows only half of the layout
MIN_OVERLAP = 0.6  # share of the wrapper's results that the longer list must contain; otherwise it is another list
MAX_LEFTOVER = 2  # up to so many results beside a real list may be a remnant of an old layout (a box above the results): then both are kept
MIN_LIST = 5  # minimum entries of a real list; pages with 「没有找到」 still contain a few links (trending searches, tips)


def read_results(engine: Engine, document: Document, fetched: datetime) -> ResultPage:
    """Return the results of a page from ``engine``, fetched at ``fetched`` (aware). Raises ``EngineBlocked`` for a captcha, login, consent
    or quota page: the caller pauses the engine for ``rest`` seconds."""
    if FEED_START.match(document.html[:2000]):
        return ResultPage(tuple(read_feed(document, fetched)), "wrapper")
    if (results := read_json(document, fetched)) is not None:
        return ResultPage(tuple(results), "wrapper")
    wrapped: list[Result] = []
    with suppress(NotApplicable):  # a wrapper that fails here (a slow pattern) counts as one without results, and the change is reported
        wrapped = _extract(engine, document, fetched)
    if not wrapped and (wall := find_block_page(document, certain=True)):
        raise EngineBlocked(wall.reason, wall.hours * HOUR)
    generic = [
        replace(entry, link=absolute(document, entry.link), published=parse_time(entry.date, fetched, f"{entry.title}{entry.summary}"))
        for entry in find_results(document)
    ]
    if wrapped:
        longer = _merged_list(wrapped, generic)
        return ResultPage(tuple(longer or wrapped), "generic" if longer else "wrapper", changed=bool(longer))
    changed = engine.has_parser
    if len(generic) < MIN_LIST:
        if wall := find_block_page(document):
            raise EngineBlocked(wall.reason, wall.hours * HOUR)
        if has_no_results(document):
            return ResultPage((), "wrapper" if changed else "generic")
    return ResultPage(tuple(generic), "generic", changed)


def _extract(engine: Engine, document: Document, fetched: datetime) -> list[Result]:
    """Return the results by feed or wrapper, as the engine's description says."""
    if engine.feed:
        return read_feed(document, fetched)
    return parse_with(engine.wrappers, document, fetched) if engine.wrappers else []


def _merged_list(wrapped: Sequence[Result], generic: Sequence[Result]) -> list[Result] | None:
    """Return the longer list merged with the wrapper's results if the wrapper found only a part of the results, else ``None``."""
    if len(wrapped) >= MIN_SHARE * len(generic):
        return None
    by_link = {result.link: result for result in wrapped}
    within = sum(1 for result in generic if result.link in by_link)
    if within < MIN_OVERLAP * len(by_link) and not (len(wrapped) <= MAX_LEFTOVER and len(generic) >= MIN_LIST):
        return None
    rest = [result for result in wrapped if result.link not in {other.link for other in generic}]
    return rest + [by_link.get(result.link, result) for result in generic]


def target_of(result: Result) -> str:
    """Return the article's URL as far as it is known without a request: from the page, or from the link itself."""
    target = result.target or ""
    return resolve(target if target.startswith(("http://", "https://")) else result.link)


# Detect the engine of a saved page of unknown origin.

UNKNOWN_ENGINE = Engine(name="unknown", url="##QUERY##")  # an unknown engine: the template-free reader is used
MIN_RESULTS = 3  # results a wrapper must find to be accepted on a page of unknown host


def guess_engine(document: Document) -> Engine:
    """Return the engine whose wrapper extracts most from ``document``, among the engines of its host if known; the first of equals."""
    host = page_host(document)
    engines = [load_engine(name) for name in engine_names()]
    matching = [engine for engine in engines if any(f".{part}" in f".{host}" for part in engine.hosts)]
    candidates = sorted(matching, key=lambda engine: engine.kind == "news") or engines
    best, most = UNKNOWN_ENGINE, 0.0 if matching else float(MIN_RESULTS)
    for engine in candidates:
        results = _extract(engine, document, datetime.now(UTC))
        # only results with summary and site count fully, since broad rules find titles anywhere
        weight = sum(0.4 + 0.3 * bool(result.summary) + 0.3 * bool(result.site) for result in results)
        if weight > most:
            best, most = engine, weight
    return best


# Walls (captcha, login, consent, quota) and pages without results. The type of a page is visible in its URL, forms, frames and element ids;
# a phrase counts only on a page with little other text: a search for 「验证码」 returns results *about* captchas, which must be extracted.

HOUR = 3600.0
MAX_WALL_CHARS = 1_500  # visible characters up to which a phrase counts: captcha pages have 20 to 900, result pages over 2,000
HIDDEN = "[style*='display:none'], [style*='display: none'], [hidden]"  # many pages have a hidden "no results" sentence for their scripts
NO_RESULTS_ELEMENTS = (
    ".content_none, .nors, #noresult_part1_container, #no-result, .no-result, .no-results, .noresult, "
    ".result--no-result, .b_no, .mini-no-results, .msg.no-results, .zrp, #noResult, .result-none, .search-no-result, .no_result_content"
)
NO_RESULTS_PHRASES = re.compile(
    r"(抱歉|很抱歉|对不起)[，,]?\s*(没有|未能?|找不到|暂无).{0,40}(找到|相关|结果|网页|新闻)|没有找到(与|和|该|相关|任何|符合|含有|您).{0,60}|"
    r"未找到(相关|与|符合|任何)|"
    r"找不到(和|与|和您).{0,60}(相符|相关)|暂无(相关)?(结果|内容|新闻)|"
    r"did not match any (documents|news|results|articles)|no results (were )?found( for)?|there are no results for|"
    r"we did not find (any )?results for|"
    r"no (more )?results\b|your search .{0,80}did not match|"
    r"keine ergebnisse|aucun résultat",
    re.IGNORECASE,
)


def find_block_page(document: Document, *, certain: bool = False) -> BlockPage | None:
    """Return the wall that ``document`` is, or ``None``. ``certain``: only by URLs and marks of a known engine's wall, without phrases."""
    text = None
    if not certain and len(body := text_of(document.root)) <= MAX_WALL_CHARS:  # a phrase counts only on a page with little text
        titles = " ".join(text_of(title) for title in document.root.iter("title"))
        text = f"{titles} {body}"
    for kind in block_pages():
        if certain and kind.address is None:
            continue  # a generic captcha may protect a form on any page
        if kind.address and re.search(kind.address, document.url, re.IGNORECASE):
            return kind
        if kind.marks and document.css(kind.marks):
            return kind
        if text and any(re.search(phrase, text, re.IGNORECASE) for phrase in kind.phrases):
            return kind
    return None


def has_no_results(document: Document) -> bool:
    if any(not (_is_hidden(node) or any(map(_is_hidden, node.iterancestors()))) for node in document.css(NO_RESULTS_ELEMENTS)):
        return True
    count = len(NO_RESULTS_PHRASES.findall(text_of(document.root)))
    hidden = (node for node in document.css(HIDDEN) if not any(map(_is_hidden, node.iterancestors()))) if count else ()
    return count > sum(len(NO_RESULTS_PHRASES.findall(text_of(node))) for node in hidden)


def _is_hidden(node: Element) -> bool:
    return node.get("hidden") is not None or "display:none" in (node.get("style") or "").replace(" ", "").lower()


FEED_START = re.compile(r"\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*<(rss|feed|rdf:RDF)\b", re.DOTALL | re.IGNORECASE)
MAX_ITEMS = 500


def read_feed(document: Document, fetched: datetime) -> list[Result]:
    """Return the entries of a feed of results; ``- Site`` is removed from titles. Raises ``NotApplicable``: ``broken-feed``."""
    text = feed_bytes.repair_xml(feed_bytes.FeedText(document.html.lstrip("\ufeff \t\r\n"), ())).text
    return _results_of_entries(feed_dialects.parse_leniently(text, document.url)["entries"], fetched)


def read_json(document: Document, fetched: datetime) -> list[Result] | None:
    """Return the results of SearXNG's ``format=json``; ``None`` for another page. Raises ``EngineBlocked`` if all its engines refused."""
    text = document.html.lstrip("\ufeff \r\n\t")
    try:
        data = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(found := data.get("results"), list):
        return None
    unresponsive = data.get("unresponsive_engines")
    if not found and unresponsive:
        raise EngineBlocked("captcha" if "captcha" in str(unresponsive).lower() else "quota")
    plain = ({key: value for key, value in row.items() if isinstance(value, str)} for row in found if isinstance(row, dict))
    names = {"url": "link", "content": "summary", "publishedDate": "published", "title": "title"}
    return _results_of_entries([{names[key]: value for key, value in row.items() if key in names} for row in plain], fetched)


def _results_of_entries(entries: Sequence[Mapping[str, Any]], fetched: datetime) -> list[Result]:
    results = []
    for entry in entries[:MAX_ITEMS]:
        title, link = selector.text_of(entry.get("title") or ""), (entry.get("link") or "").strip()
        if not title or not link.startswith(("http://", "https://")):
            continue
        source = entry.get("source") or {}
        site = selector.text_of(source.get("title") or entry.get("news_source") or entry.get("author") or "")
        if site:
            title = title.removesuffix(f" - {site}") or title
        date = (entry.get("published") or entry.get("updated") or "").strip() or None
        # the entry's summary, unless it only repeats title and site (Google News)
        summary = selector.text_of(entry.get("summary") or "")
        rest = (summary or "").replace(title, "").replace(site or title, "").strip(" \xa0-")
        results.append(Result(title, link, site, summary if rest else None, date, parse_time(date, fetched, title)))
    return results
