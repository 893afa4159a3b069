"""MongoDB and Elasticsearch as targets: one document per article, updated and withdrawn; how errors of the servers are reported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from bson import Int64
from cms import run, sources_with, work_on
from document_servers import DocumentServer, Elastic, Mongo, target_of
from factories import HOUR, NOW, invented
from pymongo.errors import ConfigurationError, DocumentTooLarge, OperationFailure
from servers import Servers, own_server

from newsportal.items import Image
from newsportal.services.publishing.base import AlreadyPublished, BadTarget, Refused, TargetDown
from newsportal.services.publishing.dry_run import dry_run, sample
from newsportal.services.publishing.fields import DocumentTarget, document, words_of
from newsportal.services.publishing.mongodb import explain_error, outcomes_of
from newsportal.services.publishing.run import LEASE, pending, publish
from newsportal.services.publishing.targets import open_target
from newsportal.store.outbox import OutboxEntry
from newsportal.store.store import Store

Add = Callable[..., str]
PICTURES = (Image("https://a.example/1.jpg", caption="桥", width=640, height=480), Image("https://a.example/2.jpg", dropped="logo"))


@pytest.fixture(params=["mongodb", "elasticsearch"])
def docs(request: pytest.FixtureRequest, servers: Servers) -> Iterator[DocumentServer]:
    with servers.database(request.param) as database:
        server: DocumentServer = Mongo(database.uri) if request.param == "mongodb" else Elastic(database.uri)
        yield server
        server.close()


@pytest.fixture
def mongo(servers: Servers) -> Iterator[Mongo]:
    with servers.database("mongodb") as database:
        server = Mongo(database.uri)
        yield server
        server.close()


@pytest.fixture
def elastic(servers: Servers) -> Iterator[Elastic]:
    with servers.database("elasticsearch") as database:
        server = Elastic(database.uri)
        yield server
        server.close()


@pytest.mark.slow
def test_article_becomes_a_plain_document(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    id = add("桥", title="长江大桥今天通车", text="记者从武汉发来报道：长江大桥通车了。", topic="城市", images=PICTURES, language="zh")
    tally = run(store, tmp_path, docs.target())
    assert (tally.published, tally.failed, tally.unavailable, tally.unfit) == (1, 0, None, None)
    (found,) = docs.found().values()
    assert found[("_id" if isinstance(docs, Mongo) else "id")] == id
    stored = store.articles([id])[0]
    expected = {
        "title": "长江大桥今天通车", "site": "青河网", "category": "旅游", "topics": ["城市"], "story": stored.story_id, "author": "林秀文",
        "source": "feed:快讯", "kind": "article", "language": "zh", "url": stored.url, "head": True, "versions": 1, "revision": 1,
        "images": [{"url": "https://a.example/1.jpg", "caption": "桥", "width": 640, "height": 480}],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    published = found["published"] if isinstance(docs, Mongo) else datetime.fromisoformat(found["published"])
    assert published == NOW - HOUR
    assert docs.words("长江大桥", "武汉") == [id]
    assert docs.words("长江大桥", "上海") == []


@pytest.mark.slow
def test_documents_are_updated_and_withdrawn(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    target = docs.target(only="{versions: all}")
    ids = [add("a"), add("b"), add("c")]
    assert run(store, tmp_path, target).published == 3
    assert run(store, tmp_path, target).done == 0
    add("a", title="改过的标题")
    store.set_category(ids[1], "体育", by="editor", now=NOW)
    assert run(store, tmp_path, target).revised == 2
    assert (docs.found()[ids[0]]["title"], docs.found()[ids[0]]["revision"]) == ("改过的标题", 2)
    assert docs.found()[ids[1]]["category"] == "体育"
    store.hide([ids[2]], by="editor", reason="wrong", now=NOW)
    assert run(store, tmp_path, target).withdrawn == 1
    assert sorted(docs.found()) == sorted(ids[:2])
    store.show([ids[2]], now=NOW)
    run(store, tmp_path, target)
    store.outbox.request("docs", [ids[2]], "publish", now=NOW)
    run(store, tmp_path, target)
    assert sorted(docs.found()) == sorted(ids)
    store.outbox.request("docs", ids, "withdraw", now=NOW)
    assert run(store, tmp_path, target).withdrawn == 3
    assert docs.found() == {}


@pytest.mark.slow
def test_every_version_has_its_place_in_the_story(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    target = docs.target(only="{versions: all}")

    def stories() -> list[tuple[bool, int]]:
        return sorted((document["head"], document["versions"]) for document in docs.found().values())

    first = add("a", text=invented(1, 400))
    run(store, tmp_path, target)
    assert stories() == [(True, 1)]
    second = add("b", text=invented(1, 400), host="other.example", site="别的网")
    run(store, tmp_path, target)
    assert stories() == [(False, 2), (True, 2)]
    add("c", text=invented(1, 400), host="third.example", site="早的网", published=NOW - timedelta(hours=9))
    run(store, tmp_path, target)
    assert stories() == [(False, 3), (False, 3), (True, 3)]
    store.unfold(second, now=NOW)
    run(store, tmp_path, target)
    assert stories() == [(False, 2), (True, 1), (True, 2)]
    assert docs.found()[second]["story"] != docs.found()[first]["story"]
    store.hide([first], by="editor", reason="wrong", now=NOW)
    run(store, tmp_path, target)
    assert stories() == [(True, 1), (True, 1)]


@pytest.mark.slow
def test_story_is_published_once_by_its_head(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    first = add("a", text=invented(1, 400))
    run(store, tmp_path, docs.target())
    add("b", text=invented(1, 400), host="other.example", site="别的网")
    assert (run(store, tmp_path, docs.target()).published, list(docs.found())) == (0, [first])
    assert docs.found()[first]["versions"] == 2


@pytest.mark.slow
def test_lost_outbox_duplicates_nothing(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    ids = [add() for _ in range(3)]
    run(store, tmp_path, docs.target())
    store.outbox.forget("docs")
    assert run(store, tmp_path, docs.target()).published == 3
    assert sorted(docs.found()) == sorted(ids)


@pytest.mark.slow
@pytest.mark.parametrize("published", [False, True])
def test_late_put_does_not_overwrite_a_newer_one(store: Store, add: Add, docs: DocumentServer, tmp_path: Path, published: bool) -> None:
    id = add("a")
    if published:
        run(store, tmp_path, docs.target())
    store.outbox.request("docs", [id], "publish", now=NOW)
    with work_on(store, tmp_path, docs.target()) as work:
        start = NOW + timedelta(days=900)
        (entry,) = store.outbox.lease_due("docs", "slow", now=start, seconds=LEASE, limit=1)
        old = store.articles([id])[0]
        add("a", title="新的标题")
        assert publish(replace(work, now=lambda: start + timedelta(seconds=LEASE + 1))).done == 1
        with pytest.raises(AlreadyPublished):
            work.target.put(old, entry)
        with pytest.raises(AlreadyPublished):
            work.target.remove(old, entry)
    assert docs.found()[id]["title"] == "新的标题"


@pytest.mark.slow
@pytest.mark.parametrize("published", [False, True])
def test_late_put_does_not_restore_a_withdrawn_document(
    store: Store, add: Add, docs: DocumentServer, tmp_path: Path, published: bool
) -> None:
    id = add("a")
    if published:
        run(store, tmp_path, docs.target())
    store.outbox.request("docs", [id], "publish", now=NOW)
    with work_on(store, tmp_path, docs.target()) as work:
        start = NOW + timedelta(days=900)
        (entry,) = store.outbox.lease_due("docs", "slow", now=start, seconds=LEASE, limit=1)
        store.outbox.request("docs", [id], "withdraw", now=NOW)
        assert publish(replace(work, now=lambda: start + timedelta(seconds=LEASE + 1))).withdrawn == 1
        with pytest.raises(AlreadyPublished):
            work.target.put(store.articles([id])[0], entry)
    assert docs.found() == {}


@pytest.mark.slow
def test_publishers_share_one_outbox(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    ids = [add() for _ in range(450)]
    tallies = []
    threads = [Thread(target=lambda: tallies.append(run(store, tmp_path, docs.target(only="{versions: all}")))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [tally.unavailable or tally.unfit for tally in tallies if tally.unavailable or tally.unfit] == []
    assert sum(tally.published for tally in tallies) == 450
    assert sorted(docs.found()) == sorted(ids)
    assert store.outbox.counts() == {"docs": {"done": 450}}


@pytest.mark.slow
def test_checks_and_dry_runs_write_nothing(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    id = add("a")
    with work_on(store, tmp_path, docs.target()) as work:
        found = dry_run(work.target, "docs", NOW)
        assert (found.problems, len(found.steps)) == ((), 1)
        steps = [step for article, entry in pending(work) for step in work.target.steps(article, entry)]
        assert id in steps[0].operation
        assert steps[0].values["title"] == store.articles([id])[0].title
        assert work.target.steps(None, OutboxEntry("docs", id, NOW, NOW, action="withdraw"))[0].operation != steps[0].operation
    assert docs.found() == {}
    assert store.outbox.counts() == {}
    assert not docs.client.indices.exists(index=docs.index) if isinstance(docs, Elastic) else docs.articles.index_information() == {}


@pytest.mark.slow
def test_hostile_text_is_stored(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    hostile = "\u2028x\x00 ' \" \\ {$ne: 1} $where 😀 \ud800"
    ids = [add("n", title=hostile, text=hostile * 20, category=hostile, author=hostile), add("z", published=datetime(1, 1, 1, tzinfo=UTC))]
    assert run(store, tmp_path, docs.target()).published == 2
    assert sorted(docs.found()) == sorted(ids)
    assert "😀" in docs.found()[ids[0]]["title"]


@pytest.mark.slow
def test_unavailable_server_is_waited_for(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    id = add("a")
    port = docs.uri.split("/")[2].rpartition(":")[2]
    tally = run(store, tmp_path, docs.target(docs.uri.replace(f":{port}", ":1")))
    assert tally.unavailable is not None
    assert "is not reachable" in tally.unavailable
    assert run(store, tmp_path, docs.target()).published == 1
    assert list(docs.found()) == [id]


@pytest.mark.slow
def test_publishing_resumes_after_mongodb_was_killed(store: Store, add: Add, tmp_path: Path) -> None:
    ids = [add() for _ in range(450)]
    with own_server("mongodb") as server:
        target = target_of(server.url("docs"), only="{versions: all}")
        with work_on(store, tmp_path, target) as work:
            tally = publish(replace(work, on_progress=lambda tally: server.kill() if tally.done == 200 else None))
            assert (tally.published, tally.unavailable is not None) == (200, True)
            server.start()
            assert publish(work).published == 250
        mongo = Mongo(server.url("docs"))
        assert sorted(mongo.found()) == sorted(ids)
        mongo.close()


@pytest.mark.slow
def test_refused_article_does_not_block_others(store: Store, add: Add, docs: DocumentServer, tmp_path: Path) -> None:
    ids = sorted(add() for _ in range(5))
    with work_on(store, tmp_path, docs.target()) as work:
        assert isinstance(work.target, DocumentTarget)
        articles = {article.id: article for article in store.articles(ids)}
        huge = replace(articles[ids[2]], summary="x" * (17 * 2**20)) if isinstance(docs, Mongo) else articles[ids[2]]
        entries = [OutboxEntry("docs", id, NOW, NOW, fence=5) for id in ids]
        if isinstance(docs, Mongo):
            outcomes = work.target.put_many(
                [(huge if entry.article_id == huge.id else articles[entry.article_id], entry) for entry in entries]
            )
            assert [isinstance(outcome, Refused) for outcome in outcomes] == [False, False, True, False, False]
            assert "17" in str(outcomes[2])
        else:
            work.target.put(articles[ids[2]], replace(entries[2], fence=9))
            outcomes = work.target.put_many([(articles[entry.article_id], entry) for entry in entries])
            assert [isinstance(outcome, AlreadyPublished) for outcome in outcomes] == [False, False, True, False, False]
    assert len(docs.found()) == (4 if isinstance(docs, Mongo) else 5)


@pytest.mark.slow
def test_queries_of_the_documentation(store: Store, add: Add, mongo: Mongo, elastic: Elastic, tmp_path: Path) -> None:
    id = add("a", title="黄山旅游旺季到来", text="黄山风景区今天迎来游客。", topic="旅游")
    add("b", title="球队夺冠", text="昨晚的比赛结束了。", published=NOW - 30 * 24 * HOUR)
    for server in (mongo, elastic):
        run(store, tmp_path, server.target())
        store.outbox.forget("docs")
    compass = {"words": {"$all": ["黄山", "旅游"]}, "published": {"$gte": datetime(2026, 2, 20, tzinfo=UTC)}, "head": True}
    assert [document["_id"] for document in mongo.articles.find(compass).sort("published", -1)] == [id]
    kibana = {"query_string": {"query": "words:黄山 AND words:旅游 AND topics:旅游 AND published:[2026-02-20 TO *]"}}
    assert [hit["id"] for hit in elastic.search(kibana)] == [id]
    assert [hit["id"] for hit in elastic.search({"match_phrase": {"text": "风景区"}})] == [id], "works without a plug-in"
    buckets = elastic.client.search(
        index=elastic.index, size=0, aggs={"days": {"date_histogram": {"field": "date", "calendar_interval": "day"}}}
    )["aggregations"]["days"]["buckets"]
    assert sum(bucket["doc_count"] for bucket in buckets) == 2
    assert "published_1" in mongo.articles.index_information()


@pytest.mark.slow
def test_index_with_conflicting_mapping_is_left_alone(store: Store, add: Add, elastic: Elastic, tmp_path: Path) -> None:
    add("a")
    elastic.client.indices.create(index=elastic.index, mappings={"properties": {"title": {"type": "keyword"}, "theirs": {"type": "date"}}})
    tally = run(store, tmp_path, elastic.target())
    assert "title is keyword, not text" in (tally.unfit or "")
    assert store.outbox.counts() == {"docs": {"waiting": 1}}
    assert elastic.found() == {}


@pytest.mark.slow
def test_missing_fields_are_added_to_existing_index(store: Store, add: Add, elastic: Elastic, tmp_path: Path) -> None:
    elastic.client.indices.create(index=elastic.index, mappings={"properties": {"title": {"type": "text", "analyzer": "simple"}}})
    add("a")
    assert run(store, tmp_path, elastic.target()).published == 1
    mapping = elastic.client.indices.get_mapping(index=elastic.index)[elastic.index]["mappings"]["properties"]
    assert (mapping["title"]["analyzer"], mapping["date"]["type"]) == ("simple", "date")


@pytest.mark.slow
def test_read_only_index_is_waited_for(store: Store, add: Add, elastic: Elastic, tmp_path: Path) -> None:
    add("a")
    run(store, tmp_path, elastic.target())
    elastic.client.indices.put_settings(index=elastic.index, settings={"index.blocks.write": True})
    add("b")
    assert "read-only" in (run(store, tmp_path, elastic.target()).unavailable or "")
    elastic.client.indices.put_settings(index=elastic.index, settings={"index.blocks.write": None})
    assert run(store, tmp_path, elastic.target()).published == 1


@pytest.mark.slow
def test_foreign_documents_are_left_alone(store: Store, add: Add, mongo: Mongo, tmp_path: Path) -> None:
    mongo.articles.insert_one({"_id": "theirs", "title": "x"})
    id = add("a")
    with work_on(store, tmp_path, mongo.target()) as work:
        assert "other programs" in work.target.check()[0]
        publish(work)
    assert sorted(mongo.found()) == sorted([id, "theirs"])


@contextmanager
def responding(status: int, body: bytes) -> Iterator[str]:
    """The address of a server that gives every request this response, as Elasticsearch does, including multi-line ``_bulk`` requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            for name, value in (
                ("X-Elastic-Product", "Elasticsearch"),
                ("content-type", "application/json"),
                ("content-length", len(body)),
            ):
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (401, b'{"error": {"type": "security_exception", "reason": "x"}}', BadTarget, "wrong user or password"),
        (403, b'{"error": {"type": "security_exception", "reason": "is unauthorized"}}', BadTarget, "not permitted"),
        (503, b'{"error": "starting"}', TargetDown, "overloaded, or is starting"),
        (429, b'{"error": {"type": "x", "reason": "flood-stage watermark"}}', TargetDown, "disk is nearly full"),
        (
            200,
            b'{"has_all_requested": false, "index": {"news": {"index": true, "delete": false}}}',
            BadTarget,
            "this user may not write there; grant it: delete",
        ),
    ],
)
def test_elasticsearch_errors_are_reported_with_their_fix(
    tmp_path: Path, status: int, body: bytes, kind: type[Exception], text: str
) -> None:
    with responding(status, body) as address:
        sources = sources_with(tmp_path, target_of(f"elasticsearch://editor:geheim@{address}/news"))
        target = open_target(sources.publish[0], sources)
        with pytest.raises(kind, match=text) as raised:
            target.check()
        target.close()
    assert "geheim" not in str(raised.value)


