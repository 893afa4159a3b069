"""Markup common to the forums."""

from __future__ import annotations

from datetime import datetime, timedelta
from html import escape

from madeup.exchange import Response
from madeup.forums.world import Forum, Post, Thread


def page(html: str, encoding: str = "utf-8", status: int = 200) -> Response:
    return Response(status, f"text/html; charset={encoding}", html.encode(encoding, "xmlcharrefreplace"))


def not_found(encoding: str = "utf-8") -> Response:
    return page("<html><head><title>404</title></head><body><h1>404 Not Found</h1></body></html>", encoding, 404)


def member(name: str) -> int:
    """Return the number in the URL of an author's profile."""
    return sum(map(ord, name)) % 9000 + 100


def paragraphs(post: Post, day: int, joint: str = "<br />\n") -> str:
    return joint.join(map(escape, post.said(day)))


def stamp(moment: datetime) -> str:
    """Return a time as Discuz! writes it: 2026-3-1 08:05."""
    return f"{moment.year}-{moment.month}-{moment.day} {moment:%H:%M}"


def month(text: str, step: int) -> str:
    """Return the month before or after ``2026-03``: the calendar is endless."""
    year, number = (int(part) for part in (text or "2026-03").split("-")[:2])
    index = year * 12 + number - 1 + step
    return f"{index // 12}-{index % 12 + 1:02}"


def views(thread: Thread, day: int) -> int:
    return len(thread.shown(day)) * 37 + thread.number % 50


def today(forum: Forum, moment: datetime) -> str:
    """Return a time as modern boards show it: relative within the day."""
    passed = forum.now - moment
    return f"{passed.seconds // 3600} 小时前" if passed < timedelta(days=1) and passed.seconds >= 3600 else stamp(moment)
