"""Sun and Guan's statistics: counts, steps 2 to 4, and our adaptations to current pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.papers import table_stats
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)


def body_of(html: str) -> dom.Element:
    return next(dom.parse_html(f"<body id=body>{html}</body>").iter("body"))


def chosen_id(html: str, share: float = table_stats.T) -> str | None:
    body = body_of(html)
    counts = table_stats.count(body)
    block = table_stats.choose_block(counts, table_stats.tables_or_blocks(body, counts), share=share)
    return None if block is None else block.get("id")


def table(name: str, *cells: str) -> str:
    return f"<table id={name}>{''.join(f'<tr><td>{cell}</td></tr>' for cell in cells)}</table>"


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<p>一二三，abc 123。四</p>", 4),  # Chinese characters only
        ("<p>一<a>二</a>三</p><form>四</form>五<script>六</script><style>七</style>", 3),
        ("<p>The old town 123 hall, l'été</p>", 12),  # six words in Latin script
        ("<p>The mayor of the town of 汉口 visits the harbour and opens the line</p>", 28),  # two names do not make a page Chinese
    ],
)
def test_counted_characters(html: str, count: int) -> None:
    body = body_of(html)
    assert table_stats.count(body)[body] == count


def test_inner_table_of_the_papers_example() -> None:
    # table 1 of the paper: 928 characters, of which the inner table has 792 (0.85 > T); a third has 138
    page = table("one", table("two", "字" * 792), "字" * 136) + table("three", "字" * 138)
    assert chosen_id(page) == "two"
    assert chosen_id(page, share=0.86) == "one"


def test_small_tables_are_not_candidates() -> None:
    assert chosen_id(table("outer", "字" * 10, table("inner", "字" * 50))) == "outer"
    assert chosen_id(table("outer", "字" * 10, table("inner", "字" * 51))) == "inner"
    assert chosen_id(table("only", "字" * 50)) is None


def test_search_descends_only_into_chosen_table() -> None:
    inner = table("inner", "字" * 40, table("core", "字" * 90))
    assert (
        chosen_id(table("outer", inner, "字" * 600) + table("beside", "字" * 300)) == "outer"
    )  # 300 of 730 and 90 of 130: outside the choice, or too small a share
    assert chosen_id(table("outer", inner, "字" * 20)) == "core"  # 130 of 150, then 90 of 130


def test_blocks_are_compared_without_text_tables() -> None:
    data = table("data", "字" * 60)
    assert chosen_id(f"<div id=page><div id=article><p>{'字' * 300}</p>{data}</div><div id=more>{'字' * 60}</div></div>") == "article"


def test_text_excludes_links_and_forms() -> None:
    page = table("one", f"{'正文' * 40}<a href=/>链接</a><br>{'后文' * 40}", "<form>搜索</form>")
    found = table_stats.extract(dom.from_text(page), None, NOW)
    assert found.text == f"{'正文' * 40}\n{'后文' * 40}"
    assert found.algorithm == "table_stats"


def test_short_page_is_refused() -> None:
    with pytest.raises(NotApplicable, match="no-body"):
        table_stats.extract(dom.from_text(f"<body><div>{'字' * 50}</div></body>"), None, NOW)
