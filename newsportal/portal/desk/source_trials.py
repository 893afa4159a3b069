"""``/sources/new``: paste URLs, see which sources they have, and choose. ``/sources/KEY/test``: what a source returns now.

Both request other sites, so they run in the background (:mod:`newsportal.portal.desk.trial_runner`) while a page shows their progress.
``/sources/KEY/run``: make a source due and show the results. A running crawl visits it; if there is none, the page says so.
"""

import re
from datetime import datetime
from typing import Any, cast, get_args

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect

from newsportal.errors import SourcesError
from newsportal.portal.access import EDIT, identity_of, log_change, or_404
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.desk.source_fields import FAMILIES, KINDS, source_path
from newsportal.portal.desk.sources_yaml import config_of, path_of, source_entry, write
from newsportal.portal.desk.trial_runner import SiteCheck, SiteChecks, TooMany
from newsportal.portal.language import _
from newsportal.portal.reading.feeds import base_address
from newsportal.portal.render import address, notify, redirect_with, render
from newsportal.portal.request_body import Form, FormFields, Refused
from newsportal.portal.wording import by_field, display_name_function
from newsportal.services.discovery.opml import MAX_BYTES
from newsportal.services.trying.proposing import MAX_ADDRESSES, AddressResult, Choice, Family, SourceExists, check_addresses, parse_opml
from newsportal.services.trying.proposing import write as write_entries
from newsportal.services.trying.saved import try_source
from newsportal.sources import mask
from newsportal.sources.editing import EditConflict
from newsportal.sources.timing import SourceRef, visit_soon
from newsportal.store.lists import ArticleFilter
from newsportal.store.results import host

router = APIRouter(dependencies=EDIT)

MAX_SHOWN = 100
"""Sources of a list that are shown with their fields: a longer form is unreadable. The others are added all together, or not."""

BOOKMARKLET = "javascript:location.href='%s/sources/new?url='+encodeURIComponent(location.href)"
ADDRESS = re.compile(r"https?://[^\s<>\"']+")

NEWEST = 10  # articles of a visited source
SHOWN = 5  # entries of a proposal; a trial shows twice as many
BUSY = _("Too many sites are being checked at the moment. Try again in a minute.")
NOTHING = _("Paste a URL: of a site, a channel, a feed or a list.")
NO_ADDRESS = _("%(address)s is not a URL: copy it from the browser, such as https://example.org/news/")
MANY = _("At most %(number)s URLs at a time; for more, paste an OPML list.")


@router.get("/sources/new")
def new_form(request: Request) -> Response:
    return _new_page(request)


@router.post("/sources/new")
def begin_search(request: Request, visit: VisitDep, fields: Form) -> Response:
    """Check what was pasted: URLs, one per line, or an OPML list."""
    text, sources, everything = fields.get("addresses", "").strip(), config_of(request), bool(fields.get("everything"))
    family: Family | None = next((name for name in get_args(Family) if name == fields.get("kind")), None)
    if text.startswith("<"):
        return _start_check(request, {"what": "new"}, lambda report: parse_opml(text.encode(), sources), fields)
    urls = text.split()
    if not urls or len(urls) > MAX_ADDRESSES:
        fault = visit.say(MANY, number=MAX_ADDRESSES) if urls else visit.say(NOTHING)
        return _new_page(request, fields, fault)
    if wrong := next((address for address in urls if not _is_address(address)), None):
        return _new_page(request, fields, visit.say(NO_ADDRESS, address=wrong[:100]))
    task = {"what": "new", "addresses": text, "kind": family or "", "everything": everything}
    return _start_check(request, task, lambda report: check_addresses(urls, sources, report, kind=family, everything=everything), fields)


@router.post("/sources/opml")
async def upload_opml(request: Request) -> Response:
    """Offer the feeds of an OPML file from another reader."""
    say = Visit(request).say
    try:
        async with request.form(max_files=1, max_fields=1) as form:
            file = form.get("file")
            body = await file.read(MAX_BYTES + 1) if isinstance(file, UploadFile) and file.filename else b""
    except (ClientDisconnect, Refused):
        body = b" " * (MAX_BYTES + 1)
    except MultiPartException:
        raise HTTPException(400) from None
    if not body or len(body) > MAX_BYTES:
        large = say("The file is too large or incomplete; the maximum is %(number)s MB.", number=MAX_BYTES >> 20)
        return await run_in_threadpool(_new_page, request, None, None, 413 if body else 422, large if body else say("Choose a file."))
    sources = config_of(request)
    return await run_in_threadpool(_start_check, request, {"what": "new"}, lambda report: parse_opml(body, sources), FormFields())


def _is_address(text: str) -> bool:
    """Return whether the text can be requested as a URL: words without a dot are search terms."""
    name = host(text if "://" in text else f"https://{text}")
    return name == "localhost" or any(sign in name for sign in ".。:")


@router.post("/sources/{key}/test")
def test_source(request: Request, key: str) -> Response:
    """Fetch a list page and an article of the source."""
    sources = config_of(request)
    source_entry(request, key)
    return _start_check(request, {"what": "test", "key": key}, lambda report: try_source(key, sources), FormFields())


