"""Extract the posts of a thread's page from any forum software: find records by the parts of a post, overlay them, read them path by path.

1. The page as a flat tree (``tree``); times and names in it (``anchors``).
2. The posts: by an engine's hints if one is recognised (``engines``), else similar nodes with time, name and text
   (``groups``), with the siblings that belong to them (``records``).
3. All posts overlaid (``paths``): the path with most text is the body, that of names the author, that of times
   the time (``authors``, ``times``).
4. Records that are not posts are removed, an opening post in another container is added (``records``).

See docs/algorithms/posts.md.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.errors import NotApplicable
from newsportal.extractors.fields.date import read_date
from newsportal.extractors.fields.embedded import parse_json
from newsportal.extractors.fields.metadata import type_of
from newsportal.extractors.forum.anchors import author_nodes, clear_quotes, time_nodes
from newsportal.extractors.forum.authors import find_authors
from newsportal.extractors.forum.engines import engines_of, records_from_selectors
from newsportal.extractors.forum.groups import Signs, posts_of, signs_of
from newsportal.extractors.forum.paths import Record, find_bodies, overlay_records
from newsportal.extractors.forum.post import PostContext, post_of
from newsportal.extractors.forum.records import add_siblings, filter_posts, find_opening_post
from newsportal.extractors.forum.times import Calendar, calendar_of, find_times
from newsportal.extractors.forum.tree import MAX_POSTS, Tree, read_tree
from newsportal.items import Post
from newsportal.text import clean, dom

MIN_WORTH: Final = 0.09  # a similar node with neither time nor name is not a post
COMMENT_CHARS: Final = 200  # minimum length of an HTML comment with posts
BLOCK_TAG: Final = re.compile(r"<(?:div|li|table|article)\b")  # some pages deliver their posts in HTML comments, which a script unpacks
LATER_PAGE: Final = re.compile(
    r"[?&/;]p(?:age)?[=/-]?0*(?:[2-9]|1\d)\d*\b|-\d+-0*(?:[2-9]|1\d)\d*-\d+\.html?$|[?&]start=0*[1-9]", re.IGNORECASE
)  # URL of a thread's second or later page, which has no opening post


@dataclass(frozen=True, slots=True)
class PageAnalysis:
    tree: Tree
    times: list[bool]
    authors: list[bool]
    quotes: list[int]
    signs: Signs
    calendar: Calendar


def extract(document: dom.Document, now: datetime, hints: bool = True) -> tuple[Post, ...]:
    """Return the posts in page order. ``now``: fetch time. Raises ``NotApplicable`` (``no-posts``).

    ``hints``: use the selectors of recognised engines.
    """
    posts = _posts(document, now, hints)
    if not posts:
        comments = "".join(comment for comment in _comments(document.html) if len(comment) >= COMMENT_CHARS and BLOCK_TAG.search(comment))
        posts = _posts(dom.from_text(comments, document.url), now, hints) if comments else ()
    if posts := posts or tuple(structured_posts(document, now)):
        return posts
    raise NotApplicable("no-posts", "no repeated elements with times, names and text")


def _comments(html: str) -> Iterator[str]:
    """Yield the text of a page's HTML comments. Time is linear even with many unclosed ones."""
    start = html.find("<!--")
    while start >= 0 and (stop := html.find("-->", start + 4)) >= 0:
        yield html[start + 4 : stop]
        start = html.find("<!--", stop)


def _posts(document: dom.Document, now: datetime, hints: bool) -> tuple[Post, ...]:
    body = document.root.find("body")
    language = document.root.get("lang") or document.root.get("xml:lang")
    tree = read_tree(body if body is not None else document.root)
    times, authors = time_nodes(tree), author_nodes(tree)
    quotes = clear_quotes(tree, times, authors)
    page = PageAnalysis(tree, times, authors, quotes, signs_of(times, authors), calendar_of(tree, times, now, language))
    records, hinted_at = _records(page, document, hints)
    if not records:
        return ()
    records = _with_fields(page, records)
    if records and not hinted_at and (opening := find_opening_post(page.tree, page.signs, records)):
        records += _with_fields(page, [opening])
    records.sort(key=lambda record: record.nodes[0])
    nodes = sorted(at for record in records for at in record.nodes)
    if records and not LATER_PAGE.search(document.url):
        records[0].opening = True
    scene = PostContext(page.tree, document, page.quotes, nodes, page.calendar)
    return tuple(post_of(scene, record) for record in records)


