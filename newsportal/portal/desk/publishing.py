"""``/publishing``: what waits to be published, what failed and why; editors try again, publish anew, take back, or try a target."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import log, needs
from newsportal.portal.context import Here, Portal, Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.render import address, render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.services.publishing.base import TargetAway, TargetUnfit
from newsportal.services.publishing.dry_run import try_target
from newsportal.services.publishing.targets import ask_for
from newsportal.sources.uris import mask
from newsportal.store.outbox import OPEN, STATES, State

NAMES: Final[Mapping[State, str]] = {
    "waiting": _("waiting"),
    "under-way": _("under way"),
    "done": _("published"),
    "failed": _("failed"),
    "withdrawn": _("taken back or left out"),
}

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN: Final = 100  # articles of each list

LISTS: Final[Mapping[str, tuple[str, tuple[State, ...]]]] = {
    "failed": (_("What failed"), ("failed",)),
    "waiting": (_("What waits"), OPEN),
    "done": (_("What was published last"), ("done",)),
    "withdrawn": (_("What was taken back or left out"), ("withdrawn",)),
}
"""``?state=`` -> heading and states of a list."""


@router.get("/publishing")
def publishing(request: Request, visit: Here) -> Response:
    """``target``, ``state`` and ``article`` narrow the lists; of an article all targets are shown."""
    portal, asked = visit.portal, {name: visit.text(name) for name in ("target", "state", "article")}
    counts = portal.store.outbox.counts()
    names = dict.fromkeys((*portal.site.publishes, *counts))
    places = {one.name: mask(one.to) for one in portal.config.publish}
    rows = [
        {"target": name, "counts": [counts.get(name, {}).get(state, 0) for state in STATES], "to": places.get(name)} for name in names
    ]  # ``to`` None: sources.yaml does not name the target any more
    shown = [name for name in LISTS if asked["state"] in (None, name) and (name != "withdrawn" or any(asked.values()))]
    lists = {name: (visit.say(LISTS[name][0]), _lines(portal, LISTS[name][1], asked)) for name in shown}
    article = portal.store.article(asked["article"]) if asked["article"] else None
    there = {line["entry"].target for _heading, lines in lists.values() for line in lines}
    return render(
        request, "publishing.html", rows=rows, states=[visit.say(NAMES[state]) for state in STATES], lists=lists, asked=asked,
        article=article, absent=[name for name in portal.site.publishes if name not in there] if article else [], feed=None,
        kinds=[(visit.say(heading), address("/publishing", **{**asked, "state": name}), asked["state"] == name)
               for name, (heading, _states) in LISTS.items()],
    )  # fmt: skip


@router.post("/publishing/again", dependencies=[needs(Right.EDIT)])
def again(request: Request, sent: Form) -> Response:
    """``target`` and ``article`` name one that failed; without them all wait anew. The next publisher takes them."""
    visit, article, target = Visit(request), sent.get("article"), sent.get("target") or None
    number = visit.portal.store.outbox.again(target, [article] if article else None, now=visit.portal.now())
    log(request, "publishing.again", article or "", {"target": target, "articles": number})
    text = visit.say_number("%(num)d article waits anew.", "%(num)d articles wait anew.", number)
    return redirect_with(request, "/publishing", text)


@router.post("/publishing/ask", dependencies=[needs(Right.EDIT)])
def ask(request: Request, fields: Form) -> Response:
    """``target``, ``article``, ``wanted``: ``there`` (publish it, or publish it anew) or ``gone`` (take it back)."""
    sent, portal = {**request.query_params, **fields}, Visit(request).portal
    target, article, wish = sent.get("target", ""), sent.get("article", ""), sent.get("wanted")
    before = ask_for(portal.store, portal.site.publishes, target, article, wish or "", portal.now())
    log(request, "publishing.ask", article, {"target": target, "wanted": wish})
    query = urlencode({"target": target, "article": article, "wanted": before})
    message = _("The article waits to be published there.") if wish == "there" else _("The article waits to be taken back there.")
    undo = f"/publishing/ask?{query}" if before and before != wish else None
    return notify(request, address("/publishing", article=article), message, undo=undo)


@router.get("/publishing/trial", dependencies=[needs(Right.EDIT)])
def trial(request: Request, visit: Here) -> Response:
    """What ``target`` would do with what waits, or with ``article``; nothing is done."""
    found, trouble, portal = [], None, visit.portal
    try:
        with closing(try_target(portal.store, portal.config, visit.text("target") or "", visit.text("article"), portal.now)) as steps:
            found = list(steps)
    except (TargetAway, TargetUnfit) as error:
        trouble = str(error)
    return render(request, "publishing_trial.html", target=visit.text("target"), found=found, trouble=trouble)


def _lines(portal: Portal, states: tuple[State, ...], asked: Mapping[str, str | None]) -> list[dict[str, Any]]:
    entries = portal.store.outbox.entries(asked["target"], states=states, article_id=asked["article"], limit=SHOWN)
    found = {article.id: article for article in portal.store.articles([entry.article_id for entry in entries])}
    return [{"entry": entry, "article": found.get(entry.article_id)} for entry in entries]
