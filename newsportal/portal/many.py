"""Many articles changed at once by an editor, and all of it taken back: what stood before is in the log of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

from fastapi import Request

from newsportal.portal.access import log
from newsportal.portal.articles import hide_all, judge, out_of_topic, put_under, show_all
from newsportal.portal.context import Visit
from newsportal.store.article_rows import EDITOR

ACTION: Final = "article.many"

LOOKED_AT: Final = 200
"""Of the latest changes of many articles, so many can be taken back."""

Details = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """How many articles were changed; ``undo``: the name under which that can be taken back."""

    number: int
    undo: str | None


def _hide(request: Request, ids: Sequence[str], sent: Mapping[str, str]) -> Details:
    return {"before": dict.fromkeys(hide_all(request, ids, sent.get("reason", "")))}


def _show(request: Request, ids: Sequence[str], _sent: Mapping[str, str]) -> Details:
    reasons = {one.id: one.hidden_reason for one in Visit(request).portal.store.articles(ids)}
    return {"before": {id: reasons.get(id) or "" for id in show_all(request, ids)}}


def _category(request: Request, ids: Sequence[str], sent: Mapping[str, str]) -> Details:
    wanted = sent.get("category", "").strip() or None
    found = [one for one in Visit(request).portal.store.articles(ids) if (one.category, one.category_by) != (wanted, EDITOR)]
    judge(request, found, wanted, EDITOR)
    return {"before": {one.id: [one.category, one.category_by] for one in found}, "category": wanted}


def _topic(request: Request, ids: Sequence[str], sent: Mapping[str, str]) -> Details:
    return {"before": dict.fromkeys(put_under(request, ids, sent.get("topic", ""))), "topic": sent.get("topic", "")}


WAYS: Final[Mapping[str, Callable[[Request, Sequence[str], Mapping[str, str]], Details]]] = {
    "hide": _hide,
    "show": _show,
    "category": _category,
    "topic": _topic,
}
"""What may be done to many."""


def change(request: Request, do: str, ids: Sequence[str], sent: Mapping[str, str]) -> Done:
    """Do one of :data:`WAYS`; ``sent``: ``reason``, ``category``, ``topic``."""
    details = WAYS[do](request, ids, sent)
    if not details["before"]:
        return Done(0, None)
    key = token_hex(8)
    log(request, ACTION, do, {"key": key, **details})
    return Done(len(details["before"]), key)


def take_back(request: Request, key: str) -> int | None:
    """Undo a change as far as nobody changed the articles since; answers of how many. ``None``: nobody knows it any more."""
    visit = Visit(request)
    accounts = visit.portal.accounts
    latest = accounts.trail.entries(action=ACTION, limit=LOOKED_AT) if accounts is not None else []
    entry = next((one for one in latest if one.details.get("key") == key), None)
    return None if entry is None else BACK[entry.thing](request, entry.details)


def _hidden_again(request: Request, told: Mapping[str, Any]) -> int:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for id, reason in told["before"].items():
        by_reason[reason].append(id)
    return sum(len(hide_all(request, ids, reason)) for reason, ids in by_reason.items())


def _judged_back(request: Request, told: Mapping[str, Any]) -> int:
    before: Mapping[str, Sequence[str | None]] = told["before"]
    found = Visit(request).portal.store.articles(list(before))
    same = [one for one in found if (one.category, one.category_by) == (told["category"], EDITOR)]
    return sum(judge(request, [one], before[one.id][0], before[one.id][1] or "lexicon") for one in same)


BACK: Final[Mapping[str, Callable[[Request, Mapping[str, Any]], int]]] = {
    "hide": lambda request, told: len(show_all(request, list(told["before"]))),
    "show": _hidden_again,
    "category": _judged_back,
    "topic": lambda request, told: len(out_of_topic(request, list(told["before"]), told["topic"])),
}
"""How each of :data:`WAYS` is taken back."""
