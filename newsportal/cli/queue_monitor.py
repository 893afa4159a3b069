"""The queues of requests as the portal's monitor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from newsportal.portal.monitor.queues import AsideRow, HostRow, QueueRow, Queues, RetryRow, WorkerRow, longest, moment
from newsportal.sources.uris import mask

if TYPE_CHECKING:
    from newsportal.portal.monitor.queues import Ask, Settle, Way
    from newsportal.sources import Sources

HOSTS: Final = 10
ASIDE: Final = 20  # rows of a page; newsportal frontier lists them all


def poller(known: Sources) -> Ask:
    """Asks the queues of this ``sources.yaml``; what they need is loaded with the first question."""

    def ask() -> Queues:
        from newsportal.cli.frontier import opened, url_of

        with opened(known, None) as found:
            states = [queue.state(HOSTS) for _, queue in found.queues]
            aside = [(name, one) for name, queue in found.queues for one in queue.aside(ASIDE)]
            retries = [row for _, queue in found.queues for row in queue.retries()]
            place = found.place
        hosts = [HostRow(one.host, state.name, one.waiting, one.holder, one.free_in) for state in states for one in state.hosts]
        return Queues(
            place,
            tuple(QueueRow(one.name, one.waiting, one.later, one.leased, one.aside, len(one.workers)) for one in states),
            tuple(
                WorkerRow(
                    one.name,
                    state.name,
                    moment(one.since),
                    moment(one.beat),
                    one.leased,
                    len(one.hosts),
                    ", ".join(f"{name}: {value}" for name, value in one.doing.items()),
                )
                for state in states
                for one in state.workers
            ),
            longest(hosts, HOSTS),
            tuple(
                AsideRow(name, one.task.id, mask(url_of(one.task.body) or one.task.host), one.reason, moment(one.since))
                for name, one in aside
            ),
            tuple(
                RetryRow(row.queue, row.source or "", row.reason, row.number, None if row.next is None else moment(row.next))
                for row in retries
            ),
        )

    return ask


def settling(known: Sources) -> Settle:
    """Lets requests that were set aside wait anew (``again``), or forgets them (``drop``): all of them; answers how many."""

    def settle(way: Way) -> int:
        from newsportal.cli.frontier import opened

        with opened(known, None) as found:
            return sum(queue.again() if way == "again" else queue.drop() for _, queue in found.queues)

    return settle
