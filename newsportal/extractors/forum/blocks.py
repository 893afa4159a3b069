"""A block that PEAN or MiBAT found, as a post: all its text, and the first time in it."""

from __future__ import annotations

from datetime import datetime

from newsportal import dom
from newsportal.extractors.date import default_zone
from newsportal.extractors.forum.ages import moment
from newsportal.extractors.forum.anchors import ABSOLUTE
from newsportal.extractors.forum.matching import POST_TIME, Marked
from newsportal.items import Post


def as_post(page: Marked, at: int, now: datetime) -> Post:
    """The block of node ``at``. What a post's text is, and who wrote it, the thesis leaves open."""
    text = "\n".join(dom.lines_of(page.nodes[at]))
    match = POST_TIME.search(text) or ABSOLUTE.search(text)
    written = match[0] if match else None
    return Post(
        author=None,
        published=moment(written, now, default_zone(text)) if written else None,
        text=text,
        date_text=written,
        block_text=text,
        xpath=page.xpath(at),
        full_text=text,
    )
