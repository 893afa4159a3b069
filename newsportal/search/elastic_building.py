"""Indexing from the store's change log into Elasticsearch: follow it in batches, or build a new index beside the current one.

Each generation is an index, ``PREFIX_search-N``; the alias ``PREFIX_search`` points to the one that is searched. Its position in the change
log is a document in the index, written after the articles: after a crash in between they are written again. The version of an article is
the change at which it was read, so the slower of two followers overwrites nothing newer.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from elasticsearch import ApiError, BadRequestError, ConflictError, NotFoundError

from newsportal.errors import SearchError, StoreError
from newsportal.search.docs import doc_of, segment_doc, visible_articles
from newsportal.search.elastic_connection import BUSY_CODES, DISK_FULL, Connection, ServerBusy, batches, reason_of, status_error
from newsportal.search.elastic_layout import ANALYSERS, POSITION, SETTINGS, VERSION, delete_lines, index_lines, mapping
from newsportal.store.dialects import chunks
from newsportal.store.store import Store

CONFLICT = 409  # status of a write refused because a later version exists
NOT_FOUND, NO_INDEX, NO_ALIAS = 404, "no such index", "require_alias"  # a rebuild deleted the index behind its alias, or none was created


def send_writes(connection: Connection, writes: Iterable[Sequence[bytes]]) -> None:
    for batch in batches(writes):
        pending = batch
        while pending:
            pending = connection.run(_send_batch, connection, pending)


def _send_batch(connection: Connection, writes: Sequence[Sequence[bytes]]) -> list[Sequence[bytes]]:
    """Send a batch, and return the writes that the busy server rejected. Raises ``ServerBusy`` if all were."""
    operations: Any = [line for lines in writes for line in lines]  # serialized JSON lines, which the client's types do not include
    response = connection.client.bulk(operations=operations)
    if not response["errors"]:
        return []
    rejected = []
    for lines, answered_item in zip(writes, response["items"], strict=True):
        (item,) = answered_item.values()
        if item["status"] < 300 or item["status"] == CONFLICT or (item["status"] == NOT_FOUND and item.get("result") == "not_found"):
            continue
        reason = reason_of(item)
        if (NO_INDEX not in reason or NO_ALIAS in reason) and (item["status"] not in BUSY_CODES or DISK_FULL in reason):
            raise status_error(item["status"], reason, connection.place)
        rejected.append(lines)
    if len(rejected) == len(writes):
        raise ServerBusy(f"{connection.place}: the server is overloaded; try again")
    return rejected


BATCH = 500  # articles segmented and sent before the position is written
FIRST_NUMBER = 1  # number of the first generation
MAX_TRIES = 20  # numbers tried for a new generation while other processes create some


@dataclass(frozen=True)
class IndexPosition:
    """Position of the searched index, and the precondition for the next writer (creation, if it was never written)."""

    position: int
    expected: dict[str, Any]


class Generations:
    """The indices behind one alias."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.client = connection, connection.client
        self.alias = f"{connection.prefix}_search"

    def current(self) -> dict[str, dict[str, Any]]:
        """Return the index behind the alias → its metadata (version, cuts, plugin); empty if there is none."""
        response: Any = self.connection.run(self.client.options(ignore_status=404).indices.get_mapping, index=self.alias)
        return {} if "error" in response else {name: found["mappings"].get("_meta", {}) for name, found in response.items()}

    def prepare(self) -> None:
        """Create the first generation, or replace one of an older version. Raises ``SearchError`` for one of a newer version."""
        present = self.current()
        if newer := [name for name, notes in present.items() if notes.get("version", 0) > VERSION]:
            raise SearchError(
                f"{self.connection.place}: the search index {newer[0]} was made by a newer newsportal; upgrade this one, "
                "or name another prefix in the URI under index: in sources.yaml"
            )
        if not present:
            try:
                self._create(f"{self.alias}-{FIRST_NUMBER}", mapping(self.plugin()), self.alias)
            except StoreError as error:
                if not _exists_already(error):
                    raise
                if not self.current():  # another process removed its alias
                    self.activate(f"{self.alias}-{FIRST_NUMBER}", ())
        elif any(notes.get("version", 0) < VERSION for notes in present.values()):
            self.activate(self.create(), present)
        if extra := sorted(self.current(), key=_number)[1:]:
            self.connection.run(self.client.options(ignore_status=404).indices.delete, index=extra)

    def plugin(self) -> str | None:
        """Return the Chinese analyser installed on every node, if any."""
        names = [{plugin["name"] for plugin in node.get("plugins", ())} for node in self._nodes()]
        return next((name for name in ANALYSERS if names and all(name in plugins for plugins in names)), None)

    def version(self) -> str:
        return ", ".join(sorted({node["version"] for node in self._nodes()}))

    def _nodes(self) -> list[dict[str, Any]]:
        return list(self.connection.run(self.client.nodes.info, metric="plugins")["nodes"].values())

    def create(self) -> str:
        """Create a new empty generation that is not searched yet."""
        properties = mapping(self.plugin())
        for _ in range(MAX_TRIES):
            name = f"{self.alias}-{max(map(_number, self.all()), default=FIRST_NUMBER) + 1}"
            try:
                self._create(name, properties)
            except StoreError as error:
                if not _exists_already(error):
                    raise
            else:
                return name
        raise SearchError(f"{self.connection.place}: {MAX_TRIES} other rebuilds of the search index began at the same moment; try again")

    def _create(self, name: str, mappings: dict[str, Any], *aliases: str) -> None:
        """Create an index with an alias of its own for writes, which exists only as long as the index."""
        all_aliases: dict[str, Any] = {alias: {} for alias in (_write_alias(name), *aliases)}
        self.connection.run(self.client.indices.create, index=name, mappings=mappings, settings=SETTINGS, aliases=all_aliases)

    def all(self) -> list[str]:
        """Return all generations, including those being built, and those whose builder died."""
        found = self.connection.run(self.client.indices.get_settings, index=f"{self.alias}-*", name="index.uuid")
        return [name for name in found if name.removeprefix(f"{self.alias}-").isdecimal()]

    def write_position(self, index: str, position: int) -> None:
        self.connection.run(self.client.index, index=_write_alias(index), require_alias=True, id=POSITION, document={"position": position})

    def activate(self, index: str, others: Collection[str]) -> None:
        """Make ``index`` the searched one and delete ``others``, atomically."""
        self.connection.run(self.client.indices.refresh, index=index)
        actions: list[dict[str, Any]] = [{"remove_index": {"index": name}} for name in others if name != index]
        actions.append({"add": {"index": index, "alias": self.alias}})
        try:
            self.connection.run(self.client.indices.update_aliases, actions=actions)
        except StoreError as error:
            if isinstance(error.__cause__, NotFoundError):
                raise SearchError("another rebuild of the index ended meanwhile; its result is in use") from error
            raise

    def read_position(self) -> IndexPosition:
        try:
            response = self.connection.run(self.client.get, index=self.alias, id=POSITION)
        except StoreError as error:
            fault = error.__cause__
            if isinstance(fault, NotFoundError) and fault.body.get("found") is False:  # the index exists, but is empty
                return IndexPosition(0, {"op_type": "create"})
            raise
        return IndexPosition(
            int(response["_source"]["position"]), {"if_seq_no": response["_seq_no"], "if_primary_term": response["_primary_term"]}
        )

    def update_position(self, place: IndexPosition, position: int) -> bool:
        """Write the next position; return False if another process was faster."""
        document = {"position": position}
        try:
            self.connection.run(self.client.index, index=self.alias, require_alias=True, id=POSITION, document=document, **place.expected)
        except StoreError as error:
            if isinstance(error.__cause__, ConflictError):
                return False
            raise
        return True


