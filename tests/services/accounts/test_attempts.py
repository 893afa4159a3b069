"""Sign-in attempts are limited by name, by IP address and by both, across processes; attackers cannot lock the owner out."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta

from newsportal.services.accounts import Accounts, open_accounts
from newsportal.services.accounts.sessions import ADDRESS, BOTH, NAME, TRUST

HOUR = timedelta(hours=1)


def guesses(accounts: Accounts, name: str, address: str, now: datetime, span: timedelta) -> int:
    """Return the number of guesses within ``span`` of an attacker who retries as soon as allowed."""
    count, at = 0, now
    while at < now + span:
        wait = accounts.attempts.begin(name, address, now=at)
        count += not wait
        at += max(wait, timedelta(milliseconds=100))
    return count


def test_repeated_guesses_are_delayed(accounts: Accounts, now: datetime) -> None:
    first = [accounts.attempts.begin("boss", "192.0.2.1", now=now) for _ in range(BOTH.free_attempts)]
    assert first == [timedelta()] * BOTH.free_attempts
    assert accounts.attempts.begin("boss", "192.0.2.1", now=now) == timedelta(seconds=1)
    assert accounts.attempts.begin("BOSS ", "192.0.2.1", now=now) == timedelta(seconds=1)
    assert accounts.attempts.begin("boss", "192.0.2.2", now=now) == timedelta()
    assert guesses(accounts, "boss", "192.0.2.1", now, 24 * HOUR) < 120


def test_limits_are_shared_by_processes(accounts: Accounts, uri: str, now: datetime) -> None:
    for _ in range(BOTH.free_attempts):
        accounts.attempts.begin("boss", "192.0.2.1", now=now)
    with closing(open_accounts(uri)) as other:
        assert other.attempts.begin("boss", "192.0.2.1", now=now) > timedelta()


def test_one_ip_address_cannot_try_many_names(accounts: Accounts, now: datetime) -> None:
    waits = [accounts.attempts.begin(f"name {number}", "192.0.2.1", now=now) for number in range(ADDRESS.free_attempts + 1)]
    assert waits[-1] > timedelta()
    assert not any(waits[:-1])


def test_distributed_attack_does_not_lock_out_owner(accounts: Accounts, now: datetime) -> None:
    accounts.attempts.begin("boss", "home", now=now)
    accounts.attempts.record_success("boss", "home", now=now)
    at = now + HOUR
    for number in range(NAME.free_attempts):
        assert accounts.attempts.begin("boss", f"bot {number}", now=at) == timedelta()
    assert accounts.attempts.begin("boss", "another bot", now=at) > timedelta()
    assert accounts.attempts.begin("boss", "home", now=at) == timedelta()
    count = sum(
        guesses(accounts, "boss", f"bot {number}", at + number * timedelta(minutes=1), timedelta(seconds=50)) for number in range(100, 130)
    )
    assert count <= 40  # about one a minute
    assert accounts.attempts.begin("boss", "a new place", now=at + 2 * HOUR) <= NAME.max_wait


def test_successful_sign_ins_are_not_counted(accounts: Accounts, now: datetime) -> None:
    for _ in range(5 * ADDRESS.free_attempts):
        assert accounts.attempts.begin("boss", "home", now=now) == timedelta()
        accounts.attempts.record_success("boss", "home", now=now)


def test_own_sign_in_does_not_reset_count_of_other_names(accounts: Accounts, now: datetime) -> None:
    for number in range(ADDRESS.free_attempts):
        accounts.attempts.begin(f"name {number}", "192.0.2.1", now=now)
    later = now + timedelta(seconds=2)
    assert accounts.attempts.begin("mine", "192.0.2.1", now=later) == timedelta()
    accounts.attempts.record_success("mine", "192.0.2.1", now=later)
    assert accounts.attempts.begin("name 1", "192.0.2.1", now=later) > timedelta()


def test_counts_expire_after_quiet_time(accounts: Accounts, now: datetime) -> None:
    for _ in range(BOTH.free_attempts + 1):
        accounts.attempts.begin("boss", "192.0.2.1", now=now)
    later = now + BOTH.reset_after + timedelta(seconds=1)
    assert [accounts.attempts.begin("boss", "192.0.2.1", now=later) for _ in range(BOTH.free_attempts)] == [
        timedelta()
    ] * BOTH.free_attempts
    accounts.attempts.record_success("boss", "home", now=now)
    assert accounts.attempts.begin("boss", "home", now=later + TRUST) == timedelta()
