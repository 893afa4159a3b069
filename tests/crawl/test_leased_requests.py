"""Order of requests: each host keeps its pace, and a slow host never blocks the others."""

from __future__ import annotations

from scrapy import Request

from newsportal.crawl.host_locks import Host, HostLocks, WaitingRequest


class HostLocksBench:
    """At most ``most`` requests of a host in progress, ``pace`` seconds apart."""

    def __init__(self, most: int = 2, pace: float = 1.0) -> None:
        self.most, self.pace = most, pace
        self.hand = HostLocks(self)

    def free_places(self, host: Host) -> int:
        return self.most - len(host.sent)

    def delay_of(self, host: str) -> float:
        return self.pace

    def add(self, host: str, *paths: str, priority: int = 0) -> None:
        for path in paths:
            self.hand.add(host, WaitingRequest(Request(f"http://{host}/{path}", priority=priority), path, own=True))

    def taken(self, now: float) -> list[str]:
        found = []
        while entry := self.hand.take(now):
            found.append(entry.request.url.removeprefix("http://"))
        return found


def test_hosts_alternate_at_their_own_pace() -> None:
    bench = HostLocksBench()
    for host in ("a", "b"):
        bench.add(host, "1", "2")
        bench.hand.hold(host, 0.0)
    assert bench.taken(0.0) == ["a/1", "b/1"]
    assert bench.taken(0.5) == []
    assert bench.hand.next_time() == 1.0
    assert bench.taken(1.0) == ["a/2", "b/2"]
    assert bench.hand.waiting == 0


def test_only_held_hosts_are_requested_at_their_time() -> None:
    bench = HostLocksBench()
    bench.add("a", "1")
    assert bench.taken(9.0) == []
    assert list(bench.hand.unlocked_hosts()) == ["a"]
    bench.hand.hold("a", 10.0)
    assert bench.taken(9.0) == []
    assert bench.taken(10.0) == ["a/1"]


def test_slow_host_leaves_slots_to_others() -> None:
    bench = HostLocksBench(pace=0.0)
    bench.add("slow", *"12345")
    bench.add("quick", *"12345")
    bench.hand.hold("slow", 0.0)
    bench.hand.hold("quick", 0.0)
    assert bench.taken(0.0) == ["slow/1", "quick/1", "slow/2", "quick/2"]
    bench.hand.host("quick").sent.clear()
    assert bench.taken(1.0) == ["quick/3", "quick/4"]
    bench.hand.host("slow").sent.clear()
    assert bench.taken(2.0) == ["slow/3", "slow/4"]


def test_order_is_by_priority_then_arrival() -> None:
    bench = HostLocksBench(pace=0.0, most=9)
    bench.add("a", "1", "2")
    bench.add("a", "list", priority=10)
    bench.add("a", "retry", priority=-10)
    bench.hand.hold("a", 0.0)
    assert bench.taken(0.0) == ["a/list", "a/1", "a/2", "a/retry"]


def test_paused_host_is_requested_later() -> None:
    bench = HostLocksBench()
    for host in ("a", "b"):
        bench.add(host, "1")
        bench.hand.hold(host, 0.0)
    bench.hand.pause("a", 30.0)
    assert bench.taken(1.0) == ["b/1"]
    assert bench.hand.next_time() == 30.0
    assert bench.taken(30.0) == ["a/1"]


def test_removed_entries_are_not_sent() -> None:
    bench = HostLocksBench(pace=0.0, most=9)
    bench.add("a", "1", "2", "3")
    bench.hand.hold("a", 0.0)
    assert [entry.lease for entry in bench.hand.remove("a", lambda entry: entry.lease == "2")] == ["2"]
    assert bench.taken(0.0) == ["a/1", "a/3"]
    assert bench.hand.waiting == 0


def test_hurried_entries_are_sent_at_once() -> None:
    bench = HostLocksBench()
    bench.add("a", "1")
    bench.hand.prioritise(bench.hand.remove("a", lambda _: True))
    assert bench.hand.waiting == 1
    assert bench.taken(0.0) == ["a/1"]
    assert bench.hand.waiting == 0


def test_released_host_is_forgotten_unless_entries_wait() -> None:
    bench = HostLocksBench()
    bench.hand.hold("a", 0.0)
    bench.add("b", "1")
    bench.hand.hold("b", 0.0)
    for host in ("a", "b", "unknown"):
        bench.hand.release(host)
    assert list(bench.hand.hosts) == ["b"]
    assert bench.taken(5.0) == []
    bench.hand.hold("b", 6.0)
    assert bench.taken(6.0) == ["b/1"]
