from __future__ import annotations

from newsportal.dedup.bloom import UrlBloom


def test_what_was_entered_is_found_beyond_the_first_capacity() -> None:
    bloom = UrlBloom((f"example.com/{number}" for number in range(500)), capacity=100)
    assert all(f"example.com/{number}" in bloom for number in range(500))
    assert len(bloom) == 500


def test_false_positives_stay_near_the_error_rate() -> None:
    bloom = UrlBloom((f"example.com/{number}" for number in range(5_000)), capacity=1_000, error_rate=1e-3)
    wrong = sum(f"example.org/{number}" in bloom for number in range(20_000))
    assert wrong <= 100  # 20 expected; a filter that says yes to everything gives 20,000
