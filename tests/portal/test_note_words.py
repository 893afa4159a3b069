"""What looks and crawls note, in Chinese: each sentence as it is written where it comes from."""

from __future__ import annotations

import pytest

from newsportal.errors import EgressDenied, FetchFailed
from newsportal.portal.language import translations
from newsportal.portal.note_words import COMPILED, failure, noted

ZH = translations("zh")


def latin(text: str) -> bool:
    """Whether English words are in it: three letters in a row that stand in no address and are no key of ``sources.yaml``."""
    plain = text.replace("http://a.example/x", "").replace("max_age", "").replace("allow", "").replace("deny", "").replace("robots.txt", "")
    return any(plain[place : place + 3].isascii() and plain[place : place + 3].isalpha() for place in range(len(plain) - 2))


NOTES = (
    "13 requests",
    "left out: feed http://a.example/x, since better ones list 9 of its 10 entries",
    "http://a.example/x looks like one article: its site's front page is looked at",
    str(FetchFailed("http://a.example/x", "robots", "robots.txt cannot be had (dns)")),
    str(FetchFailed("http://a.example/x", "timeout", "no answer within 10 s")),
    str(FetchFailed("http://a.example/x", "enough", "24 requests were made")),
    str(EgressDenied("http://a.example/x", "port")),
    str(EgressDenied("http://a.example/x", "link-local")),
    "12 entries",
    "3 sitemaps are named in http://a.example/x",
    "of them: http://a.example/x",
    "4 left out: no-article",
    "40 links, 3 of them to further list pages",
    "2 boards: 港口; 灯塔",
    "港口: 14 threads",
    "灯塔: for members only",
    "14 photo stories",
    "from stored articles",
    "http://a.example/x: the server answers 503",
    "http://a.example/x is no feed, names none, and has fewer than 5 links to articles of its own; for a forum --forum",
    "http://a.example/x cannot be read as a forum: only members may read it",
    "no articles found",
    "3 posts, the first of them: [甲] 你好",
    "1 picture on 1 page; that is all. 晨光里的港口",
    "6 pictures on 3 pages of 9; there are more. 晨光里的港口",
)


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_told_in_chinese(note: str) -> None:
    said = noted(note, ZH)
    assert said != note
    assert not latin(said), said
    assert noted(note, translations("en")), "English has every value that its message names"


def test_what_nobody_foresaw_stays_as_it_comes() -> None:
    assert noted("something else", ZH) == "something else"
    assert failure("something else", ZH) == "something else"
    assert failure("http-404", ZH) != "http-404"


def test_no_pattern_is_hidden_by_an_earlier_one() -> None:
    assert len({pattern.pattern for pattern, _message in COMPILED}) == len(COMPILED)