def test_too_large_document_is_refused_by_elasticsearch(tmp_path: Path) -> None:
    with responding(413, b'{"error": "too large"}') as address:
        sources = sources_with(tmp_path, target_of(f"elasticsearch://{address}/news"))
        target = open_target(sources.publish[0], sources)
        with pytest.raises(Refused, match="larger than the server accepts"):
            target.put(sample(NOW), OutboxEntry("docs", "a", NOW, NOW))
        target.close()


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (OperationFailure("auth failed", 18), BadTarget, "user or password is wrong"),
        (OperationFailure("not authorized", 13), BadTarget, "readWrite"),
        (OperationFailure("stepped down", 10107), TargetDown, "replicaSet"),
        (OperationFailure("write: No space left on device"), TargetDown, "disk is full"),
        (OperationFailure("nobody knows", 4711), BadTarget, "nobody knows"),
        (DocumentTooLarge("x"), Refused, "larger"),
        (ConfigurationError("no such option"), BadTarget, "correct publish.to"),
    ],
)
def test_mongodb_errors_are_reported_with_their_fix(error: Exception, kind: type[Exception], text: str) -> None:
    assert isinstance(explain_error(error, "docs"), kind)
    assert text in str(explain_error(error, "docs"))


def test_bulk_errors_are_reported_per_document() -> None:
    documents = [{"_id": name} for name in "abc"]
    faults = [
        {"index": 0, "code": 11000, "keyPattern": {"_id": 1}, "errmsg": "E11000"},
        {"index": 1, "code": 11000, "keyPattern": {"title": 1}, "errmsg": "E11000 title"},
        {"index": 2, "code": 121, "errmsg": "Document failed validation"},
    ]
    found = outcomes_of(documents, {"writeErrors": faults})
    assert {id: type(outcome) for id, outcome in found.items()} == {"a": AlreadyPublished, "b": Refused, "c": Refused}
    with pytest.raises(OperationFailure):
        outcomes_of(documents, {"writeErrors": [{"index": 0, "code": 13, "errmsg": "not authorized"}]})


