"""``/alerts``: a person's alerts, their preview and the messages sent; and the thread that sends them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, get_args

from fastapi import APIRouter, Request, Response

from newsportal.errors import DependencyMissing, SearchError
from newsportal.messages import Message, label
from newsportal.portal.access import KEEP, ApiError, accounts_of, identity_of, log_change
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.language import LANGUAGES, _
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.services.accounts.alerts import OF_STORIES, OPERATORS, SCHEDULED, About, Alert, State
from newsportal.services.alerts.base import DeliveryUnknown, Service
from newsportal.services.alerts.making import AlertContext, BadFields, alert_of, enable_alert
from newsportal.services.alerts.opening import AlertSenderThread, Preview, own_fields, preview, work_of
from newsportal.services.alerts.run import Work, send_test
from newsportal.services.alerts.services import SERVICES, mask_fields, title_of
from newsportal.services.alerts.web_push import public_key, require_libraries
from newsportal.services.publishing.base import Refused, RetryLater
from newsportal.sources import Sources

TESTS: Final = 10  # test messages of a person per `TESTED`: enough to set up a robot, and too few to spam strangers
TESTED: Final = timedelta(hours=1)


def work_for(portal: Portal) -> Work:
    work = work_of(portal.accounts, portal.store, portal.index, portal.config, now=portal.now)
    return replace(work, zone=portal.site.zone, url=portal.site.url)


def sender_thread(state: Any) -> AlertSenderThread:
    """Return the thread that sends alerts. ``state``: the application's, whose portal is replaced when ``sources.yaml`` changes."""
    cache: list[tuple[Sources, Work | None]] = []  # cached for the current file: listing a hundred thousand sources takes a moment

    def current_work(stopped: Callable[[], bool]) -> Work | None:
        portal: Portal = state.portal
        if not cache or cache[0][0] is not portal.config:
            cache[:] = [(portal.config, replace(work_for(portal), stopped=stopped) if portal.config.alerts.enabled else None)]
        return cache[0][1]

    return AlertSenderThread(current_work)


def alert_context(request: Request, *, after: int = 0) -> AlertContext:
    """Return the signed-in person and the allowed values of an alert."""
    portal: Portal = request.app.state.portal
    user, sources = identity_of(request), portal.config
    assert user is not None
    others = len(accounts_of(request).alerts.all(user.person.id))
    mail = sources.alerts.mail_server is not None
    return AlertContext(user.person, user.rights, portal.topics(), mail, portal.now(), after, sources.alerts.per_hour, others)


def own_alert(request: Request, id: str) -> Alert:
    """Return the alert if it belongs to the signed-in person, else raise a 404."""
    user, alert = identity_of(request), accounts_of(request).alerts.alert(id)
    if alert is None or user is None or alert.person_id != user.person.id:
        raise ApiError(404, "not-found", "There is no such alert of yours.", "See GET /api/v1/alerts.")
    return alert


def tests_used_up(request: Request) -> bool:
    """Return whether the person has sent the maximum of test messages. Counted in the audit log, so it holds for all processes."""
    portal: Portal = request.app.state.portal
    user, trail, since = identity_of(request), accounts_of(request).audit_log, portal.now() - TESTED
    return user is None or len(trail.entries(person=user.person.name, action="alert.test", since=since, limit=TESTS)) >= TESTS


def audit_details(alert: Alert) -> dict[str, Any]:
    """Return the details of an alert for the audit log; of its destination only the name of the service."""
    return {"name": alert.name, "about": alert.about, "of": alert.of, "channel": alert.channel}


router = APIRouter(dependencies=KEEP)

SUBJECTS: Final = (*OF_STORIES, *SCHEDULED)  # fields of the form that name the subject of each kind of alert
HISTORY: Final = 30  # messages shown of an alert


@router.get("/alerts")
def list_alerts(request: Request, visit: VisitDep) -> Response:
    book, user = accounts_of(request).alerts, identity_of(request)
    mine = book.all(user.person.id if user else "")
    counts = book.counts([alert.id for alert in mine])
    rows = [
        {"alert": alert, "about": label("about", alert.about, visit.say), "service": title_of(alert.channel, visit.say),
         "counts": counts.get(alert.id, {})}
        for alert in mine
    ]  # fmt: skip
    return render(request, "alerts.html", rows=rows, states={name: label("delivery", name, visit.say) for name in get_args(State)})


