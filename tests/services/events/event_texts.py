"""Texts of three stories of two events, and a function that adds them to a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from factories import NOW, article

from newsportal.store.store import Store

FIRE = "青河市老城的一家灯笼作坊昨夜起火，消防员用了三个小时扑灭灯笼作坊的大火，作坊主赵远山受了轻伤。"
TRIAL = "灯笼作坊失火案今天在青河市法院开庭，作坊主赵远山承认没有检查电线，检察官说灯笼作坊的火灾本可避免。"
CATCH = "沿海三县今年的海带丰收，渔民天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场。"


def add(store: Store, name: str, title: str, text: str, days: int = 0, **more: object) -> str:
    moment = NOW + timedelta(days=days)
    return store.add(replace(article(name, title=title, text=text, published=moment), **more), now=moment).story_id  # type: ignore[arg-type]
