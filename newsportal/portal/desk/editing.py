"""Forms of editors: correct title, text, date and author of an article, or captions; rename, pin, split and join events; undo that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from newsportal.errors import StoreError
from newsportal.portal.access import EDIT, or_404, require
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk import article_changes
from newsportal.portal.desk.article_changes import Version, article_path, editor_arguments, version_of
from newsportal.portal.language import _
from newsportal.portal.reading.picture_proxy import address_of, picture_addresses
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form, FormFields
from newsportal.portal.safe_text import body
from newsportal.services.editing.differences import DiffLine, difference, in_line, is_same
from newsportal.services.editing.drafts import Draft, correction, draft_of, has_text
from newsportal.services.events import editing
from newsportal.store.corrections import Correction, OutdatedEdit
from newsportal.store.gallery_tables import StoredPicture
from newsportal.store.results import StoredArticle, is_gallery

router = APIRouter(dependencies=EDIT)

MINUTES: Final = "%Y-%m-%dT%H:%M"  # format of `<input type=datetime-local>`
FIRST_YEAR, LAST_YEAR = 1600, 9998  # an earlier year is a typing error; the last has no end in every time zone
MAX_TITLE: Final = 500  # characters; more is a text pasted into the wrong field

MISTAKES: Final = {
    "title": _("An article needs a title of at most 500 characters."),
    "published": _("Write the date as 2026-03-05 08:30, or leave it empty."),
    "body": _("The text has a part %(mark)s that is not in this article: delete its line, or restore its number."),
    "empty": _("An article needs a text. To keep readers from seeing it, hide it."),
}


@dataclass(frozen=True, slots=True)
class EditForm:
    """Contents of the page. ``typed``: the fields as sent; ``wrong``: errors by field; ``changed``: edited by somebody else since."""

    article: StoredArticle
    typed: Mapping[str, str]
    wrong: Mapping[str, str] = field(default_factory=dict)
    correction: Correction | None = None
    changed: bool = False


@router.get("/story/{story_id}/{article_id}/edit")
def edit_article(request: Request, visit: VisitDep, article: Version) -> Response:
    """``?revision=N`` fills the form with an earlier text."""
    version, number = article, visit.text("revision")
    if number is not None:
        version = next((revision for revision in visit.portal.store.revisions(article.id) if str(revision.revision) == number), article)
    draft = draft_of(version)
    published = visit.clock.local(draft.published).strftime(MINUTES) if draft.published and draft.published.year >= FIRST_YEAR else ""
    fields = {"title": draft.title, "body": draft.lines or "", "published": published, "author": draft.author}
    return _page(request, EditForm(article, fields))


@router.post("/story/{story_id}/{article_id}/edit")
def save_article(request: Request, visit: VisitDep, article: Version, fields: Form) -> Response:
    form, path = _validated(visit, EditForm(article, fields)), article_path(article)
    if form.correction is None or fields.get("step") != "save":
        return _page(request, form)
    if form.changed:
        return _page(request, form, 409)
    if not form.correction:
        return notify(request, path, _("Nothing was changed."))
    try:
        article_changes.editor(visit).correct(article, form.correction)
    except OutdatedEdit:
        return save_article(request, visit, version_of(request, article.story_id, article.id), FormFields({**fields, "revision": "-1"}))
    return notify(request, path, _("The correction was saved."), undo=f"{path}/withdraw" if article.corrected is None else None)


@router.post("/story/{story_id}/{article_id}/withdraw")
def withdraw_corrections(request: Request, visit: VisitDep, article: Version) -> Response:
    """Reset the article to the latest text of its page."""
    article_changes.editor(visit).withdraw(article)
    return notify(request, article_path(article), _("The article was reset to the text of its page."))


def _validated(visit: Visit, form: EditForm) -> EditForm:
    fields, article, mistakes = form.typed, form.article, {name: visit.say(message) for name, message in MISTAKES.items()}
    wrong: dict[str, str] = {}
    title, lines = fields.get("title", "").strip(), fields.get("body") if has_text(article) else None
    if not 0 < len(title) <= MAX_TITLE:
        wrong["title"] = mistakes["title"]
    if lines is not None and not lines.strip():
        wrong["body"] = mistakes["empty"]
    published, typed = None, fields.get("published", "").strip()
    try:
        published = datetime.fromisoformat(typed.replace(" ", "T")) if typed else None
    except ValueError:
        wrong["published"] = mistakes["published"]
    if published is not None and (published.tzinfo is not None or not FIRST_YEAR <= published.year <= LAST_YEAR):
        wrong["published"] = mistakes["published"]
    published = published and published.replace(tzinfo=visit.portal.site.zone)
    changes = None
    if not wrong:
        try:
            changes = correction(article, Draft(title, lines, published, fields.get("author", "")))
        except ValueError as mark:
            wrong["body"] = mistakes["body"] % {"mark": mark}
    return replace(form, wrong=wrong, correction=changes, changed=fields.get("revision") != str(article.revision))


def _page(request: Request, form: EditForm, status: int = 200) -> Response:
    article, correction, visit = form.article, form.correction, Visit(request)
    changes: dict[str, Any] = dict(correction or {})
    drafted = replace(article, **changes)
    lines: list[DiffLine] = difference(article.text, drafted.text) if "text" in changes else []
    dates = [visit.clock.full(moment) if moment else visit.say(_("none")) for moment in (article.published, drafted.published)]
    return render(
        request, "edit.html", 422 if form.wrong and "hx-request" not in request.headers else status, article=article,
        article_path=article_path(article),
        values={**dict.fromkeys(("title", "body", "published", "author"), ""), **form.typed, "revision": str(article.revision)},
        errors=form.wrong, compared=correction is not None, changed=form.changed and correction is not None,
        title=in_line(article.title, drafted.title) if "title" in changes else None,
        author=in_line(article.author or "", drafted.author or "") if "author" in changes else None,
        published=dates if "published" in changes else None, lines=lines, only_markup_changed="text" in changes and is_same(lines),
        preview=body(drafted, picture_addresses(visit.portal, drafted)) if "text" in changes else None,
        has_text=has_text(article), photo_story=is_gallery(article.source),
    )  # fmt: skip


def _photo_story(article: Version) -> StoredArticle:
    require(is_gallery(article.source))
    return article


PhotoStory = Annotated[StoredArticle, Depends(_photo_story)]


@router.get("/story/{story_id}/{article_id}/captions")
def edit_captions(request: Request, article: PhotoStory) -> Response:
    return _captions_page(request, article, {})


@router.post("/story/{story_id}/{article_id}/captions")
def save_captions(request: Request, visit: VisitDep, article: PhotoStory, fields: Form) -> Response:
    """Fields: ``caption-N`` of picture N; ``digest``: of the former captions. ``?reset`` resets all to the pages' captions."""
    path = article_path(article)
    pictures = visit.portal.store.galleries.pictures(article.id)
    if "reset" in request.query_params:
        number = article_changes.set_captions(visit, article.id, {picture.image.url: None for picture in pictures})
        text = visit.say("%(num)s {caption was|captions were} reset to {its page|their pages}.", num=number)
        return redirect_with(request, path, text)
    typed = {picture.image.url: _typed_caption(fields, picture) for picture in pictures}
    if any(len(caption) > article_changes.MAX_CAPTION for caption in typed.values()):
        return _captions_page(request, article, fields, 422)
    if fields.get("digest") != _captions_digest(pictures):
        return _captions_page(request, article, fields, 409)
    number = article_changes.set_captions(visit, article.id, typed)
    if not number:
        return notify(request, path, _("Nothing was changed."))
    undo = None if any(picture.corrected for picture in pictures) else f"{path}/captions?reset=1"
    text = visit.say("%(num)s {caption was|captions were} corrected.", num=number)
    return redirect_with(request, path, text, undo=undo)


