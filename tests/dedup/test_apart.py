"""Links of one list page that the rules of identity join although they are articles of their own."""

from __future__ import annotations

from newsportal.dedup.canonical import bare, set_apart, shared, spellings
from newsportal.items import Link

TITLES = ("山间古镇的路铺好了", "码头的渡船又开了", "老人学会了网上挂号", "菜市场换了新棚子")


def link(url: str, title: str | None) -> Link:
    return Link(url, "region:甲", title=title)


def session_like(number: int) -> str:
    """A site that names its articles where others put a session."""
    return f"https://a.example/view.php?sid={number:032x}"


def test_articles_under_what_looks_like_a_session_are_told_apart() -> None:
    links = [link(session_like(number), title) for number, title in enumerate(TITLES, 10)]
    found = set_apart(links, set())
    assert [one.identity for one in found] == [bare(one.url) for one in links]
    assert len({one.identity for one in found}) == len(TITLES)


def test_one_article_with_many_trackers_is_one() -> None:
    links = [link(f"https://a.example/1.html?utm_source={name}", TITLES[0]) for name in "abcd"]
    assert set_apart(links, set()) == links


def test_a_headline_and_its_more_are_one() -> None:
    links = [
        link("https://a.example/1.html?spm=1", TITLES[0]),
        link("https://a.example/1.html?spm=2", "详细"),
        link("https://a.example/1.html?spm=3", None),
    ]
    assert set_apart(links, set()) == links


def test_who_is_stored_by_its_spelling_stays_apart() -> None:
    links = [link(session_like(1), TITLES[0]), link(session_like(2), TITLES[1])]
    found = set_apart(links, {bare(session_like(1))})
    assert [one.identity for one in found] == [bare(one.url) for one in links], "the second is not swallowed by the first"
    assert spellings(links) == [bare(one.url) for one in links]


def test_links_of_one_spelling_are_not_asked_about() -> None:
    assert spellings([link("https://a.example/1.html", "题"), Link("https://a.example/x", "feed:甲", identity="f#1")]) == []


def test_several_entries_on_one_address_are_noticed() -> None:
    assert shared([link("https://a.example/", title) for title in TITLES])
    assert not shared([link("https://a.example/1.html", TITLES[0])] * 5)
    assert not shared([link(f"https://a.example/{n}.html", title) for n, title in enumerate(TITLES)])
    assert not shared([])
