"""What operators are told of: a source fails, the disk gets full, no crawl comes to an end. Each has a name by which it is told of once."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from newsportal.accounts.alerts import Message
from newsportal.alerts.matching import due_of
from newsportal.alerts.run import Work
from newsportal.sources.watched import judged

FAILS: Final = frozenset({"failing", "quarantined"})

WORDS: Final = {
    "source": {"zh": "来源「{name}」连续采集失败", "en": "The source {name} fails again and again"},
    "disk": {"zh": "磁盘空间仅剩 {free}%", "en": "Only {free}% of the disk is free"},
    "crawl": {"zh": "已超过 {hours} 小时没有采集完成", "en": "No crawl has come to an end for {hours} hours"},
}


@dataclass(frozen=True, slots=True)
class Condition:
    """``key``: the same as long as it lasts; another when it comes back. ``says``: in each language."""

    about: str
    key: str
    says: Mapping[str, str]


def _said(what: str, **values: object) -> dict[str, str]:
    return {language: text.format(**values) for language, text in WORDS[what].items()}


def conditions(work: Work, about: Collection[str]) -> list[Condition]:
    """Those of these kinds that hold now. Raises ``StoreError``."""
    found: list[Condition] = []
    if "sources" in about:
        found += _sources(work)
    if "disk" in about:
        found += _disk(work)
    if "crawl" in about:
        found += _crawl(work)
    return found


def _sources(work: Work) -> Iterator[Condition]:
    for one in judged(work.store, work.watched, work.now().astimezone(work.zone)):
        if one.health.state in FAILS:
            since = f"{one.health.since:%Y%m%dT%H%M}" if one.health.since else "ever"
            yield Condition("sources", f"source:{one.source.key}"[:220] + f":{since}", _said("source", name=one.source.name))


def _disk(work: Work) -> Iterator[Condition]:
    if work.folder is None or not work.folder.exists():
        return
    usage = shutil.disk_usage(work.folder)
    free = 100 * usage.free / usage.total
    if free < work.disk_free:
        yield Condition("disk", f"disk:{work.now().astimezone(work.zone):%Y-%m-%d}", _said("disk", free=f"{free:.1f}"))


def _crawl(work: Work) -> Iterator[Condition]:
    last = next((run for run in work.store.runs(20) if run.ended is not None), None)
    if last is None or last.ended is None or not any(source.enabled for source in work.watched):
        return
    if work.now() - last.ended > timedelta(hours=work.crawl_hours):
        yield Condition("crawl", f"crawl:{last.id}"[:255], _said("crawl", hours=f"{work.crawl_hours:g}"))


def tell(work: Work) -> int:
    """Keep what operators are to be told of now. Answers how many messages are new."""
    alerts = [alert for alert in work.accounts.alerts.all() if alert.enabled and alert.about not in ("topic", "search")]
    if not alerts:
        return 0
    now, found = work.now(), conditions(work, {alert.about for alert in alerts})
    messages = [
        Message(alert.id, one.key, "", one.says[alert.language], found=now, due=due_of(now, alert, work.zone), changed=now)
        for alert in alerts
        for one in found
        if one.about == alert.about
    ]
    return work.accounts.alerts.keep(messages)
