"""Targets as ``sources.yaml`` names them. The driver of a database is imported when its target is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from newsportal import egress
from newsportal.errors import DependencyMissing
from newsportal.publishing.base import Target
from newsportal.publishing.document import MissingDriver
from newsportal.sources import Sources
from newsportal.sources.publishing import Target as Settings
from newsportal.sources.publishing import Way


@dataclass(frozen=True, slots=True)
class Terms:
    """What targets need besides their own settings: the zone of moments that name none, who may be asked, what we call ourselves."""

    zone: tzinfo
    policy: egress.Policy
    agent: str


def terms_of(known: Sources) -> Terms:
    return Terms(ZoneInfo(known.portal.timezone), egress.Policy(tuple(known.politeness.allow_private)), known.user_agent)


def _table(target: Settings, terms: Terms) -> Target:
    from newsportal.publishing.tables import TableTarget

    return TableTarget(target, terms.zone)


def _folder(target: Settings, terms: Terms) -> Target:
    from newsportal.publishing.folder import FolderTarget

    return FolderTarget(target, terms.zone)


def _webhook(target: Settings, terms: Terms) -> Target:
    from newsportal.publishing.webhook import WebhookTarget

    return WebhookTarget(target, terms.zone, terms.policy, terms.agent)


def _mongodb(target: Settings, terms: Terms) -> Target:
    try:
        from newsportal.publishing.mongodb import MongoTarget
    except ModuleNotFoundError:
        return MissingDriver(DependencyMissing("publishing into MongoDB", "mongodb"))
    return MongoTarget(target)


def _elasticsearch(target: Settings, terms: Terms) -> Target:
    try:
        from newsportal.publishing.elasticsearch import ElasticsearchTarget
    except ModuleNotFoundError:
        return MissingDriver(DependencyMissing("publishing into Elasticsearch", "elasticsearch"))
    return ElasticsearchTarget(target)


WAYS: Final[dict[Way, Callable[[Settings, Terms], Target]]] = {
    "database": _table,
    "folder": _folder,
    "webhook": _webhook,
    "mongodb": _mongodb,
    "elasticsearch": _elasticsearch,
}


def open_target(target: Settings, terms: Terms) -> Target:
    """The target, not yet reached: that comes with the first question."""
    return WAYS[target.way](target, terms)
