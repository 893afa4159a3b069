"""``/people``: accounts and their roles, with generated passwords that are shown once; ``/audit``: the log of changes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta

from fastapi import APIRouter, Request, Response

from newsportal.errors import AccountError
from newsportal.messages import Message
from newsportal.portal.access import ADMINISTER, accounts_of, log_change, or_404, require
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import display_name_function
from newsportal.services.accounts import Accounts, Person, Role
from newsportal.services.accounts.base import random_password

router = APIRouter(dependencies=ADMINISTER)


@router.get("/people")
def list_people(request: Request) -> Response:
    return _page(request)


@router.post("/people")
def add_person(request: Request, fields: Form) -> Response:
    accounts, visit, password = accounts_of(request), Visit(request), random_password()
    try:
        person = accounts.people.add(fields.get("name", ""), password, _role_named(fields.get("role", "")), now=visit.portal.now())
    except AccountError as error:
        return _page(request, 422, errors={"name": visit.clock.says(error.message)}, values=fields)
    log_change(request, "person.add", person.name, {"role": person.role})
    return _page(request, secret=password, secret_of=person.name)


@router.post("/people/{person_id}/role")
def change_role(request: Request, person_id: str, fields: Form) -> Response:
    people, role = accounts_of(request).people, _role_named(fields.get("role", ""))
    done = _("The role of %(name)s was changed.")
    return _change(request, person_id, "person.role", lambda id: people.set_role(id, role), done, {"role": role})


@router.post("/people/{person_id}/disable")
def disable_person(request: Request, person_id: str) -> Response:
    return _change(request, person_id, "person.disable", accounts_of(request).people.disable, _("%(name)s can no longer sign in."))


@router.post("/people/{person_id}/enable")
def enable_person(request: Request, person_id: str) -> Response:
    people, done = accounts_of(request).people, _("%(name)s can sign in again.")
    return _change(request, person_id, "person.enable", lambda id: people.disable(id, False), done)


@router.post("/people/{person_id}/password")
def reset_password(request: Request, person_id: str) -> Response:
    accounts, password = accounts_of(request), random_password()
    person = _person(accounts, person_id)
    accounts.people.set_password(person.id, password)
    log_change(request, "person.password", person.name)
    return _page(request, secret=password, secret_of=person.name)


@router.get("/people/{person_id}/remove")
def confirm_remove(request: Request, person_id: str) -> Response:
    return render(request, "person_remove.html", person=_person(accounts_of(request), person_id))


@router.post("/people/{person_id}/remove")
def remove_person(request: Request, person_id: str) -> Response:
    return _change(request, person_id, "person.remove", accounts_of(request).people.remove, _("%(name)s was removed."))


def _page(
    request: Request,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
    secret: str = "",
    secret_of: str = "",
) -> Response:
    accounts, visit = accounts_of(request), Visit(request)
    tokens = Counter(token.person_id for token in accounts.tokens.of())
    now = visit.portal.now()
    rows = [
        {"person": person, "sessions": len(accounts.sessions.of(person.id, now=now)), "tokens": tokens[person.id]}
        for person in accounts.people.all()
    ]
    roles = {role: visit.clock.says(Message(f"role.{role}")) for role in Role}
    more = {"errors": defaultdict(str, errors or {}), "values": values or {}, "secret": secret, "secret_of": secret_of}
    return render(request, "people.html", status, rows=rows, roles=roles, **more)


def _change(
    request: Request, person_id: str, action: str, change: Callable[[str], None], done: str, details: Mapping[str, str] | None = None
) -> Response:
    person = _person(accounts_of(request), person_id)
    try:
        change(person.id)
    except AccountError as error:
        return _page(request, 422, errors={"person": Visit(request).clock.says(error.message)})
    log_change(request, action, person.name, details)
    return notify(request, "/people", done, name=person.name)


def _person(accounts: Accounts, person_id: str) -> Person:
    return or_404(accounts.people.get(person_id))


def _role_named(name: str) -> Role:
    require(name in set(Role), 400)
    return Role(name)


AUDIT_ENTRIES = 100
AUDIT_DAYS = (0, 1, 7, 30, 365)  # 0: any time


@router.get("/audit")
def audit(request: Request) -> Response:
    visit, trail = Visit(request), accounts_of(request).audit_log
    days = requested if (requested := visit.integer("days", 0)) in AUDIT_DAYS else 0
    rows = trail.entries(
        before=visit.integer("before", 0) or None, person=visit.text("person"), action=visit.text("action"),
        since=visit.portal.now() - timedelta(days=days) if days else None, limit=AUDIT_ENTRIES + 1,
    )  # fmt: skip
    lengths = {number: visit.say("within %(num)s {day|days}", num=number) for number in AUDIT_DAYS if number}
    entries = rows[:AUDIT_ENTRIES]
    articles = visit.portal.store.articles([entry.subject for entry in entries if entry.action.startswith("article.") and entry.subject])
    return render(
        request, "audit.html", entries=entries, more=len(rows) > AUDIT_ENTRIES, names=trail.names(), actions=trail.actions(),
        person=visit.text("person"), action=visit.text("action"), days=days, periods={0: visit.say("Any time"), **lengths},
        articles={article.id: article for article in articles}, display_name=display_name_function(visit.portal, visit.clock.words),
    )  # fmt: skip
