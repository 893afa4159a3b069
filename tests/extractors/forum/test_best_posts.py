"""The ``best`` algorithm on made-up threads: of known engines, of no engine, and hidden from readers without scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
import threads
from threads import ENGLISH, TALK, Floor, page

from newsportal.errors import NotApplicable
from newsportal.extractors.forum import best
from newsportal.items import Post
from newsportal.text import dom

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
URL = "https://talk.example/t/1"


def posts(html: str, hints: bool = True, url: str = URL) -> tuple[Post, ...]:
    return best.extract(dom.from_text(html, url), NOW, hints)


def compact(text: str | None) -> str:
    return "".join((text or "").split())


def assert_posts(found: Sequence[Post], talk: Sequence[Floor]) -> None:
    assert [post.author for post in found] == [floor.author for floor in talk]
    assert [compact(post.text) for post in found] == [compact(floor.text) for floor in talk]
    assert all(post.published is not None and post.published.date() >= datetime(2024, 3, 5, tzinfo=UTC).date() for post in found)


CASES = [
    (threads.discuz, TALK),
    (threads.phpwind, TALK),
    (threads.phpbb, ENGLISH),
    (threads.xenforo, ENGLISH),
    (threads.discourse, ENGLISH),
    (threads.table_rows, ENGLISH),
    (threads.plain_cards, ENGLISH),
]


@pytest.mark.parametrize("hints", [True, False])
@pytest.mark.parametrize(("thread", "talk"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_posts_have_author_time_and_text(thread: Callable[[], str], talk: Sequence[Floor], hints: bool) -> None:
    found = posts(thread(), hints)
    assert_posts(found, talk)
    assert [post.opening for post in found] == [number == 0 for number in range(len(talk))]


def test_date_of_post_is_not_of_member_or_attachment() -> None:
    found = posts(threads.discuz())
    assert [post.published.strftime("%Y-%m-%d %H:%M") for post in found if post.published] == [
        "2024-03-05 08:30",
        "2024-03-05 08:41",
        "2024-03-05 09:02",
        "2024-03-05 09:15",
        "2024-03-06 21:07",
    ]
    assert found[0].published is not None
    assert found[0].published.utcoffset() == timedelta(hours=8)
    assert found[1].date_text == "发表于 2024-3-5 08:41"


def test_floor_numbers() -> None:
    assert [post.floor for post in posts(threads.discuz())] == [1, 2, 3, 4, 5]
    assert [post.floor for post in posts(threads.xenforo())] == [1, 2, 3, 4]


def test_quotations_are_separated_from_text() -> None:
    for found in (posts(threads.discuz())[2], posts(threads.phpbb())[2], posts(threads.xenforo())[2]):
        assert found.quoted is not None
        assert "七分钟" in found.quoted or "Hardly anybody" in found.quoted
        assert compact(found.quoted) not in compact(found.text)
        assert compact(found.full_text) == compact(found.quoted + found.text)


def test_signatures_and_edit_notes_are_removed() -> None:
    text = "".join(post.full_text or "" for post in (*posts(threads.discuz()), *posts(threads.phpbb())))
    assert not any(word in text for word in ("难忘", "最后由", "下载次数", "上传", "steam", "Last edited", "举报"))


def test_datetime_attribute_is_preferred_to_relative_age() -> None:
    first = posts(threads.xenforo())[0]
    assert first.published == datetime(2024, 3, 5, 7, 30, tzinfo=UTC)
    assert first.date_text == "2024-03-05T08:30:00+0100"


def test_images_id_and_xpath_of_post() -> None:
    second = posts(threads.xenforo())[1]
    assert [image.url for image in second.images] == ["https://talk.example/attachments/train-1.jpg"]
    assert second.id == "801"
    assert second.xpath == "/html/body/div[2]/article[2]"


@pytest.mark.parametrize("thread", [threads.discuz, threads.phpwind])
def test_single_post_is_read_by_engine_hints(thread: Callable[[Sequence[Floor]], str]) -> None:
    assert_posts(posts(thread(TALK[:1])), TALK[:1])


def test_two_posts_suffice_without_hints() -> None:
    assert_posts(posts(threads.discuz(TALK[:2]), hints=False), TALK[:2])


def test_comments_below_answers_are_not_posts() -> None:
    """Each answer has three comments, each with a name and a time."""
    comments = "".join(
        f"<li class='comment'><span>Me too, that is what I said before {n}</span> <a href='/users/9{n}'>guest{n}</a> <span>Mar 6, "
        f"2024 at 9:0{n}</span></li>"
        for n in range(3)
    )
    answers = "".join(
        f"<div class='answer' id='answer-{n}1'><div class='words'>{floor.text} {floor.text}</div><div class='who'><a "
        f"href='/users/{n}'>{floor.author}</a>"
        f"<span>{floor.time}</span></div><ul class='comments'>{comments.replace('before', f'before {floor.author}')}</ul></div>"
        for n, floor in enumerate(ENGLISH)
    )
    found = posts(page(answers), hints=False)
    assert [post.author for post in found] == [floor.author for floor in ENGLISH]
    assert [compact(post.text) for post in found] == [compact(floor.text * 2) for floor in ENGLISH]


def test_nested_posts_hold_only_their_own_text() -> None:
    def nested(number: int) -> str:
        floor = ENGLISH[number]
        inner = nested(number + 1) if number + 1 < len(ENGLISH) else ""
        return (
            f"<div class='comment' id='c{number}0'><div class='top'><a class='author' "
            f"href='/user/{number}'>{floor.author}</a><time datetime='2024-03-05T0{number + 1}:00Z'>"
            f"{floor.time}</time></div><div class='md'>{floor.text}</div><div class='child'>{inner}</div></div>"
        )

    found = posts(page(nested(0)))
    assert_posts(found, ENGLISH)
    assert all(compact(ENGLISH[number + 1].text) not in compact(found[number].block_text) for number in range(len(ENGLISH) - 1))


def test_posts_inside_html_comment_are_read() -> None:
    html = threads.plain_cards(opening_apart=False)
    start, end = html.index("<div class='list'>"), html.index("<div id='ft'>")
    hidden = f"{html[:start]}<code><!--{html[start:end]}--></code>{html[end:]}"
    assert_posts(posts(hidden), ENGLISH)


def test_json_ld_thread_is_a_fallback() -> None:
    thread = {
        "@type": "DiscussionForumPosting",
        "author": {"@type": "Person", "name": "harbour_tom"},
        "datePublished": "2024-03-05T08:30:00Z",
        "text": "Has anyone taken it?",
        "comment": [
            {"@type": "Comment", "author": {"name": "Early Bird"}, "dateCreated": "2024-03-05T08:41:00Z", "text": "I did.<br>Twice."}
        ],
    }
    found = posts(page("<div id='app'></div>", f'<script type="application/ld+json">{json.dumps(thread)}</script>'))
    assert [(post.author, post.text) for post in found] == [("harbour_tom", "Has anyone taken it?"), ("Early Bird", "I did.\nTwice.")]
    assert found[1].published == datetime(2024, 3, 5, 8, 41, tzinfo=UTC)


@pytest.mark.parametrize("age", ["3分钟前", "2 hours ago", "vor 3 Stunden", "il y a 2 heures", "hace 3 horas", "3 часа назад"])
def test_relative_ages_are_dates(age: str) -> None:
    talk = [Floor(floor.author, age, floor.text) for floor in ENGLISH]
    found = posts(threads.plain_cards(talk, opening_apart=False))
    assert [post.author for post in found] == [floor.author for floor in talk]
    assert all(post.published is not None and timedelta(0) < NOW - post.published < timedelta(hours=4) for post in found)


def test_later_page_has_no_opening_post() -> None:
    assert not any(post.opening for post in posts(threads.discuz(), url="https://talk.example/thread-12-2-1.html"))


@pytest.mark.parametrize("html", ["", "<p>hello</p>", page("<ul>" + "<li><a href='/t/1'>Thread</a></li>" * 20 + "</ul>")])
def test_page_without_posts_is_refused(html: str) -> None:
    with pytest.raises(NotApplicable, match="no-posts"):
        posts(html)
