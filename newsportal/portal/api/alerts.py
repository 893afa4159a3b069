"""A person's own alerts. Secrets are accepted and never returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from newsportal.errors import DependencyMissing
from newsportal.portal.access import KEEP, ApiError, Problem, accounts_of, describe, log_change, signed
from newsportal.portal.account.alerts import SUBJECTS, audit_details, bounded_preview, own_alert, terms, tests_used_up, work_for
from newsportal.portal.api.paging import fill
from newsportal.portal.context import ThisPortal, Visit
from newsportal.services.accounts.alerts import About, Alert, Message, State
from newsportal.services.alerts.base import Unclear
from newsportal.services.alerts.making import BadFields, alert_of, resumed
from newsportal.services.alerts.run import send_test
from newsportal.services.alerts.services import SERVICES, hidden
from newsportal.services.publishing.base import PutOff, Refused

router = APIRouter(tags=["Alerts"], dependencies=KEEP, responses=describe(404))


class AlertIn(BaseModel):
    name: str = Field("", max_length=100, description="Default: name of the topic or the search.")
    about: About = "topic"
    of: str = Field("", max_length=500, description="A topic (optional for briefing, rising), words of a search, or the id of an event.")
    channel: str = Field(description=f"One of: {', '.join(SERVICES)}.")
    fields: dict[str, str] = Field({}, description="Settings of the channel. Secrets that are left out keep their values.")
    digest: list[int] = Field([], max_length=24, description="Hours of the day; empty: at once. Briefing and rising need at least one.")
    quiet: tuple[int, int] | None = Field(None, description="Hours between which nothing is sent.")
    per_hour: int = Field(6, ge=1, le=60)
    language: Literal["zh", "en"] = "zh"


class AlertOut(BaseModel):
    id: str
    name: str
    about: About
    of: str
    channel: str
    digest: list[int]
    quiet: tuple[int, int] | None
    per_hour: int
    language: str
    enabled: bool
    created: datetime
    messages: dict[str, int] = Field(description="Number by state.")


class ResendResult(BaseModel):
    waiting: int = Field(description="Messages waiting again.")


class PlannedMessage(BaseModel):
    at: datetime
    stories: list[str] = Field(description="Their titles.")


class MessageOut(BaseModel):
    story: str = Field(validation_alias="thing")
    title: str
    state: str
    changed: datetime
    reason: str | None


def alert_out(alert: Alert, counts: Mapping[State, int]) -> AlertOut:
    return fill(AlertOut, alert, messages={str(state): number for state, number in counts.items()})


@router.get("/alerts", summary="Your alerts")
def alerts(request: Request) -> list[AlertOut]:
    book, who = accounts_of(request).alerts, signed(request)
    mine = book.all(who.person.id if who else "")
    counts = book.counts([alert.id for alert in mine])
    return [alert_out(alert, counts.get(alert.id, {})) for alert in mine]


@router.post("/alerts", summary="Create an alert", status_code=201)
def create(request: Request, asked: AlertIn) -> AlertOut:
    made = parse_alert(request, asked)
    accounts_of(request).alerts.add(made)
    log_change(request, "alert.make", made.id, audit_details(made))
    return alert_out(made, {})


@router.put("/alerts/{id}", summary="Change an alert")
def change(request: Request, id: str, asked: AlertIn) -> AlertOut:
    made = parse_alert(request, asked, own_alert(request, id))
    accounts_of(request).alerts.save(made)
    log_change(request, "alert.change", made.id, audit_details(made))
    return alert_out(made, {})


@router.delete("/alerts/{id}", summary="Delete an alert and its messages", status_code=204)
def delete(request: Request, id: str) -> None:
    found = own_alert(request, id)
    accounts_of(request).alerts.drop(id)
    log_change(request, "alert.delete", id, audit_details(found))


@router.post("/alerts/{id}/resume", summary="Switch an alert on, for new articles only")
def resume(request: Request, portal: ThisPortal, id: str) -> AlertOut:
    """422 if its receiver is missing or no longer valid: change the alert first."""
    try:
        made = resumed(own_alert(request, id), now=portal.now(), after=portal.store.last_seq())
    except BadFields as error:
        raise invalid_alert(error, "Give the alert a receiver with PUT, then resume it.") from error
    accounts_of(request).alerts.save(made)
    log_change(request, "alert.on", id)
    return alert_out(made, {})


@router.post("/alerts/{id}/off", summary="Switch an alert off")
def switch_off(request: Request, id: str) -> AlertOut:
    made = replace(own_alert(request, id), enabled=False)
    accounts_of(request).alerts.save(made)
    log_change(request, "alert.off", id)
    return alert_out(made, accounts_of(request).alerts.counts([id]).get(id, {}))


@router.post("/alerts/{id}/again", summary="Send again messages that failed or may not have arrived")
def resend(request: Request, portal: ThisPortal, id: str) -> ResendResult:
    """Messages whose delivery is uncertain may arrive twice."""
    own_alert(request, id)
    number = accounts_of(request).alerts.resend(id, now=portal.now())
    log_change(request, "alert.again", id, {"messages": number})
    return ResendResult(waiting=number)


@router.get("/alerts/{id}/messages", summary="Messages of an alert, latest first", response_model=list[MessageOut])
def messages(request: Request, id: str) -> Sequence[Message]:
    own_alert(request, id)
    return accounts_of(request).alerts.messages(id)


@router.get("/alerts/{id}/preview", summary="Preview of the messages of the last 30 days")
def preview(request: Request, id: str) -> list[PlannedMessage]:
    found = bounded_preview(Visit(request), own_alert(request, id))
    return [PlannedMessage(at=one.at, stories=[item.title for item in one.items]) for one in found.planned]


@router.post("/alerts/{id}/test", summary="Send a test message", status_code=204, responses=describe(429))
def test(request: Request, portal: ThisPortal, id: str) -> None:
    found = own_alert(request, id)
    if tests_used_up(request):
        raise ApiError(429, "too-many", "The limit of test messages per hour is reached.", "Try again later.")
    log_change(request, "alert.test", id)
    try:
        send_test(work_for(portal), found)
    except (Refused, PutOff, Unclear, DependencyMissing) as error:
        raise ApiError(502, "not-sent", hidden(str(error), found.fields)) from error


def parse_alert(request: Request, asked: AlertIn, before: Alert | None = None) -> Alert:
    quiet = asked.quiet or ("", "")
    given = dict.fromkeys(SUBJECTS, asked.of) | {
        "name": asked.name, "about": asked.about, "channel": asked.channel,
        "when": "digest" if asked.digest else "once", "hours": ", ".join(map(str, asked.digest)), "quiet_from": str(quiet[0]),
        "quiet_to": str(quiet[1]), "per_hour": str(asked.per_hour), "language": asked.language,
    }  # fmt: skip
    try:
        return alert_of({**asked.fields, **given}, terms(request, after=Visit(request).portal.store.last_seq()), before)
    except BadFields as error:
        raise invalid_alert(error) from error


def invalid_alert(error: BadFields, remedy: str | None = None) -> ApiError:
    problems = [Problem(where=name, message=str(why), code=why.code) for name, why in error.faults.items()]
    return ApiError(422, "not-valid", str(error), remedy, problems)
