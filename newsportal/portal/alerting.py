"""Alerts in the portal: what sending them needs, and the thread that sends while it is served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from starlette.datastructures import State
from starlette.requests import Request

from newsportal.accounts.alerts import Alert
from newsportal.alerts.making import Terms
from newsportal.alerts.opening import Sender, work_of
from newsportal.alerts.run import Work
from newsportal.portal.access import signed
from newsportal.portal.context import Portal
from newsportal.sources import Sources

TESTS: Final = 10
"""Test messages of one person in :data:`TESTED`: enough to set a robot up, and too few to write to strangers."""

TESTED: Final = timedelta(hours=1)


def work(portal: Portal) -> Work:
    """Only where there are accounts."""
    assert portal.accounts is not None
    made = work_of(portal.accounts, portal.store, portal.index, portal.known or Sources(), now=portal.now)
    return replace(made, zone=portal.site.zone, url=portal.site.url)


def sender(state: State) -> Sender | None:
    """``None``: nobody can have set up an alert. ``state``: the application's, with another portal once ``sources.yaml`` changed."""
    portal: Portal = state.portal
    if portal.accounts is None or portal.known is None:
        return None
    made: list[tuple[Sources | None, Work | None]] = []  # of the file as it is now; to list a hundred thousand sources takes a moment

    def present(stopped: Callable[[], bool]) -> Work | None:
        now: Portal = state.portal
        if not made or made[0][0] is not now.known:
            wanted = now.known is not None and now.known.alerts.enabled
            made[:] = [(now.known, replace(work(now), stopped=stopped) if wanted else None)]
        return made[0][1]

    return Sender(present)


def terms(request: Request, *, after: int = 0) -> Terms:
    """Who asks, and what he may choose from."""
    portal: Portal = request.app.state.portal
    who = signed(request)
    assert who is not None
    assert portal.accounts is not None
    known = portal.known or Sources()
    others = len(portal.accounts.alerts.all(who.person.id))
    mail = known.alerts.mail_server is not None
    return Terms(who.person, who.rights, portal.topics(), mail, portal.now(), after, known.alerts.per_hour, others)


def own(request: Request, id: str) -> Alert | None:
    """The alert, if it is of who asks: nobody sees another's."""
    portal: Portal = request.app.state.portal
    who = signed(request)
    found = portal.accounts.alerts.alert(id) if portal.accounts is not None else None
    return found if found is not None and who is not None and found.person_id == who.person.id else None


def tested_enough(request: Request) -> bool:
    """Whether who asks has sent as many test messages as may be, whatever process he came to: each is in the log of changes."""
    portal: Portal = request.app.state.portal
    who = signed(request)
    if who is None or portal.accounts is None:
        return True
    since = portal.now() - TESTED
    return len(portal.accounts.trail.entries(person=who.person.name, action="alert.test", since=since, limit=TESTS)) >= TESTS


def logged(alert: Alert) -> dict[str, Any]:
    """What the log of changes keeps of an alert: nothing of where it goes but the service's name."""
    return {"name": alert.name, "about": alert.about, "of": alert.of, "channel": alert.channel}
