"""The names by which articles are known in a database of documents: their identities, their aliases, and what pages declare without
proof."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.storage.columns import MOST_DECLARING
from newsportal.storage.documents.base import Is, Rows, Transaction, Within
from newsportal.storage.documents.plain import in_pages
from newsportal.storage.documents.tables import ALIASES, ARTICLES, CHANGE_NUMBERS, CHANGES, DECLARED
from newsportal.storage.paging import PAGE, chunks
from newsportal.storage.rows import storable


def find(rows: Rows, identity: str) -> str | None:
    """The id of the article that is known by ``identity``, itself or as an alias. No identity is both."""
    id = content_id(identity)
    if rows.get(ARTICLES, [id], only=("id",)):
        return id
    alias = rows.get(ALIASES, [id]).get(id)
    return None if alias is None else str(alias["article_id"])


def known(rows: Rows, identities: Collection[str]) -> set[str]:
    """See ``Store.known``."""
    by_id = {content_id(storable(identity)): identity for identity in identities}
    found: set[str] = set()
    for chunk in chunks(by_id):
        for table in (ARTICLES, ALIASES):
            found.update(by_id[id] for id in rows.get(table, chunk, only=("id",)))
    return found


def all_names(rows: Rows) -> Iterator[str]:
    """Every identity and alias."""
    for table in (ARTICLES, ALIASES):
        for page in in_pages(rows, table, size=PAGE, only=("identity",)):
            yield from (row["identity"] for row in page)


def names_since(rows: Rows, after: int) -> Iterator[str]:
    """The identities of articles that changed after the change ``after``, and the aliases entered since."""
    since = Within("seq", after, rows.last(CHANGE_NUMBERS), above=True, upto=True)
    for page in in_pages(rows, CHANGES, since, Is("kind", "article"), order=("seq",), size=PAGE, only=("of",)):
        for chunk in chunks(dict.fromkeys(change["of"] for change in page)):
            yield from (row["identity"] for row in rows.get(ARTICLES, chunk, only=("identity",)).values())
    for page in in_pages(rows, ALIASES, Within("seq", low=after), order=("seq",), size=PAGE, only=("identity",)):
        yield from (row["identity"] for row in page)


def add_alias(transaction: Transaction, identity: str, of: str) -> None:
    """See ``Store.add_alias``."""
    target = find(transaction, storable(of))
    if target is None:
        raise StoreError(f"no article is known as {of!r}, so {identity!r} cannot be an alias of it")
    identity = storable(identity)
    if find(transaction, identity) is None:
        row = {"id": content_id(identity), "identity": identity, "article_id": target, "seq": transaction.last(CHANGE_NUMBERS)}
        transaction.put(ALIASES, row)


def declare(transaction: Transaction, name: str, of: str) -> None:
    """See ``Store.declare``."""
    article_id = find(transaction, storable(of))
    if article_id is None:
        raise StoreError(f"no article is known as {of!r}, so it cannot declare {name!r}")
    key = content_id(storable(name))
    row = transaction.get(DECLARED, [key]).get(key, {"id": key, "article_ids": []})
    if len(row["article_ids"]) < MOST_DECLARING and article_id not in row["article_ids"]:
        transaction.put(DECLARED, {"id": key, "article_ids": sorted([*row["article_ids"], article_id])})


def declared_by(rows: Rows, name: str) -> list[str]:
    """The ids of the articles that declare ``name``, and of the one that is known by it, first."""
    name = storable(name)
    id, key = find(rows, name), content_id(name)
    declaring = rows.get(DECLARED, [key]).get(key, {"article_ids": []})["article_ids"]
    return list(dict.fromkeys([*([id] if id else []), *declaring]))
