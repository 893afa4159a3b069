"""The names by which articles are known: those entered since a change, and what pages declare without proof."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection, func, select, tuple_

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.storage.columns import MOST_DECLARING
from newsportal.storage.rows import storable
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.reading import PAGE, identity_page
from newsportal.storage.sql.tables import ALIASES, ARTICLES, CHANGES, DECLARED
from newsportal.storage.sql.writing import find


class Read(Protocol):
    """Opens a connection for one page of rows, so that nobody is blocked between two pages."""

    def __call__(self) -> AbstractContextManager[Connection]: ...


def all_names(read: Read) -> Iterator[str]:
    """Every identity and alias, by id."""
    after = ""
    while True:
        with read() as connection:
            page = identity_page(connection, after)
        if not page:
            return
        yield from (identity for _, identity in page)
        after = page[-1][0]


def names_since(read: Read, after: int) -> Iterator[str]:
    """The identities of articles that changed after the change ``after``, and the aliases entered since."""
    seq = after
    while True:
        with read() as connection:
            page = _changed(connection, seq)
        if not page:
            break
        yield from (identity for _, identity in page)
        seq = page[-1][0]
    last = (after, "")
    while True:
        with read() as connection:
            aliases = _aliases(connection, *last)
        if not aliases:
            return
        yield from (identity for _, _, identity in aliases)
        last = aliases[-1][:2]


def _changed(connection: Connection, after: int) -> list[tuple[int, str]]:
    wanted = (
        select(CHANGES.c.seq, ARTICLES.c.identity)
        .join(ARTICLES, ARTICLES.c.id == CHANGES.c.id)
        .where(CHANGES.c.seq > after, CHANGES.c.kind == "article")
    )
    return [(seq, identity) for seq, identity in connection.execute(wanted.order_by(CHANGES.c.seq).limit(PAGE))]


def _aliases(connection: Connection, seq: int, id: str) -> list[tuple[int, str, str]]:
    wanted = select(ALIASES.c.seq, ALIASES.c.id, ALIASES.c.identity).where(tuple_(ALIASES.c.seq, ALIASES.c.id) > (seq, id))
    return [(seq, id, identity) for seq, id, identity in connection.execute(wanted.order_by(ALIASES.c.seq, ALIASES.c.id).limit(PAGE))]


def declare(connection: Connection, name: str, of: str) -> None:
    """See ``Store.declare``."""
    article_id = find(connection, storable(of))
    if article_id is None:
        raise StoreError(f"no article is known as {of!r}, so it cannot declare {name!r}")
    key = content_id(storable(name))
    if (connection.scalar(select(func.count()).where(DECLARED.c.id == key)) or 0) < MOST_DECLARING:
        upsert(connection, DECLARED, [{"id": key, "article_id": article_id}])


def declared_by(connection: Connection, name: str) -> list[str]:
    """The ids of the articles that declare ``name``, and of the one that is known by it, first."""
    name = storable(name)
    known = find(connection, name)
    declaring = connection.scalars(select(DECLARED.c.article_id).where(DECLARED.c.id == content_id(name)).order_by(DECLARED.c.article_id))
    return list(dict.fromkeys([*([known] if known else []), *declaring]))
