"""A MongoDB collection as a target: one document per article, ``_id`` is the article's id.

``version`` is the fence of the write. A document is replaced only if its version is not higher, atomically on the server, so that a
publisher with an expired lease changes nothing. Ids of withdrawn articles are kept with their version in a separate collection
(``WITHDRAWN``), else such a publisher would insert them again.

FerretDB 1 is fast only for queries by ``_id``, and replaces in two steps: versions are read before, which is not atomic.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from bson import Int64, encode
from bson.errors import BSONError
from pymongo import MongoClient, errors
from pymongo.collection import Collection
from pymongo.operations import ReplaceOne

from newsportal.errors import NewsportalError
from newsportal.services.publishing.base import AlreadyPublished, BadTarget, Published, Refused, Step, TargetDown
from newsportal.services.publishing.fields import DocumentTarget, document, words_of
from newsportal.sources.publishing import Target
from newsportal.sources.uris import mask
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

DATABASE: Final = "newsportal"  # default for a URI without a database
WITHDRAWN: Final = "withdrawn"  # suffix of the collection that keeps the ids of withdrawn articles
INDEXES: Final = ("published", "date", "site", "topics", "category", "story", "words")
AWAY_MILLISECONDS: Final = 5_000
ANSWER_MILLISECONDS: Final = 30_000
LONGEST: Final = 16 * 2**20  # maximum bytes of a document in MongoDB
DUPLICATE: Final = 11000
WRITES: Final = frozenset(("insert", "update", "remove"))

UNFIT: Final[Mapping[int, str]] = {
    13: "this user lacks the permission; give it the role readWrite on the database",
    18: "user or password is wrong; correct publish.to, with ?authSource=NAME if the user is defined in another database",
    8000: "user or password is wrong; correct publish.to",
    13435: "the server is a secondary; name the replica set in publish.to: ?replicaSet=NAME",
}
AWAY: Final[Mapping[int, str]] = {
    50: "an operation took too long; see db.currentOp()",
    64: "the replica set did not confirm the write in time; check that most of its members run",
    91: "the server is shutting down",
    100: "the replica set has too few members to confirm a write",
    189: "the server has become a secondary; name the replica set in publish.to: ?replicaSet=NAME",
    262: "an operation took too long; see db.currentOp()",
    10107: "the server has become a secondary; name the replica set in publish.to: ?replicaSet=NAME",
    11600: "the server is shutting down",
    14031: "the disk is full; free space on the server",
}
REFUSED: Final = frozenset((121, 10334, 17419))
"""Error codes of documents rejected by a validator of the collection, or too large (src/mongo/base/error_codes.yml)."""

NO_SPACE: Final = re.compile(r"no space left|disk is full|out of disk space|read.?only", re.IGNORECASE)

Document = dict[str, Any]


class MongoTarget(DocumentTarget):
    def __init__(self, target: Target) -> None:
        self._target = target
        self._place = mask(target.to).partition("?")[0]
        self._client: MongoClient[Document] | None = None
        self._indexed = False
        self._ferret = False

    def check(self) -> Sequence[str]:
        with self._errors():
            articles = self._articles()
            self._ferret = "ferretdbVersion" in articles.database.client.server_info()
            status = articles.database.command({"connectionStatus": 1, "showPrivileges": True})["authInfo"]
            allowed: set[str] = set()
            for privilege in status.get("authenticatedUserPrivileges", ()):
                resource = privilege["resource"]
                if resource.get("anyResource") or (
                    resource.get("db") in ("", articles.database.name) and resource.get("collection") in ("", articles.name)
                ):
                    allowed.update(privilege["actions"])
            if status.get("authenticatedUsers") and not allowed >= WRITES:  # without users, everybody may
                raise BadTarget(f"{self._place}: {UNFIT[13]}")
            first = articles.find_one({}, {"version": 1})
        foreign = first is not None and "version" not in first
        return (f"{articles.name} contains documents of other programs; they are left unchanged",) if foreign else ()

    def put_many(self, items: Sequence[tuple[StoredArticle, OutboxEntry]]) -> Sequence[Published | NewsportalError]:
        outcomes: dict[str, Published | NewsportalError] = {entry.article_id: Published(article.story_id) for article, entry in items}
        documents: dict[str, Document] = {}
        with self._errors():
            articles = self._prepared()
            newer = self._newer_ids(self._withdrawn(), [entry for _, entry in items])
            for article, entry in items:
                try:
                    documents[entry.article_id] = _checked_size(_document(article, entry))
                except (BSONError, OverflowError, UnicodeError) as error:
                    outcomes[entry.article_id] = Refused(f"MongoDB cannot store it: {error}")
                except Refused as error:
                    outcomes[entry.article_id] = error
            for id in newer & documents.keys():
                outcomes[id] = AlreadyPublished()
                del documents[id]
            outcomes |= self._write(articles, [entry for _, entry in items if entry.article_id in documents], documents)
            newer = self._newer_ids(self._withdrawn(), [entry for _, entry in items if isinstance(outcomes[entry.article_id], Published)])
            for entry in (entry for _, entry in items if entry.article_id in newer):  # withdrawn since the first check
                articles.delete_one(self._filter(entry))
                outcomes[entry.article_id] = AlreadyPublished()
        return [outcomes[entry.article_id] for _, entry in items]

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        with self._errors():
            articles, withdrawn = self._articles(), self._withdrawn()
            if self._newer_ids(articles, [entry]) | self._newer_ids(withdrawn, [entry]):
                raise AlreadyPublished()
            withdrawn.replace_one({"_id": entry.article_id}, {"_id": entry.article_id, "version": Int64(entry.fence)}, upsert=True)
            articles.delete_one(self._filter(entry))

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        name = f"db.{self._target.collection}"
        if entry.action == "withdraw" or article is None:
            return (Step(f'{name}.deleteOne({{_id: "{entry.article_id}"}})', {}),)
        return (Step(f'{name}.replaceOne({{_id: "{entry.article_id}"}}, …, {{upsert: true}})', _checked_size(_document(article, entry))),)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _articles(self) -> Collection[Document]:
        if self._client is None:
            self._client = MongoClient(
                self._target.to, serverSelectionTimeoutMS=AWAY_MILLISECONDS, connectTimeoutMS=AWAY_MILLISECONDS,
                socketTimeoutMS=ANSWER_MILLISECONDS, appname="newsportal",
            )  # fmt: skip
        return self._client.get_default_database(DATABASE)[self._target.collection]

    def _withdrawn(self) -> Collection[Document]:
        return self._articles()[WITHDRAWN]

    def _prepared(self) -> Collection[Document]:
        """Return the collection with its indexes, created one by one: FerretDB 1 fails if some of several requested exist."""
        articles = self._articles()
        if not self._indexed:
            existing = articles.index_information()
            for name in INDEXES:
                if f"{name}_1" not in existing:
                    articles.create_index(name)
            self._indexed = True
        return articles

    def _filter(self, entry: OutboxEntry) -> Document:
        return {"_id": entry.article_id} | ({} if self._ferret else {"version": {"$lte": entry.fence}})

    def _newer_ids(self, collection: Collection[Document], entries: Sequence[OutboxEntry]) -> set[str]:
        fences = {entry.article_id: entry.fence for entry in entries}
        filters = [{"_id": id} for id in fences] if self._ferret else [{"_id": {"$in": list(fences)}}]
        found = [document for query in filters for document in collection.find(query, {"version": 1})]
        return {document["_id"] for document in found if document.get("version", 0) > fences[document["_id"]]}

    def _write(
        self, articles: Collection[Document], entries: Sequence[OutboxEntry], documents: Mapping[str, Document]
    ) -> dict[str, NewsportalError]:
        """Insert new documents, replace existing ones; return those that were not written."""
        new = [documents[entry.article_id] for entry in entries if not entry.published]
        failures: dict[str, NewsportalError] = {}
        try:
            if new:
                articles.insert_many(new, ordered=False)
        except errors.BulkWriteError as error:
            failures = outcomes_of(new, error.details)
        existing = {id for id, failure in failures.items() if isinstance(failure, AlreadyPublished)}
        updates = [entry for entry in entries if entry.published or entry.article_id in existing]
        return {id: failure for id, failure in failures.items() if id not in existing} | self._replace(articles, updates, documents)

    def _replace(
        self, articles: Collection[Document], entries: Sequence[OutboxEntry], documents: Mapping[str, Document]
    ) -> dict[str, NewsportalError]:
        found: dict[str, NewsportalError] = dict.fromkeys(self._newer_ids(articles, entries) if self._ferret else (), AlreadyPublished())
        writes = [(entry, documents[entry.article_id]) for entry in entries if entry.article_id not in found]
        if not writes:
            return found
        try:
            articles.bulk_write([ReplaceOne(self._filter(entry), document, upsert=True) for entry, document in writes], ordered=False)
        except errors.BulkWriteError as error:
            found |= outcomes_of([document for _, document in writes], error.details)
        return found

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except NewsportalError:
            raise
        except (errors.PyMongoError, errors.DocumentTooLarge, ValueError, OSError) as error:
            raise explain_error(error, self._place) from error


def _document(article: StoredArticle, entry: OutboxEntry) -> Document:
    values = document(article)
    return {"_id": values.pop("id"), **values, "words": list(dict.fromkeys(words_of(article))), "version": Int64(entry.fence)}


def _checked_size(document: Document) -> Document:
    """Return the document. Raises ``Refused`` if it is too large."""
    if (size := len(encode(document))) > LONGEST:
        raise Refused(f"its document has {size} bytes; the maximum is {LONGEST}")
    return document


def outcomes_of(documents: Sequence[Document], details: Mapping[str, Any]) -> dict[str, NewsportalError]:
    """Return id → error of the documents not written by a bulk call. An existing ``_id`` is ``AlreadyPublished``. Raises server errors."""
    for fault in details.get("writeConcernErrors", ()):
        raise errors.OperationFailure(fault.get("errmsg", ""), fault.get("code"))
    found: dict[str, NewsportalError] = {}
    for fault in details.get("writeErrors", ()):
        id = documents[fault["index"]]["_id"]
        code, text = fault.get("code"), str(fault.get("errmsg", ""))[:300]
        if code == DUPLICATE and set(fault.get("keyPattern") or ("_id",)) == {"_id"}:
            found[id] = AlreadyPublished()
        elif code == DUPLICATE or code in REFUSED:
            found[id] = Refused(f"the collection rejects it: {text}")
        else:
            raise errors.OperationFailure(text, code)
    return found


def explain_error(error: Exception, place: str) -> NewsportalError:
    text = str(error).partition(", Timeout:")[0].partition(", full error:")[0][:300]
    if isinstance(error, errors.ConfigurationError | errors.InvalidName):
        return BadTarget(f"{place}: {text}; correct publish.to, for example mongodb://localhost/newsportal")
    if isinstance(error, errors.DocumentTooLarge):
        return Refused(f"its document is larger than the {LONGEST} bytes that MongoDB accepts")
    if isinstance(error, errors.DuplicateKeyError):
        return AlreadyPublished()
    if isinstance(error, errors.ConnectionFailure | errors.ExecutionTimeout):
        return TargetDown(f"{place}: MongoDB is not reachable ({text}); start it, or correct publish.to")
    if not isinstance(error, errors.OperationFailure):
        return BadTarget(f"{place}: {text}; correct publish.to")
    code = error.code or 0
    if code in UNFIT:
        return BadTarget(f"{place}: {UNFIT[code]}")
    if code in AWAY:
        return TargetDown(f"{place}: {AWAY[code]}; new articles wait")
    if NO_SPACE.search(text):
        return TargetDown(f"{place}: it cannot be written to ({text}); check whether the server's disk is full or read-only")
    return BadTarget(f"{place}: {text}")
