from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newsportal.services.exchange.tables import COLUMNS, escape_cell, is_formula, read_csv, unescape_cell, write_csv


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\t=1", " =1", "＝1", "\r=1", "'=1", "''=1"])
def test_cells_are_neutralised(text: str) -> None:
    assert escape_cell(text) == f"'{text}"


def test_other_cells_are_unchanged() -> None:
    assert [escape_cell(text) for text in ("桥", "a=b", "", "'quoted'")] == ["桥", "a=b", "", "'quoted'"]


@given(st.text())
@example("'=1")
@example("' =1")
@example("''")
def test_cell_round_trip(text: str) -> None:
    assert unescape_cell(escape_cell(text)) == text
    assert not is_formula(escape_cell(text)) or escape_cell(text).startswith("'")


def round_trip(rows: list[dict[str, Any]]) -> list[Any]:
    stream = io.StringIO(newline="")
    write_csv(rows, stream)
    stream.seek(0)
    return [row for _, row in read_csv(stream)]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


@given(url=TEXTS.filter(bool), title=TEXTS, text=TEXTS, topics=st.lists(TEXTS.filter(bool)), caption=TEXTS)
def test_csv_rows_round_trip(url: str, title: str, text: str, topics: list[str], caption: str) -> None:
    row = {"url": url, "title": title, "text": text, "topics": topics, "keywords": [], "images": [{"url": "u", "caption": caption}]}
    assert round_trip([row]) == [row]


def test_columns_in_any_order_and_bad_rows_are_reported() -> None:
    lines = 'text,url,title\r\n正文,https://a.example/1,一\r\nzu,wenig\r\n"a\r\nb",https://a.example/2,二\r\n\r\n'
    rows = list(read_csv(io.StringIO(lines, newline="")))
    assert rows[0] == (2, {"text": "正文", "url": "https://a.example/1", "title": "一"})
    assert rows[1][0] == 3
    assert str(rows[1][1]) == "2 cells instead of 3"
    assert rows[2] == (5, {"text": "a\r\nb", "url": "https://a.example/2", "title": "二"})
    assert len(rows) == 3


def test_csv_without_url_column_is_refused() -> None:
    for text in ("", "a,b\r\n1,2\r\n"):
        with pytest.raises(ValueError, match="no column url"):
            list(read_csv(io.StringIO(text)))


def test_invalid_column_more_is_reported() -> None:
    rows = list(read_csv(io.StringIO("url,more\r\nu,[\r\nu,[]\r\n")))
    assert all(isinstance(row, ValueError) for _, row in rows)


def test_invalid_utf_8_is_reported() -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"url,title\r\n\xc3\xd7,x\r\nu,y\r\n"), encoding="utf-8", errors="surrogateescape", newline="")
    rows = [row for _, row in read_csv(stream)]
    assert str(rows[0]) == "not UTF-8; save the file in UTF-8"
    assert rows[1] == {"url": "u", "title": "y"}


def test_text_of_ten_megabytes(capsys: object) -> None:
    row = {"url": "u", "title": "t", "text": "字" * 3_500_000, "topics": [], "keywords": []}
    assert round_trip([row]) == [row]


@pytest.fixture
def field_limit() -> Iterator[None]:
    """Restores the limit of the csv module, which is global."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)


@pytest.mark.usefixtures("field_limit")
def test_lines_and_cells_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newsportal.services.exchange.tables.LONGEST", 100)
    with pytest.raises(ValueError, match="a line longer than 100 characters"):
        list(read_csv(io.StringIO("url,title,text\n" + "u" * 101)))
    rows = list(read_csv(io.StringIO('url,title,text\nu,t,"never closed\n' + "a line\n" * 50)))
    assert isinstance(rows[0][1], ValueError)
    assert "field limit" in str(rows[0][1])


def test_column_more_is_last() -> None:
    assert COLUMNS[-1] == "more"