@router.get("/alerts/new")
def new_alert(request: Request, visit: VisitDep) -> Response:
    channel = visit.text("channel") or ""
    fields = {name: visit.text(name, 500) or "" for name in ("about", *SUBJECTS, "name")}
    available = services(request)
    if channel not in available or available[channel][1]:
        return render(request, "alert_new.html", services=available, subject={key: value for key, value in fields.items() if value})
    language = visit.language if visit.language in LANGUAGES else "zh"
    values = {"about": "search" if fields["search"] else "topic", "when": "once", "per_hour": "6", "language": language, "channel": channel}
    if fields["about"] in SCHEDULED:
        values |= {"when": "digest", "hours": "8" if fields["about"] == "briefing" else "8, 12, 16, 20"}
    return alert_page(request, values | {key: value for key, value in fields.items() if value})


@router.post("/alerts/new")
def create_alert(request: Request, fields: Form) -> Response:
    return save_alert(request, fields, None)


@router.get("/alerts/{id}")
def show_alert(request: Request, visit: VisitDep, id: str) -> Response:
    """Show the alert, and a preview with ``preview`` or if it takes little time."""
    alert = own_alert(request, id)
    show_preview = alert.about != "rising" or bool(visit.text("preview"))
    return alert_page(request, form_values_of(alert), before=alert, preview=preview_or_none(visit, alert) if show_preview else None)


@router.post("/alerts/{id}")
def change_alert(request: Request, id: str, fields: Form) -> Response:
    return save_alert(request, fields, own_alert(request, id))


def save_alert(request: Request, fields: Mapping[str, str], before: Alert | None) -> Response:
    """Save a new alert or changes of ``before``; with ``then=preview`` only show what it would send."""
    visit, book = Visit(request), accounts_of(request).alerts
    try:
        alert = alert_of(fields, alert_context(request, after=visit.portal.store.last_seq()), before)
    except BadFields as error:
        return alert_page(request, fields, before=before, faults=error.faults, status=422)
    if fields.get("then") == "preview":
        return alert_page(request, fields, before=before, preview=preview_or_none(visit, alert))
    if before is None:
        book.add(alert)
    else:
        book.save(alert)
    log_change(request, "alert.change" if before else "alert.make", alert.id, audit_details(alert))
    return notify(request, f"/alerts/{alert.id}", _("Saved.") if before else _("The alert is on: new stories will be sent."))


@router.post("/alerts/{id}/test")
def send_test_message(request: Request, id: str) -> Response:
    alert, visit = own_alert(request, id), Visit(request)
    if tests_used_up(request):
        return notify(request, f"/alerts/{id}", _("The limit of test messages per hour is reached. Please try again later."))
    log_change(request, "alert.test", id)
    try:
        send_test(work_for(visit.portal), alert)
    except (Refused, RetryLater, DeliveryUnknown, DependencyMissing) as error:
        reason = mask_fields(str(error), alert.fields)
        return notify(request, f"/alerts/{id}", _("The test message did not arrive: %(reason)s"), reason=reason)
    return notify(request, f"/alerts/{id}", _("The test message was sent. Please check whether it arrived."))


@router.post("/alerts/{id}/on")
def switch_alert(request: Request, id: str, fields: Form) -> Response:
    """Switch the alert on, or off if ``enabled`` is empty."""
    before, portal, enabled = own_alert(request, id), Visit(request).portal, bool(fields.get("enabled"))
    try:
        alert = enable_alert(before, now=portal.now(), after=portal.store.last_seq()) if enabled else replace(before, enabled=False)
    except BadFields:
        return notify(request, f"/alerts/{id}", _("The receiver is no longer valid. Enter another one, save, then switch the alert on."))
    accounts_of(request).alerts.save(alert)
    log_change(request, "alert.on" if enabled else "alert.off", id)
    return notify(request, "/alerts", _("The alert is on. Stories found meanwhile are not sent.") if enabled else _("The alert is off."))


@router.post("/alerts/{id}/again")
def resend_messages(request: Request, visit: VisitDep, id: str) -> Response:
    own_alert(request, id)
    number = accounts_of(request).alerts.resend(id, now=visit.portal.now())
    log_change(request, "alert.again", id, {"messages": number})
    text = visit.say("%(num)s {message|messages} will be sent again.", num=number)
    return redirect_with(request, f"/alerts/{id}", text)


