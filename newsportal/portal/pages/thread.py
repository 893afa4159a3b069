"""The reading view of a forum's thread: its posts by floors, fifty a page."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import HTTPException, Request, Response
from markupsafe import Markup

from newsportal.items import Image
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.reading import paragraphs, web_address
from newsportal.portal.render import address, render
from newsportal.store.results import StoredArticle, Story
from newsportal.store.threads import StoredPost, StoredThread
from newsportal.text import clean

PAGE = 50


NAMES = (_("Opening post"), _("First reply"), _("Second reply"), _("Third reply"))
"""The first floors have names of their own: 楼主, 沙发, 板凳, 地板."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A post as a page shows it; everything from the forum is cleaned."""

    anchor: str
    number: int
    label: str
    author: str | None
    by_opener: bool
    post: StoredPost
    body: Markup
    quoted: Markup
    pictures: tuple[Image, ...]
    earlier: tuple[Markup, ...]


def thread_view(request: Request, story: Story, article: StoredArticle, thread: StoredThread) -> Response:
    visit = Visit(request)
    topic = visit.text("topic")
    last = max(1, -(-thread.posts // PAGE))
    number = visit.whole("page")
    if not 1 <= number <= last:
        raise HTTPException(404)
    kept = visit.portal.store.threads
    posts = kept.posts(thread.id, offset=(number - 1) * PAGE, limit=PAGE)
    from_zero = any(post.place == 1 and post.floor == 1 for post in kept.posts(thread.id, limit=2))
    here = f"/story/{story.id}"
    return render(
        request,
        "thread.html",
        story=story,
        article=article,
        thread=thread,
        board=clean(thread.board) if thread.board else None,
        floors=[floor(post, article, visit, from_zero) for post in posts],
        number=number,
        last=last,
        before=address(here, topic=topic, page=number - 1 if number > 2 else None) if number > 1 else None,
        after=address(here, topic=topic, page=number + 1) if number < last else None,
        newest=address(here, topic=topic, page=last) if number < last else None,
    )


def floor(post: StoredPost, article: StoredArticle, visit: Visit, from_zero: bool = False) -> Floor:
    """A post for the page. Its number is the forum's own where that is known (``from_zero``: 1 is its first reply), else its place."""
    own = (post.floor or 0) + (1 if from_zero and post.place else 0)
    number = own if post.floor is not None and own > 0 else post.place + 1
    return Floor(
        anchor=f"floor-{number}" if number == post.place + 1 else f"post-{post.place + 1}",
        number=number,
        label=label(number, visit),
        author=clean(post.author) if post.author else None,
        by_opener=post.author is not None and post.author == article.author and number > 1,
        post=post,
        body=paragraphs(post.text),
        quoted=paragraphs(post.quoted or ""),
        pictures=tuple(image for image in post.images if web_address(image.url)),
        earlier=tuple(map(paragraphs, post.earlier)),
    )


def label(number: int, visit: Visit) -> str:
    words = visit.clock.words
    if number <= len(NAMES):
        return words.gettext(NAMES[number - 1])
    return words.gettext("Floor %(num)d") % {"num": number}
