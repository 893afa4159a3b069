"""An editor corrects the captions of a photo story: all of them on one page, beneath their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.portal import articles
from newsportal.portal.access import needs
from newsportal.portal.articles import Version, page_of
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.pictures import address_of
from newsportal.portal.render import render
from newsportal.portal.sent import Many
from newsportal.store.gallery_tables import StoredPicture
from newsportal.store.results import StoredArticle, is_gallery

router = APIRouter(dependencies=[needs(Right.EDIT)])


@dataclass(frozen=True, slots=True)
class Field:
    """A picture with its caption. ``address``: where a browser finds it small (``None``: nowhere); ``told``: what its page says, where an
    editor says something else; ``wrong``: it is too long."""

    place: int
    address: str | None
    typed: str
    told: str | None
    wrong: bool


def _photo_story(article: Version) -> StoredArticle:
    if not is_gallery(article.source):
        raise HTTPException(404)
    return article


PhotoStory = Annotated[StoredArticle, Depends(_photo_story)]


@router.get("/story/{story_id}/{article_id}/captions")
def captions(request: Request, article: PhotoStory) -> Response:
    return _page(request, article, {})


@router.post("/story/{story_id}/{article_id}/captions")
def save(request: Request, article: PhotoStory, fields: Many) -> Response:
    """``caption-N`` of picture N, ``seen``: what stood there; in the address ``back``: again what the pages say."""
    sent, visit, here = {name: values[-1] for name, values in fields.items()}, Visit(request), page_of(article)
    pictures = visit.portal.store.galleries.pictures(article.id)
    if "back" in request.query_params:
        number = articles.caption(request, article.id, {picture.image.url: None for picture in pictures})
        words = visit.clock.words.ngettext("%(num)d caption is its page's again.", "%(num)d captions are their pages' again.", number)
        return redirect_with(request, here, words % {"num": number})
    typed = {picture.image.url: _typed(sent, picture) for picture in pictures}
    if any(len(one) > articles.MOST_CAPTION for one in typed.values()):
        return _page(request, article, sent, 422)
    if sent.get("seen") != _state(pictures):
        return _page(request, article, sent, 409)
    number = articles.caption(request, article.id, typed)
    if not number:
        return notify(request, here, _("Nothing was changed."))
    undo = None if any(picture.said for picture in pictures) else f"{here}/captions?back=1"
    words = visit.clock.words.ngettext("%(num)d caption was corrected.", "%(num)d captions were corrected.", number)
    return redirect_with(request, here, words % {"num": number}, undo=undo)


def _typed(sent: Mapping[str, str], picture: StoredPicture) -> str:
    return sent.get(f"caption-{picture.place}", picture.image.caption or "").strip()


def _state(pictures: Sequence[StoredPicture]) -> str:
    """What the captions are, in a word that a form sends back."""
    told = "\n".join(f"{one.image.url}\t{one.image.caption}" for one in pictures)
    return blake2b(told.encode(errors="replace"), digest_size=8).hexdigest()


def _page(request: Request, article: StoredArticle, sent: Mapping[str, str], status: int = 200) -> Response:
    visit = Visit(request)
    pictures = visit.portal.store.galleries.pictures(article.id)
    fields = [
        Field(
            one.place,
            address_of(visit.portal, article.id, one.place, one.image, thumb=True),
            (typed := _typed(sent, one)),
            one.told or "" if one.said else None,
            len(typed) > articles.MOST_CAPTION,
        )
        for one in pictures
    ]
    return render(
        request, "captions.html", status, article=article, here=page_of(article), fields=fields,
        seen=_state(pictures), changed=status == 409, most=articles.MOST_CAPTION, said=any(one.said for one in pictures),
    )  # fmt: skip
