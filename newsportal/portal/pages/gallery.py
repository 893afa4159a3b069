"""The reading view of a photo story: every picture with its caption, in order, on one long page. The script of the page opens the same
pictures one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from markupsafe import Markup

from newsportal.portal.context import Portal, Visit
from newsportal.portal.differences import headlines
from newsportal.portal.pictures import address_of
from newsportal.portal.reading import paragraphs
from newsportal.portal.recommending import Suggested, further
from newsportal.portal.render import render
from newsportal.store.gallery_tables import StoredGallery, StoredPicture
from newsportal.store.results import StoredArticle, Story
from newsportal.text import clean

AT_ONCE = 2
"""Pictures that are loaded without waiting until they come into view: what stands on a screen at the beginning."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as a page shows it. ``address`` is the whole picture, ``small`` what stands in the page; both are fit for a browser."""

    place: int
    address: str
    small: str
    caption: str | None
    width: int | None
    height: int | None
    waits: bool


def gallery_view(
    request: Request, story: Story, article: StoredArticle, gallery: StoredGallery, near: tuple[Story | None, ...]
) -> Response:
    visit = Visit(request)
    pictures = shown(visit.portal, article.id, visit.portal.store.galleries.pictures(article.id))
    older, newer = near
    suggested: Sequence[Suggested] = further(visit, story.id)
    return render(
        request,
        "gallery.html",
        story=story,
        article=article,
        versions=story.versions,
        gallery=gallery,
        missing=numbered(gallery.missing),
        pictures=pictures,
        lead=lead(article.text, pictures),
        older=older,
        newer=newer,
        topic=visit.text("topic"),
        suggested=suggested,
        headlines=headlines(story, article),
    )


def shown(portal: Portal, article_id: str, stored: Sequence[StoredPicture]) -> tuple[Shown, ...]:
    """The pictures that can be shown. A place is the story's own, so one that cannot be shown leaves a gap in the numbers."""
    made: list[Shown] = []
    for picture in stored:
        image = picture.image
        address = address_of(portal, article_id, picture.place, image)
        small = address_of(portal, article_id, picture.place, image, thumb=True)
        if address is None or small is None:
            continue
        caption = clean(image.caption) if image.caption else None
        made.append(Shown(picture.place, address, small, caption, image.width, image.height, len(made) >= AT_ONCE))
    return tuple(made)


def numbered(missing: Sequence[int]) -> str:
    """Numbers of pages for people: ``3, 5–9``."""
    runs: list[list[int]] = []
    for number in sorted(set(missing)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def figures(pictures: Sequence[Shown], text: Markup, base: str = "") -> Markup:
    """The story as HTML for feeds; addresses of our own begin with ``base``."""
    figure = Markup('<figure><img src="{}" alt="{}"><figcaption>{}</figcaption></figure>')
    return Markup("\n").join(
        (text, *(figure.format(absolute(one.address, base), one.caption or "", one.caption or "") for one in pictures))
    )


def absolute(address: str, base: str) -> str:
    return f"{base}{address}" if address.startswith("/") else address


def lead(text: str, pictures: Sequence[Shown]) -> Markup:
    """What the story says beside its captions: the text of its article is both."""
    captions = {picture.caption for picture in pictures}
    return paragraphs("\n".join(line for line in text.splitlines() if clean(line) not in captions))
