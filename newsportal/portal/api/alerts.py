"""A person's own alerts. Secrets are accepted and never returned."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from newsportal.errors import DependencyMissing
from newsportal.portal.access import KEEP, ApiError, Problem, accounts_of, describe, identity_of, log_change, require
from newsportal.portal.account.alerts import SUBJECTS, alert_context, audit_details, bounded_preview, own_alert, tests_used_up, work_for
from newsportal.portal.api.paging import fill
from newsportal.portal.context import PortalDep, Visit
from newsportal.services.accounts.alerts import About, Alert, Message, State
from newsportal.services.alerts.base import DeliveryUnknown
from newsportal.services.alerts.making import BadFields, alert_of, enable_alert
from newsportal.services.alerts.run import send_test
from newsportal.services.alerts.services import SERVICES, mask_fields
from newsportal.services.publishing.base import Refused, RetryLater

router = APIRouter(tags=["Alerts"], dependencies=KEEP, responses=describe(404))


class AlertIn(BaseModel):
    name: str = Field("", max_length=100, description="Default: name of the topic or the search.")
    about: About = "topic"
    subject: str = Field("", max_length=500, description="A topic (optional for briefing, rising), words of a search, or an event's id.")
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
    subject: str
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
    subject: str = Field(description="Id of a story, or the name of a condition.")
    title: str
    state: str
    changed: datetime
    reason: str | None


def alert_out(alert: Alert, counts: Mapping[State, int]) -> AlertOut:
    return fill(AlertOut, alert, subject=alert.of, messages={str(state): number for state, number in counts.items()})


@router.get("/alerts", summary="Your alerts")
def list_alerts(request: Request) -> list[AlertOut]:
    book, user = accounts_of(request).alerts, identity_of(request)
    mine = book.all(user.person.id if user else "")
    counts = book.counts([alert.id for alert in mine])
    return [alert_out(alert, counts.get(alert.id, {})) for alert in mine]


@router.post("/alerts", summary="Create an alert", status_code=201)
def create_alert(request: Request, body: AlertIn) -> AlertOut:
    alert = parse_alert(request, body)
    accounts_of(request).alerts.add(alert)
    log_change(request, "alert.make", alert.id, audit_details(alert))
    return alert_out(alert, {})


@router.put("/alerts/{id}", summary="Change an alert")
def update_alert(request: Request, id: str, body: AlertIn) -> AlertOut:
    alert = parse_alert(request, body, own_alert(request, id))
    accounts_of(request).alerts.save(alert)
    log_change(request, "alert.change", alert.id, audit_details(alert))
    return alert_out(alert, {})


@router.delete("/alerts/{id}", summary="Delete an alert and its messages", status_code=204)
def delete_alert(request: Request, id: str) -> None:
    alert = own_alert(request, id)
    accounts_of(request).alerts.drop(id)
    log_change(request, "alert.delete", id, audit_details(alert))


@router.post("/alerts/{id}/resume", summary="Switch an alert on, for new articles only")
def resume_alert(request: Request, portal: PortalDep, id: str) -> AlertOut:
    """422 if its receiver is missing or no longer valid: change the alert first."""
    try:
        alert = enable_alert(own_alert(request, id), now=portal.now(), after=portal.store.last_seq())
    except BadFields as error:
        raise invalid_alert(error, "Give the alert a receiver with PUT, then resume it.") from error
    accounts_of(request).alerts.save(alert)
    log_change(request, "alert.on", id)
    return alert_out(alert, {})


@router.post("/alerts/{id}/off", summary="Switch an alert off")
def disable_alert(request: Request, id: str) -> AlertOut:
    alert = replace(own_alert(request, id), enabled=False)
    accounts_of(request).alerts.save(alert)
    log_change(request, "alert.off", id)
    return alert_out(alert, accounts_of(request).alerts.counts([id]).get(id, {}))


@router.post("/alerts/{id}/again", summary="Send again messages that failed or may not have arrived")
def resend_messages(request: Request, portal: PortalDep, id: str) -> ResendResult:
    """Messages whose delivery is uncertain may arrive twice."""
    own_alert(request, id)
    number = accounts_of(request).alerts.resend(id, now=portal.now())
    log_change(request, "alert.again", id, {"messages": number})
    return ResendResult(waiting=number)


@router.get("/alerts/{id}/messages", summary="Messages of an alert, latest first", response_model=list[MessageOut])
def list_messages(request: Request, id: str) -> Sequence[Message]:
    own_alert(request, id)
    return accounts_of(request).alerts.messages(id)


@router.get("/alerts/{id}/preview", summary="Preview of the messages of the last 30 days")
def preview_alert(request: Request, id: str) -> list[PlannedMessage]:
    preview = bounded_preview(Visit(request), own_alert(request, id))
    return [PlannedMessage(at=planned.at, stories=[item.title for item in planned.items]) for planned in preview.planned]


@router.post("/alerts/{id}/test", summary="Send a test message", status_code=204, responses=describe(429))
def send_test_message(request: Request, portal: PortalDep, id: str) -> None:
    alert = own_alert(request, id)
    require(not tests_used_up(request), 429, "too-many", "The limit of test messages per hour is reached.", "Try again later.")
    log_change(request, "alert.test", id)
    try:
        send_test(work_for(portal), alert)
    except (Refused, RetryLater, DeliveryUnknown, DependencyMissing) as error:
        raise ApiError(502, "not-sent", mask_fields(str(error), alert.fields)) from error


def parse_alert(request: Request, body: AlertIn, before: Alert | None = None) -> Alert:
    quiet = body.quiet or ("", "")
    values = dict.fromkeys(SUBJECTS, body.subject) | {
        "name": body.name, "about": body.about, "channel": body.channel,
        "when": "digest" if body.digest else "once", "hours": ", ".join(map(str, body.digest)), "quiet_from": str(quiet[0]),
        "quiet_to": str(quiet[1]), "per_hour": str(body.per_hour), "language": body.language,
    }  # fmt: skip
    try:
        return alert_of({**body.fields, **values}, alert_context(request, after=Visit(request).portal.store.last_seq()), before)
    except BadFields as error:
        raise invalid_alert(error) from error


def invalid_alert(error: BadFields, remedy: str | None = None) -> ApiError:
    problems = [Problem(where=name, message=str(message), code=message.code) for name, message in error.faults.items()]
    return ApiError(422, "not-valid", str(error), remedy, problems)
