"""The search index in Elasticsearch 8 or 9: ``elasticsearch://host:9200/prefix``. No plug-in is needed: words are segmented here.

The server collapses hits and counts facets; highlighting is done here, so that every index shows the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from elasticsearch import NotFoundError

from newsportal.errors import SearchError, SearchUnavailable, ServerUnavailable, StoreError
from newsportal.search import elastic_building, match, suggesting
from newsportal.search.base import Hit, Query, Results, Status
from newsportal.search.counting import local_zone, sort_facets
from newsportal.search.docs import rebuild_if_needed
from newsportal.search.elastic_building import Generations
from newsportal.search.elastic_connection import Connection
from newsportal.search.elastic_layout import SEPARATOR
from newsportal.search.highlight import build_hit
from newsportal.store.columns import EPOCH, MICROSECOND
from newsportal.store.store import Store
from newsportal.text.words import signature

RANK_BONUS = 1024.0  # score bonus per reading: more than all words together can earn (32 words of at most about 30 each)
EXACT_FIELDS: dict[match.Place, str] = {"labels": "labels", "grams": "grams", "title_grams": "title_grams"}
"""Field of exact values for a place; other names use ``in_NAME``."""


def scored_query(compiled: match.Match) -> dict[str, Any]:
    """Return the query for ``compiled``; words are scored by BM25F, characters in the title earn :data:`TITLE_BONUS`."""
    must = [clause_query(condition) for condition in compiled.required if condition.place in ("text", "title")]
    exact = [clause_query(condition) for condition in compiled.required if condition.place not in ("text", "title")]
    bonus = []
    if words := match.title_bonus_grams(compiled.required):
        bonus.append({"constant_score": {"filter": clause_query(match.Clause("title_grams", words)), "boost": match.TITLE_BONUS}})
    return {
        "bool": {
            "must": must,
            "filter": [*exact, *(phrase_query(field, order) for field, order in compiled.phrases)],
            "must_not": [clause_query(condition) for condition in compiled.excluded],
            "should": bonus,
            "minimum_should_match": 0,
        }
    }


def clause_query(condition: match.Clause) -> dict[str, Any]:
    operator = "or" if condition.any_of else "and"
    joined = " ".join(condition.words)
    if condition.place == "text":
        return {"combined_fields": {"query": joined, "fields": [f"title_words^{match.TITLE_WEIGHT:g}", "text_words"], "operator": operator}}
    if condition.place == "title":
        return {"match": {"title_words": {"query": joined, "operator": operator}}}
    field = EXACT_FIELDS.get(condition.place, f"in_{condition.place}")
    if condition.any_of:
        return {"terms": {field: list(condition.words)}}
    return {"bool": {"filter": [{"term": {field: word}} for word in condition.words]}}


def phrase_query(field: str | None, order: str) -> dict[str, Any]:
    """Match these consecutive characters and words in the title, or also in the text if no field is given."""
    places = ("title_order",) if field else ("title_order", "text_order")
    return {"bool": {"should": [{"match_phrase": {place: order.strip()}} for place in places], "minimum_should_match": 1}}


def time_filter(parsed: match.ParsedQuery) -> dict[str, Any] | None:
    """Return the time filter, in microseconds since 1970."""
    bounds = {name: (moment - EPOCH) // MICROSECOND for name, moment in (("gte", parsed.since), ("lt", parsed.until)) if moment is not None}
    return {"range": {"moment": bounds}} if bounds else None


MAX_RANK = 10_000  # maximum rank of a hit (index.max_result_window)
FACET_VALUES = 200  # values of a facet, most frequent first
EXACT_TOTAL = 40_000  # stories are counted exactly up to this number, and to within some percent above
EXACT_FACET = 1_000  # the same per facet value: each uses a table in the server's memory
FACETS = {"site": "site", "category": "category", "topic": "topics"}

SOURCE_FIELDS = ["id", "story_id", "url", "title", "text", "site", "published", "moment"]
Ask = Callable[[dict[str, Any]], Mapping[str, Any]]  # arguments of the client's search → the server's response


def find(ask: Ask, query: Query) -> Results:
    parsed = match.parse(query)
    if parsed.empty:
        return Results((), 0)
    es_query, response, rank = _search_readings(ask, query, parsed)
    hits = response["hits"]["hits"]
    folded = _count_folded(ask, es_query, hits) if query.collapse and hits else {}
    page = tuple(_hit(document, folded, parsed.words) for document in hits)
    total = _stories(response["aggregations"]) if query.collapse else response["hits"]["total"]["value"]
    buckets = {name: response["aggregations"][name]["buckets"] for name in (*FACETS, "day")}
    facets = {key: {str(bucket.get("key_as_string", bucket["key"])): _stories(bucket) for bucket in some} for key, some in buckets.items()}
    return Results(page, total, parsed.words, sort_facets(facets), relaxed=total > 0 and rank == 0)


def _search_readings(ask: Ask, query: Query, parsed: match.ParsedQuery) -> tuple[dict[str, Any], Mapping[str, Any], int]:
    """Search with the strictest reading that finds enough; hits of wider ones follow. Return the query, the response and the last rank."""
    matches: list[tuple[int, match.Match]] = []
    for rank, reading in match.READINGS:
        matches.append((rank, match.compile_terms(parsed, query, reading)))
        # each article is scored by the first reading it matches; the rank of the reading takes precedence
        readings = [
            {"bool": {"must": [scored_query(compiled), {"match_all": {"boost": RANK_BONUS * rank}}] if rank else [scored_query(compiled)]}}
            for rank, compiled in matches
        ]
        bounds = time_filter(parsed)
        es_query = {"bool": {"must": [{"dis_max": {"queries": readings}}], "filter": [bounds] if bounds else []}}
        response = ask(_body(es_query, query))
        found = response["hits"]["total"]["value"]
        if found >= match.WIDEN_BELOW or (reading == "grams" and found):
            break
    return es_query, response, rank


def _body(es_query: dict[str, Any], query: Query) -> dict[str, Any]:
    offset, limit = max(0, query.offset), max(0, query.limit)
    newest = [{"moment": "desc"}, {"id": "asc"}]
    return {
        "query": es_query,
        "from_": min(offset, MAX_RANK),
        "size": min(limit, max(0, MAX_RANK - offset)),
        "sort": newest if query.sort == "time" else [{"_score": "desc"}, *newest],
        "track_scores": True,
        "track_total_hits": True,
        "source": SOURCE_FIELDS,
        "aggs": _counts(query),
        **({"collapse": {"field": "story_id"}} if query.collapse else {}),
    }


def _counts(query: Query) -> dict[str, Any]:
    stories = {"stories": {"cardinality": {"field": "story_id", "precision_threshold": EXACT_FACET}}} if query.collapse else {}
    aggs: dict[str, Any] = {name: {"terms": {"field": field, "size": FACET_VALUES}, "aggs": stories} for name, field in FACETS.items()}
    day = {"field": "pubdate", "calendar_interval": "day", "format": "yyyy-MM-dd", "min_doc_count": 1, "time_zone": zone_name(query.zone)}
    aggs["day"] = {"date_histogram": day, "aggs": stories}
    return aggs | ({"stories": {"cardinality": {"field": "story_id", "precision_threshold": EXACT_TOTAL}}} if query.collapse else {})


def zone_name(zone: tzinfo | None) -> str:
    """Return Elasticsearch's name of a time zone: its key, or its current offset."""
    if key := getattr(zone, "key", None):
        return str(key)
    offset = datetime.now(UTC).astimezone(zone or local_zone()).strftime("%z")
    return f"{offset[:3]}:{offset[3:5]}"


