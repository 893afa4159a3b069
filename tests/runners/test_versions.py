"""Versions sort as they were meant, whatever scrapyd makes of their names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from scrapyd.eggstorage import sorted_versions

from newsportal.runners.versions import kept, sortable, stamp


def test_scrapyd_sorts_releases_wrongly_and_ours_rightly() -> None:
    releases = ["1.2", "1.9", "1.10", "1.10.1", "2.0", "10.0"]
    assert sorted_versions([kept(release) for release in releases]) != [kept(release) for release in releases]
    assert sorted_versions([sortable(release) for release in reversed(releases)]) == [sortable(release) for release in releases]


def test_a_moment_sorts_after_earlier_ones_and_after_the_names_that_scrapyd_deploy_gives() -> None:
    moments = [datetime(2026, 3, 5, 8, 30, second, tzinfo=UTC) for second in (0, 9, 10)]
    names = [str(int(moments[-1].timestamp())), *(stamp(moment) for moment in moments)]
    assert sorted_versions(reversed(names)) == sorted(names) == names


def test_a_moment_is_told_in_utc() -> None:
    assert stamp(datetime(2026, 3, 5, 8, 30, tzinfo=timezone(timedelta(hours=8)))) == "20260305003000"


@pytest.mark.parametrize(("given", "sent"), [("r12-main", "r12-main"), ("v1.2", "v1_2"), ("20260305083000", "20260305083000")])
def test_other_names_are_sent_as_scrapyd_keeps_them(given: str, sent: str) -> None:
    assert sortable(given) == kept(given) == sent
