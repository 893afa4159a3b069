"""Choice of training articles: one per story, and no site has more than half of a label."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from newsportal.services.learning.gathering import ALONE, Candidate, Choice, choose

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def item(n: int, site: str = "青河网", label: str = "体育", story: str | None = None, **more: Any) -> Candidate:
    values = {"moment": NOW + timedelta(minutes=n), "chars": 500, **more}
    return Candidate(f"{site}{n}", story or f"{site}{n}", label, site, **values)


def pick(*candidates: Candidate, stories: frozenset[str] = frozenset(), known: Any = None, **options: Any) -> Choice:
    return choose(candidates, stories, known or {}, **options)


def ids(choice: Choice) -> list[str]:
    return sorted(candidate.id for candidate in choice.chosen)


def test_one_version_per_story_is_chosen_original_if_long_enough() -> None:
    versions = [item(1, "乙", story="s", head=False), item(2, "甲", story="s"), item(3, "丙", story="s", head=False)]
    assert (ids(pick(*versions)), pick(*versions).left) == (["甲2"], {"short": 0, "repost": 2})
    short = [item(1, "乙", story="s", head=False), item(2, "甲", story="s", chars=99)]
    assert (ids(pick(*short)), pick(*short).left) == (["乙1"], {"short": 1, "repost": 0})


def test_earlier_short_and_disputed_articles_are_left_out() -> None:
    items = [item(1, story="old"), item(2, chars=20), item(3, story="d"), item(4, "乙", label="社会", story="d"), item(5)]
    choice = pick(*items, stories=frozenset(["old"]))
    assert (ids(choice), choice.single_site) == (["青河网5"], ("体育",))
    assert {reason: count for reason, count in choice.left.items() if count} == {"earlier": 1, "short": 1, "disputed": 2}


def test_no_site_gives_more_than_half_of_a_label() -> None:
    many = [item(n, "大") for n in range(2000)]
    assert len(pick(*many).chosen) == 2000, "the only site: no alternative"
    some = [item(n, f"小{n % 3}") for n in range(900)]
    choice = pick(*many, *some)
    assert Counter(candidate.site for candidate in choice.chosen) == {"大": 900, "小0": 300, "小1": 300, "小2": 300}
    assert (choice.left["dominant"], choice.single_site) == (1100, ())
    few = pick(*many, *some[:9])
    assert Counter(candidate.site for candidate in few.chosen)["大"] == ALONE
    assert max(candidate.moment for candidate in few.chosen) == many[-1].moment, "newest first"


def test_articles_per_label_are_limited() -> None:
    choice = pick(*(item(n, f"站{n % 2}") for n in range(100)), per_label=30)
    assert Counter(candidate.site for candidate in choice.chosen) == {"站0": 15, "站1": 15}
    assert choice.left["plenty"] == 70


def test_existing_documents_count_towards_the_limits() -> None:
    counts = {"体育": {"大": 300, "小": 10}}
    choice = pick(*(item(n, "大") for n in range(50)), *(item(n, "小") for n in range(50)), known=counts)
    assert Counter(candidate.site for candidate in choice.chosen) == {"小": 50}
    assert choice.left["dominant"] == 50
