"""``newsportal alert``: listed without secrets, previewed and sent once, with the databases configured in ``sources.yaml``."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories import CHEAP
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.items import Article, Link
from newsportal.services.accounts import Role, open_accounts
from newsportal.services.accounts.alerts import Alert
from newsportal.services.accounts.base import random_id
from newsportal.sources import load
from newsportal.store import open_store
from newsportal.store.results import StoryFilter

SOURCES = "topics: [{name: 旅游, engines: [bing_news]}]\nstore: sqlite:///store.db\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    sources, now = load(path), datetime.now(UTC)
    with closing(open_store(sources.store)) as store, closing(open_accounts(sources.accounts_uri, hasher=CHEAP)) as accounts:
        person = accounts.people.add("editor", "correct horse battery staple", Role.EDITOR, now=now)
        start = now - timedelta(hours=1)
        fields = {"url": "http://127.0.0.1:9/geheim-4711", "secret": ""}
        accounts.alerts.add(Alert(random_id(), person.id, "旅游快讯", "topic", "旅游", "webhook", fields, start, store.last_seq()))
        link = Link(url="https://a.example/1", source="feed:a")
        text = "云岭峡谷步行观景桥今天上午正式开放。" * 5
        values = {"url": link.url, "link": link, "fetched": now, "identity": link.url, "title": "观景桥开放", "text": text}
        store.add(Article(**values, topics=("旅游",), published=now), [], now=now)  # type: ignore[arg-type]
    return path


def run(file: Path, *words: str) -> str:
    result = CliRunner().invoke(app, ["alert", *words, "--sources", str(file)])
    assert "geheim" not in result.output
    return result.output if result.exit_code == 0 else f"failed: {result.exception or result.output}"


def test_list_preview_and_send(file: Path) -> None:
    row = json.loads(run(file, "list", "--json"))
    assert (row["name"], row["owner"], row["to"]) == ("旅游快讯", "editor", "webhook")
    preview = json.loads(run(file, "preview", row["id"][:6], "--json"))
    assert preview["stories"] == 1
    assert "观景桥开放" in run(file, "preview", row["id"])
    assert "allow_private" in run(file, "send", "--once")  # the receiver is on loopback: refused with the reason
    assert json.loads(run(file, "send", "--once", "--json"))["found"] == 0
    row = json.loads(run(file, "list", "--json"))
    assert row["failed"] == 1


def test_unknown_alert(file: Path) -> None:
    assert "no alert" in run(file, "test", "ffff")


def test_failed_test_message_gives_the_reason(file: Path) -> None:
    row = json.loads(run(file, "list", "--json"))
    assert "allow_private" in run(file, "test", row["id"])


def test_send_places_stories_for_event_alerts(file: Path) -> None:
    sources, now = load(file), datetime.now(UTC)
    with closing(open_store(sources.store)) as store, closing(open_accounts(sources.accounts_uri)) as accounts:
        (story,) = store.stories(StoryFilter()).stories
        (topical,) = accounts.alerts.all()
        accounts.alerts.add(replace(topical, id=random_id(), name="观景桥", about="event", of=story.id, created=now - timedelta(hours=1)))
    assert json.loads(run(file, "send", "--once", "--json"))["found"] == 2
    with closing(open_store(sources.store)) as store:
        assert store.events.position() == store.last_seq()
