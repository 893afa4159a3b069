"""The reading pages of stories, threads, photo stories and their versions, and the earlier texts of an article."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from newsportal.items import Image
from newsportal.portal.access import or_404, require
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.language import _
from newsportal.portal.reading import assistant
from newsportal.portal.reading.for_you import recommend_some
from newsportal.portal.reading.picture_proxy import address_of, picture_addresses
from newsportal.portal.render import address, render
from newsportal.portal.safe_text import body, paragraphs, pictures, reading_minutes, title
from newsportal.services.editing.differences import DiffLine, difference, in_line, is_same
from newsportal.services.events.timeline import neighbourhood
from newsportal.store.gallery_tables import StoredGallery, StoredPicture
from newsportal.store.lists import cursor_of
from newsportal.store.results import StoredArticle, Story, StoryFilter, is_gallery, is_thread
from newsportal.store.store import Store
from newsportal.store.threads import StoredPost, StoredThread
from newsportal.text import clean

MAX_HEADLINES: Final = 30  # headlines that are compared at most
RELATED: Final = 4  # related stories
MAX_STATES: Final = 20  # states of an article that are compared, the newest


@dataclass(frozen=True, slots=True)
class State:
    """A state of an article and its changes. ``previous`` ``None``: the earlier state is not shown. ``title``, ``lines``: differences,
    ``None`` if there are none; ``dated``: the date has changed."""

    current: StoredArticle
    previous: StoredArticle | None
    title: DiffLine | None = None
    lines: Sequence[DiffLine] | None = None
    dated: bool = False


def headlines(story: Story, article: StoredArticle) -> list[tuple[StoredArticle, DiffLine]]:
    """Return the other headlines of a story compared with that of ``article``, each once."""
    current, by_title = title(article), dict[str, StoredArticle]()
    for version in story.versions:
        by_title.setdefault(title(version), version)
    others = [version for words, version in by_title.items() if words != current][:MAX_HEADLINES]
    return [(version, in_line(current, title(version))) for version in others]


def states(article: StoredArticle, earlier: Sequence[StoredArticle]) -> list[State]:
    """Return all states, newest first. Texts too long for comparison are shown completely."""
    articles = (*earlier, article)[-MAX_STATES:]
    return [_state(now, before) for before, now in zip((None, *articles), articles, strict=False)][::-1]


def _state(now: StoredArticle, before: StoredArticle | None) -> State:
    if before is None:
        return State(now, None)
    names = in_line(title(before), title(now))
    lines = difference(before.text, now.text)
    return State(now, before, None if is_same([names]) else names, None if is_same(lines) else lines, now.published != before.published)


PAGE = 50

NAMES = (_("Opening post"), _("First reply"), _("Second reply"), _("Third reply"))
"""The first floors have names: 楼主, 沙发, 板凳, 地板."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A post for the page; its texts are cleaned."""

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


