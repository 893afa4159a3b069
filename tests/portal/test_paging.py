"""Cursors of the API: invalid ones are refused, and none holds a value that a database would reject."""

from __future__ import annotations

import pytest

from newsportal.portal.access import ApiError
from newsportal.portal.api.paging import MAX_INTEGER, cursor_of, parse_cursor


def test_cursor_round_trip() -> None:
    assert parse_cursor(None, int) is None
    assert parse_cursor(cursor_of(7), int) == (7,)
    assert parse_cursor(cursor_of("2026-05-20", "甲"), str, str) == ("2026-05-20", "甲")
    assert parse_cursor(cursor_of(MAX_INTEGER), int) == (MAX_INTEGER,)


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "AAAA", cursor_of("7"), cursor_of(7, 7), cursor_of(-1), cursor_of(MAX_INTEGER + 1), cursor_of(10**400), cursor_of(True)],
)
def test_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ApiError) as error:
        parse_cursor(cursor, int)
    assert (error.value.status_code, error.value.code) == (400, "invalid-cursor")
