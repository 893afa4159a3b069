"""An Elasticsearch index as a target: one document per article, whose ``_version`` is the fence of the write (external versions).

The server rejects writes and deletions with a lower version, also for documents deleted within ``gc_deletes``. The index is created with
its mapping on the first write; words that we segment are searched in ``words``, so that no plug-in is needed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

from elasticsearch import ApiError, Elasticsearch

from newsportal.errors import NewsportalError, StoreError, StoreUnavailable
from newsportal.search.elastic_connection import BUSY_CODES, Connection, batches, reason_of, status_error
from newsportal.search.elastic_layout import ANALYSERS
from newsportal.services.publishing.base import AlreadyPublished, BadTarget, Published, Refused, RetryLater, Step, TargetDown
from newsportal.services.publishing.fields import DocumentTarget, document, words_of
from newsportal.sources.publishing import Target, index_of
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

CONFLICT: Final = 409
PRIVILEGES: Final = ("create_index", "index", "delete", "view_index_metadata")

_KEYWORD: Final = {"type": "keyword", "ignore_above": 1_000}
_DATE: Final = {"type": "date"}
_NUMBER: Final = {"type": "integer"}
_ADDRESS: Final = {"type": "keyword", "ignore_above": 4_000}

SETTINGS: Final[Mapping[str, Any]] = {
    "number_of_shards": 1,
    "auto_expand_replicas": "0-1",
    "gc_deletes": "6h",  # how long versions of deleted documents are kept; a publisher's lease is two minutes
}


def properties(analyzer: str) -> dict[str, Any]:
    text = {"type": "text", "analyzer": analyzer}
    return {
        "title": text | {"fields": {"keyword": _KEYWORD}},
        "summary": text,
        "text": text,
        "words": {"type": "text", "analyzer": "whitespace"},
        **dict.fromkeys(("published", "first_seen", "date"), _DATE),
        **dict.fromkeys(("id", "story", "site", "source", "kind", "language", "category", "topics", "keywords"), _KEYWORD),
        **dict.fromkeys(("author", "origin"), _KEYWORD),
        "url": _ADDRESS,
        "images": {"properties": {"url": _ADDRESS, "caption": text, "width": _NUMBER, "height": _NUMBER}},
        "head": {"type": "boolean"},
        **dict.fromkeys(("versions", "revision", "chars"), _NUMBER),
    }


class ElasticsearchTarget(DocumentTarget):
    def __init__(self, target: Target) -> None:
        self._target = target
        self._index = index_of(target.to)
        self._connection: Connection | None = None
        self._ready = False

    def check(self) -> Sequence[str]:
        with self._errors():
            client = self._opened().client
            if "@" in self._target.to or "api_key=" in self._target.to:  # a server without security does not have this API
                lenient = client.options(ignore_status=(400, 404, 405, 500))
                answer = lenient.security.has_privileges(index=[{"names": [self._index], "privileges": list(PRIVILEGES)}])
                if answer.get("has_all_requested") is False:
                    lacking = [name for name, may in answer["index"][self._index].items() if not may]
                    raise BadTarget(f"this user may not write there; grant it: {', '.join(lacking)}")
            self._ready = self._missing(client) == {}
        return ()

    def put_many(self, items: Sequence[tuple[StoredArticle, OutboxEntry]]) -> Sequence[Published | NewsportalError]:
        failures: list[NewsportalError | None] = []
        with self._errors():
            client = self._opened().client
            self._prepare(client)
            for portion in batches([(_line(self._action(entry)), _line(_document(article))) for article, entry in items]):
                failures += [self._failure(item) for item in self._bulk([line for pair in portion for line in pair])]
        return [failure or Published(article.story_id) for failure, (article, _) in zip(failures, items, strict=True)]

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        with self._errors():
            client = self._opened().client
            self._prepare(client)  # else the deletion would create an index
            (item,) = self._bulk([_line({"delete": self._action(entry)["index"]})])
            if item["status"] != 404 and (failure := self._failure(item)) is not None:
                raise failure

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        address = f"/{self._index}/_doc/{entry.article_id}?version={entry.fence}&version_type=external_gte"
        if entry.action == "withdraw" or article is None:
            return (Step(f"DELETE {address}", {}),)
        return (Step(f"PUT {address}", _document(article)),)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = Connection(self._target.to)
        return self._connection

    def _bulk(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        operations: Any = lines  # raw JSON lines, which the client's types do not allow
        connection = self._opened()
        answer = connection.run(partial(connection.client.bulk, operations=operations))
        return [next(iter(item.values())) for item in answer["items"]]

    def _missing(self, client: Elasticsearch) -> dict[str, Any] | None:
        """Return the fields missing in the index; ``None`` if there is no index. Raises ``BadTarget`` for fields of another type."""
        answer = client.options(ignore_status=404).indices.get_mapping(index=self._index)
        if answer.meta.status == 404:
            return None
        expected = properties("standard")
        missing: dict[str, Any] = {}
        for mapping in (index["mappings"].get("properties", {}) for index in answer.values()):
            wrong = [name for name, spec in expected.items() if name in mapping and mapping[name].get("type") != spec.get("type")]
            if wrong:
                types = ", ".join(f"{name} is {mapping[name].get('type', 'object')}, not {expected[name].get('type')}" for name in wrong)
                raise BadTarget(f"the index {self._index} has another mapping ({types}); name another index in publish.to")
            missing |= {name: spec for name, spec in expected.items() if name not in mapping}
        return missing

    def _prepare(self, client: Elasticsearch) -> None:
        """Create the index, or its missing fields, once."""
        if self._ready:
            return
        missing = self._missing(client)
        if missing is None:
            nodes = client.options(ignore_status=403).nodes.info(metric="plugins").get("nodes", {}).values()
            plugins = [{plugin["name"] for plugin in node.get("plugins", ())} for node in nodes]
            analyzer = next((ANALYSERS[name] for name in ANALYSERS if plugins and all(name in names for names in plugins)), "standard")
            mappings = {"dynamic": False, "_source": {"excludes": ["words"]}, "properties": properties(analyzer)}
            try:
                client.indices.create(index=self._index, mappings=mappings, settings=SETTINGS)
            except ApiError as error:
                if "resource_already_exists_exception" not in reason_of(error.body):  # another process was faster
                    raise
        elif missing:
            client.indices.put_mapping(index=self._index, properties=missing)
        self._ready = True

    def _action(self, entry: OutboxEntry) -> dict[str, Any]:
        return {"index": {"_index": self._index, "_id": entry.article_id, "version": entry.fence, "version_type": "external_gte"}}

    def _failure(self, item: Mapping[str, Any]) -> NewsportalError | None:
        """Return the error of one bulk operation. Raises ``StoreError`` for problems of the server."""
        status, detail = item["status"], reason_of(item)
        if status < 300:
            return None
        if status == CONFLICT:
            return AlreadyPublished()
        reason = status_error(status, detail, self._opened().place)
        if status in (401, 403, 404) or "read-only" in str(reason) or "disk" in str(reason):
            raise self._explained(reason, status)
        return RetryLater("the server is overloaded") if status in BUSY_CODES else Refused(f"the index rejects it: {detail}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with self._opened().errors():
                yield
        except StoreError as error:
            cause_error = error.__cause__
            raise self._explained(error, cause_error.status_code if isinstance(cause_error, ApiError) else 0) from error

    def _explained(self, error: StoreError, status: int) -> NewsportalError:
        text = str(error).replace("PREFIX-*", self._index).replace("the URI", "publish.to")
        if status == 413:
            return Refused("its document is larger than the server accepts; raise http.max_content_length there")
        shut = status in (401, 403) and "read-only" not in text
        return (TargetDown if isinstance(error, StoreUnavailable) and not shut else BadTarget)(text)


def _document(article: StoredArticle) -> dict[str, Any]:
    values = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in document(article).items()}
    return values | {"words": " ".join(words_of(article))}


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
