"""Logs of views from other systems: accepted formats, and the error for an invalid line."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from newsportal.cli.recommend import open_views, read_views, view_moment
from newsportal.errors import ClicksError
from newsportal.messages import set_zone
from newsportal.recommend.base import View
from newsportal.services.learning.files import guess_form

AT = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
JSONL = (
    '\ufeff{"reader": "林", "story": "a", "seen": 3, "pictures": 8, "at": "2026-03-01T08:30+08:00"}\n\n'
    '{"reader": 7, "story": "b", "at": 1772325000}\n'
)
CSV = 'at,story,reader,seen,pictures,more\n2026-03-01T00:30Z,a,林,3,8,x\n1772325000,b,7,,,\n"2026-03-01 00:30+00:00","b",7,9,2,\n'
VIEWS = [View("林", "a", 3, 8, AT), View("7", "b", 1, 1, AT)]


def read(text: str | bytes, form: str = "jsonl") -> list[View]:
    return list(read_views(BytesIO(text.encode() if isinstance(text, str) else text), form, "log"))


def test_json_lines_and_csv_with_and_without_gzip() -> None:
    assert read(JSONL) == VIEWS
    assert read(gzip.compress(JSONL.encode())) == VIEWS
    assert read(CSV, "csv") == [*VIEWS, View("7", "b", 2, 2, AT)], "seen is limited by pictures"
    assert read(CSV.replace("\n", "\r\n"), "csv") == read(CSV, "csv")
    assert read("") == []


def test_file_and_standard_input_can_be_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.jsonl").write_text(JSONL, "utf-8")
    with open_views(str(tmp_path / "log.jsonl")) as stream:
        assert list(read_views(stream, "jsonl", "log")) == list(read_views(stream, "jsonl", "log")) == VIEWS
    with pytest.raises(ClicksError, match="No such file"), open_views(str(tmp_path / "none")):
        pass
    stdin = type("Standard", (), {"buffer": BytesIO(JSONL.encode())})
    monkeypatch.setattr("sys.stdin", stdin)
    with open_views("-") as stream:
        assert list(read_views(stream, "jsonl", "log")) == list(read_views(stream, "jsonl", "log")) == VIEWS


def test_format_is_guessed_from_the_name() -> None:
    assert [guess_form(Path(name)) for name in ("a.csv", "a.CSV.gz", "a.jsonl", "a", "-", "csv.json")] == ["csv", "csv", *["jsonl"] * 4]


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ('{"reader": "a", "story": "b"}', "jsonl", "line 1: no at"),
        ('\n{"reader": "a", "at": 5}', "jsonl", "line 2: no story"),
        ("[]", "jsonl", "line 1: no reader, story, at"),
        ("{", "jsonl", "line 1: Expecting"),
        ('{"reader": "a", "story": "b", "at": "yesterday"}', "jsonl", "line 1: at is 'yesterday'; allowed: 2026"),
        ('{"reader": "a", "story": "b", "at": 1e300}', "jsonl", "line 1: at is"),
        ('{"reader": "a", "story": "b", "at": 5, "seen": -1}', "jsonl", "line 1: seen is -1; allowed"),
        ('{"reader": "a", "story": "b", "at": 5, "pictures": 0}', "jsonl", "line 1: pictures is 0; allowed"),
        ('{"reader": "a", "story": "b", "at": 5, "seen": true}', "jsonl", "seen is True"),
        ("reader,story\na,b", "csv", "line 1: no column at"),
        ("reader,story,at\na,b,5\na,,5", "csv", "line 3: no story"),
        (b'{"reader": "a", "story": "b", "at": 5}\n\xff\xfe', "jsonl", "line"),
        (gzip.compress(JSONL.encode())[:-20], "jsonl", "cut off"),
    ],
)
def test_invalid_line_is_reported(text: str | bytes, form: str, message: str) -> None:
    with pytest.raises(ClicksError, match="log") as error:
        read(text, form)
    assert message in str(error.value)


def test_times_without_zone_are_in_the_portals_zone() -> None:
    set_zone(ZoneInfo("Asia/Shanghai"))
    try:
        assert view_moment("2026-03-01T08:30") == datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
    finally:
        set_zone(None)
    assert view_moment("1772325000.5") == view_moment(1772325000.5)
