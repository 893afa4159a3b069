"""``/story/ID/ARTICLE/edit``: an editor corrects title, text, date and author, sees what differs, and saves. And what takes that back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.editing.differences import Line, difference, in_line, is_same
from newsportal.editing.drafts import Draft, correction, draft_of
from newsportal.portal import articles
from newsportal.portal.access import needs
from newsportal.portal.articles import Version, page_of, version_of
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.moments import Clock
from newsportal.portal.notices import notify
from newsportal.portal.reading import body
from newsportal.portal.render import render
from newsportal.portal.sent import Form
from newsportal.store.corrections import Correction, Superseded
from newsportal.store.results import StoredArticle, is_gallery, is_thread

router = APIRouter(dependencies=[needs(Right.EDIT)])

MINUTES: Final = "%Y-%m-%dT%H:%M"
"""What ``<input type=datetime-local>`` sends and takes."""

FIRST_YEAR: Final = 1600
"""An earlier year is a slip of the keyboard."""

MOST_TITLE: Final = 500
"""Characters; more is a text that was put into the wrong field."""

MISTAKES: Final = {
    "title": _("An article needs a title of at most 500 characters."),
    "published": _("Write the date as 2026-03-05 08:30, or leave it empty."),
    "body": _("The text has a part %(mark)s that is not in this article: take its line out, or write its number as it was."),
    "empty": _("An article needs a text: to take it out of sight, hide it."),
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the page shows. ``typed``: the fields as they were sent; ``wrong``: mistakes by field; ``now``: what the article says by now if
    somebody else changed it since."""

    article: StoredArticle
    typed: Mapping[str, str]
    wrong: Mapping[str, str] = field(default_factory=dict)
    said: Correction | None = None
    changed: bool = False


def has_text(article: StoredArticle) -> bool:
    """Whether its text is its own: that of a thread is its posts', that of a photo story its captions'."""
    return not is_thread(article.source) and not is_gallery(article.source)


@router.get("/story/{story_id}/{article_id}/edit")
def edit(request: Request, article: Version) -> Response:
    """``?revision=N``: the form is filled with an earlier text."""
    visit = Visit(request)
    shown, number = article, visit.text("revision")
    if number is not None:
        shown = next((one for one in visit.portal.store.revisions(article.id) if str(one.revision) == number), article)
    return _page(request, Sheet(article, _fields(draft_of(shown, body=has_text(article)), visit.clock, article.revision)))


@router.post("/story/{story_id}/{article_id}/edit")
def save(request: Request, article: Version, sent: Form) -> Response:
    sheet, here = _read(Visit(request), Sheet(article, sent)), page_of(article)
    if sheet.said is None or sent.get("step") != "save":
        return _page(request, sheet)
    if sheet.changed:
        return _page(request, sheet, 409)
    if not sheet.said:
        return notify(request, here, _("Nothing was changed."))
    try:
        articles.correct(request, article, sheet.said)
    except Superseded:
        return save(request, version_of(request, article.story_id, article.id), {**sent, "seen": "-1"})
    return notify(request, here, _("The correction was saved."), undo=f"{here}/withdraw" if article.corrected is None else None)


@router.post("/story/{story_id}/{article_id}/withdraw")
def withdraw(request: Request, article: Version) -> Response:
    """The article says again what its page said last."""
    articles.withdraw(request, article)
    return notify(request, page_of(article), _("The article says again what its page says."))


def _read(visit: Visit, sheet: Sheet) -> Sheet:
    """What was typed, checked."""
    sent, article, mistakes = sheet.typed, sheet.article, {name: visit.say(message) for name, message in MISTAKES.items()}
    wrong: dict[str, str] = {}
    title, lines = sent.get("title", "").strip(), sent.get("body") if has_text(article) else None
    if not 0 < len(title) <= MOST_TITLE:
        wrong["title"] = mistakes["title"]
    if lines is not None and not lines.strip():
        wrong["body"] = mistakes["empty"]
    published = None
    try:
        published = _moment(sent.get("published", "").strip(), visit.portal.site.zone)
    except ValueError:
        wrong["published"] = mistakes["published"]
    said = None
    if not wrong:
        try:
            said = correction(article, Draft(title, lines, published, sent.get("author", "")))
        except ValueError as mark:
            wrong["body"] = mistakes["body"] % {"mark": mark}
    return replace(sheet, wrong=wrong, said=said, changed=sent.get("seen") != str(article.revision))


def _moment(told: str, zone: tzinfo) -> datetime | None:
    """Raises ``ValueError``."""
    if not told:
        return None
    moment = datetime.fromisoformat(told.replace(" ", "T"))
    if moment.year < FIRST_YEAR or moment.year > 9998 or moment.tzinfo is not None:
        raise ValueError(told)
    return moment.replace(tzinfo=zone)


def _fields(draft: Draft, clock: Clock, seen: int) -> dict[str, str]:
    published = clock.local(draft.published).strftime(MINUTES) if draft.published and draft.published.year >= FIRST_YEAR else ""
    return {"title": draft.title, "body": draft.lines or "", "published": published, "author": draft.author, "seen": str(seen)}


def _page(request: Request, sheet: Sheet, status: int = 200) -> Response:
    article, said, visit = sheet.article, sheet.said, Visit(request)
    changes: dict[str, Any] = dict(said or {})
    drafted = replace(article, **changes)
    lines: list[Line] = difference(article.text, drafted.text) if said and "text" in said else []
    dates = [visit.clock.full(one) if one else visit.say(_("none")) for one in (article.published, drafted.published)]
    return render(
        request,
        "edit.html",
        422 if sheet.wrong and "hx-request" not in request.headers else status,
        article=article,
        here=page_of(article),
        typed={**dict.fromkeys(("title", "body", "published", "author"), ""), **sheet.typed, "seen": str(article.revision)},
        wrong=sheet.wrong,
        compared=said is not None,
        changed=sheet.changed and said is not None,
        title=in_line(article.title, drafted.title) if said and "title" in said else None,
        author=in_line(article.author or "", drafted.author or "") if said and "author" in said else None,
        published=dates if said and "published" in said else None,
        lines=lines,
        marked_up=bool(said and "text" in said and is_same(lines)),
        preview=body(drafted) if said and "text" in said else None,
        has_text=has_text(article),
        photo_story=is_gallery(article.source),
    )
