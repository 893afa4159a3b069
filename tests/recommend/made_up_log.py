"""A small made-up log with readers of two tastes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from newsportal.recommend.base import Item, Log, View

DAWN = datetime(2026, 3, 1, tzinfo=UTC)


def at(hours: float) -> datetime:
    return DAWN + timedelta(hours=hours)


def view(reader: str, story: str, hours: float, seen: int = 1, pictures: int = 1) -> View:
    return View(reader, story, seen, pictures, at(hours))


def log(readers: int = 60, stories: int = 80, days: int = 10, seed: int = 1) -> Log:
    """Return a log in which half the readers view sport and half culture; each story is viewed on its first day."""
    draw = Random(seed)
    items = [
        Item(f"s{n:03}", at(24 * days * n / stories), (f"word{n}", "同题"), ("sport" if n % 2 else "culture", f"site{n % 3}"))
        for n in range(stories)
    ]
    views = [
        view(f"r{reader:02}", items[n].story, 24 * days * n / stories + 24 * draw.random(), draw.randint(1, 8), 8)
        for reader in range(readers)
        for n in range(stories)
        if draw.random() < (0.3 if n % 2 == reader % 2 else 0.02)
    ]
    return Log(views, items)
