"""The assistant's texts on the pages of articles and events, and the buttons that request them: opening a page requests nothing.

Both are for signed-in readers: each text costs the operator money, and nobody has checked it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.portal.access import KEEP, log_change, or_404, require
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import redirect_with
from newsportal.portal.request_body import Form
from newsportal.services.assistant import EVENT_STORIES, AssistantClient, AssistantError, Purpose, Task, article_task, event_task, may
from newsportal.services.events.timeline import EventView, view
from newsportal.store.assistant import StoredAnswer
from newsportal.store.events import Event
from newsportal.store.results import StoredArticle, Story

router = APIRouter(dependencies=KEEP)


@dataclass(frozen=True, slots=True)
class AssistantView:
    """``answers``: existing texts. ``offers``: texts that may be requested. ``origins``: the stories that they are based on."""

    action: str
    answers: tuple[tuple[Task, StoredAnswer], ...]
    offers: tuple[Purpose, ...]
    origins: tuple[Story, ...] = ()


def article_tasks(visit: Visit, article: StoredArticle, language: str) -> list[Task]:
    settings = visit.portal.config.assistant
    foreign = not (article.language or "").startswith(language)
    purposes: list[Purpose] = ["summary", "translation"] if foreign else ["summary"]
    return [article_task(settings, use, article, language) for use in purposes if visit.keeps_marks and may(settings, use) and article.text]


def event_tasks(visit: Visit, page: EventView, language: str) -> list[Task]:
    """Return the tasks for an event. Titles are for editors and in the portal's language, because all readers see them."""
    settings = visit.portal.config.assistant
    languages: dict[Purpose, str] = {"summary": language}
    if visit.may("edit"):
        languages["title"] = visit.portal.site.language
    allowed = [(use, code) for use, code in languages.items() if visit.keeps_marks and may(settings, use)]
    return [event_task(settings, use, page.articles, code) for use, code in allowed]


def build_view(visit: Visit, tasks: Sequence[Task], action: str, origins: tuple[Story, ...] = ()) -> AssistantView | None:
    """Return what a page shows; ``None``: nothing."""
    if not tasks:
        return None
    stored = visit.portal.store.assistant.answers([task.key for task in tasks])
    answers = tuple((task, stored[task.key]) for task in tasks if task.key in stored)
    return AssistantView(action, answers, tuple(task.purpose for task in tasks if task.key not in stored), origins)


def view_of_article(visit: Visit, article: StoredArticle) -> AssistantView | None:
    return build_view(visit, article_tasks(visit, article, visit.language), f"/story/{article.story_id}/{article.id}/assistant")


def view_of_event(visit: Visit, page: EventView) -> AssistantView | None:
    return build_view(visit, event_tasks(visit, page, visit.language), f"/event/{page.event.id}/assistant", page.stories[-EVENT_STORIES:])


def ask(visit: Visit, tasks: Sequence[Task], purpose: str, thing: str) -> StoredAnswer:
    """Return the assistant's text, requesting it if needed. Raises ``AssistantError``, ``StoreError``, 404 for a task that is not allowed,
    and 429 after too many requests of a person."""
    task = next((task for task in tasks if task.purpose == purpose), None)
    if task is None or visit.signed_in is None:
        raise HTTPException(404)
    if not visit.portal.store.assistant.answers([task.key]) and not visit.portal.assistant_pace.allows(visit.signed_in.person.id):
        raise HTTPException(429)
    answer = AssistantClient(visit.portal.store, visit.portal.config).ask(task, visit.portal.now())
    log_change(visit.request, "assistant.ask", thing, {"do": purpose})
    return answer


def _ask_and_return(request: Request, tasks: Sequence[Task], fields: Form, thing: str) -> Response:
    visit, back = Visit(request), safe_next(fields.get("next"))
    try:
        ask(visit, tasks, fields.get("purpose", ""), thing)
    except AssistantError as error:
        return redirect_with(request, back, visit.clock.says(error.message))
    return redirect_with(request, back, visit.say("The assistant's text is below."))


@router.post("/story/{story_id}/{article_id}/assistant")
def ask_of_article(request: Request, visit: VisitDep, story_id: str, article_id: str, fields: Form) -> Response:
    """Fields: ``use``: ``summary``, ``translation``. Redirects to ``next``."""
    article = or_404(visible(visit, article_id))
    require(article.story_id == story_id)
    return _ask_and_return(request, article_tasks(visit, article, visit.language), fields, article.id)


def visible(visit: Visit, article_id: str) -> StoredArticle | None:
    article = visit.portal.store.article(article_id)
    return article if article is not None and (article.hidden is None or visit.may("edit")) else None


def visible_event(visit: Visit, event_id: str) -> Event | None:
    event = visit.portal.store.events.event(event_id)
    return event if event is not None and event.stories else None


@router.post("/event/{event_id}/assistant")
def ask_of_event(request: Request, visit: VisitDep, event_id: str, fields: Form) -> Response:
    """Fields: ``use``: ``summary``, ``title``. Redirects to ``next``."""
    page = view(visit.portal.store, or_404(visible_event(visit, event_id)), visit.portal.site.zone)
    return _ask_and_return(request, event_tasks(visit, page, visit.language), fields, event_id)
