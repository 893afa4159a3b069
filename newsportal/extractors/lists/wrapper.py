"""Extract result pages with wrappers (paper A): one rule for the entity block, then one rule per field.

An engine has a wrapper for each generation of its layout; :func:`parse_with` selects the one with the most results.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from newsportal.extractors.lists import selector
from newsportal.extractors.lists.engines import Result, Wrapper
from newsportal.extractors.lists.redirect import is_advert
from newsportal.extractors.lists.result_fields import EDGE, is_date, is_labelled_advert, parse_time, split_site, split_summary, title_of
from newsportal.extractors.lists.selector import Piece, Rule
from newsportal.text import dom
from newsportal.text.dom import Document, Element

MAX_BLOCKS = 200  # blocks of one page; engines give at most 100 results a page
MAX_FOUND = 1000  # matches of the block rule, including frames; only malicious pages nest thousands of them
MIN_RELATIVE_COUNT = 0.6  # share of the most results at which an earlier wrapper is preferred


def parse_with(wrappers: Sequence[Wrapper], document: Document, fetched: datetime) -> list[Result]:
    """Return the results by the first of ``wrappers`` (at least one) that finds nearly as many as the best one. Earlier wrappers are more
    reliable: the rules of old layouts are broad."""
    found = [list(apply_wrapper(wrapper, document, fetched)) for wrapper in wrappers]
    most = max(map(len, found))
    return next(results for results in found if len(results) >= MIN_RELATIVE_COUNT * most)


def apply_wrapper(wrapper: Wrapper, document: Document, fetched: datetime) -> Iterator[Result]:
    """Yield the results that ``wrapper`` finds, in page order, each pair of title and link once."""
    seen = set()
    for block in find_blocks(wrapper, document):
        result = read_block(wrapper, block, document, fetched)
        if result is not None and (result.title, result.link) not in seen:
            seen.add((result.title, result.link))
            yield result


def find_blocks(wrapper: Wrapper, document: Document) -> list[Piece]:
    """Return the blocks without frames (blocks around several others); of nested blocks for one result, the outermost."""
    found = selector.select_in(document, wrapper.block)[:MAX_FOUND]
    nodes = [block for block in found if isinstance(block, Element)]
    node_set = set(nodes)
    above = {node: [other for other in node.iterancestors() if other in node_set] for node in nodes}
    frames = {other for others in above.values() for other in others}
    counts = Counter(other for node in nodes if node not in frames for other in above[node])
    single = {node for node in nodes if counts[node] <= 1}
    return [block for block in found if isinstance(block, str) or (block in single and not single & set(above[block]))][:MAX_BLOCKS]


def read_block(wrapper: Wrapper, block: Piece, document: Document, fetched: datetime) -> Result | None:
    """Return the result in a block; ``None`` for a block without title or link, and for an advertisement."""
    if wrapper.skip and selector.select(block, wrapper.skip):
        return None
    if isinstance(block, Element) and is_labelled_advert(block):
        return None
    heads = selector.select(block, wrapper.title)
    titles = ((found, _title_text(_without_dropped(found, wrapper.drop)) or _title_text(found)) for found in heads)
    head, title = next((pair for pair in titles if pair[1]), (None, None))
    link = dom.clean_href((selector.url_of(_first(block, wrapper.link) if wrapper.link else head) or "").strip())
    if not title or not link or link.startswith("#") or dom.is_of_other_scheme(link) or is_advert(link):
        return None
    small_print = (split_site(selector.text_of(found)) for found in selector.select(block, wrapper.site))
    site, inner_date = next((pair for pair in small_print if pair[0]), (None, None))
    found = (selector.text_of(_without_dropped(piece, wrapper.drop)) for piece in selector.select(block, wrapper.summary))
    summary = next(filter(None, found), None)
    date = inner_date if not wrapper.date else (_date(wrapper, block) or inner_date)
    summary_date, summary = split_summary(summary, site)
    date = date or summary_date
    target = selector.text_of(_first(block, wrapper.target)) or ""  # data attributes may have other contents
    return Result(
        title,
        absolute(document, link),
        site,
        summary,
        date,
        parse_time(date, fetched, f"{title}{summary}"),
        target if target.startswith(("http://", "https://")) else None,
    )


def absolute(document: Document, link: str) -> str:
    """Return ``link`` as an absolute URL; as written if it cannot be joined or the page's URL is not known."""
    if link.startswith(("http://", "https://")):
        return link
    has_url = document.base.startswith(("http://", "https://"))
    return (dom.join(document.base, link) or link) if has_url else link


def _first(block: Piece, rule: Rule) -> Piece | None:
    return next(iter(selector.select(block, rule)), None)


def _title_text(piece: Piece) -> str | None:
    """Return the text of a title. A link may contain more than the title (URL, date): then the title is its heading."""
    return (title_of(piece) or None) if isinstance(piece, Element) and piece.tag == "a" else selector.text_of(piece)


def _without_dropped(piece: Piece, drop: str) -> Piece:
    if not drop or isinstance(piece, str) or not dom.css(piece, drop):
        return piece
    copy = dom.copy_of(piece)
    for node in dom.css(copy, drop):
        if node is not copy:
            node.drop_tree()
    return copy


def _date(wrapper: Wrapper, block: Piece) -> str | None:
    for text in map(selector.text_of, selector.select(block, wrapper.date)):
        if text and is_date(text):
            return text.strip(EDGE)
        if date := split_site(text)[1]:
            return date
    return None
