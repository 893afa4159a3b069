"""``/topics``: the topics in order, with recent counts; the form of a topic, with a live preview of what its words find."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.classify.topics import TopicRule, make_rule
from newsportal.errors import SearchError, SourcesError
from newsportal.portal.access import EDIT, or_404, require
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.desk.jobs import assign_command, begin_job, jobs_of, start_job
from newsportal.portal.desk.sources_yaml import WRITE_ERRORS, apply_change, config_of, failure_of, path_of, write
from newsportal.portal.language import _
from newsportal.portal.render import address, redirect_with, render
from newsportal.portal.request_body import Form, FormFields
from newsportal.portal.wording import by_field
from newsportal.search.highlight import mark_words, one_line, snippet
from newsportal.services.jobs.local import Busy
from newsportal.services.topics import DAYS, SHOWN, Draft, counts, drop_topic, excerpt, preview, put_topic, reorder_topic
from newsportal.services.topics import topic_changes as marked_topics
from newsportal.sources import Breadth, EditConflict, Sources, Topic, digest, edit, load
from newsportal.sources.changing import NoEntry
from newsportal.sources.loading import built_in
from newsportal.sources.timing import ENGINE, refusal
from newsportal.sources.values import keywords, words


@dataclass(frozen=True, slots=True)
class TopicForm:
    """The fields of the form, as typed. ``old_name``: in the file, ``None`` for a new topic."""

    old_name: str | None = None
    digest: str = ""
    name: str = ""
    any: str = ""
    must: str = ""
    never: str = ""
    query: str = ""
    pages: str = ""
    engines: tuple[str, ...] = ()
    hours: bool = False  # the file has pages by hour of the day, which the field does not show
    enabled: bool = True
    auto_classify: bool = False
    follow: bool = True  # reassign stored articles after saving
    errors: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def draft(self) -> Draft:
        return Draft(
            self.name.strip(), keywords(self.must), keywords(self.any), keywords(self.never), words(self.query), self.engines,
            self.pages.strip() or None, not self.hours, self.enabled, self.auto_classify,
        )  # fmt: skip

    def rule(self) -> TopicRule:
        """Return the rule for matching articles: as in the file, a topic without words searches for its name."""
        must, any_, never = keywords(self.must), keywords(self.any), keywords(self.never)
        name = self.name.strip()
        return make_rule(name, must, any_ or (() if must or not name else (name,)), never)


def form_of_topic(topic: Topic, digest: str) -> TopicForm:
    keywords = topic.keywords
    any_ = keywords.any if keywords.any != (topic.name,) or keywords.must else ()
    pages = set(topic.breadth.by_hour)
    plain = topic.breadth != Breadth() and len(pages) == 1
    return TopicForm(
        topic.name, digest, topic.name, "\n".join(any_), "\n".join(keywords.must), "\n".join(keywords.not_), "\n".join(topic.query),
        str(next(iter(pages))) if plain else "", topic.engines, len(pages) > 1, topic.enabled, topic.auto_classify,
    )  # fmt: skip


def parse_topic_form(fields: FormFields) -> TopicForm:
    digest, name, any_, must, never, query, pages = (
        fields.get(key, "") for key in ("digest", "name", "any", "must", "not", "query", "pages")
    )  # fmt: skip
    engines = tuple(dict.fromkeys(fields.getlist("engines")))
    hours, enabled, auto_classify, follow = (bool(fields.get(key)) for key in ("hours", "enabled", "auto_classify", "follow"))
    old_name = fields.get("old_name") or None
    return TopicForm(old_name, digest, name, any_, must, never, query, pages, engines, hours, enabled, auto_classify, follow)


FIELDS: Final = {
    "name": "name", "keywords.any": "any", "keywords.must": "must", "keywords.not": "not", "keywords": "any", "query": "query",
    "engines": "engines", "breadth": "pages", "breadth.default": "pages", "enabled": "enabled", "auto_classify": "auto_classify",
}  # fmt: skip
"""Key of the file → field of the form."""

DEFAULT_ENGINES: Final = ("baidu_news", "bing_news")  # as in the sources.yaml of newsportal init
PAGES: Final = 2  # result pages per visit until the schedule has learned another number
DAY: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine offered in the form. ``state``: whether it responds, in the reader's language; ``refuses``: its last visit failed."""

    name: str
    state: str
    refuses: bool