def _exists_already(error: StoreError) -> bool:
    """Return whether an index could not be created because it exists."""
    fault = error.__cause__
    return isinstance(fault, BadRequestError) and fault.error == "resource_already_exists_exception"


def _number(index: str) -> int:
    return int(index.rpartition("-")[2])


def _write_alias(index: str) -> str:
    """Return the alias for building an index: unlike the index name, writing to it does not recreate a deleted index."""
    return f"{index}-door"


def follow(generations: Generations, store: Store) -> int:
    read = 0
    while True:
        place = generations.read_position()
        changes = store.changes(place.position, BATCH)
        if not changes:
            break
        ids, seq = list(dict.fromkeys(change.id for change in changes)), changes[-1].seq
        docs = {article.id: doc_of(article) for article in visible_articles(store.articles(ids))}
        alias = generations.alias
        lines = (index_lines(alias, docs[id], segment_doc(docs[id]), seq) if id in docs else delete_lines(alias, id, seq) for id in ids)
        send_writes(generations.connection, lines)
        read += len(changes) if generations.update_position(place, seq) else 0
    if read:
        generations.connection.run(generations.client.indices.refresh, index=generations.alias)
    return read


def rebuild(generations: Generations, store: Store, progress: Callable[[int], None] | None) -> int:
    position, index = store.last_seq(), generations.create()
    try:
        done = _index_all(generations.connection, _write_alias(index), store, position, progress)
        generations.write_position(index, position)
        generations.activate(index, generations.all())
    except StoreError as error:
        if (isinstance(error.__cause__, ApiError) and error.__cause__.status_code == 404) or "require_alias" in str(error):
            raise SearchError("another rebuild of the index ended meanwhile; its result is in use") from error
        raise
    follow(generations, store)
    return done


def _index_all(connection: Connection, alias: str, store: Store, position: int, progress: Callable[[int], None] | None) -> int:
    """Write all articles, and return their number. A batch is segmented while the server writes the previous one."""
    done = 0
    with ThreadPoolExecutor(1, "indexing") as executor:
        pending: Future[None] | None = None
        for batch in chunks(visible_articles(store.all_articles()), BATCH):
            writes = [index_lines(alias, doc, segment_doc(doc), position) for doc in map(doc_of, batch)]
            if pending is not None:
                pending.result()
            pending = executor.submit(send_writes, connection, writes)
            done += len(batch)
            if progress:
                progress(done)
        if pending is not None:
            pending.result()
    return done
