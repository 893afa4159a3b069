"""The way in: ``open_documents(uri, tables)``. What is there already says of which version it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from newsportal.errors import StoreError, StoreTooNew, StoreUnavailable
from newsportal.storage.documents.backend import Backend
from newsportal.storage.documents.base import Documents, Questions, Row, Table, Transaction
from newsportal.storage.documents.transactions import Transactions
from newsportal.storage.sql.dialect import driver_missing, half_restored

META: Final = Table("meta", {"id": "key"})
"""Its row ``schema`` has the ``version`` of the rows."""

SCHEMA = "schema"

RESTORING = "restoring"
"""The field of that row which names the backup that is being written into the database."""

Migration = Callable[[Transaction], None]


def editors(_transaction: Transaction) -> None:
    """To version 2: editors correct and hide articles. Rows from before lack these fields: nobody did. An earlier newsportal
    would show what is hidden, so it must not open the store any more."""


MIGRATIONS: Mapping[int, Migration] = {2: editors}
"""Version → what makes rows of the version before into rows of this one, in one transaction. The first version is 1."""


def open_documents(
    uri: str,
    tables: Sequence[Table],
    *,
    create: bool = True,
    unfinished: bool = False,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> Documents:
    """The database of documents behind ``uri``, with these tables (``pieces.PIECES`` among them, if pieces are used).

    Raises ``StoreUnavailable`` if it is away, or missing and not to be made, ``StoreTooNew`` if a later version wrote it,
    ``StoreUnfinished`` if it holds a part of a backup, unless ``unfinished`` says that somebody goes on with it.
    """
    backend = backend_of(uri)
    try:
        schema = _schema(backend)  # before anything is sent: an earlier newsportal changes nothing of it
        _refuse_later(_version(schema), migrations, backend.place)
        _refuse_half(schema, unfinished, backend.place)
        documents = Transactions(backend, (*tables, META))
    except BaseException:
        backend.close()
        raise
    try:
        bring_up(documents, create=create, migrations=migrations)
    except BaseException:
        documents.close()
        raise
    return documents


def backend_of(uri: str) -> Backend:
    """The backend behind ``uri``; its driver is loaded."""
    scheme = uri.partition(":")[0].partition("+")[0].lower()
    try:
        if scheme == "mongodb":
            from newsportal.storage.documents.mongo import MongoBackend

            return MongoBackend(uri)
        if scheme == "elasticsearch":
            from newsportal.storage.documents.elastic import ElasticBackend

            return ElasticBackend(uri)
    except ModuleNotFoundError as error:
        raise driver_missing(scheme, scheme) from error
    raise StoreError(f"no database of documents for {scheme!r}; these exist: elasticsearch, mongodb")


def bring_up(documents: Documents, *, create: bool, migrations: Mapping[int, Migration]) -> None:
    """Make or migrate. Safe when several processes start at once: the first one does it, the others find it done."""
    ours = _ours(migrations)
    found = _version(_schema(documents))
    if found is None and not create:
        raise StoreUnavailable(
            f"{documents.place}: there is no store yet; run `newsportal crawl` first, or check the store URI in sources.yaml"
        )
    if found == ours:
        return
    with documents.writing() as transaction:
        found = _version(_schema(transaction))
        _refuse_later(found, migrations, documents.place)
        for number in range((found or ours) + 1, ours + 1):
            migrations[number](transaction)
        if found != ours:
            transaction.put(META, {**_schema(transaction), "id": SCHEMA, "version": ours})


def restoring(rows: Questions) -> str | None:
    """The backup that is being written into the database. One that another version of newsportal began has another name."""
    told = _schema(rows).get(RESTORING)
    return str(told) if told else None


def mark(transaction: Transaction, backup: str | None) -> None:
    """Note that ``backup`` is written into the database, or that it is whole."""
    transaction.put(META, {**_schema(transaction), RESTORING: backup})


def _refuse_later(found: int | None, migrations: Mapping[int, Migration], place: str) -> None:
    ours = _ours(migrations)
    if found is not None and found > ours:
        raise StoreTooNew(
            f"{place}: the database has schema {found}, which this newsportal does not know (its own is {ours}); "
            "a later version wrote it: upgrade with `pip install -U newsportal`, or name another store in sources.yaml"
        )


def _refuse_half(schema: Row, unfinished: bool, place: str) -> None:
    if schema.get(RESTORING) and not unfinished:
        raise half_restored(place)


def _ours(migrations: Mapping[int, Migration]) -> int:
    return max(migrations, default=1)


def _version(schema: Row) -> int | None:
    """The version of the rows; ``None`` if there are none."""
    return int(schema["version"]) if schema else None


def _schema(rows: Questions) -> Row:
    """What the database says of itself, nothing if there is no store."""
    return rows.get(META, [SCHEMA]).get(SCHEMA, {})
