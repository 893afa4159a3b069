"""What would become of an article at a target, told of a made-up one: for ``newsportal publish check``, which needs no store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from newsportal.items import Image
from newsportal.publishing.base import Refused, Step, Target, TargetAway, TargetUnfit
from newsportal.store.outbox import Entry
from newsportal.store.results import StoredArticle

ADDRESS = "news.example/sample"


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """``problems``: what must be mended before anything can be published there; ``notes``: what somebody should know; ``steps``: what would
    be written."""

    problems: Sequence[str] = ()
    notes: Sequence[str] = ()
    steps: Sequence[Step] = ()


def rehearse(target: Target, name: str, now: datetime) -> Rehearsed:
    """Look at ``target``, which is called ``name``, and try what it would do. Nothing is written, and no message is sent."""
    try:
        notes = target.check()
        return Rehearsed((), notes, target.steps(sample(now), Entry(name, sample(now).id, now, now)))
    except (TargetAway, TargetUnfit) as error:
        return Rehearsed(str(error).splitlines())
    except Refused as error:
        return Rehearsed((f"an article like the made-up one is not taken: {error}",), notes)


def sample(now: datetime) -> StoredArticle:
    """An article that has every field. No stored one has its id."""
    return StoredArticle(
        "0" * 20,
        "0" * 20,
        ADDRESS,
        f"https://{ADDRESS}",
        "一篇样稿 (a sample)",
        now,
        now,
        "feed:sample",
        text="第一段。\nSecond paragraph.",
        html="<p>第一段。</p><p>Second paragraph.</p>",
        summary="一句话的摘要。",
        published=now,
        author="作者",
        origin="来源",
        site="网站",
        language="zh",
        category="类别",
        topics=("专题",),
        keywords=("关键词",),
        images=(Image(f"https://{ADDRESS}.jpg"),),
    )