def _records(page: PageAnalysis, document: dom.Document, hints: bool) -> tuple[list[Record], bool]:
    """Return the posts, and whether an engine's hints found them."""
    for engine in engines_of(document.html) if hints else ():
        if found := records_from_selectors(page.tree, page.signs, engine):
            wider = add_siblings(page.tree, page.signs, [record.nodes[0] for record in found])
            for record, other in zip(found, wider, strict=True):
                record.nodes = other.nodes
            return found[:MAX_POSTS], True
    group = posts_of(page.tree, page.signs)
    if group is None:
        return [], False
    members = [at for at, worth in zip(group.members, group.worth, strict=True) if worth >= MIN_WORTH]
    members = members[:MAX_POSTS]
    return add_siblings(page.tree, page.signs, members), False


def _with_fields(page: PageAnalysis, records: Sequence[Record]) -> list[Record]:
    overlaid = overlay_records(page.tree, page.signs, records)
    body = find_bodies(page.tree, overlaid)
    find_authors(page.tree, overlaid, page.authors, body)
    find_times(page.tree, overlaid, page.times, body, page.calendar)
    return filter_posts(page.tree, overlaid, body)


# Posts in a page's structured data: JSON-LD of type DiscussionForumPosting, QAPage and their comments and answers (schema.org).

KINDS: Final = re.compile(r"DiscussionForumPosting|SocialMediaPosting|Question$|Comment$|Answer$")
REPLY_KEYS: Final = ("comment", "suggestedAnswer", "acceptedAnswer")
MAX_JSON: Final = 4_000_000
TAG: Final = re.compile(r"<[a-zA-Z/][^<>]{0,2000}>")
BREAKS: Final = re.compile(r"<(?:br|/p|/div|/li)[^<>]{0,200}>|\r?\n", re.IGNORECASE)


def structured_posts(document: dom.Document, now: datetime) -> list[Post]:
    """Return the opening post and its replies from JSON-LD; empty if it has no texts."""
    found: list[Post] = []
    for script in document.root.iter("script"):
        text = script.text or ""
        if "ld+json" not in (script.get("type") or "").lower() or len(text) > MAX_JSON:
            continue
        data = parse_json(text)
        # threads are at the top, in the graph or the main entity
        tops = data if isinstance(data, list) else [data]
        graph = [inner for top in tops if isinstance(top, dict) and isinstance(top.get("@graph"), list) for inner in top["@graph"]]
        mains = [top.get("mainEntity") for top in (*tops, *graph) if isinstance(top, dict)]
        for thing in (*tops, *graph, *mains):
            if not found and isinstance(thing, dict) and KINDS.search(type_of(thing)):
                found = [post for item in _thread(thing) if (post := _post(item, now))]
    return found


def _thread(thing: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a posting and its replies, in order. Not recursive."""
    waiting: deque[Any] = deque([thing])
    count = 0
    while waiting and count < MAX_POSTS:
        item = waiting.popleft()
        if isinstance(item, list):
            waiting.extendleft(reversed(item))
        elif isinstance(item, dict):
            count += 1
            yield item
            waiting.extendleft(item[name] for name in reversed(REPLY_KEYS) if name in item)


def _post(thing: Mapping[str, Any], now: datetime) -> Post | None:
    text = thing.get("text") or thing.get("articleBody")
    if not isinstance(text, str) or not text.strip():
        return None
    lines = (clean(TAG.sub(" ", line)) for line in BREAKS.sub("\n", text).split("\n"))
    author = thing.get("author")
    author = author[0] if isinstance(author, list) and author else author
    name = author.get("name") if isinstance(author, dict) else author
    date = thing.get("datePublished") or thing.get("dateCreated")
    date = date if isinstance(date, str) else None
    body = "\n".join(line for line in lines if line)
    return Post(
        author=clean(name) or None if isinstance(name, str) else None,
        published=read_date(date, now) if date else None,
        text=body,
        date_text=date,
        block_text=body,
        full_text=body,
    )
