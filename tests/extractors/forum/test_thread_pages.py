"""Deleted threads and redirected thread URLs yield no posts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import threads

from newsportal.errors import NotApplicable
from newsportal.extractors.forum import post_extractor
from newsportal.extractors.forum.thread import read_page
from newsportal.text import dom

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUESTED_URL = "https://bbs.example/thread-9-1-1.html"
FOOT = "<div><p>GMT+8, 2026-3-1 11:31, Processed in 0.02 second(s)</p></div>"


@pytest.mark.parametrize(
    "notice_text",
    [
        "抱歉，指定的主题不存在或已被删除或正在被审核",
        "该帖子已经被作者删除",
        "The requested topic does not exist.",
        "This thread has been removed.",
    ],
)
def test_deletion_notice_is_not_a_post(notice_text: str) -> None:
    notice = dom.from_text(f"<title>提示信息</title><div id=messagetext><p>{notice_text}</p></div>{FOOT}", REQUESTED_URL)
    with pytest.raises(NotApplicable) as error:
        read_page(notice, post_extractor("best"), NOW, single=True)
    assert error.value.reason == "gone"


def test_post_about_deletion_is_kept() -> None:
    text = (
        "我昨天发的那个关于换窗户的帖子不知道为什么被删除了，版主能不能解释一下，里面既没有广告，也没有骂人，只是问了问价钱和师傅的电话。"
        * 3
    )
    lone = dom.from_text(f"<h1>问一问</h1><p>2026-2-27 10:20</p><div class=content><p>{text}</p></div>{FOOT}", REQUESTED_URL)
    assert text[:30] in read_page(lone, post_extractor("best"), NOW, single=True).posts[0].text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://bbs.example/forum-2-1.html", "gone"),
        ("https://bbs.example/forum.php", "gone"),
        ("https://bbs.example/", "gone"),
        ("https://bbs.example/member.php?mod=logging&action=login", "login"),
    ],
)
def test_redirected_thread_url_has_no_posts(url: str, reason: str) -> None:
    with pytest.raises(NotApplicable) as error:
        read_page(dom.from_text(threads.discuz(), url), post_extractor("best"), NOW, requested=REQUESTED_URL)
    assert error.value.reason == reason


def test_thread_under_alternative_url_is_read() -> None:
    page = dom.from_text(threads.discuz(), "https://bbs.example/t/what-it-is-about/9")
    assert len(read_page(page, post_extractor("best"), NOW, requested=REQUESTED_URL).posts) == len(threads.TALK)