def start_trial(request: Request, key: str, other: str) -> str:
    """Start a trial of a wrapper or rule that was just saved; return the path of its page, or ``other`` if there is nothing to try."""
    sources = config_of(request)
    saved = next((source for source in sources.all() if source.key == key), None)
    if not getattr(saved, "wrapper", None) and not getattr(saved, "article", None):
        return other
    try:
        checks, task = cast(SiteChecks, request.app.state.site_checks), {"what": "test", "key": key}
        return f"/sources/checks/{checks.start(owner_of(request), task, lambda report: try_source(key, sources)).id}"
    except TooMany:
        return other


@router.get("/sources/checks/{id}")
def show_trial(request: Request, id: str) -> Response:
    """Show the progress of a check; htmx requests the inner part every second."""
    return _trial_page(request, check_of(request, id), FormFields(), full_page="hx-request" not in request.headers)


@router.post("/sources/checks/{id}/end")
def end_trial(request: Request, id: str) -> Response:
    drop_check(request, id)
    return RedirectResponse("/sources/new", 303)


@router.post("/sources/checks/{id}")
def add_found(request: Request, id: str, fields: Form) -> Response:
    """Save the chosen sources to the file."""
    check, visit = check_of(request, id), Visit(request)
    take_rest = bool(fields.get("rest"))
    selected = [
        (number, choice)
        for number, choice in _choices(check)
        if str(number) in fields.getlist("take") or (take_rest and number >= MAX_SHOWN and choice.best)
    ]
    if not selected:
        return _trial_page(request, check, fields, visit.say("Choose at least one."), status=422)
    new = [(choice.kind, _values(number, choice, fields)) for number, choice in selected]
    first = {kind: len(getattr(config_of(request), kind)) for kind, _written in new}
    family = {kind: name for name, kind in FAMILIES.items()}
    keys = [f"{family[kind]}:{values['name']}" for kind, values in new]
    try:
        undo = write(
            request, lambda path: write_entries(path, new), "source.add", ", ".join(keys)[:500],
            {"number": len(new), "sources": [values for _k, values in new[:MAX_SHOWN]]},
        )  # fmt: skip
    except SourcesError as error:
        by_kind = [by_field(error.problems, kind, place, visit.clock.words) for kind, place in first.items()]
        faults = [text for by_key, others in by_kind for text in (*by_key.values(), *others)]
        return _trial_page(request, check, fields, " ".join(faults) or str(error), status=422)
    except (EditConflict, OSError) as error:
        return _trial_page(request, check, fields, str(error), status=409)
    message = _("%(number)s sources were added to %(file)s.") if len(new) > 1 else _("%(name)s was added to %(file)s.")
    text = visit.say(message, number=len(new), name=new[0][1]["name"], file=path_of(request).name)
    since = visit.portal.now()
    for key in keys:
        visit_soon(visit.portal.store, key, since)  # a source that existed before may have a later due time in the store
    request.app.state.pushed()
    target = address(source_path(keys[0], "/run"), since=since.isoformat()) if len(keys) == 1 else "/sources"
    return redirect_with(request, target, text, undo=undo)


def _values(number: int, choice: Choice, fields: FormFields) -> dict[str, Any]:
    """Return the values of a chosen source with the name, category and topics of the form."""
    if number >= MAX_SHOWN:
        return dict(choice.values)
    name, category = fields.get(f"name-{number}", "").strip(), fields.get(f"category-{number}", "").strip()
    topics = [topic for topic in fields.getlist(f"topics-{number}") if topic]
    values = {**choice.values, "name": name or choice.values["name"]}
    values.pop("category", None)
    return values | ({"category": category} if category else {}) | ({"topics": topics} if topics else {})


def _start_check(request: Request, task: dict[str, Any], work: Any, fields: FormFields) -> Response:
    try:
        return RedirectResponse(f"/sources/checks/{start_check(request, task, work).id}", 303)
    except TooMany:
        text = Visit(request).say(BUSY)
        return redirect_with(request, source_path(task["key"]), text) if task["what"] == "test" else _new_page(request, fields, text, 429)


def _new_page(
    request: Request, fields: FormFields | None = None, fault: str | None = None, status: int = 422, file_fault: str | None = None
) -> Response:
    visit = Visit(request)
    shared = ADDRESS.search(visit.text("text", 2000) or "")  # phones share URLs in ``text``; the bookmarklet sends ``url``
    values = fields or FormFields({"addresses": visit.text("url", 2000) or (shared[0] if shared else "")})
    return render(
        request, "source_new.html", status if fault or file_fault else 200, addresses=values.get("addresses", ""),
        kind=values.get("kind", ""), everything=values.get("everything", ""), max_addresses=MAX_ADDRESSES,
        families=[(family, visit.say(KINDS[FAMILIES[family]])) for family in get_args(Family)],
        kinds=[(kind, visit.say(name)) for kind, name in KINDS.items()], error=fault, file_error=file_fault, megabytes=MAX_BYTES >> 20,
        bookmarklet=BOOKMARKLET % base_address(request),
    )  # fmt: skip