def engine_choices(visit: Visit, sources: Sources) -> list[EngineChoice]:
    """Return the engines to offer, those of the file first."""
    states = {state.source: state for state in visit.portal.store.source_states()}
    choices = []
    for name in dict.fromkeys((*(engine.name for engine in sources.engines if engine.enabled), *built_in())):
        state = states.get(f"{ENGINE}{name}")
        reason = refusal(name, state, visit.clock.now)
        last = state.last_success if state else None
        text = visit.clock.says(reason) if reason else visit.say("answered at %(when)s", when=visit.clock.full(last)) if last else ""
        choices.append(EngineChoice(name, text or visit.say("not queried yet"), reason is not None))
    return choices


router = APIRouter(dependencies=EDIT)

ASSIGN_DAYS = (7, 30, 90, 365)  # how many days back stored articles may be reassigned
FOLLOW_DAYS = "30"  # how many days back they are reassigned when a topic is saved
FOLLOWS = _("Stored articles of the last %(days)s days are being updated.")
FOLLOWS_NOT = _("Another job is running, so stored articles are not updated yet: update them below when it is done.")


@router.get("/topics")
def list_topics(request: Request, visit: VisitDep) -> Response:
    sources = visit.portal.config
    names = [topic.name for topic in sources.topics]
    recent = counts(visit.portal.store, names, visit.portal.now())
    job = jobs_of(request).latest(("assign",))
    deleted, refusals = sorted(set(visit.portal.tally().by_topic).difference(names)), visit.refusals(names)
    return render(request, "topics.html", config=sources, recent=recent, job=job, days=ASSIGN_DAYS, deleted=deleted, refusals=refusals)


@router.get("/topics/new")
def new_topic(request: Request) -> Response:
    visit, sources = Visit(request), config_of(request)
    in_use = [engine for topic in sources.topics for engine in topic.engines]
    usual = in_use or [engine.name for engine in sources.engines] or DEFAULT_ENGINES
    engines = tuple(choice.name for choice in engine_choices(visit, sources) if choice.name in usual and not choice.refuses)
    return _form(request, TopicForm(digest=digest(path_of(request)), name=visit.text("name", 100) or "", engines=engines))


@router.get("/topics/{name}/edit")
def edit_topic(request: Request, name: str) -> Response:
    path = path_of(request)
    stamp = digest(path)
    return _form(request, form_of_topic(or_404(load(path).topic(name)), stamp))


@router.post("/topics/preview")
def preview_topic(request: Request, fields: Form) -> Response:
    """Show what the words find: a part of the page for a script, else the complete page."""
    form = parse_topic_form(fields)
    if request.headers.get("hx-request"):
        return render(request, "parts/topic_preview.html", **_preview(request, form))
    return _form(request, form)


@router.post("/topics/save")
def save_topic(request: Request, visit: VisitDep, fields: Form) -> Response:
    form, path = parse_topic_form(fields), path_of(request)
    action, name = "topic.change" if form.old_name else "topic.add", form.draft().name
    details = {"before": form.old_name, "any": form.any, "must": form.must, "not": form.never}
    try:
        undo = write(request, lambda file: edit(file, put_topic(form.draft(), form.old_name), form.digest or None), action, name, details)
    except SourcesError as error:
        names = [topic.name for topic in load(path).topics]
        place = names.index(form.old_name) if form.old_name in names else len(names)
        by_key, others = by_field(error.problems, "topics", place, visit.clock.words)
        errors = {FIELDS[key]: text for key, text in by_key.items() if key in FIELDS}
        texts = (*others, *(text for key, text in by_key.items() if key not in FIELDS))
        distinct = [text for text in texts if not any(error in text for error in errors.values())]  # of a name, once for each source
        return _form(request, replace(form, errors=errors, others=tuple(distinct)), 422)
    except (EditConflict, NoEntry) as error:
        clash = visit.say("sources.yaml was changed meanwhile. Your words are kept below; check them and save again.")
        deleted = isinstance(error, NoEntry)
        form = replace(form, digest=digest(path), old_name=None if deleted else form.old_name, others=(clash,))
        return _form(request, form, 409)
    except OSError as error:
        return _form(request, replace(form, others=(failure_of(request, error),)), 503)
    text = visit.say("The topic %(name)s was saved.", name=name)
    if form.old_name not in (None, name):
        undo = rename_articles(visit.portal, str(form.old_name), name, undo)
    if form.follow and form.enabled:
        number = follow_preview(visit.portal, replace(form, name=name))
        text += " " + visit.say("It has %(num)s {story|stories} of the last week.", num=number)
        try:
            begin_job(request, "assign", name, assign_command(FOLLOW_DAYS, name), {"days": FOLLOW_DAYS})
            text += " " + visit.say(FOLLOWS, days=FOLLOW_DAYS)
        except Busy:
            text += " " + visit.say(FOLLOWS_NOT)
    return redirect_with(request, f"/topics?saved={quote(name, safe='')}", text, undo=undo)


