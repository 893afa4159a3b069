"""Cursors of the API: invalid ones are refused, and none holds a value that a database would reject."""

from __future__ import annotations

import pytest

from newsportal.portal.access import ApiError
from newsportal.portal.api.paging import LARGEST, cursor_of, place_of


def test_cursor_round_trip() -> None:
    assert place_of(None, int) is None
    assert place_of(cursor_of(7), int) == (7,)
    assert place_of(cursor_of("2026-05-20", "甲"), str, str) == ("2026-05-20", "甲")
    assert place_of(cursor_of(LARGEST), int) == (LARGEST,)


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "AAAA", cursor_of("7"), cursor_of(7, 7), cursor_of(-1), cursor_of(LARGEST + 1), cursor_of(10**400), cursor_of(True)],
)
def test_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ApiError) as told:
        place_of(cursor, int)
    assert (told.value.status_code, told.value.code) == (400, "no-cursor")
