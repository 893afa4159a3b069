"""``newsportal alert``: list alerts, preview their messages, send a test, and send alerts without the portal."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from newsportal.cli.options import AsJson, AsJsonLine, SourcesFile, command_group, open_all
from newsportal.cli.output import make_table, pick, print_json, print_rows, print_table
from newsportal.errors import NewsportalError
from newsportal.messages import format_time, local
from newsportal.services.accounts import open_accounts
from newsportal.services.accounts.alerts import SCHEDULED, Alert
from newsportal.services.alerts.base import DeliveryUnknown
from newsportal.services.alerts.opening import DAYS, EVERY, preview, work_of
from newsportal.services.alerts.run import Work, follow_conditions, send_test, step
from newsportal.services.events.following import EventFollower
from newsportal.services.publishing.base import Refused, RetryLater

Which = Annotated[str, typer.Argument(metavar="ID", help="An alert: its name or the beginning of its id.")]

YEAR: Final = 366


@contextmanager
def open_work(sources: Path | None) -> Iterator[Work]:
    """Open everything needed for sending; the index is updated from the store first."""
    with open_all(sources) as (config, store, index), closing(open_accounts(config.accounts_uri)) as accounts:
        index.follow(store)
        yield work_of(accounts, store, index, config)


def alert_named(work: Work, begin: str) -> Alert:
    """Return the alert whose id or name matches. Raises ``NewsportalError`` if there is none, or several."""
    alerts = [alert for alert in work.accounts.alerts.all() if begin and (alert.id.startswith(begin) or alert.name == begin)]
    if len(alerts) != 1:
        raise NewsportalError(f"there is {'no alert' if not alerts else 'more than one alert'} {begin!r}; see: newsportal alert list")
    return alerts[0]


def list_(as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """List alerts with their owners, without addresses."""
    with open_work(sources) as work:
        people = {person.id: person.name for person in work.accounts.people.all()}
        counts = work.accounts.alerts.counts()
        rows = []
        for alert in work.accounts.alerts.all():
            found = Counter(counts.get(alert.id))
            row: dict[str, Any] = {"id": alert.id, "name": alert.name, "about": f"{alert.about} {alert.of}".strip(), "to": alert.channel}
            row |= {"owner": people.get(alert.person_id, "–"), "on": alert.enabled, "sent": found["sent"]}
            rows.append(row | {"waiting": found["waiting"] + found["sending"], "failed": found["failed"] + found["unknown"]})
    columns = ("id", "name", "about", "to", "owner", "on", "sent", "waiting", "failed")
    print_rows(rows, columns, as_json, "no alerts yet; users create them in the portal at /alerts")


def preview_(
    which: Which,
    days: Annotated[int, typer.Option(min=1, max=YEAR, help="How many days back.")] = DAYS,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Show what an alert would have sent."""
    with open_work(sources) as work:
        found = preview(work, alert_named(work, which), days, hours=days * 24)
        by_day = found.by_day(work.zone)
    if as_json:
        plain = [
            {"at": plan.at.isoformat(), "stories": [{"id": item.id, "title": item.title} for item in plan.items]} for plan in found.planned
        ]
        per_day = [{"day": day, "messages": messages, "stories": stories} for day, messages, stories in by_day]
        print_json({"messages": plain, "days": per_day, "stories": found.stories, "capped": found.capped})
        return
    for message in found.planned:
        typer.echo(format_time(message.at))
        for item in message.items:
            typer.echo(f"  {item.title}  {item.site}")
    if by_day:
        print_table(make_table(("day", "messages", "stories"), by_day))
    typer.echo(f"{len(found.planned)} messages, {found.stories} stories{' and more' if found.capped else ''} in {days} days")


def _test(which: Which, sources: SourcesFile = None) -> None:
    """Send a test message."""
    with open_work(sources) as work:
        alert = alert_named(work, which)
        try:
            send_test(work, alert)
        except (Refused, RetryLater, DeliveryUnknown) as error:
            raise NewsportalError(f"{alert.name}: {error}") from error
    typer.echo("sent; check whether it arrived")


def send(
    once: Annotated[bool, typer.Option("--once", help="Send the messages that are due now, and exit.")] = False,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Send alerts if neither serve nor up runs."""
    events = EventFollower()
    with open_work(sources) as work:
        while True:
            if work.index is not None:
                work.index.follow(work.store)
            if any(alert.about in ("event", *SCHEDULED) for alert in work.accounts.alerts.all()):
                while events.follow(work.store):
                    pass
            follow_conditions(work)
            tally = step(work)
            counts = pick(tally, "found", "sent", "failed", "postponed", "unconfirmed")
            if as_json and (once or any(counts.values())):
                print_json(counts)
            elif once or any(counts.values()):
                done = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items() if number) or "nothing to send"
                typer.echo(f"{local(datetime.now(UTC)):%H:%M:%S%z} {done}")
                for reason in tally.reasons:
                    typer.echo(f"  {reason}")
            if once:
                return
            time.sleep(EVERY)


group = command_group("Alerts: their subjects, channels and messages.", list_, preview_, _test, send)