@router.get("/topics/{name}/delete")
def confirm_delete(request: Request, name: str) -> Response:
    sources = config_of(request)
    or_404(sources.topic(name))
    source_names = [source.name for source in sources.all() if name in getattr(source, "topics", ())]
    published = [target.name for target in sources.publish if name in getattr(target.only, "topics", ())]
    return render(request, "topic_delete.html", name=name, sources=source_names, published=published)


@router.post("/topics/{name}/delete")
def delete_topic(request: Request, name: str) -> Response:
    return apply_change(request, drop_topic(name), "topic.delete", name, "/topics", _("The topic %(name)s was deleted."), name=name)


@router.post("/topics/{name}/up")
@router.post("/topics/{name}/down")
def move_topic(request: Request, name: str) -> Response:
    step = 1 if request.scope["path"].endswith("/down") else -1
    try:
        write(request, lambda file: edit(file, reorder_topic(name, step)), "topic.move", name)
    except WRITE_ERRORS as error:
        return redirect_with(request, "/topics", failure_of(request, error))
    return RedirectResponse("/topics", 303, headers={"cache-control": "no-store"})


@router.post("/topics/assign")
def assign_articles(request: Request, fields: Form) -> Response:
    """Reassign stored articles to all topics, to one, or from a deleted one."""
    name, days = fields.get("name", ""), fields.get("days", "")
    names = [topic.name for topic in config_of(request).topics]
    deleted = name if name and name not in names and name in Visit(request).portal.tally().by_topic else None
    require(days in map(str, ASSIGN_DAYS) and (not name or name in names or deleted), 400)
    words = assign_command(days, None if deleted else name, deleted)
    return start_job(request, "assign", name, words, back="/topics", params={"days": days})


def rename_articles(portal: Portal, before: str, after: str, undo: str | None = None) -> str | None:
    """Rename a topic of stored articles, alerts and marks; return ``undo``, the address that undoes the change of the file, for all."""
    portal.store.rename_topic(before, after, now=portal.now())
    portal.accounts.alerts.rename_topic(before, after)
    portal.accounts.marks.rename_topic(before, after)
    return undo and address(undo, topic=after, former=before)


def follow_preview(portal: Portal, form: TopicForm) -> int:
    """Add the stories of the preview to the topic at once, before the job reaches them; return how many match."""
    now, topic_rule = portal.now(), form.rule()
    try:
        result = preview(portal.store, portal.index, topic_rule, topic=form.name, now=now)
    except SearchError:  # the job needs no index
        return 0
    portal.store.mark_topics([marked_topics(hit.article, (topic_rule,)) for hit in result.newest], now=now)
    return len(result.newest)


def _form(request: Request, form: TopicForm, status: int = 200) -> Response:
    sources = config_of(request)
    return render(
        request, "topic.html", status, form=form, title=form.old_name or "", engines=engine_choices(Visit(request), sources),
        daily_requests=round(PAGES * DAY / sources.schedule.usual), follow_days=FOLLOW_DAYS, **_preview(request, form),  # per engine
    )  # fmt: skip


def _preview(request: Request, form: TopicForm) -> dict[str, Any]:
    """Return the stories found by the form's words, each with its title and the beginning of its text, with matches marked."""
    portal = Visit(request).portal
    has_words = form.name.strip() or form.any or form.must
    result = preview(portal.store, portal.index, form.rule(), topic=form.old_name, now=portal.now()) if has_words else None
    newest = result.newest if result else ()
    rows = [(hit, mark_words(one_line(hit.article.title), hit.words), snippet(excerpt(hit.article), hit.words)) for hit in newest]
    return {"preview": result, "matches": rows, "days": DAYS, "max_removed": SHOWN}
