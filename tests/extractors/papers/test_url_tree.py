"""The tree of URLs: sibling pages make templates, templates move up, pages wait for siblings, and libraries are saved."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from newsportal.cli.pages import saved_pages
from newsportal.errors import LibraryError, NotApplicable
from newsportal.extractors import Learner, PersistentLearner, extractor
from newsportal.extractors.papers.url_tree import (
    MAX_DEPTH,
    MAX_TEMPLATES,
    MAX_WAITING,
    Address,
    Library,
    UrlTree,
    address_of,
    read_library,
    write_library,
)
from newsportal.items import Link, Page
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
SITE = "https://www.gangwan.example"


def sentence(name: str) -> str:
    return f"{name}的事情今天有了新的进展，记者从现场发回了报道，当地的居民都在街头谈论它，孩子们也很高兴，大家都在等待明天的结果公布。"


def page(name: str, url: str, layout: str = "div") -> dom.Document:
    block = {"div": "<div>{}</div>", "table": "<table><tr><td>{}</td></tr></table>"}.get(layout, f"<{layout}>{{}}</{layout}>")
    return dom.from_text(f"<title>{name}_港湾网</title><body><h1>{name}</h1>{block.format(f'<p>{sentence(name)}</p>')}</body>", url)


def extract_text(run: UrlTree, name: str, path: str, layout: str = "div") -> str | None:
    return run(page(name, SITE + path, layout), None, NOW).text


def learn(run: UrlTree, *paths: str, layout: str = "div") -> None:
    for path in paths:
        run.learn(page(path, SITE + path, layout), None, NOW)


def directories(run: UrlTree) -> list[str]:
    return ["/".join(directory) for _, directory, _ in run.library]


def test_page_waits_for_a_sibling() -> None:
    run = UrlTree()
    with pytest.raises(NotApplicable, match="waits-for-sibling"):
        extract_text(run, "滨海", "/news/a.html")
    assert extract_text(run, "东站", "/news/b.html") == sentence("东站")
    assert extract_text(run, "滨海", "/news/a.html") == sentence("滨海")
    assert directories(run) == ["news"]
    assert not run.library.sites["gangwan.example"].waiting


def test_sibling_is_another_page_of_same_directory() -> None:
    run = UrlTree()
    learn(run, "/news/a.html", "/news/a.html", "/sport/b.html", "/a/b/c.html")
    run.learn(page("x", "https://other.example/news/x.html"), None, NOW)
    assert directories(run) == []


def test_reach_includes_cousins() -> None:
    run = UrlTree(reach=2)
    learn(run, "/news/03-05/a.html", "/news/03-06/b.html")
    assert directories(run) == ["news"]


def test_matching_templates_move_to_parent() -> None:
    run = UrlTree()
    learn(run, "/news/03-05/a", "/news/03-05/b", "/news/03-07/lonely")
    assert directories(run) == ["news/03-05"]
    learn(run, "/news/03-06/c", "/news/03-06/d")
    assert directories(run) == ["news"]
    assert not run.library.sites["gangwan.example"].waiting
    assert extract_text(run, "明天", "/news/03-09/e") == sentence("明天")
    learn(run, "/sport/a", "/sport/b")
    assert directories(run) == [""]  # both channels have one layout: its template is stored at the host
    with pytest.raises(NotApplicable):
        run(page("x", "https://gangwan2.example/news/x"), None, NOW)


def test_directory_may_have_several_templates() -> None:
    run = UrlTree()
    learn(run, "/news/a", "/news/b")
    learn(run, "/news/c", "/news/d", layout="table")
    assert len(directories(run)) == 2
    assert extract_text(run, "甲", "/news/e") == sentence("甲")
    assert extract_text(run, "乙", "/news/f", "table") == sentence("乙")


def test_fields_of_link_are_used() -> None:
    run = UrlTree()
    learn(run, "/news/a", "/news/b")
    link = Link(f"{SITE}/news/c", "feed:x", title="链接的题目", published=NOW, author="林港")
    found = run(page("丙", link.url), link, NOW)
    assert (found.title, found.published, found.author, found.algorithm) == ("链接的题目", NOW, "林港", "url_tree")
    assert run(page("很长的标题", link.url), None, NOW).title == "很长的标题"
    assert sentence("丙") in (found.html or "")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.hainan.example/appnews/view.jsp?Id=187", Address("hainan.example", ("appnews", "view.jsp"), "Id=187")),
        ("http://a.example/b/c/", Address("a.example", ("b",), "c")),
        ("http://a.example/b/c", Address("a.example", ("b",), "c")),
        ("http://a.example", Address("a.example", (), "")),
        ("http://a.example/" + "x/" * 40, Address("a.example", ("x",) * MAX_DEPTH, "x")),
        ("about:blank", None),
    ],
)
def test_url_is_split_into_host_directory_and_leaf(url: str, expected: Address | None) -> None:
    assert address_of(url) == expected


@pytest.mark.parametrize(
    ("html", "url", "reason"), [("<p>x", "about:blank", "no-url"), ("<p>x", SITE, "waits-for-sibling"), ("", SITE, "waits-for-sibling")]
)
def test_refusal_reasons(html: str, url: str, reason: str) -> None:
    with pytest.raises(NotApplicable) as error:
        UrlTree()(dom.from_text(html, url), None, NOW)
    assert error.value.reason == reason


def test_library_size_is_bounded() -> None:
    run = UrlTree(Library(sites=2))
    for number in range(3 * MAX_WAITING):
        learn(run, f"/d{number}/a")
    assert len(run.library.sites["gangwan.example"].waiting) == MAX_WAITING
    for number in range(MAX_TEMPLATES + 3):
        deep = "".join(f"<div><p>{sentence(f'{{0}}{level}')}</p>" for level in range(number + 1))
        for name in ("a", "b"):
            run.learn(dom.from_text(f"<body>{deep.replace('{0}', name)}</body>", f"{SITE}/x/{number}{name}"), None, NOW)
    assert len(run.library.sites["gangwan.example"].templates[("x",)]) <= MAX_TEMPLATES
    for site in "abc":
        run.learn(page(site, f"https://{site}.example/x"), None, NOW)
    assert list(run.library.sites) == ["b.example", "c.example"]


def test_concurrent_learning_and_extraction() -> None:
    run = UrlTree()

    def work(number: int) -> bool:
        try:
            return extract_text(run, f"事{number}", f"/d{number % 7}/{number}") == sentence(f"事{number}")
        except NotApplicable:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(200))) > 150


def test_extractor_is_a_learner_and_keeper() -> None:
    run = extractor("url_tree")
    assert isinstance(run, Learner)
    assert isinstance(run, PersistentLearner)
    assert extractor("url_tree") is not run
    assert not isinstance(extractor("cevc"), Learner)


def test_saved_library_is_restored() -> None:
    run, later = UrlTree(), UrlTree()
    learn(run, "/news/a", "/news/b", "/sport/waits")
    learn(run, "/t/a", "/t/b", layout="table")
    later.restore(run.dump())
    assert later.dump() == run.dump()
    assert extract_text(later, "甲", "/news/x") == sentence("甲")
    assert extract_text(later, "乙", "/sport/y") == sentence("乙")  # uses the page that was waiting in the first run


def test_forget_removes_templates_and_waiting_pages() -> None:
    run = UrlTree()
    learn(run, "/news/a", "/news/b", "/news/deep/waits")
    learn(run, "/t/a", "/t/b", layout="table")
    assert run.library.forget("gangwan.example", ("news",)) == 1
    assert directories(run) == ["t"]
    assert not run.library.sites["gangwan.example"].waiting
    assert run.library.forget("gangwan.example") == 1
    assert not run.library.sites
    assert run.library.forget("gangwan.example") == 0


def library_dict() -> dict[str, object]:
    run = UrlTree()
    learn(run, "/news/a", "/news/b", "/sport/waits")
    found: dict[str, object] = json.loads(run.dump())
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("format",), "other"),
        (("sites",), {}),
        (("sites", 0), None),
        (("sites", 0, "site"), 7),
        (("sites", 0, "templates"), "x"),
        (("sites", 0, "templates", 0, "structure"), "body(div"),
        (("sites", 0, "templates", 0, "structure"), "body(script)"),
        (("sites", 0, "templates", 0, "content"), [9]),
        (("sites", 0, "templates", 0, "content"), []),
        (("sites", 0, "templates", 0, "content"), [True]),
        (("sites", 0, "templates", 0, "shared"), ["zz"]),
        (("sites", 0, "templates", 0, "pages"), -1),
        (("sites", 0, "templates", 0, "directory"), [1]),
        (("sites", 0, "waiting", 0, "texts"), [[]]),
        (("sites", 0, "waiting", 0, "texts", 0), [1 << 64]),
        (("sites", 0, "waiting", 0, "leaf"), None),
    ],
)
def test_corrupt_library_is_refused(path: tuple[str | int, ...], value: object) -> None:
    broken: object = library_dict()
    inner: object = broken
    for key in path[:-1]:
        inner = inner[key]  # type: ignore[index]
    inner[path[-1]] = value  # type: ignore[index]
    with pytest.raises(LibraryError):
        read_library(json.dumps(broken))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000, '{"format":"newsportal-templates"'])
def test_invalid_library_leaves_state_unchanged(text: str) -> None:
    run = UrlTree()
    learn(run, "/news/a", "/news/b")
    before = run.dump()
    with pytest.raises(LibraryError):
        run.restore(text)
    assert run.dump() == before


PATHS = st.lists(
    st.tuples(st.lists(st.sampled_from("ab"), max_size=3), st.sampled_from("xyz"), st.sampled_from(["div", "table", "section"])),
    max_size=25,
)


@given(PATHS)
def test_any_library_round_trips(pages: list[tuple[list[str], str, str]]) -> None:
    """No directory holds two matching templates, nor do two siblings, and the file is complete."""
    run = UrlTree()
    for segments, leaf, layout in pages:
        learn(run, "/" + "/".join([*segments, leaf + layout]), layout=layout)
    keys = set()
    for site, directory, template in run.library:
        key = (site, directory[:-1] if directory else None, template.structure, template.content[0])
        assert key not in keys
        keys.add(key)
    assert write_library(read_library(run.dump())) == run.dump()


@pytest.mark.data
def test_scores_reach_their_floors(data: Path) -> None:
    """In scrapinghub ten pages have a sibling; their extracted text is right."""
    run = UrlTree()
    documents = []
    for saved in saved_pages(data / "extraction" / "scrapinghub"):
        assert saved.path is not None
        gold = json.loads(saved.path.with_name(f"{saved.id}.json").read_text("utf-8"))["text"]
        documents.append((dom.document(Page(saved.url or "about:blank", saved.body, NOW)), gold))
        run.learn(documents[-1][0], None, NOW)
    common = sizes = answered = 0
    for document, gold in documents:
        try:
            text = "".join((run(document, None, NOW).text or "").split())
        except NotApplicable:
            continue
        answered += 1
        gold_text = "".join(gold.split())
        common, sizes = common + LCSseq.similarity(gold_text, text), sizes + len(gold_text) + len(text)
    assert answered >= 10
    assert 2 * common / sizes >= 0.98
