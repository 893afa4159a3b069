"""Events of a supervisor as lines for people, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import typer

from newsportal.commands.output import print_json
from newsportal.services.jobs.base import Row
from newsportal.text.counting import counted

STARTS: Final = {
    "retrain": "training the models anew, beside everything else ...",
    "fit": "learning recommendations, beside everything else ...",
    "expire": "deleting old views of readers ...",
}
STAYS: Final = {
    "retrain": "the training failed: {}; the models in use stay",
    "fit": "the fit of recommendations failed: {}; the one before stays in use",
    "expire": "old views of readers could not be deleted: {}",
}


def sayer(as_json: bool) -> Callable[[str, Mapping[str, Any]], None]:
    """Prints one event."""

    def say(event: str, facts: Mapping[str, Any]) -> None:
        now = datetime.now().astimezone()
        if as_json:
            plain = {**facts, "brought": brought(facts)} if event == "ended" else facts
            print_json({"at": now.isoformat(timespec="seconds"), "event": event, **plain})
        else:
            for line in lines(event, facts):
                typer.echo(f"{now:%H:%M:%S} {line}")

    return say


def lines(event: str, facts: Mapping[str, Any]) -> Sequence[str]:
    if event == "started":
        return [_started(facts)]
    if event == "ended":
        return _ended(facts)
    return [str(facts["message"])]


def brought(job: Mapping[str, Any]) -> str:
    """What a crawl brought, in one line; ``job`` has its outcome, as rows of JSON."""
    outcome = next(iter(job["outcome"]), None)
    if outcome is None or "stored" not in outcome:
        return "it left no report: its log says why"
    if not outcome["finished"]:
        return f"it broke off: {summary(outcome)}"
    return summary(outcome) if outcome["reason"] == "finished" else f"{outcome['reason']}: {summary(outcome)}"


def summary(outcome: Row) -> str:
    """The totals of a crawl."""
    failures = {"page": outcome["failures"], "list page": outcome["list_failures"]}
    failed = " and ".join(counted(number, what) for what, number in failures.items() if number)
    text = f"{counted(outcome['stored'], 'new story')}, {outcome['folded']} folded, {outcome['known']} known"
    return f"{text}, failed: {failed}" if failed else text


def _started(facts: Mapping[str, Any]) -> str:
    if facts["kind"] != "crawl":
        return STARTS[facts["kind"]]
    if not facts["spider"]:
        return "crawling what is due ..."
    names = facts["sources"]
    what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"job {facts['job']}: {facts['spider']} visits {what}"


def _ended(facts: Mapping[str, Any]) -> Sequence[str]:
    if facts["kind"] == "crawl":
        return _crawled(facts)
    done = [line for row in facts["outcome"] if (line := OUTCOMES[facts["kind"]](row))]
    failed = facts["result"] not in ("done", "cancelled")
    return [*done, *([STAYS[facts["kind"]].format((facts["error"] or {}).get("text", facts["result"]))] if failed else [])]


def _crawled(facts: Mapping[str, Any]) -> Sequence[str]:
    if facts["spider"]:
        return [f"job {facts['job']}: {facts['spider']} ended; {brought(facts)}"]
    outcome = next(iter(facts["outcome"]), None)
    if outcome is None:
        return [_failed(facts)]
    told = [brought(facts), *(f"  {line}" for line in outcome["reasons"])] if outcome["sources"] else ["nothing is due"]
    return [*told, *([_failed(facts)] if facts["result"] == "failed" else [])]


def _failed(facts: Mapping[str, Any]) -> str:
    why = facts["error"]["text"] if facts["error"] else "it left no report"
    return f"the crawl failed: {why}; the next one takes up what it left; its log says why: newsportal schedule log {facts['job']}"


def _trained(row: Row) -> str | None:
    """Of the corpora that were trained; the others are no news."""
    if row.get("version") is None:
        return None
    used = "in use now" if row["active"] else f"not in use ({row['why']})"
    return f"trained version {row['version']} of the model of {row['corpus']} on {row['documents']} articles: {used}"


def _fitted(row: Row) -> str | None:
    if "views" not in row:
        return None
    return f"recommendations learnt from {row['views']} views of {row['readers']} readers in {row['seconds']:.0f} s"


def _expired(row: Row) -> str | None:
    return f"{row['deleted']} old views and offers of readers are deleted, as promised" if row.get("deleted") else None


OUTCOMES: Final[Mapping[str, Callable[[Row], str | None]]] = {"retrain": _trained, "fit": _fitted, "expire": _expired}
"""A row of a job's outcome as a line, where it is news."""
