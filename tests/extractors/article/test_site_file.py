"""Site knowledge is saved between runs; files from elsewhere are validated."""

from __future__ import annotations

import json
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.errors import LibraryError
from newsportal.extractors.article import site as site_module
from newsportal.extractors.article.site import SiteKnowledge, read_knowledge, write_knowledge

NOTICE = "本网所有内容未经书面许可不得转载。"


def made_knowledge() -> SiteKnowledge:
    knowledge = SiteKnowledge()
    text = "滨海新线今天通车，从码头到东站只要十二分钟，头一班车上坐满了来看海的人。"
    knowledge.learn("https://a.example/1/甲", ["滨海新线", text, NOTICE], "滨海新线", [text])
    knowledge.learn("https://b.example/1", [NOTICE])
    return knowledge


def test_round_trip_keeps_knowledge() -> None:
    later = read_knowledge(write_knowledge(made_knowledge()))
    assert write_knowledge(later) == write_knowledge(made_knowledge())
    body = ["码头今天有了新的进展，当地的居民都在谈论它。", "记者从现场发回了报道，船班明天恢复。", NOTICE]
    assert later.repeated("https://a.example/other", body) == {NOTICE}


def test_files_are_independent_of_byte_order(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped = array("Q", [1, 2**40])
    monkeypatch.setattr("sys.byteorder", "big")
    assert list(site_module._swapped(swapped)) == [1 << 56, 1 << 16]
    assert site_module._swapped(site_module._swapped(swapped)) == swapped


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "other"),
        (("version",), 2),
        (("pages",), {}),
        (("pages",), [{}] * 8001),
        (("pages", 0), 7),
        (("pages", 0, "url"), "about:blank"),
        (("pages", 0, "url"), None),
        (("pages", 0, "lines"), "AAAA"),
        (("pages", 0, "lines"), "AAA"),
        (("pages", 0, "lines"), "ä"),
        (("pages", 0, "lines"), 7),
        (("pages", 0, "lines"), "A" * 4 * 8 * 1000),
    ],
)
def test_corrupt_file_is_refused(path: tuple[str | int, ...], value: object) -> None:
    broken: object = json.loads(write_knowledge(made_knowledge()))
    inner: object = broken
    for key in path[:-1]:
        inner = inner[key]  # type: ignore[index]
    inner[path[-1]] = value  # type: ignore[index]
    with pytest.raises(LibraryError):
        read_knowledge(json.dumps(broken))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000])
def test_invalid_text_is_refused(text: str) -> None:
    with pytest.raises(LibraryError):
        read_knowledge(text)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.lists(st.text(max_size=5), max_size=4)), max_size=40))
def test_any_knowledge_round_trips(pages: list[tuple[int, int, list[str]]]) -> None:
    knowledge = SiteKnowledge()
    for site, page, lines in pages:
        knowledge.learn(f"https://s{site}.example/x{page}00", lines)
    assert read_knowledge(write_knowledge(knowledge)).pages() == knowledge.pages()
