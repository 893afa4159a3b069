"""The desk: the pages of editors and operators, in the order in which the side of each shows them (``templates/desk.html``).

A new page is a file in the package of its feature and a line here.
"""

from __future__ import annotations

from dataclasses import dataclass

from newsportal.portal.language import _
from newsportal.services.accounts import Right


@dataclass(frozen=True, slots=True)
class Entry:
    """A way to a page: its address, its name (to be translated), what it asks for."""

    path: str
    name: str
    right: Right


DESK: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (_("Content"), (
        Entry("/articles", _("Articles"), Right.EDIT),
        Entry("/corrections", _("Corrections of categories"), Right.EDIT),
        Entry("/sources", _("Sources"), Right.WATCH),
        Entry("/schedule", _("Schedule"), Right.WATCH),
        Entry("/suggestions", _("Suggested sources"), Right.WATCH),
        Entry("/topics", _("Topics"), Right.EDIT),
        Entry("/categories", _("Categories"), Right.EDIT),
        Entry("/corpora", _("Corpora"), Right.EDIT),
        Entry("/models", _("Models"), Right.EDIT),
        Entry("/wrappers", _("Reading rules"), Right.EDIT),
        Entry("/templates", _("What sites taught"), Right.EDIT),
        Entry("/methods", _("Methods"), Right.ADMINISTER),
    )),
    (_("Operation"), (
        Entry("/monitor", _("Monitor"), Right.WATCH),
        Entry("/runs", _("Crawl reports"), Right.WATCH),
        Entry("/jobs", _("Jobs"), Right.EDIT),
        Entry("/publishing", _("Publishing"), Right.WATCH),
        Entry("/alerts", _("Alerts"), Right.KEEP),
    )),
    (_("People"), (
        Entry("/people", _("Who may what"), Right.ADMINISTER),
        Entry("/audit", _("Log of changes"), Right.ADMINISTER),
        Entry("/account", _("Your account"), Right.KEEP),
    )),
)  # fmt: skip
"""Groups, each with a heading."""
