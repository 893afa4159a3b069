"""Which file is loaded, and how its values are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal import __version__
from newsportal.errors import SourcesError
from newsportal.extractors.lists import engines
from newsportal.sources import Breadth, Keywords, Sources, Topic, find, load, parse
from newsportal.sources.uris import mask


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def loaded(text: str, folder: Path = Path("/srv/portal"), **environ: str) -> Sources:
    return parse(text.encode(), folder / "sources.yaml", environ)


def test_environment_variable_overrides_nearest_file(tmp_path: Path) -> None:
    nearest = write(tmp_path / "a" / "sources.yaml", "version: 1")
    other = write(tmp_path / "other.yaml", "version: 1")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert find(tmp_path / "a" / "b" / "c", {}) == nearest
    assert find(tmp_path / "a", {"NEWSPORTAL_SOURCES": str(other)}) == other
    assert find(tmp_path / "a", {"NEWSPORTAL_SOURCES": ""}) == nearest


def test_packaged_file_is_the_fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources = load(environ={})
    assert sources.topics
    assert sources.store == f"sqlite:///{tmp_path}/data/newsportal.db"


def test_newsportal_home_holds_data_of_packaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "家"
    assert load(None, {"NEWSPORTAL_HOME": str(home)}).store == f"sqlite:///{home}/data/newsportal.db"
    assert load(None, {}).store == f"sqlite:///{tmp_path}/data/newsportal.db"


def test_missing_file_error_suggests_init(tmp_path: Path) -> None:
    with pytest.raises(SourcesError, match=r"nowhere\.yaml:1: \(file\): cannot be read: No such file .*newsportal source init"):
        load(tmp_path / "nowhere.yaml")


def test_folder_means_sources_yaml_in_it(tmp_path: Path) -> None:
    write(tmp_path / "sources.yaml", "portal: {title: 甲}")
    assert load(tmp_path).portal.title == "甲"


def test_relative_paths_are_resolved_beside_file(tmp_path: Path) -> None:
    sources = load(
        write(tmp_path / "x" / "sources.yaml", "store: sqlite:///a/b.db\nreplay: w/dev.warc.gz\narchive: /out.warc.gz"), environ={}
    )
    assert sources.store == f"sqlite:///{tmp_path}/x/a/b.db"
    assert sources.index_uri == f"sqlite:///{tmp_path}/x/a/b.db.index"
    assert sources.accounts_uri == f"sqlite:///{tmp_path}/x/a/b.db.accounts"
    assert (sources.replay, sources.archive) == (tmp_path / "x/w/dev.warc.gz", Path("/out.warc.gz"))
    assert (sources.folder, sources.path) == (tmp_path / "x", tmp_path / "x" / "sources.yaml")


def test_default_index_and_accounts_lie_beside_store() -> None:
    assert loaded("version: 1").index_uri == "sqlite:////srv/portal/data/index.db"
    assert loaded("version: 1").accounts_uri == "sqlite:////srv/portal/data/accounts.db"
    assert loaded("store: sqlite:///other.db").accounts_uri == "sqlite:////srv/portal/other.db.accounts"
    assert loaded("portal: {accounts: 'postgresql://u:p@h/people'}").accounts_uri == "postgresql://u:p@h/people"
    assert loaded("store: 'sqlite://'").index_uri == "sqlite://"
    assert loaded("store: 'sqlite://'").accounts_uri == "sqlite://"
    assert loaded("index: sqlite:////var/i.db").index_uri == "sqlite:////var/i.db"
    assert loaded("index: elasticsearch+https://u:p@h:9200/news").index_uri == "elasticsearch+https://u:p@h:9200/news"


def test_stores_have_distinct_indexes() -> None:
    stores = (
        "sqlite:///data/newsportal.db", "sqlite:///data/b.db", "postgresql://a:geheim@db.example/news", "mysql://db.example/news",
        "postgresql://db.example/other",
    )  # fmt: skip
    found = [loaded(f"store: {store}").index_uri for store in stores]
    assert len({*found}) == len(stores)
    assert all(uri.startswith("sqlite:////srv/portal/data/") and "geheim" not in uri for uri in found)
    assert loaded("store: postgresql://b@db.example/news?sslmode=require").index_uri == found[2]  # the user name makes no difference


def test_mongodb_store_error_suggests_publish() -> None:
    with pytest.raises(SourcesError, match=r"MongoDB is a destination of articles.*`publish: ") as error:
        loaded("store: mongodb://a:geheim@db.example/news")
    assert "geheim" not in str(error.value)


def test_local_files_of_server_store_lie_beside_file() -> None:
    """The path depends on the database but not on the user, and contains no part of a password."""
    names = [
        loaded(f"store: {store}").seen_file
        for store in (
            "postgresql://a:geheim@db.example/news",
            "postgresql://b@db.example/news?sslmode=require",
            "postgresql://db.example/other",
        )
    ]
    assert names[0] == names[1] != names[2]
    assert names[0] is not None
    assert str(names[0]).startswith("/srv/portal/data/postgresql-")
    assert "geheim" not in str(names[0])
    seen_file = loaded("store: mysql://db.example/news").seen_file
    assert seen_file is not None
    assert seen_file.parent == Path("/srv/portal/data")


def test_environment_variables_are_expanded() -> None:
    sources = loaded("store: ${STORE}\nfeeds:\n- {name: a, url: 'https://a.example/?k=${KEY:-none}'}", STORE="sqlite:////x.db")
    assert sources.store == "sqlite:////x.db"
    assert sources.feeds[0].url == "https://a.example/?k=none"
    assert mask("https://a.example/?key=${KEY}") == "https://a.example/?key=***"


def test_empty_key_means_default() -> None:
    sources = loaded("portal:\ntopics:\nfeeds:\n- name: a\n  url: https://a.example/\n  interval:\n  topics:\n")
    assert (sources.portal.language, sources.topics, sources.feeds[0].interval, sources.feeds[0].topics) == ("zh", (), None, ())


def test_topic_name_is_default_keyword() -> None:
    topic = loaded("topics:\n- name: 旅游\n  engines: baidu_news").topics[0]
    assert (topic.keywords, topic.queries, topic.engines) == (Keywords(any=("旅游",)), ("旅游",), ("baidu_news",))
    assert topic.key == "topic:旅游"


@pytest.mark.parametrize(
    ("written", "must", "any_", "never"),
    [
        ("[a, b]", (), ("a", "b"), ()),
        ("a", (), ("a",), ()),
        ("{must: a, any: [b], not: c}", ("a",), ("b",), ("c",)),
        ("{not: [c]}", (), ("甲",), ("c",)),
        ("'地铁, 航线'", (), ("地铁", "航线"), ()),
        ("{must: a，b, any: 地铁、航线, not: c;d}", ("a", "b"), ("地铁", "航线"), ("c", "d")),
        ('["1,000", b]', (), ("1,000", "b"), ()),
        ("[]", (), ("甲",), ()),
    ],
)
def test_keywords(written: str, must: tuple[str, ...], any_: tuple[str, ...], never: tuple[str, ...]) -> None:
    words = loaded(f"topics:\n- {{name: 甲, keywords: {written}}}").topics[0].keywords
    assert (words.must, words.any, words.not_) == (must, any_, never)


def test_breadth_depends_on_hour() -> None:
    breadth = loaded("topics:\n- name: a\n  breadth: {0-6: 1, 22-23: 0, 12: 5, default: 3}").topics[0].breadth
    assert [breadth.pages(hour) for hour in (0, 6, 7, 12, 21, 22, 23, 24)] == [1, 1, 3, 5, 3, 0, 0, 1]
    assert {Breadth.model_validate(4).pages(hour) for hour in range(24)} == {4}
    assert Topic(name="a").breadth.pages(5) == 2


def test_engine_declared_in_yaml() -> None:
    engine = (
        loaded("engines:\n- {name: 站内, url: 'https://a.example/s?q=##QUERY##&p=##START##', first: 1, step: 1, encoding: gbk}")
        .engines[0]
        .built()
    )
    assert engine.request("旅游", 2) == "https://a.example/s?q=%C2%C3%D3%CE&p=3"


def test_declared_engine_overrides_built_in() -> None:
    sources = loaded("topics:\n- {name: a, engines: bing_news}\nengines:\n- {name: bing_news, url: 'https://a.example/?q=##QUERY##'}")
    assert sources.engine("bing_news") is sources.engines[0]
    assert sources.engine("baidu_news") is None


@pytest.mark.parametrize("name", engines.engine_names())
def test_built_in_engine_is_accepted(name: str) -> None:
    assert loaded(f"topics:\n- {{name: a, engines: [{name}]}}").topics[0].engines == (name,)


def test_article_rule_of_source() -> None:
    text = "feeds:\n- name: a\n  url: https://a.example/\n  article: {body: '#content', remove: [.share, .ad]}\n- {name: b, url: 'https://b.example/'}"
    ruled, plain = loaded(text).feeds
    assert ruled.article is not None
    assert (ruled.article.body, ruled.article.remove, ruled.article.title) == ("#content", (".share", ".ad"), None)
    assert plain.article is None


def test_region_hours() -> None:
    text = "regions:\n- {name: a, prefix: 'https://a.example/', hours: 22-1}\n- {name: b, prefix: 'https://b.example/'}"
    night, always = loaded(text).regions
    assert (night.hours, always.hours) == ((0, 1, 22, 23), tuple(range(24)))
    assert night.seeds == ("https://a.example/",)


def test_sources_are_found_by_key_and_name() -> None:
    sources = loaded(
        "topics:\n- name: 甲\nfeeds:\n- {name: 甲, url: 'https://a.example/'}\n- {name: b c, url: 'https://b.example/', enabled: false}"
    )
    assert [source.key for source in sources.find("甲")] == ["topic:甲", "feed:甲"]
    assert [source.key for source in sources.find("feed:b c")] == ["feed:b c"]
    assert sources.find("nothing") == ()


@pytest.mark.parametrize(
    ("written", "size"), [("16 MiB", 16 * 1024**2), ("500kB", 512_000), ("2048", 2048), (4096, 4096), ("1.5 M", 1_572_864)]
)
def test_sizes(written: str | int, size: int) -> None:
    assert loaded(f"politeness: {{max_size: {written}}}").politeness.max_size == size


@pytest.mark.parametrize(
    ("written", "agent"),
    [
        ("version: 1", f"newsportal/{__version__}"),
        ("portal: {contact: a@b.example}", f"newsportal/{__version__} (+a@b.example)"),
        ("portal: {contact: a@b.example}\npoliteness: {contact: https://c.example/}", f"newsportal/{__version__} (+https://c.example/)"),
        ("politeness: {user_agent: mine/2, contact: a}", "mine/2"),
    ],
)
def test_user_agent(written: str, agent: str) -> None:
    assert loaded(written).user_agent == agent


def test_values_are_frozen_and_hashable() -> None:
    sources = loaded("feeds:\n- {name: a, url: 'https://a.example/'}")
    with pytest.raises(ValueError, match="frozen"):
        sources.feeds[0].url = "https://b.example/"  # type: ignore[misc]
    assert len({sources.feeds[0], sources.feeds[0].model_copy()}) == 1