def _stories(bucket: Mapping[str, Any]) -> int:
    return int(bucket["stories"]["value"]) if "stories" in bucket else int(bucket["doc_count"])


def _count_folded(ask: Ask, es_query: dict[str, Any], hits: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of other hits for each story of the page."""
    ids = [document["_source"]["story_id"] for document in hits]
    body = {
        "query": {"bool": {"filter": [es_query, {"terms": {"story_id": ids}}]}},
        "size": 0,
        "aggs": {"stories": {"terms": {"field": "story_id", "size": len(ids)}}},
    }
    return {bucket["key"]: bucket["doc_count"] - 1 for bucket in ask(body)["aggregations"]["stories"]["buckets"]}


def _hit(document: Mapping[str, Any], folded: Mapping[str, int], words: Sequence[str]) -> Hit:
    article = document["_source"]
    rank, score = divmod(float(document["_score"]), RANK_BONUS)
    return build_hit(article, match.relevance(int(rank), score), folded.get(article["story_id"], 0), words)


def find_suggestions(ask: Ask, prefix: str, limit: int) -> list[tuple[str, str]]:
    """Return plain and displayed forms of the completions of ``prefix``, as :data:`~newsportal.search.suggesting.Lookup` requires."""
    fields = ("offered_topics", "offered")
    body = {
        "query": {"bool": {"should": [{"prefix": {field: prefix}} for field in fields]}},
        "size": 0,
        "track_total_hits": False,
        # a prefix has only letters, digits and Chinese characters: nothing special in a pattern
        "aggs": {field: {"terms": {"field": field, "include": f"{prefix}.*", "size": limit}} for field in fields},
    }
    if limit < 1:
        return []
    aggs = ask(body)["aggregations"]
    found = [(bucket["doc_count"], bucket["key"].partition(SEPARATOR), field) for field in fields for bucket in aggs[field]["buckets"]]
    found.sort(key=lambda offer: (fields.index(offer[2]), -offer[0], offer[1][2]))
    return [(plain, display) for _, (plain, _, display), _ in found][:limit]


SEARCH_SECONDS = 10.0  # how long a reader waits for an unresponsive server
Answer = TypeVar("Answer")


class ElasticIndex:
    """An :class:`~newsportal.search.base.Index`. Connects on the first request: a portal can start without a server."""

    def __init__(self, uri: str) -> None:
        with _search_errors():
            self._connection = Connection(uri)
        self._generations = Generations(self._connection)
        self._preparing = Lock()
        self._prepared = self._checked = False

    def search(self, query: Query) -> Results:
        return self._answer(lambda: find(self._ask, query))

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        return self._answer(lambda: suggesting.suggest(typed, limit, partial(find_suggestions, self._ask)))

    def follow(self, store: Store) -> int:
        if not self._checked:  # once: two processes with different user words must not rebuild alternately
            rebuild_if_needed(self, store)
            self._checked = True
        return self._answer(lambda: elastic_building.follow(self._generations, store))

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        return self._answer(lambda: elastic_building.rebuild(self._generations, store, progress))

    def position(self) -> int:
        return self._answer(lambda: self._generations.read_position().position)

    def needs_rebuild(self) -> bool:
        return any(notes.get("cuts") != signature() for notes in self._answer(self._generations.current).values())

    def status(self) -> Status:
        return self._answer(self._status)

    def _status(self) -> Status:
        (index, notes), *_ = self._generations.current().items()
        client = self._connection.client
        count = self._connection.run(client.count, index=index, query={"exists": {"field": "id"}})["count"]
        stats = self._connection.run(client.indices.stats, index=index, metric="store")
        size = stats["_all"]["primaries"]["store"]["size_in_bytes"]
        plugin = notes.get("plugin")
        analyser = f"its {plugin} cuts titles and texts too" if plugin else "no Chinese analyser; none is needed"
        says = f"Elasticsearch {self._generations.version()}, {index}; {analyser}"
        return Status(self._generations.read_position().position, count, size, says)

    def close(self) -> None:
        self._connection.close()

    def _ask(self, body: dict[str, Any]) -> Mapping[str, Any]:
        client = self._connection.client.options(request_timeout=SEARCH_SECONDS)
        arguments = {"index": self._generations.alias, "allow_partial_search_results": False, **body}
        response: Mapping[str, Any] = self._connection.run(client.search, **arguments).body
        return response

    def _answer(self, request: Callable[[], Answer]) -> Answer:
        """Run a request on an existing index, created if missing, also if it was deleted while serving."""
        with _search_errors():
            self._prepare()
            try:
                return request()
            except StoreError as error:
                if not isinstance(error.__cause__, NotFoundError) and "more than one index" not in str(error):
                    raise
            self._prepared = False
            self._prepare()
            return request()

    def _prepare(self) -> None:
        if self._prepared:
            return
        if not self._preparing.acquire(timeout=SEARCH_SECONDS):  # waiting behind another request that times out
            raise ServerUnavailable(f"{self._connection.place}: the server does not answer in time; check whether it is overloaded")
        try:
            if not self._prepared:
                self._generations.prepare()
                self._prepared = True
        finally:
            self._preparing.release()


@contextmanager
def _search_errors() -> Iterator[None]:
    try:
        yield
    except ServerUnavailable as error:
        raise SearchUnavailable(f"search index {error}") from error
    except StoreError as error:
        raise SearchError(f"search index {error}") from error
