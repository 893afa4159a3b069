"""Delete what ``retention`` in sources.yaml no longer keeps: articles, their earlier texts, and records. Idempotent."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from newsportal.services.accounts import Accounts
from newsportal.sources.parts import Retention
from newsportal.store.pruning import Ages
from newsportal.store.store import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result. ``deleted``: rows by key of ``retention``; ``retained``: old articles kept, by reason; ``freed``: bytes on the disk."""

    deleted: Mapping[str, int]
    retained: Mapping[str, int]
    freed: int = 0


def ages(retention: Retention) -> Ages:
    sources, topics = (
        {name: None if days == "forever" else days for name, days in rules.items()} for rules in (retention.sources, retention.topics)
    )
    return Ages(retention.articles, sources, topics, retention.withdraw)


def prune(
    store: Store, accounts: Accounts, retention: Retention, *, alpha: float, now: datetime, dry_run: bool = False, vacuum: bool = False
) -> Outcome:
    """Delete what is too old; with ``dry_run`` only count it. Raises ``StoreError``: what is deleted stays deleted, the next run does the
    rest. ``alpha``: the share of a story from which it counts as liked, for the monthly figures that remain when views are deleted."""
    deleted = Counter[str]()
    rules, views = ages(retention), timedelta(days=retention.views)
    if dry_run:
        deleted["views"] = store.readers.count_outdated(now - views)
    else:
        deleted["views"] = store.readers.prune_views(alpha=alpha, now=now, keep=views, closing=rules.shortest is not None)
    pruned = store.pruning.articles(rules, accounts.marks.filter_marked, now=now, dry_run=dry_run)
    deleted.update(pruned.deleted)
    records: tuple[tuple[str, int | None, Callable[..., int]], ...] = (
        ("revisions", retention.revisions, store.pruning.revisions),
        ("reports", retention.reports, store.pruning.runs),
        ("assistant", retention.assistant, store.assistant.prune),
        ("log", retention.log, accounts.audit_log.prune),
        ("messages", retention.messages, accounts.alerts.prune),
        ("boards", retention.boards, store.boards.prune),
    )
    for name, days, delete in records:
        deleted[name] = 0 if days is None else delete(now - timedelta(days=days), dry_run=dry_run)
    if dry_run:
        return Outcome(dict(deleted), dict(pruned.retained))
    store.pruning.leftovers(now)
    freed = store.pruning.release_space(rebuild=vacuum) + accounts.release_space(rebuild=vacuum)
    return Outcome(dict(deleted), dict(pruned.retained), freed)
