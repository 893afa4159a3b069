"""Finding a row again in a foreign table: keys that change, keys without a JSON type, and keys that were removed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from cms import Cms, run, work_on
from factories import NOW
from servers import Servers
from sqlalchemy import Column, Date, DateTime, Integer, Numeric, String, Uuid, text

from newsportal.services.publishing.base import AlreadyPublished
from newsportal.services.publishing.columns import key_of
from newsportal.services.publishing.run import LEASE, publish
from newsportal.store.store import Store

Add = Callable[..., str]


def other_target(cms: Cms, columns: str) -> str:
    return f"- {{name: other, to: '{cms.uri}', table: other, columns: {columns}}}\n"


def rows(cms: Cms) -> list[tuple[Any, ...]]:
    with cms.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text("SELECT * FROM other"))]


def test_key_may_change_with_its_article(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    cms.run("CREATE TABLE other (name VARCHAR(80) NOT NULL PRIMARY KEY)")
    target = other_target(cms, "{name: {field: title, max: 80}}")
    for number in range(4):
        id = add("a", title=f"标题 {number}")
        run(store, tmp_path, target)
        assert rows(cms) == [(f"标题 {number}",)]
    store.outbox.request("other", [id], "withdraw", now=NOW)
    run(store, tmp_path, target)
    assert rows(cms) == []


def test_row_is_found_by_date_key(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    cms.run("CREATE TABLE other (day DATE NOT NULL, at DATETIME NOT NULL, title VARCHAR(80), PRIMARY KEY (day, at))")
    target = other_target(cms, "{day: moment, at: moment, title: {field: title, max: 80}}")
    add("a", title="旧")
    run(store, tmp_path, target)
    id = add("a", title="新")
    run(store, tmp_path, target)
    assert [row[2] for row in rows(cms)] == ["新"]
    store.outbox.request("other", [id], "withdraw", now=NOW)
    run(store, tmp_path, target)
    assert rows(cms) == []


@pytest.mark.slow
def test_row_is_found_by_key_generated_by_postgresql(store: Store, add: Add, servers: Servers, tmp_path: Path) -> None:
    with servers.database("postgresql") as database, closing(Cms(database.uri)) as cms:
        cms.run("CREATE TABLE other (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title VARCHAR(80))")
        target = other_target(cms, "{title: {field: title, max: 80}}")
        add("a", title="旧")
        run(store, tmp_path, target)
        id = add("a", title="新")
        assert run(store, tmp_path, target).revised == 1
        assert [row[1] for row in rows(cms)] == ["新"]
        store.outbox.request("other", [id], "withdraw", now=NOW)
        run(store, tmp_path, target)
        assert rows(cms) == []


def test_keys_are_converted_to_their_column_types() -> None:
    unique = UUID(int=7)
    assert key_of(str(unique), Column("k", Uuid())) == unique
    assert key_of("2026-03-01", Column("k", Date())) == date(2026, 3, 1)
    assert key_of("2026-03-01 08:30:00", Column("k", DateTime())) == datetime(2026, 3, 1, 8, 30)  # noqa: DTZ001
    assert key_of("1.50", Column("k", Numeric())) == Decimal("1.50")
    assert key_of("01.03.2026", Column("k", Date())) == "01.03.2026"
    assert (key_of("1", Column("k", String())), key_of(1, Column("k", Integer()))) == ("1", 1)


def test_overtaken_publisher_removes_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path) -> None:
    id = add("a")
    run(store, tmp_path, cms.target())
    store.outbox.request("cms", [id], "withdraw", now=NOW)
    with work_on(store, tmp_path, cms.target()) as work:
        start = NOW + timedelta(days=900)
        (entry,) = store.outbox.lease_due("cms", "slow", now=start, seconds=LEASE, limit=1)
        store.outbox.request("cms", [id], "publish", now=NOW)
        add("a", title="新的标题")
        assert publish(replace(work, now=lambda: start + timedelta(seconds=LEASE + 1))).revised == 1
        with pytest.raises(AlreadyPublished):
            work.target.remove(store.articles([id])[0], entry)
    assert [row["title"] for row in cms.rows()] == ["新的标题"]


@pytest.mark.parametrize("unpublish", ["delete", "{status: trash}"])
@pytest.mark.parametrize("before", [True, False])
def test_overtaken_publisher_restores_nothing(store: Store, add: Add, cms: Cms, tmp_path: Path, unpublish: str, before: bool) -> None:
    """A withdrawn article stays withdrawn, even if a suspended publisher wakes up and still holds it."""
    target = cms.target(unpublish=unpublish)
    id = add("a")
    if before:
        run(store, tmp_path, target)
    store.outbox.request("cms", [id], "publish", now=NOW)
    with work_on(store, tmp_path, target) as work:
        start = NOW + timedelta(days=900)
        (entry,) = store.outbox.lease_due("cms", "slow", now=start, seconds=LEASE, limit=1)
        store.outbox.request("cms", [id], "withdraw", now=NOW)
        assert publish(replace(work, now=lambda: start + timedelta(seconds=LEASE + 1))).withdrawn == 1
        with pytest.raises(AlreadyPublished):
            work.target.put(store.articles([id])[0], entry)
    assert [row["status"] for row in cms.rows()] == (["trash"] if before and "trash" in unpublish else [])
