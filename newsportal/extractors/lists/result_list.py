"""Extract result lists without a template: the repeated records of a page with unknown layout.

    group   = links of a page in similar positions        (three definitions of "similar", coarse to fine)
    record  = the highest element above a link of the group that contains no other link of the group; if most such elements
              contain only the title, their following siblings belong to the record too (``dt``/``dd``, table rows)
    worth   = title · (0.2 + summary + heading + foreign + dated) - 0.6            per record, see ``Record.worth``
    list    = the element with the largest sum of worths of one group

The idea of repeated regions comes from MDR (Liu, Grossman, Zhai 2003: "Mining Data Records in Web Pages"), with one change: in a result
list the title link repeats, while the records around it differ (pictures, sub-links, answers). So the links are compared, and the records
derived from them. Navigation, trending searches and paid results have a low worth: no summary, links back to the search.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from statistics import median
from urllib.parse import parse_qs, urlsplit

from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.redirect import is_advert, is_redirect
from newsportal.extractors.lists.result_fields import HEADING_ROLE, HEADINGS, host_of, is_labelled_advert, is_title, result_of, title_of
from newsportal.text.dom import SKIPPED_TAGS, Document, Element, clean_href, is_of_other_scheme, lines_of, text_of

MIN_RECORDS = 2  # one record does not repeat
MAX_LINKS = 3000  # links examined; the largest saved result page has 700
MAX_DEPTH = 100  # ancestors examined per link; the deepest link of the saved result pages has 24
FULL_TITLE = 10.0
FULL_SUMMARY = 60.0
MAX_RECORD = 3000  # characters; longer records get no credit for a summary: they are columns of the page
MIN_WORTH = 0.6  # minimum for a positive worth: a bare link (0.2) or a linked heading alone (0.7 at its longest) is hardly a result
MIN_RELATIVE_WORTH = 0.3  # a record worth less than this share of the list's median is a box between the results
EXCLUDED_TAGS = frozenset({"nav", "footer", "form", "select", "aside"})
EXCLUDED_NAMES = re.compile(
    r"(^|[-_\s])(nav|navbar|footer|foot|pager|pagination|page-?nums?|paging|breadcrumbs?|menu|toolbar|related-?search(es)?|sidebar|ads?|"
    r"sponsor(ed)?|hotwords?|rs|b_ad|tads\w*|taw|bottomads|topads|ads-ad|uEierd)([-_\s]|$)",
    re.IGNORECASE,
)
QUERY_KEYS = frozenset({"q", "wd", "word", "query", "p", "kw", "keyword", "keywords", "text"})
DATE_LIKE = re.compile(
    r"(19|20)\d\d\s?[-/.年]\s?\d|\d\s?(秒|分钟|小时|天|周|个月)前|昨天|前天|今天|\b\d+\s?(minute|hour|day|week|month|min|hr)s?\.? ago\b|"
    r"[Yy]esterday|\b\d{1,2}[./]\d{1,2}[./](19|20)\d\d\b|\b[A-Z][a-z]{2,8}\.? \d{1,2}\b"
)
MAX_SIBLINGS = 4  # a record made of rows (DuckDuckGo Lite) has a title row, a summary row, a URL row and an empty one


@dataclass(frozen=True)
class Record:
    """A title link and the elements that make up its record."""

    anchor: Element
    nodes: tuple[Element, ...]
    page_host: str  # host of the page, empty if unknown
    repeated: frozenset[str] = frozenset()  # lines that occur in several links of the group

    @cached_property
    def title(self) -> str:
        return title_of(self.anchor, self.repeated)

    @cached_property
    def length(self) -> int:
        return sum(len(text_of(node)) for node in self.nodes)

    @cached_property
    def worth(self) -> float:
        """Score from about -1 (navigation) to 1.6 (title in a heading, summary, link to another site)."""
        title = min(1.0, 0.5 + 0.5 * len(self.title) / FULL_TITLE) if is_title(self.title) else 0.0
        rest = self.length - len(self.title)
        rest -= sum(len(text_of(link)) for node in self.nodes for link in node.iter("a") if link is not self.anchor)
        summary = min(1.0, max(0, rest) / FULL_SUMMARY) if self.length <= MAX_RECORD else 0.0
        dated = self.length <= MAX_RECORD and any(DATE_LIKE.search(text_of(node)) for node in self.nodes)
        link = (self.anchor.get("href") or "").strip()
        foreign = is_redirect(link) or (bool(self.page_host) and _site(host_of(link) or self.page_host) != _site(self.page_host))
        return title * (0.2 + summary + 0.5 * (_heading_tag(self.anchor) is not None) + 0.4 * foreign + 0.3 * dated) - MIN_WORTH


def find_results(document: Document) -> list[Result]:
    """Return the entries of the page's main list in page order, with links as written; empty if nothing repeats. Never raises."""
    return [result_of(record.anchor, record.nodes, record.title) for record in find_records(document)]


