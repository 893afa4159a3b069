"""Links of one list page that the rules of identity join although they are different articles."""

from __future__ import annotations

from newsportal.dedup.canonical import bare, is_single_page, separate_collisions, spelling_ids
from newsportal.items import Link

TITLES = ("山间古镇的路铺好了", "码头的渡船又开了", "老人学会了网上挂号", "菜市场换了新棚子")


def link(url: str, title: str | None) -> Link:
    return Link(url, "region:甲", title=title)


def session_like(number: int) -> str:
    """Return a URL that names its article by a parameter usually holding a session id."""
    return f"https://a.example/view.php?sid={number:032x}"


def test_articles_named_by_session_like_parameter_are_separated() -> None:
    links = [link(session_like(number), title) for number, title in enumerate(TITLES, 10)]
    found = separate_collisions(links, set())
    assert [link.identity for link in found] == [bare(link.url) for link in links]
    assert len({link.identity for link in found}) == len(TITLES)


def test_article_with_several_trackers_is_one() -> None:
    links = [link(f"https://a.example/1.html?utm_source={name}", TITLES[0]) for name in "abcd"]
    assert separate_collisions(links, set()) == links


def test_headline_and_more_link_are_one() -> None:
    links = [
        link("https://a.example/1.html?spm=1", TITLES[0]),
        link("https://a.example/1.html?spm=2", "详细"),
        link("https://a.example/1.html?spm=3", None),
    ]
    assert separate_collisions(links, set()) == links


def test_article_stored_by_full_url_stays_separate() -> None:
    links = [link(session_like(1), TITLES[0]), link(session_like(2), TITLES[1])]
    found = separate_collisions(links, {bare(session_like(1))})
    assert [link.identity for link in found] == [bare(link.url) for link in links], "the second is not joined to the first"
    assert spelling_ids(links) == [bare(link.url) for link in links]


def test_only_links_with_several_spellings_are_looked_up() -> None:
    assert spelling_ids([link("https://a.example/1.html", "题"), Link("https://a.example/x", "feed:甲", identity="f#1")]) == []


def test_several_entries_with_one_url_are_detected() -> None:
    assert is_single_page([link("https://a.example/", title) for title in TITLES])
    assert not is_single_page([link("https://a.example/1.html", TITLES[0])] * 5)
    assert not is_single_page([link(f"https://a.example/{n}.html", title) for n, title in enumerate(TITLES)])
    assert not is_single_page([])