def thread_view(visit: Visit, story: Story, article: StoredArticle, thread: StoredThread) -> Response:
    topic = visit.text("topic")
    last = max(1, -(-thread.posts // PAGE))
    number = visit.integer("page")
    require(1 <= number <= last)
    threads = visit.portal.store.threads
    posts = threads.posts(thread.id, offset=(number - 1) * PAGE, limit=PAGE)
    from_zero = any(post.position == 1 and post.floor == 1 for post in threads.posts(thread.id, limit=2))
    path = f"/story/{story.id}"
    return render(
        visit.request, "thread.html", story=story, article=article, thread=thread, board=clean(thread.board) if thread.board else None,
        floors=[floor(post, article, visit, from_zero) for post in posts], number=number, last=last,
        previous=address(path, topic=topic, page=number - 1 if number > 2 else None) if number > 1 else None,
        next=address(path, topic=topic, page=number + 1) if number < last else None,
        newest=address(path, topic=topic, page=last) if number < last else None,
    )  # fmt: skip


def floor(post: StoredPost, article: StoredArticle, visit: Visit, from_zero: bool = False) -> Floor:
    """Return a post for the page. Its number is the forum's own if known (``from_zero``: the first reply is 1), else its position."""
    browser_url = picture_addresses(visit.portal, article)
    forum_number = (post.floor or 0) + (1 if from_zero and post.position else 0)
    number = forum_number if post.floor is not None and forum_number > 0 else post.position + 1
    label = visit.say(NAMES[number - 1]) if number <= len(NAMES) else visit.say("Floor %(num)d", num=number)
    return Floor(
        anchor=f"floor-{number}" if number == post.position + 1 else f"post-{post.position + 1}", number=number, label=label,
        author=clean(post.author) if post.author else None,
        by_opener=post.author is not None and post.author == article.author and number > 1, post=post, body=paragraphs(post.text),
        quoted=paragraphs(post.quoted or ""),
        pictures=tuple(replace(image, url=url) for image in post.images if (url := browser_url(image.url))),
        earlier=tuple(map(paragraphs, post.former_texts)),
    )  # fmt: skip


EAGER_PICTURES = 2  # pictures that are not lazy-loaded: those on the first screen


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture for the page. ``address``: URL of the full picture; ``thumbnail``: URL of the thumbnail; both are safe for browsers."""

    place: int
    address: str
    thumbnail: str
    caption: str | None
    width: int | None
    height: int | None
    lazy: bool


def gallery_view(visit: Visit, story: Story, article: StoredArticle, gallery: StoredGallery) -> Response:
    topic = visit.text("topic")
    pictures = picture_views(visit.portal, article.id, visit.portal.store.galleries.pictures(article.id))
    older, newer = neighbours(visit.portal.store, story, topic)
    return render(
        visit.request, "gallery.html", story=story, article=article, versions=story.versions, gallery=gallery,
        missing=format_pages(gallery.missing), pictures=pictures, lead=text_without_captions(article.text, pictures), older=older,
        newer=newer, topic=topic, recommendations=recommend_some(visit, story.id), headlines=headlines(story, article),
    )  # fmt: skip


def picture_views(portal: Portal, article_id: str, stored: Sequence[StoredPicture]) -> tuple[PictureView, ...]:
    """Return the pictures that can be shown. Numbers are those of the story, so a missing picture leaves a gap."""
    views: list[PictureView] = []
    for place, image in ((picture.place, picture.image) for picture in stored):
        full, small = (address_of(portal, article_id, place, image, thumb=thumb) for thumb in (False, True))
        if full is not None and small is not None:
            caption = clean(image.caption) if image.caption else None
            views.append(PictureView(place, full, small, caption, image.width, image.height, len(views) >= EAGER_PICTURES))
    return tuple(views)


def format_pages(missing: Sequence[int]) -> str:
    """Format page numbers for readers: ``3, 5–9``."""
    by_gap = groupby(enumerate(sorted(set(missing))), lambda pair: pair[1] - pair[0])  # constant within a run
    runs = [[number for _place, number in run] for _gap, run in by_gap]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def figures(pictures: Sequence[PictureView], text: Markup, base: str = "") -> Markup:
    """Return the story as HTML for feeds; the portal's own URLs are prefixed by ``base``."""
    figure = Markup('<figure><img src="{}" alt="{}"><figcaption>{}</figcaption></figure>')
    rendered = (figure.format(absolute_url(picture.address, base), picture.caption or "", picture.caption or "") for picture in pictures)
    return Markup("\n").join((text, *rendered))


def absolute_url(address: str, base: str) -> str:
    return f"{base}{address}" if address.startswith("/") else address


def text_without_captions(text: str, pictures: Sequence[PictureView]) -> Markup:
    """Return the article's text without its captions, which it also contains."""
    captions = {picture.caption for picture in pictures}
    return paragraphs("\n".join(line for line in text.splitlines() if clean(line) not in captions))


router = APIRouter()


@router.get("/story/{story_id}")
def story(visit: VisitDep, story_id: str) -> Response:
    """Show a story. Redirects from the id of a folded story or of a version."""
    store = visit.portal.store
    found, moved = store.story(story_id, hidden=visit.may("edit")), store.article(story_id)
    current_id = found.id if found else moved.story_id if moved else None
    require(current_id is not None and (found is not None or current_id != story_id))  # else unknown or hidden
    if found is None or current_id != story_id:
        return RedirectResponse(f"/story/{current_id}", 303)
    return reading_view(visit, found, found.head)


@router.get("/story/{story_id}/{article_id}")
def version(visit: VisitDep, story_id: str, article_id: str) -> Response:
    """Show a version of a story. Redirects if it was moved to another story."""
    article = or_404(assistant.visible(visit, article_id))
    if article.story_id != story_id:
        return RedirectResponse(f"/story/{article.story_id}/{article.id}", 303)
    found = or_404(visit.portal.store.story(story_id, hidden=visit.may("edit")))
    return reading_view(visit, found, next((version for version in found.versions if version.id == article_id), article))


@router.get("/story/{story_id}/{article_id}/revisions")
def revisions(request: Request, visit: VisitDep, story_id: str, article_id: str) -> Response:
    """Show the states of an article, newest first, each with its differences from the one before."""
    article = or_404(assistant.visible(visit, article_id))
    require(article.story_id == story_id)
    return render(request, "revisions.html", article=article, states=states(article, visit.portal.store.revisions(article_id)))


def reading_view(visit: Visit, story: Story, article: StoredArticle) -> Response:
    thread = visit.portal.store.threads.thread(article.id) if is_thread(article.source) else None
    if thread is not None:
        return thread_view(visit, story, article, thread)
    gallery = visit.portal.store.galleries.gallery(article.id) if is_gallery(article.source) else None
    if gallery is not None:
        return gallery_view(visit, story, article, gallery)
    topic = visit.text("topic")
    older, newer = neighbours(visit.portal.store, story, topic)
    browser_url = picture_addresses(visit.portal, article)
    near = neighbourhood(visit.portal.store, story.id)
    near_ids = {other.id for other in (near.before, near.after) if other is not None} if near else ()
    related = [other for other in visit.portal.related(article) if other.id not in near_ids]
    return render(
        visit.request, "story.html", story=story, article=article, versions=story.versions, body=body(article, browser_url),
        pictures=pictures(article, browser_url), older=older, newer=newer, topic=topic, recommendations=recommend_some(visit, story.id),
        headlines=headlines(story, article), minutes=reading_minutes(article.text), event_near=near,
        related=related[:RELATED], assistant=assistant.view_of_article(visit, article),
    )  # fmt: skip


def neighbours(store: Store, story: Story, topic: str | None) -> tuple[Story | None, Story | None]:
    """Return the next older and the next newer story (of ``topic``), None at the ends."""
    cursor = cursor_of(story)
    older = store.stories(StoryFilter(topic=topic, before=cursor, limit=1)).stories
    newer = store.stories(StoryFilter(topic=topic, after=cursor, limit=1)).stories
    return next(iter(older), None), next(iter(newer), None)
