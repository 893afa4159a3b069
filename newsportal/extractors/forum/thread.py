"""Read one page of a thread: its title, its posts with ids that are stable across pages and visits, and the next page's URL."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.article import best
from newsportal.extractors.fields.metadata import language_of, read_metadata
from newsportal.extractors.fields.title import best_title
from newsportal.extractors.forum.addresses import key_of, parse_address
from newsportal.extractors.forum.kinds import is_login_wall, next_of_thread
from newsportal.items import Post, content_id
from newsportal.text import dom

Posts = Callable[[dom.Document, datetime], tuple[Post, ...]]  # an extractor of posts. Raises ``NotApplicable``
MIN_NUMBERED_SHARE: Final = 0.9  # minimum share of a page's posts with distinct numbers for using numbers as ids
NOT_THREAD_KINDS: Final = frozenset({"board", "search", "member", "calendar"})
FRONT_PAGE: Final = re.compile(
    r"^[a-z]+://[^/?#]+/?(?:(?:index|forum|bbs|home|portal|default)\.\w+|(?:forums?|bbs|community|latest)/?)?$", re.IGNORECASE
)  # where a forum begins
DELETED: Final = re.compile(
    r"(?:主题|主題|帖子|贴子|话题|話題).{0,6}(?:不存在|(?:已|被)(?:经|經)?.{0,4}(?:删除|刪除|移除))"
    r"|(?:topic|thread|discussion|post)s? .{0,30}(?:does not|doesn.t) exist"
    r"|(?:topic|thread|discussion) .{0,30}(?:has been|was) (?:deleted|removed)|(?:invalid|no) (?:topic|thread) specified",
    re.IGNORECASE,
)
DELETED_CHARS: Final = 80
DELETED_PAGE_CHARS: Final = 1_000  # How boards say in a line, on a page that says little else, that a thread is no more
FLOOR_PREFIX: Final = "floor-"
# How names begin that are not the site's own numbers. A post may have one on a page and the other on the next: the store joins them.
DIGEST_PREFIX: Final = "said-"


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """``next``: URL of the next page, ``None`` on the last. Every post has an ``id``."""

    title: str | None
    posts: tuple[Post, ...]
    next: str | None
    language: str | None


def read_page(document: dom.Document, posts: Posts, now: datetime, *, single: bool = False, requested: str | None = None) -> ThreadPage:
    """Read the page. Raises ``NotApplicable``: ``login`` if only members may read it, ``gone`` if the thread was deleted, else the error of
    ``posts``.

    ``single``: the thread may have a single post, which has no pattern; it is then read as an article. ``requested``: the requested URL.
    """
    if requested is not None and key_of(requested) != key_of(document.url):
        kind = parse_address(document.url).kind
        if kind == "login":
            raise NotApplicable("login", "only members may read it")
        if kind in NOT_THREAD_KINDS or FRONT_PAGE.search(document.url):
            raise NotApplicable("gone", f"its URL redirects to {document.url}, which is no thread")
    try:
        found = assign_ids(posts(document, now))
    except NotApplicable:
        if is_login_wall(document):
            raise NotApplicable("login", "only members may read it") from None
        if not single:
            raise
        lines = document.lines
        if sum(map(len, lines)) <= DELETED_PAGE_CHARS and any(len(line) <= DELETED_CHARS and DELETED.search(line) for line in lines):
            raise NotApplicable("gone", "the page says that there is no such thread") from None
        article = best.extract(document, None, now)
        if not article.text or article.published is None:
            raise NotApplicable("no-posts", "neither posts nor a text with a date") from None
        found = assign_ids((Post(article.author, article.published, article.text, images=article.images, opening=True),))
    if not found:
        raise NotApplicable("no-posts")
    meta = read_metadata(document)
    following = next_of_thread(document)
    next_url = following if following and parse_address(following).url != parse_address(document.url).url else None
    return ThreadPage(best_title(document, meta), found, next_url, language_of(meta, [post.text for post in found]))


def assign_ids(posts: tuple[Post, ...]) -> tuple[Post, ...]:
    """Set each post's id: the site's number, else its floor, else a digest of author and time, else of author and text."""
    counts = Counter(post.id for post in posts if post.id)
    numbered = sum(1 for count in counts.values() if count == 1) >= MIN_NUMBERED_SHARE * len(posts)
    uses: Counter[str] = Counter()
    found = []
    for post in posts:
        if numbered and post.id and counts[post.id] == 1:
            name = post.id
        elif post.floor is not None:
            name = f"{FLOOR_PREFIX}{post.floor}"
        else:  # texts may be edited; a time that is counted from now is another one on every visit
            content = post.published.isoformat() if post.published and ":" in (post.date_text or "") else post.text
            name = DIGEST_PREFIX + content_id(f"{post.author}\n{content}")
        uses[name] += 1  # two of one author within a minute
        found.append(replace(post, id=name if uses[name] == 1 else f"{name}-{uses[name]}"))
    return tuple(found)
