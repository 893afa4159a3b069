from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.bloom import FilterUnusable, UrlBloom, expected_error, pack, unpack


def names(count: int, host: str = "example.com") -> list[str]:
    return [f"{host}/{number}" for number in range(count)]


def test_entered_urls_are_found_beyond_first_capacity() -> None:
    bloom = UrlBloom(names(500), capacity=100)
    assert bloom.candidates(names(500)) == set(names(500))
    assert len(bloom) == 500
    assert bloom.fill().filters > 1
    assert bloom.fill().capacity >= 500


def test_false_positive_rate_holds_after_growth() -> None:
    bloom = UrlBloom(names(20_000), capacity=200, error_rate=1e-2)
    assert bloom.fill().filters >= 4
    wrong = len(bloom.candidates(names(20_000, "example.org")))
    assert wrong <= 200  # a filter that answers yes to everything has 20,000
    assert bloom.fill().error <= 1e-2


def test_filter_grows_with_concurrent_writers() -> None:
    bloom = UrlBloom(capacity=50)
    threads = [threading.Thread(target=bloom.add, args=(names(2_000, f"{n}.example"),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(bloom.candidates(names(2_000, f"{n}.example"))) == 2_000 for n in range(4))


@pytest.mark.slow
@given(st.lists(st.text(max_size=30), max_size=20))
def test_any_text_is_accepted(texts: list[str]) -> None:
    bloom = UrlBloom([*texts, "http://\ud800"], capacity=1000)
    assert bloom.candidates([*texts, "http://\ud800"]) == {*texts, "http://\ud800"}


def test_expected_error_follows_the_formula() -> None:
    assert expected_error([(1000, 14_378, 10)]) == pytest.approx(1e-3, rel=0.01)
    assert expected_error([]) == 0
    assert expected_error([(0, 100, 7)]) == 0


class TestFile:
    def test_round_trip(self) -> None:
        bloom, position = unpack(pack(UrlBloom(names(500), capacity=100), 42), 100, 1e-4)
        assert position == 42
        assert bloom.candidates(names(500)) == set(names(500))
        assert not bloom.candidates(names(500, "example.org"))
        bloom.add(names(3000))
        assert len(bloom.candidates(names(3000))) == 3000, "a restored filter keeps growing"

    def test_empty_filter_round_trip(self) -> None:
        bloom, position = unpack(pack(UrlBloom(), 0), 100_000, 1e-4)
        assert (len(bloom), position) == (0, 0)

    def test_any_damage_is_detected(self) -> None:
        data = pack(UrlBloom(names(5), capacity=20), 7)
        for place in range(0, len(data), 3):
            hurt = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            with pytest.raises(FilterUnusable):
                unpack(hurt, 20, 1e-4)
        for length in (0, 5, 30, len(data) - 1):
            with pytest.raises(FilterUnusable):
                unpack(data[:length], 20, 1e-4)

    @pytest.mark.parametrize(("capacity", "rate"), [(21, 1e-4), (20, 1e-3)])
    def test_other_capacity_or_error_rate_is_refused(self, capacity: int, rate: float) -> None:
        with pytest.raises(FilterUnusable, match="another capacity or error rate"):
            unpack(pack(UrlBloom(names(5), capacity=20), 7), capacity, rate)

    def test_other_hash_function_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        data = pack(UrlBloom(names(5), capacity=20), 7)
        monkeypatch.setattr("newsportal.dedup.bloom._dialect", lambda: b"another!")
        with pytest.raises(FilterUnusable, match="another version of the filter"):
            unpack(data, 20, 1e-4)
