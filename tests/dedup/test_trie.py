from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.canonical import identity
from newsportal.dedup.document import NEW, Document, Verdict
from newsportal.dedup.trie import MAX_CHARS, Trie, UrlTrie

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
URL = "http://news.example.com/2024/03/01/1001.html"


def visit(number: int, url: str, hours: float = 0) -> Document:
    return Document(str(number), url, "", "", NOON + timedelta(hours=hours))


def test_url_is_known_for_24_hours() -> None:
    trie = UrlTrie()
    assert trie.judge(visit(1, URL)) == NEW
    assert trie.judge(visit(2, URL, 24)) == Verdict("1", "same-url", 1.0)
    assert trie.judge(visit(3, URL, 24.01)) == NEW
    assert trie.judge(visit(4, URL, 40)).duplicate_of == "3"


def test_second_visit_is_remembered_after_the_first_expires() -> None:
    trie = UrlTrie()
    for number, (url, hours) in enumerate([(URL, 0), (URL, 25), ("http://example.com/", 25.1)]):
        assert trie.judge(visit(number, url, hours)) == NEW
    assert trie.judge(visit(3, URL, 26)).duplicate_of == "1"


def test_similar_urls_are_new() -> None:
    trie = UrlTrie()
    trie.judge(visit(1, URL))
    for number, other in enumerate((URL + "?page=2", URL[:-5], URL.replace("1001", "1002"), URL.upper()), start=2):
        assert trie.judge(visit(number, other)) == NEW


def test_document_is_not_its_own_duplicate() -> None:
    trie = UrlTrie()
    assert trie.judge(visit(1, URL)) == trie.judge(visit(1, URL)) == NEW


def test_url_variants_are_joined_by_name_function() -> None:
    trie = UrlTrie(name=identity)
    trie.judge(visit(1, URL))
    assert trie.judge(visit(2, URL + "?utm_source=a")).duplicate_of == "1"


Visits = st.lists(st.tuples(st.floats(0, 100), st.text("ab/", min_size=1, max_size=5)), max_size=60).map(sorted)


@given(Visits)
def test_urls_are_known_for_exactly_24_hours(visits: list[tuple[float, str]]) -> None:
    trie = UrlTrie()
    entered: dict[str, tuple[float, str]] = {}
    for number, (hours, url) in enumerate(visits):
        document = visit(number, url, hours)
        assert document.published is not None
        then, first = entered.get(url, (float("-inf"), ""))
        is_known = document.published.timestamp() - then <= 24 * 3600
        assert trie.judge(document).duplicate_of == (first if is_known else None)
        if not is_known:
            entered[url] = document.published.timestamp(), document.id


@given(st.lists(st.tuples(st.booleans(), st.text("ab", max_size=6)), max_size=80))
def test_trie_behaves_like_a_map_with_few_nodes(steps: list[tuple[bool, str]]) -> None:
    trie: Trie[int] = Trie()
    expected: dict[str, int] = {}
    for number, (put, key) in enumerate(steps):
        if put:
            trie.put(key, number)
            expected[key] = number
        else:
            trie.remove(key)
            expected.pop(key, None)
        assert all(trie.get(key) == expected.get(key) for _, key in steps)
        assert trie.nodes() <= max(1, 2 * len(expected))


def test_forgotten_urls_leave_no_nodes() -> None:
    trie = UrlTrie()
    for number in range(500):
        trie.judge(visit(number, f"http://example.com/{number}"))
    for number in (500, 501):
        trie.judge(visit(number, f"http://example.com/{number}", 50))
    assert len(trie) == 2
    assert trie._trie.nodes() <= 4


def test_memory_is_bounded() -> None:
    trie = UrlTrie(capacity=10)
    for number in range(100):
        trie.judge(visit(number, f"http://example.com/{number}"))
    assert len(trie) == 10
    assert trie.judge(visit(100, "http://example.com/99")).duplicate_of == "99"
    assert trie.judge(visit(101, "http://example.com/89")) == NEW


def test_empty_huge_and_odd_urls() -> None:
    trie = UrlTrie()
    huge = "http://example.com/" + "a" * 5_000_000
    assert trie.judge(visit(1, "")) == trie.judge(visit(2, " ")) == NEW
    assert trie.judge(visit(3, "a")) == trie.judge(visit(4, huge)) == trie.judge(visit(5, huge + "b")) == NEW
    assert trie.judge(visit(6, huge)).duplicate_of == "4"
    assert trie._trie.get("a") is not None
    assert max(len(branch.label) for branch in trie._trie._root.branches.values()) <= MAX_CHARS
    assert trie.judge(visit(7, "http://example.com/\ud800新")) == NEW
