"""Choice of the publication date among all dates of a page: made-up pages, each with one distractor."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from work_counts import count_calls

from newsportal.extractors.fields.metadata import read_metadata
from newsportal.extractors.fields.published import best_date, script_date
from newsportal.text import dom

NOW = datetime(2024, 3, 20, 12, 0, tzinfo=UTC)
TITLE = "滨海新线今晨通车"
RIGHT = "2024-03-05"


def read(body: str, head: str = "", url: str = "https://news.example/a", language: str = "zh") -> str | None:
    document = dom.from_text(f"<html><head><title>{TITLE}</title>{head}</head><body>{body}</body></html>", url)
    found = best_date(document, read_metadata(document), None, NOW, language, TITLE)
    return found.date().isoformat() if found else None


@pytest.mark.parametrize(
    "body",
    [
        f"<div>今天是2024年3月20日 星期三</div><h1>{TITLE}</h1><p>2024-03-05 08:30</p>",
        f"<div>2024年3月20日 星期三 08:30</div><div>首页</div><h1>{TITLE}</h1><p>2024-03-05</p>",
        f"<h1>{TITLE}</h1><p>更新时间：2024-03-18 08:30</p><p>发布时间：2024-03-05 08:30</p>",
        f"<h1>{TITLE}</h1><p>发布于 2024-03-05 08:30，最后更新于 2024-03-18 10:00</p>",
        f"<h1>{TITLE}</h1><p>报名截止时间：2024-03-19 18:00</p><p>2024-03-05 08:30 来源：滨海日报</p>",
        f"<h1>{TITLE}</h1><p><span>http://news.example</span><span>2024-03-05</span><span>滨海晚报</span></p><p>摘要：这是继2001年1月10日之后，最好的一次。</p>",
        f"<h1>》{TITLE}</h1><p>日期：2024.03.05</p><div>3月19日 08:30 别处的新闻</div>",
        f"<h1>{TITLE}</h1><p>正文一段，没有日期。</p><p>他刚刚上车，一小时前还在家。</p><div>版权声明 发布日期：2024-03-05 08:30</div>",
        f"<h1>{TITLE}</h1><p>Mar<b>5</b>Tue<b>2024</b>00:28</p>",
        f"<h1>{TITLE}</h1><p>正文</p><script>var nickname='x';var ct = \"1709600000\";</script>",
        f'<h1>{TITLE}</h1><p>正文</p><script>window.S={{"id":1,"publishTime":"2024-03-05 08:30:00"}}</script>',
    ],
)
def test_publication_date_is_chosen(body: str) -> None:
    assert read(body) == RIGHT


def test_declared_date_is_preferred() -> None:
    assert (
        read(f"<h1>{TITLE}</h1><p>2024-03-07 08:30</p>", '<meta property="article:published_time" content="2024-03-05T08:30:00+08:00">')
        == RIGHT
    )


def test_day_first_order_depends_on_language() -> None:
    body = f"<h1>{TITLE}</h1><p>Publicado el 05/03/2024 08:30</p>"
    assert read(body, language="es") == RIGHT
    assert read(body, language="en") != RIGHT


def test_german_dates_with_short_years() -> None:
    assert read(f"<h1>{TITLE}</h1><p>Di 05.03.24 | 14:07 Uhr | Von Eva Muster</p>", language="de") == RIGHT


def test_url_date_is_the_last_resort() -> None:
    assert read("<p>text</p>", url="https://news.example/2024/03/05/a.html") == RIGHT
    assert read("<p>text</p>") is None


def test_timestamps_in_scripts_need_a_date_key() -> None:
    assert script_date('{"expires":1709600000,"width":1709600000}', NOW, UTC) is None
    found = script_date('{"createTime":1709600000123}', NOW, UTC)
    assert found is not None
    assert found.date().isoformat() == "2024-03-05"


def test_earlier_date_beside_title_overrides_declared_date() -> None:
    head = '<script type="application/ld+json">{"@type": "Article", "datePublished": "Mar 9, 2024"}</script>'
    body = f"<h1>{TITLE}</h1><p>March 1, 2024</p>"
    assert read(body, head, language="en") == "2024-03-01"
    assert read(body.replace("March 1", "March 11"), head, language="en") == "2024-03-09"


def test_url_date_chooses_among_dates_on_page() -> None:
    body = f"<h1>{TITLE}</h1><p>March 9, 2023 10:00</p><p>March 1, 2023</p>"
    assert read(body, url="https://news.example/2023/03/01/line", language="en") == "2023-03-01"


def test_modification_date_is_a_fallback() -> None:
    changed = '<meta property=article:modified_time content="2024-02-03T04:05:00Z">'
    assert read("<p>text</p>", changed) == "2024-02-03"
    assert read("<p>Updated March 1, 2024</p>", language="en") == "2024-03-01"
    assert read("<p>text</p>", '<meta name=citation_publication_date content="2023/01/07">') == "2023-01-07"


def test_invalid_time_elements_skip_the_fallback_parser() -> None:
    """The fallback parser takes 5 ms and a thousand function calls for each text."""
    times = "".join(f"<time datetime='1 ab{number} 24'>x</time>" for number in range(3_000))
    document = dom.from_text(times, "https://news.example/1")
    assert count_calls(best_date, document, read_metadata(document), None, NOW, "zh") < 3_000 * 100
