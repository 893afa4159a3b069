"""The links to the portal's pages, in display order: above every page (``READING``), in the account menu (``ACCOUNT``), at the bottom on
phones (``BAR``), and beside the pages of the desk (``DESK``, ``templates/desk.html``). To add a page, add a file to the package of its
feature and a line here. Also the settings of ``sources.yaml`` that every page needs (``Site``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from newsportal.portal.language import _
from newsportal.services.accounts import Right
from newsportal.sources import Sources
from newsportal.sources.parts import Recommending

if TYPE_CHECKING:
    from newsportal.portal.context import Visit


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A link to a page: its path, its name (to be translated), the right it needs (None: no right), and a condition for showing it (None:
    always). ``stored``: ``condition`` queries the store."""

    path: str
    name: str
    right: Right | None = None
    condition: Callable[[Visit], bool] | None = None
    stored: bool = False

    def is_available(self, visit: Visit, store: bool = True) -> bool:
        """Return whether to show the link to this visitor. ``store`` False: the store is unavailable and is not queried."""
        allowed = (self.right is None or visit.may(self.right)) and (store or not self.stored)
        return allowed and (self.condition is None or self.condition(visit))


def _recommends(visit: Visit) -> bool:
    return visit.portal.site.recommends


FRONT, LATEST = MenuEntry("/", _("Front page")), MenuEntry("/latest", _("Latest"))
FOR_YOU, STARRED = MenuEntry("/for-you", _("For you"), condition=_recommends), MenuEntry("/starred", _("Starred"), Right.KEEP)

READING = (
    FRONT,
    LATEST,
    MenuEntry("/events", _("Events")),
    MenuEntry("/briefing", _("Briefing")),
    MenuEntry("/rising", _("Rising")),
    MenuEntry("/boards", _("Hot lists"), condition=lambda visit: bool(visit.portal.config.lists)),
    MenuEntry("/photos", _("Photo stories"), condition=lambda visit: visit.has_photos, stored=True),
    FOR_YOU,
)  # followed by the topics of ``sources.yaml``

ACCOUNT = (
    STARRED,
    MenuEntry("/searches", _("Saved searches"), Right.KEEP),
    MenuEntry("/alerts", _("Alerts"), Right.KEEP),
    MenuEntry("/profile", _("Your profile"), condition=lambda visit: _recommends(visit) or "reader" in visit.request.cookies),
    MenuEntry("/settings", _("Settings")),
    MenuEntry("/account", _("Your account"), Right.KEEP),
    MenuEntry("/desk", _("Desk"), Right.WATCH),
)

NO_ACCOUNT = MenuEntry("/settings", _("Settings"), condition=lambda visit: not visit.keeps_marks)
BAR = (FRONT, LATEST, MenuEntry("/search", _("Search")), FOR_YOU, STARRED, NO_ACCOUNT)  # the account menu has the settings, too
DESK: tuple[tuple[str, tuple[MenuEntry, ...]], ...] = (
    (_("Content"), (
        MenuEntry("/articles", _("Articles"), Right.EDIT),
        MenuEntry("/corrections", _("Corrections of categories"), Right.EDIT),
        MenuEntry("/sources", _("Sources"), Right.WATCH),
        MenuEntry("/schedule", _("Schedule"), Right.WATCH),
        MenuEntry("/suggestions", _("Suggested sources"), Right.WATCH),
        MenuEntry("/topics", _("Topics"), Right.EDIT),
        MenuEntry("/categories", _("Categories"), Right.EDIT),
        MenuEntry("/corpora", _("Corpora"), Right.EDIT),
        MenuEntry("/models", _("Models"), Right.EDIT),
        MenuEntry("/wrappers", _("Reading rules"), Right.EDIT),
        MenuEntry("/templates", _("Learned site templates"), Right.EDIT),
        MenuEntry("/methods", _("Methods"), Right.ADMINISTER),
    )),
    (_("Operation"), (
        MenuEntry("/monitor", _("Monitor"), Right.WATCH),
        MenuEntry("/runs", _("Crawl reports"), Right.WATCH),
        MenuEntry("/jobs", _("Jobs"), Right.EDIT),
        MenuEntry("/publishing", _("Publishing"), Right.WATCH),
        MenuEntry("/alerts", _("Alerts"), Right.KEEP),
    )),
    (_("People"), (
        MenuEntry("/people", _("Users and rights"), Right.ADMINISTER),
        MenuEntry("/audit", _("Log of changes"), Right.ADMINISTER),
        MenuEntry("/account", _("Your account"), Right.KEEP),
    )),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    title: str
    language: str
    zone: tzinfo
    topics: tuple[str, ...]
    url: str | None  # the portal's public URL, without a trailing slash
    recommendation: Recommending
    publishes: tuple[str, ...]  # names of the publishing targets
    members: bool  # only people who are signed in may read

    @property
    def recommends(self) -> bool:
        """False: no actions of readers are recorded, and nothing is recommended."""
        return self.recommendation.enabled


def site_of(sources: Sources) -> Site:
    portal = sources.portal
    return Site(
        title=portal.title or "newsportal", language=portal.language, zone=ZoneInfo(portal.timezone),
        topics=tuple(topic.name for topic in sources.topics), url=portal.url.rstrip("/") if portal.url else None,
        recommendation=sources.recommendation, publishes=tuple(target.name for target in sources.publish),
        members=portal.reading == "members",
    )  # fmt: skip