@pytest.mark.parametrize(("uri", "driver"), [("mongodb://h/d", "mongodb"), ("elasticsearch://h/i", "elasticsearch")])
def test_missing_driver_error_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str, driver: str) -> None:
    monkeypatch.delitem(sys.modules, f"newsportal.services.publishing.{driver}")
    for name in ("pymongo", "bson", "elasticsearch", "elastic_transport"):
        monkeypatch.setitem(sys.modules, name, None)
    sources = sources_with(tmp_path, target_of(uri))
    found = dry_run(open_target(sources.publish[0], sources), "docs", NOW)
    assert f"pip install -e '.[{driver}]'" in found.problems[0]


def test_document_has_plain_values() -> None:
    values = document(sample(NOW))
    assert (values["date"], values["topics"], values["images"]) == (NOW, ["专题"], [{"url": "https://news.example/sample.jpg"}])
    assert "摘要" in values["summary"]
    assert words_of(replace(sample(NOW), title="長江大橋 USA", text="")) == ["长江", "大桥", "长江大桥", "usa"]
    assert Int64(2**53 + 1) == 2**53 + 1


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("- {name: a, to: 'mongodb:///x'}", "has no host"),
        ("- {name: a, to: 'elasticsearch://h/Big'}", "'Big' is not a valid index name"),
        ("- {name: a, to: 'elasticsearch://h/a/b'}", "'a/b' is not a valid index name"),
        ("- {name: a, to: 'elasticsearch+http://h/a'}", "not a supported target"),
        (
            "- {name: a, to: 'elasticsearch://h/a', collection: x}",
            "collection is for a collection of MongoDB, but this is an index of Elas",
        ),
        ("- {name: a, to: 'mongodb://u:geheim@h/a', table: x}", "table is for a database, but this is a collection of MongoDB"),
        ("- {name: a, to: 'mongodb://h/a', unpublish: {a: 1}}", "columns are for a database"),
    ],
)
def test_invalid_target_url_is_reported_with_its_line(tmp_path: Path, target: str, error: str) -> None:
    with pytest.raises(Exception, match=r"sources.yaml:\d+: publish\[0\]") as raised:
        sources_with(tmp_path, target)
    assert error in str(raised.value)
    assert "geheim" not in str(raised.value)


def test_passwords_are_masked(tmp_path: Path) -> None:
    sources: Any = sources_with(tmp_path, target_of("elasticsearch+https://u:geheim@h:9200/a?api_key=geheim2"))
    assert "geheim" not in repr(sources.publish[0])
