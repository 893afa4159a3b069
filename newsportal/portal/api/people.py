"""The current user; for administrators, the users with their rights, and the log of changes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from newsportal.errors import AccountError
from newsportal.portal.access import ADMINISTER, READ, ApiError, accounts_of, describe, identity_of, log_change, or_404
from newsportal.portal.api.paging import Cursor, Limit, Page, cursor_of, fill, parse_cursor
from newsportal.portal.context import Visit
from newsportal.services.accounts import Person, Right, Role
from newsportal.services.accounts.base import AuditEntry, random_password

router = APIRouter(tags=["People"])

LIMIT = 100


class CurrentUser(BaseModel):
    name: str
    role: Role
    method: Literal["session", "token"]
    rights: list[Right]


class PersonOut(BaseModel):
    name: str
    role: Role
    disabled: bool = Field(description="The user cannot sign in, and tokens are refused.")
    created: datetime


class PersonNew(BaseModel):
    name: str = Field(max_length=64)
    role: Role = Role.EDITOR


class PersonChange(BaseModel):
    role: Role | None = None
    disabled: bool | None = None


class PasswordOut(PersonOut):
    password: str = Field(description="Generated, shown only here, and not stored.")


@router.get("/me", summary="The current user with rights", dependencies=READ)
def get_current_user(request: Request) -> CurrentUser | None:
    """Null for anonymous requests."""
    user = identity_of(request)
    return CurrentUser(name=user.person.name, role=user.person.role, method=user.method, rights=sorted(user.rights)) if user else None


def _check_session(request: Request) -> None:
    """A token may not set passwords: with one, an attacker would keep access after the token is revoked."""
    if (user := identity_of(request)) is not None and user.method == "token":
        raise ApiError(403, "not-allowed", "Tokens may not create administrators or reset passwords.", "Sign in with a browser.")


@router.get("/people", summary="Users and rights", dependencies=ADMINISTER, response_model=list[PersonOut])
def list_users(request: Request) -> list[Person]:
    return accounts_of(request).people.all()


@router.post("/people", status_code=201, summary="Add a user with a generated password", dependencies=ADMINISTER, responses=describe(409))
def create_user(request: Request, body: PersonNew) -> PasswordOut:
    if body.role is Role.ADMIN:
        _check_session(request)
    password, accounts = random_password(), accounts_of(request)
    try:
        person = accounts.people.add(body.name, password, body.role, now=Visit(request).portal.now())
    except AccountError as error:
        raise _refusal(error) from error
    log_change(request, "person.add", person.name, {"role": person.role})
    return fill(PasswordOut, person, password=password)


@router.patch(
    "/people/{name}", summary="Change a user's role; disable or enable a user", dependencies=ADMINISTER, response_model=PersonOut,
    responses=describe(404, 409),
)  # fmt: skip
def update_user(request: Request, name: str, body: PersonChange) -> Person:
    people, person, role, disabled = accounts_of(request).people, _person_named(request, name), body.role, body.disabled
    if role is not None:
        _change(request, person, "person.role", lambda: people.set_role(person.id, role), {"role": role})
    if disabled is not None:
        action = "person.disable" if disabled else "person.enable"
        _change(request, person, action, lambda: people.disable(person.id, disabled))
    return _person_named(request, name)


@router.post("/people/{name}/password", summary="Reset a password; ends sessions", dependencies=ADMINISTER, responses=describe(404))
def reset_password(request: Request, name: str) -> PasswordOut:
    _check_session(request)
    person, password = _person_named(request, name), random_password()
    _change(request, person, "person.password", lambda: accounts_of(request).people.set_password(person.id, password))
    return fill(PasswordOut, person, password=password)


@router.delete("/people/{name}", status_code=204, summary="Remove a user", dependencies=ADMINISTER, responses=describe(404, 409))
def delete_user(request: Request, name: str) -> None:
    person = _person_named(request, name)
    _change(request, person, "person.remove", lambda: accounts_of(request).people.remove(person.id))


@router.get("/audit", summary="Log of changes, newest first", dependencies=ADMINISTER, responses=describe(400))
def list_audit_entries(
    request: Request,
    person: Annotated[str | None, Query(max_length=64)] = None,
    action: Annotated[str | None, Query(max_length=64, description="The action, or its prefix, such as `person`.")] = None,
    days: Annotated[int | None, Query(ge=1, le=3650)] = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
) -> Page[AuditEntry]:
    since = Visit(request).portal.now() - timedelta(days=days) if days else None
    before = (parse_cursor(cursor, int) or (None,))[0]
    entries = accounts_of(request).audit_log.entries(before=before, person=person, action=action, since=since, limit=limit)
    return Page(items=entries, next=cursor_of(entries[-1].seq) if len(entries) == limit else None)


def _person_named(request: Request, name: str) -> Person:
    return or_404(accounts_of(request).people.by_name(name), "nobody", "There is no user with this name.")


def _change(request: Request, person: Person, action: str, change: Callable[[], None], details: dict[str, Any] | None = None) -> None:
    try:
        change()
    except AccountError as error:
        raise _refusal(error) from error
    log_change(request, action, person.name, details)


def _refusal(error: AccountError) -> ApiError:
    status = 409 if error.code in ("name-taken", "last-administrator") else 422
    return ApiError(status, error.code, f"{str(error)[:1].upper()}{str(error)[1:]}.")