def find_records(document: Document) -> list[Record]:
    host = page_host(document)
    outside: dict[Element, bool] = {}
    links = [link for link in document.root.iter("a") if _eligible(link, host) and not _is_outside(link, outside)][:MAX_LINKS]
    best: list[Record] = []
    most = 0.0
    groups: dict[tuple[str, ...], list[Element]] = defaultdict(list)
    for link in links:
        above = [str(node.tag) for _, node in zip(range(3), link.iterancestors(), strict=False)]
        if heading := _heading_tag(link):
            groups["heading", heading].append(link)
        groups["tags", *above[:2]].append(link)
        groups["class", *above, _class_pattern(link), _class_pattern(link.getparent())].append(link)
    for group in (group for group in groups.values() if len(group) >= MIN_RECORDS):
        found = _best_list(_records_of_group(group, host))
        total = sum(record.worth for record in found)
        if len(found) >= MIN_RECORDS and total > most:
            best, most = found, total
    if not best:
        return []
    typical = median(record.worth for record in best if record.worth > 0)
    return [record for record in best if record.worth >= MIN_RELATIVE_WORTH * typical and not any(map(is_labelled_advert, record.nodes))]


def page_host(document: Document) -> str:
    """Return the page's host: from its URL, its canonical link or forms, else the site that most of its links lead to."""
    if host := host_of(document.url):
        return host
    urls = [node.get("href") or "" for node in document.root.iter("link") if node.get("rel") in ("canonical", "search")]
    urls += [node.get("action") or "" for node in document.root.iter("form")]
    if host := next((host for host in map(host_of, urls) if host), ""):
        return host
    linked = Counter(_site(host) for host in (host_of(node.get("href") or "") for node in document.root.iter("a")) if host)
    return linked.most_common(1)[0][0] if linked else ""


def _site(host: str) -> str:
    """Return the approximate registered domain of a host: two labels, three if the second-level label is short (``com.cn``)."""
    labels = host.split(".")
    return ".".join(labels[-3:] if len(labels) > 2 and len(labels[-2]) <= 3 and len(labels[-1]) == 2 else labels[-2:])


def _eligible(link: Element, host: str) -> bool:
    href = clean_href((link.get("href") or "").strip())
    if not href or href.startswith("#") or is_of_other_scheme(href) or is_advert(href):
        return False
    try:
        parts = urlsplit(href)
        foreign = parts.hostname and parts.hostname.removeprefix("www.") != host
    except ValueError:
        return False
    if not foreign and not is_redirect(href):
        # another search on the same engine (related queries, pages, filters); ?p=123 is a WordPress article
        words = (value for key, values in parse_qs(parts.query).items() if key in QUERY_KEYS for value in values)
        if any(not word.isdigit() for word in words):
            return False
    return bool(text_of(link))


def _is_outside(link: Element, cache: dict[Element, bool]) -> bool:
    """Return whether ``link`` is in navigation, a form or a paid block. ``cache``: the answer per ancestor."""
    above = []
    answer = False
    for node in link.iterancestors():
        if node in cache:
            answer = cache[node]
            break
        above.append(node)
    for node in reversed(above):
        by_name = node.tag not in ("body", "html", "main") and any(map(EXCLUDED_NAMES.search, filter(None, map(node.get, ("id", "class")))))
        answer = cache[node] = answer or node.tag in EXCLUDED_TAGS or by_name
    return answer


def _heading_tag(link: Element) -> str | None:
    """Return the tag of the heading around or inside a link, or ``role`` for ``role="heading"``; ``None`` without one."""
    for node in link.iterancestors():
        if node.tag in HEADINGS:
            return str(node.tag)
        if node.get("role") == "heading":
            return "role"
    if (inner := next(link.iter(*HEADINGS), None)) is not None:
        return str(inner.tag)
    return "role" if link.xpath(HEADING_ROLE) else None


def _class_pattern(node: Element | None) -> str:
    return "" if node is None else re.sub(r"\d+", "0", node.get("class") or "")


def _ancestors(link: Element) -> Iterator[Element]:
    return islice(link.iterancestors(), MAX_DEPTH)


def _records_of_group(group: Sequence[Element], host: str) -> list[Record]:
    above = Counter(node for link in group for node in _ancestors(link))
    tops = [_record_root(link, above) for link in group]
    lines = Counter(line for link in group for line in set(lines_of(link)))
    repeated = frozenset(line for line, number in lines.items() if number > 1)
    records = [Record(link, (top,), host, repeated) for link, top in zip(group, tops, strict=True)]
    bare = [record for record in records if record.length - len(text_of(record.anchor)) < FULL_TITLE]
    return [_with_siblings(record, above) for record in records] if 2 * len(bare) > len(records) else records


def _record_root(link: Element, above: Counter[Element]) -> Element:
    top = link
    for node in _ancestors(link):
        if above[node] > 1 or node.tag in ("body", "html"):
            break
        top = node
    return top


def _with_siblings(record: Record, above: Counter[Element]) -> Record:
    nodes = [record.nodes[0]]
    for node in record.nodes[0].itersiblings():
        if above[node] or len(nodes) > MAX_SIBLINGS or node.tag == "a":
            break
        if node.tag not in SKIPPED_TAGS:
            nodes.append(node)
    return replace(record, nodes=tuple(nodes))


def _best_list(found: Sequence[Record]) -> list[Record]:
    """Return the records below the element with the largest sum of worths; of several, the deepest element."""
    sums: dict[Element, float] = defaultdict(float)
    for record in found:
        for node in _ancestors(record.anchor):
            sums[node] += record.worth
    if not sums:
        return []
    best = max(sums, key=lambda node: (round(sums[node], 6), sum(1 for _ in node.iterancestors())))
    return [record for record in found if best in set(_ancestors(record.anchor))]
