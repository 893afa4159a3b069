"""The shared Bloom filter on a real Redis server."""

from __future__ import annotations

import math
from typing import Any

import pytest
import redis

from newsportal.dedup.bloom_redis import MAX_BITS, FilterMissing, RedisBloom, first_hashes, hashes_of, shape


@pytest.fixture
def client(redis_server: Any) -> Any:
    with redis.Redis(port=redis_server.port) as opened:
        yield opened


def names(count: int, host: str = "example.com") -> list[str]:
    return [f"{host}/{number}" for number in range(count)]


def open_bloom(client: Any, **options: Any) -> RedisBloom:
    bloom = RedisBloom(client, **{"capacity": 1000, **options})
    bloom.open()
    return bloom


def test_entered_urls_are_found_by_all_clients(client: Any) -> None:
    first, other = open_bloom(client), open_bloom(client)
    assert first.add(names(100)) == set()
    assert other.candidates(names(200)) == set(names(100))
    assert other.add(names(150)) == set(names(100)), "already entered"
    assert first.fill().entered == 150


def test_client_with_decoded_responses(redis_server: Any) -> None:
    with redis.Redis(port=redis_server.port, decode_responses=True) as client:
        bloom = open_bloom(client)
        bloom.add(names(10))
        assert bloom.candidates(names(20)) == set(names(10))
        assert bloom.fill().entered == 10


def test_filter_grows_within_the_error_rate(client: Any) -> None:
    bloom = open_bloom(client, capacity=500, error_rate=1e-2)
    bloom.add(names(12_000))
    assert bloom.candidates(names(12_000)) == set(names(12_000))
    fill = bloom.fill()
    assert fill.filters == 5  # the filters of 500, 1,000, 2,000 and 4,000 are full
    assert fill.entered == pytest.approx(12_000, rel=0.01)
    assert fill.error <= 1e-2
    assert len(bloom.candidates(names(20_000, "example.org"))) <= 200


def test_bit_positions_follow_the_documented_formulas(client: Any) -> None:
    """Reads the documented positions by GETBIT: other clients rely on them."""
    bloom = open_bloom(client)
    bloom.add(["example.com/新闻"])
    _, bits, hashes = shape(0, 1000, first_hashes(1e-4))
    first, second = hashes_of("example.com/新闻")
    places = {(first + number * second) % bits for number in range(hashes)}
    assert client.bitcount("{newsportal:known}:0") == len(places)
    assert all(client.getbit("{newsportal:known}:0", place) for place in places)


def test_filter_is_limited_to_the_largest_redis_string() -> None:
    capacity, bits, hashes = shape(20, 100_000, 15)
    assert bits == MAX_BITS
    assert hashes == 35
    assert capacity == math.floor(MAX_BITS * math.log(2) / 35)
    assert shape(0, 100_000, 15) == (100_000, math.ceil(1_500_000 / math.log(2)), 15)


def test_changed_settings_replace_the_filter(client: Any) -> None:
    bloom = open_bloom(client, capacity=10)
    bloom.add(names(100))
    bloom.set_position(7)
    assert open_bloom(client, capacity=10).open() == 7
    other = RedisBloom(client, capacity=2000)
    assert other.open() == 0
    assert other.candidates(names(100)) == set()
    assert client.keys("*") == [b"{newsportal:known}"]
    with pytest.raises(FilterMissing):
        bloom.add(["example.com/new"])  # a client with the earlier settings
    with pytest.raises(FilterMissing):
        bloom.candidates(["example.com/new"])


def test_flushed_redis_is_detected(client: Any) -> None:
    bloom = open_bloom(client)
    bloom.add(names(10))
    client.flushall()
    for ask in (bloom.add, bloom.candidates):
        with pytest.raises(FilterMissing):
            ask(names(3))
    with pytest.raises(FilterMissing):
        bloom.set_position(5)
    assert bloom.fill().entered == 0


def test_position_never_decreases(client: Any) -> None:
    bloom = open_bloom(client)
    bloom.set_position(9)
    bloom.set_position(4)
    assert bloom.open() == 9


def test_clear_removes_all_keys(client: Any) -> None:
    bloom = open_bloom(client, capacity=10)
    bloom.add(names(100))
    bloom.clear()
    assert client.keys("*") == []


@pytest.mark.parametrize("text", ["", "http://\ud800", "新" * 5000])
def test_any_text_is_accepted(client: Any, text: str) -> None:
    bloom = open_bloom(client)
    bloom.add([text])
    assert bloom.candidates([text]) == {text}