def _typed_caption(fields: Mapping[str, str], picture: StoredPicture) -> str:
    return fields.get(f"caption-{picture.place}", picture.image.caption or "").strip()


def _captions_digest(pictures: Sequence[StoredPicture]) -> str:
    text = "\n".join(f"{picture.image.url}\t{picture.image.caption}" for picture in pictures)
    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def _captions_page(request: Request, article: StoredArticle, fields: Mapping[str, str], status: int = 200) -> Response:
    visit = Visit(request)
    pictures = visit.portal.store.galleries.pictures(article.id)
    rows = [
        {"place": picture.place, "address": address_of(visit.portal, article.id, picture.place, picture.image, thumb=True),
         "value": (value := _typed_caption(fields, picture)), "original": picture.page_caption or "" if picture.corrected else None,
         "current": current if status == 409 and (current := picture.image.caption or "") != value else None,
         "too_long": len(value) > article_changes.MAX_CAPTION}
        for picture in pictures
    ]  # fmt: skip
    return render(
        request, "captions.html", status, article=article, article_path=article_path(article), fields=rows,
        digest=fields.get("digest") if status == 422 else _captions_digest(pictures), changed=status == 409,
        max_length=article_changes.MAX_CAPTION, corrected=any(picture.corrected for picture in pictures),
    )  # fmt: skip


NO_STORIES = _("Choose some stories of the event, but not all of them.")
NO_OTHER = _("No other event has this URL.")
LONG_TITLE = _("The title is too long.")
CHANGED = _("The event was changed meanwhile: check it again.")


@router.post("/event/{event_id}")
def change_event(request: Request, visit: VisitDep, event_id: str, fields: Form) -> Response:
    """Fields: ``action``: ``rename`` (``title``), ``pin``, ``unpin``, ``split`` (``story``, several), ``join`` (``other``: id or URL)."""
    path, action, store = f"/event/{event_id}", fields.get("action", ""), visit.portal.store
    or_404(store.events.event(event_id))
    stories, other = fields.getlist("story"), fields.get("other", "").strip().rstrip("/").rpartition("/")[2]
    try:
        if action == "rename":
            number = editing.rename(store, event_id, fields.get("title", ""), **editor_arguments(visit))
        elif action in ("pin", "unpin"):
            number = editing.pin(store, event_id, action == "pin", **editor_arguments(visit))
        elif action == "split":
            _new, number = editing.split(store, event_id, stories, **editor_arguments(visit))
        elif action == "join":
            number = editing.join(store, event_id, other, **editor_arguments(visit))
        else:
            raise HTTPException(422)
    except StoreError:
        return notify(request, path, {"rename": LONG_TITLE, "split": NO_STORIES, "join": NO_OTHER}.get(action, CHANGED))
    return notify(request, path, _("The event was changed."), undo=f"{path}/undo/{number}")


@router.post("/event/{event_id}/undo/{number}")
def undo_event_edit(request: Request, visit: VisitDep, event_id: str, number: int) -> Response:
    try:
        event_id = editing.undo(visit.portal.store, number, **editor_arguments(visit)).event_id
    except StoreError:
        return notify(request, f"/event/{event_id}", CHANGED)
    return notify(request, f"/event/{event_id}", _("The change was undone."))