@router.get("/alerts/{id}/delete")
def confirm_delete(request: Request, id: str) -> Response:
    return render(request, "alert_delete.html", alert=own_alert(request, id))


@router.post("/alerts/{id}/delete")
def delete_alert(request: Request, id: str) -> Response:
    alert = own_alert(request, id)
    accounts_of(request).alerts.drop(id)
    log_change(request, "alert.delete", id, audit_details(alert))
    return notify(request, "/alerts", _("%(name)s was deleted."), name=alert.name)


def services(request: Request) -> dict[str, tuple[str, str]]:
    """Return the services the person may choose: display name, and why it cannot be used (empty: it can)."""
    allowed, say = alert_context(request), Visit(request).say
    return {
        service.name: (say(service.title), missing_part(service, allowed, say))
        for service in SERVICES.values()
        if service.right in allowed.rights
    }


def missing_part(service: Service, allowed: AlertContext, say: Callable[..., str]) -> str:
    """Return what this portal lacks to use the service, with the remedy; empty if nothing."""
    if service.name == "mail" and not allowed.mail:
        return say(_("This portal has no mail server; its operator can set one: alerts.mail_server."))
    try:
        if service.signs:
            require_libraries()
    except DependencyMissing as error:
        return say(_("This portal lacks a library for it; its operator can install it: %(command)s"), command=error.command)
    return ""


def preview_or_none(visit: Visit, alert: Alert) -> Preview | None:
    """``None``: search does not respond."""
    try:
        return bounded_preview(visit, alert)
    except SearchError:
        return None


def bounded_preview(visit: Visit, alert: Alert) -> Preview:
    """Scheduled alerts are cached for some minutes and limited per visitor. Raises ``SearchError``."""
    portal = visit.portal
    if alert.about not in SCHEDULED:
        return preview(work_for(portal), alert)
    key = ("alert", alert.about, alert.of, alert.digest, alert.quiet, alert.language)
    return visit.cached_compilation(lambda: preview(work_for(portal), alert), portal.now(), *key)


def form_values_of(alert: Alert) -> dict[str, str]:
    """Return the values of the form for an alert, without its secrets."""
    secret = {field.name for field in SERVICES[alert.channel].fields if field.secret} if alert.channel in SERVICES else set(alert.fields)
    plain = {name: value for name, value in alert.fields.items() if name not in secret}
    quiet = alert.quiet or ("", "")
    return {
        **plain, **dict.fromkeys(SUBJECTS, ""), alert.about: alert.of, "name": alert.name, "about": alert.about, "channel": alert.channel,
        "when": "digest" if alert.digest else "once", "hours": ", ".join(map(str, alert.digest)), "quiet_from": str(quiet[0]),
        "quiet_to": str(quiet[1]), "per_hour": str(alert.per_hour), "language": alert.language,
    }  # fmt: skip


def alert_page(
    request: Request,
    values: Mapping[str, str],
    *,
    before: Alert | None = None,
    faults: Mapping[str, Message] | None = None,
    preview: Preview | None = None,
    status: int = 200,
) -> Response:
    visit, allowed = Visit(request), alert_context(request)
    channel = values.get("channel") or (before.channel if before else "")
    service = SERVICES.get(channel)
    fault, signing = missing_part(service, allowed, visit.say) if service else "", own_fields(accounts_of(request), visit.portal.config)
    about = {name: label("about", name, visit.say) for name in get_args(About) if name not in OPERATORS or "watch" in allowed.rights}
    return render(
        request, "alert.html", status, alert=before, values=values, by_day=preview.by_day(visit.portal.site.zone) if preview else (),
        errors={name: visit.clock.says(message) for name, message in (faults or {}).items()}, service=service,
        service_error=fault, push_key=public_key(signing()["key"]) if service and service.signs and not fault else None,
        service_label=title_of(channel, visit.say), subjects=about, topic_names=allowed.topics, max_per_hour=allowed.max_per_hour,
        preview=preview, history=accounts_of(request).alerts.messages(before.id, HISTORY) if before else (),
        states={name: label("delivery", name, visit.say) for name in get_args(State)},
    )  # fmt: skip
