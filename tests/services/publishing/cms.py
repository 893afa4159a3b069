"""A foreign news site: a database with a table of articles as content management systems have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Column, DateTime, Engine, Integer, MetaData, SmallInteger, String, Table, Text, create_engine, insert, select, text

from newsportal.services.publishing.run import Tally, Work, publish
from newsportal.services.publishing.targets import open_target
from newsportal.sources import Sources, parse
from newsportal.store.store import Store

TARGET = """
- name: cms
  to: {to}
  table: posts
  columns:
    title: {{field: title, max: 80}}
    body: html
    cat_id: {{lookup: {{旅游: 12, 体育: 7}}, default: 1}}
    created: {{field: moment, zone: Asia/Shanghai}}
    made: {{field: published, format: unix, default: 0}}
    origin: {{constant: newsportal}}
    slug: {{template: "{{kind}}-{{id}}"}}
    hits: 0
    status: {{constant: publish}}
  key: slug
"""


class Cms:
    """``uri``: an empty database."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.engine: Engine = create_engine(driver(uri))
        self.posts = Table(
            "posts",
            MetaData(),
            Column("id", Integer, primary_key=True),
            Column("title", String(80), nullable=False),
            Column("body", Text, nullable=False),
            Column("cat_id", Integer, nullable=False),
            Column("created", DateTime, nullable=False),
            Column("made", Integer, nullable=False),
            Column("origin", String(40)),
            Column("slug", String(200), nullable=False),
            Column("hits", SmallInteger, nullable=False),
            Column("status", String(20), nullable=False, server_default="draft"),
            Column("theirs", String(20)),
            mysql_charset="utf8mb4",
        )
        self.posts.create(self.engine)

    def target(self, **changes: str) -> str:
        """Return the target's entry under ``publish``, with more keys."""
        return TARGET.format(to=self.uri) + "".join(f"  {key}: {value}\n" for key, value in changes.items())

    def rows(self) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(select(self.posts).order_by(self.posts.c.id)).mappings()]

    def slugs(self) -> list[str]:
        return sorted(row["slug"] for row in self.rows())

    def marks(self) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(text("SELECT * FROM newsportal_published ORDER BY article")).mappings()]

    def run(self, statement: str) -> None:
        """Run a statement as the site's administrator."""
        with self.engine.begin() as connection:
            connection.execute(text(statement))

    def write(self, **values: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(insert(self.posts).values(**values))

    def close(self) -> None:
        self.engine.dispose()


def driver(uri: str) -> str:
    """Return ``uri`` with the installed driver."""
    for scheme, name in (("postgresql://", "postgresql+psycopg://"), ("mysql://", "mysql+pymysql://")):
        if uri.startswith(scheme):
            return uri.replace(scheme, name, 1)
    return uri


def sources_with(folder: Path, publish: str) -> Sources:
    return parse(f"publish:\n{publish}".encode(), folder / "sources.yaml", {})


@contextmanager
def work_on(store: Store, folder: Path, target: str) -> Iterator[Work]:
    """Open the target described by ``target``."""
    sources = sources_with(folder, target)
    opened = open_target(sources.publish[0], sources)
    try:
        yield Work(store, sources.publish[0], opened, store.outbox.now)
    finally:
        opened.close()


def run(store: Store, folder: Path, target: str, limit: int | None = None) -> Tally:
    with work_on(store, folder, target) as work:
        return publish(work, limit=limit)
