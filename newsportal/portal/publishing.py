"""What editors ask of the outbox, for pages and API: to try again, to publish, to take back, to tell what a target would do."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import closing
from typing import Final

from newsportal.portal.context import Portal
from newsportal.portal.language import _
from newsportal.publishing.dry_run import Tried, one, waiting
from newsportal.publishing.run import Work
from newsportal.publishing.targets import open_target, terms_of
from newsportal.store.outbox import State

NAMES: Final[Mapping[State, str]] = {
    "waiting": _("waiting"),
    "under-way": _("under way"),
    "done": _("published"),
    "failed": _("failed"),
    "withdrawn": _("taken back or left out"),
}

MOST_TRIED: Final = 20
"""Articles of which a dry run tells in a page."""


class Unknown(Exception):
    """Raised for a target that sources.yaml does not name, an article that is not there, a wish that is none. The caller answers 404."""


def asked_again(portal: Portal, target: str | None, articles: Collection[str] | None) -> int:
    """Let what failed wait anew; answers how many."""
    return portal.store.outbox.again(target, articles, now=portal.now())


def wanted(portal: Portal, target: str, article_id: str, wish: str) -> str | None:
    """Ask that an article be ``there``, or ``gone``; answers what was wanted before, ``None`` if nothing was. Raises ``Unknown``."""
    outbox = portal.store.outbox
    before = outbox.of(target, [article_id]).get(article_id)
    known = target in portal.site.publishes or before is not None
    if not known or wish not in ("there", "gone") or (before is None and (wish == "gone" or portal.store.article(article_id) is None)):
        raise Unknown(target)
    outbox.ask(target, [article_id], "there" if wish == "there" else "gone", now=portal.now())
    return before.wanted if before else "gone"


def tried(portal: Portal, name: str, article_id: str | None) -> Generator[Tried]:
    """A dry run at a target, of what waits or of one article. Raises ``Unknown``, ``TargetAway``, ``TargetUnfit``."""
    settings = next((target for target in portal.known.publish if target.name == name), None) if portal.known else None
    if settings is None or portal.known is None or (article_id and portal.store.article(article_id) is None):
        raise Unknown(name)
    with closing(open_target(settings, terms_of(portal.known))) as target:
        target.check()
        work = Work(portal.store, settings, target, now=portal.now)
        yield from [one(work, article_id)] if article_id else waiting(work, limit=MOST_TRIED)
