"""Reports of a supervisor as text."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.cli.schedule import lines

TRAINED = {"corpus": "categories", "version": 2, "active": True, "documents": 120, "reason": ""}
CRAWLED = {"stored": 1, "folded": 2, "known": 3, "failures": 0, "list_failures": 0, "reason": "finished", "finished": True}


def ended(kind: str, **facts: Any) -> list[str]:
    defaults = {"job": "5f1c0a2b", "kind": kind, "spider": "", "status": 0, "result": "done", "outcome": [], "error": None}
    return list(lines("ended", {**defaults, **facts}))


@pytest.mark.parametrize(
    ("kind", "facts", "text"),
    [
        ("retrain", {"outcome": [TRAINED]}, ["trained version 2 of the model of categories on 120 articles: in use now"]),
        ("retrain", {"outcome": [{**TRAINED, "version": None}]}, []),
        (
            "retrain",
            {"result": "failed", "outcome": [TRAINED], "error": {"code": "x", "text": "no such store"}},
            [
                "trained version 2 of the model of categories on 120 articles: in use now",
                "the training failed: no such store; the current models stay in use",
            ],
        ),
        ("retrain", {"result": "cancelled"}, []),
        ("fit", {"outcome": [{"views": 9, "readers": 2, "seconds": 3.2}]}, ["recommendations learnt from 9 views of 2 readers in 3 s"]),
        ("fit", {"result": "lost"}, ["the fit of recommendations failed: lost; the previous one stays in use"]),
        ("prune", {"outcome": [{"deleted": {"articles": 4, "log": 0}}]}, ["deleted as expired: 4 articles"]),
        ("prune", {"outcome": [{"deleted": {"log": 0}}]}, []),
        (
            "revise",
            {"outcome": [{"events": 9, "split": 1, "joined": 2, "more": False}]},
            ["9 events checked: 1 split, 2 joined"],
        ),
        ("revise", {"outcome": [{"events": 9, "split": 0, "joined": 0, "more": False}]}, []),
        ("crawl", {"outcome": [{**CRAWLED, "sources": 0, "reasons": []}]}, ["nothing is due"]),
        ("crawl", {"outcome": [{**CRAWLED, "sources": 1, "reasons": ["a: dns"]}]}, ["1 new story, 2 folded, 3 known", "  a: dns"]),
        ("crawl", {"spider": "rss", "outcome": [CRAWLED]}, ["job 5f1c0a2b: rss ended; 1 new story, 2 folded, 3 known"]),
        ("crawl", {"spider": "rss"}, ["job 5f1c0a2b: rss ended; no report; see its log"]),
    ],
)
def test_ended_job_as_text(kind: str, facts: dict[str, Any], text: list[str]) -> None:
    assert ended(kind, **facts) == text


def test_failed_crawl_names_its_log() -> None:
    (line,) = ended("crawl", result="failed", error={"code": "exit-status", "text": "status 1"})
    assert "failed: status 1" in line
    assert "newsportal schedule log 5f1c0a2b" in line