def _trial_page(
    request: Request, check: SiteCheck, fields: FormFields, fault: str | None = None, *, status: int = 200, full_page: bool = True
) -> Response:
    visit = Visit(request)
    results: list[AddressResult] = check.found if check.task["what"] == "new" and check.found else []
    numbers, name = {id(choice): number for number, choice in _choices(check)}, display_name_function(visit.portal, visit.clock.words)
    visible = [row for row in results if not row.choices or any(numbers[id(choice)] < MAX_SHOWN for choice in row.choices)]
    return render(
        request, "source_check.html" if full_page else "parts/source_check.html", status, check=check, purpose=check.task["what"],
        results=visible[: 2 * MAX_SHOWN], remaining=max(0, len(numbers) - MAX_SHOWN),
        remaining_selected=bool(fields.get("rest")) if fields else True, failure=check.error,
        errors={row.url: SourceExists(mask(row.url), name(row.existing)) if row.existing else row.error for row in visible},
        source_name=name,
        trials=check.found if check.task["what"] == "test" and check.found else [],
        number=lambda choice: numbers[id(choice)], value_of=lambda name, usual: fields.get(name, "") if name in fields else usual,
        is_selected=lambda choice: str(numbers[id(choice)]) in fields.getlist("take") if fields else choice.best,
        topics_of=lambda choice: fields.getlist(f"topics-{numbers[id(choice)]}"),
        topic_names=[topic.name for topic in config_of(request).topics],
        kind_names={kind: visit.say(name) for kind, name in KINDS.items()}, form_error=fault, limit=SHOWN, file=path_of(request), mask=mask,
    )  # fmt: skip


def _choices(check: SiteCheck) -> list[tuple[int, Choice]]:
    results: list[AddressResult] = check.found if check.task["what"] == "new" and check.found else []
    return list(enumerate(choice for result in results for choice in result.choices))


def start_check(request: Request, task: dict[str, Any], work: Any) -> SiteCheck:
    """Start a check of other sites. Raises ``TooMany``."""
    check = cast(SiteChecks, request.app.state.site_checks).start(owner_of(request), task, work)
    about = task.get("key") or mask(task.get("addresses", ""))[:500]
    log_change(request, "source.test" if task["what"] == "test" else "source.look", about)
    return check


def check_of(request: Request, id: str) -> SiteCheck:
    return or_404(cast(SiteChecks, request.app.state.site_checks).get(id, owner_of(request)))


def drop_check(request: Request, id: str) -> None:
    check_of(request, id)
    cast(SiteChecks, request.app.state.site_checks).drop(id, owner_of(request))


def owner_of(request: Request) -> str:
    user = identity_of(request)
    return user.person.id if user else ""


@router.post("/sources/{key}/run")
def run_source(request: Request, visit: VisitDep, key: str) -> Response:
    since = visit.portal.now()
    if visit_now(request, key) is None:
        return notify(request, source_path(key), _("It is disabled: enable it first."))
    return RedirectResponse(address(source_path(key, "/run"), since=since.isoformat()), 303)


@router.get("/sources/{key}/run")
def visit_state(request: Request, visit: VisitDep, key: str) -> Response:
    """Show the progress of a visit; htmx requests the inner part every few seconds."""
    portal, source = visit.portal, watched_source(visit, key)
    since = parse_time(visit.text("since"))
    state = portal.store.source_state(key)
    visits = portal.store.visits.recent([key], each=1).get(key, ())
    done = state.last_run is not None and (since is None or state.last_run >= since)
    newest = portal.store.select_articles(ArticleFilter(source=key, limit=NEWEST)).articles if done else ()
    until = state.rest_until if state.rest_until is not None and state.rest_until > portal.now() else None
    return render(
        request, "parts/source_run.html" if "hx-request" in request.headers else "source_run.html", source=source, since=since,
        done=done and bool(visits), visits=visits, newest=newest, not_before=until, crawls=is_crawling(portal),
    )  # fmt: skip


def visit_now(request: Request, key: str) -> datetime | None:
    """Make a source due and wake the crawl; return when it is due, ``None`` if the source is disabled."""
    visit = Visit(request)
    if not watched_source(visit, key).enabled:
        return None
    due = visit_soon(visit.portal.store, key, visit.portal.now())
    log_change(request, "source.run", key)
    request.app.state.pushed()
    return due


def is_crawling(portal: Portal) -> bool:
    """Return whether a crawl or worker is running that visits due sources."""
    return portal.has_crawler or bool(portal.queues and portal.queues().workers)


def watched_source(visit: Visit, key: str) -> SourceRef:
    """Return the source or search engine with this key. Raises 404."""
    return or_404(next((source for source in visit.portal.sources if source.key == key), None))


def parse_time(text: str | None) -> datetime | None:
    """Parse an aware time in a URL; ``None`` for anything else."""
    try:
        moment = datetime.fromisoformat((text or "").replace(" ", "+"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
