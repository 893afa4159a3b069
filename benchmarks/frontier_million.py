"""``frontier.py --part million|cluster``: bytes of waiting tasks and seen names in Redis, and the duration of the queue's calls."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from newsportal.crawl.queues.base import Task
from newsportal.crawl.queues.redis_partition import PREFIXES
from newsportal.crawl.queues.redis_queue import RedisQueue

BATCH = 500
PEER = 20_000
"""Requests of scrapy-redis that are queued to see what one takes."""


def url_of(number: int, hosts: int) -> str:
    return f"https://host{number % hosts}.example/news/2026/02/{number}.html"


def task_of(number: int, hosts: int) -> Task:
    """As newsportal's spiders write an article's request."""
    url = url_of(number, hosts)
    link = {
        "$": "Link",
        "url": url,
        "source": f"feed:{number % hosts}",
        "kind": "news",
        "identity": url,
        "title": "古镇秋色连波 游客纷至沓来",
    }
    body = json.dumps({"url": url, "callback": "parse_article", "errback": "failed", "cb_kwargs": {"link": link}}, ensure_ascii=False)
    id = blake2b(url.encode(), digest_size=12).hexdigest()
    return Task(id, f"host{number % hosts}.example", body, number % 3, source=f"feed:{number % hosts}")


def used(client: Any) -> int:
    return int(client.info("memory")["used_memory"])


def spent(client: Any) -> float:
    """Processor seconds of Redis."""
    cpu = client.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def batches(number: int, hosts: int) -> Iterator[list[Task]]:
    for start in range(0, number, BATCH):
        yield [task_of(n, hosts) for n in range(start, min(start + BATCH, number))]


def measure(client: Any, number: int, hosts: int) -> None:
    client.flushall()
    queue = RedisQueue(client, "rss")
    print(f"\n{number:,} tasks of {hosts:,} hosts in Redis")
    empty, body, before, since = used(client), 0, spent(client), time.perf_counter()
    for batch in batches(number, hosts):
        body += sum(len(task.body.encode()) for task in batch)
        queue.push(batch)
    seconds = time.perf_counter() - since
    each = (used(client) - empty) / number
    print(f"push: {number / seconds:,.0f}/s, {1e6 * (spent(client) - before) / number:.0f} µs of Redis' processor each")
    print(f"waiting: {each:.0f} bytes a task, {body / number:.0f} of them its own JSON")
    take(client, queue, 1.0, rest=60.0, number=50)
    take(client, queue, 0.0, rest=0.0, number=100)
    queue.leave()
    queue.clear()
    seen(client, queue, number, hosts)
    peer(client, hosts)


def take(client: Any, queue: RedisQueue, delay: float, *, rest: float, number: int) -> None:
    """128 at a time, so many times; done, and the hosts let go, to be asked again after ``rest`` seconds."""
    calls, tasks, before = [], 0, spent(client)
    for _ in range(number):
        since = time.perf_counter()
        answer = queue.take(128, delay=delay, ahead=2.0)
        calls.append(time.perf_counter() - since)
        queue.done([lease.task.id for lease in answer.leases])
        queue.free(dict.fromkeys(answer.held, rest))
        tasks += len(answer.leases)
    each = 1e6 * (spent(client) - before) / max(tasks, 1)
    print(
        f"take of 128, delay {delay:g}: {1000 * statistics.median(calls):.1f} ms (longest {1000 * max(calls):.1f}), "
        f"{tasks:,} tasks, {each:.0f} µs of Redis' processor each with done and free"
    )


def seen(client: Any, queue: RedisQueue, number: int, hosts: int) -> None:
    client.flushall()
    empty = 0
    before = spent(client)
    for start in range(0, number, BATCH):
        queue.push([Task(str(n), "seen.example", "", fingerprint=url_of(n, hosts)) for n in range(start, min(start + BATCH, number))])
        if start == 0:
            empty = used(client)
        client.delete("rss:requests", "rss:requests:tasks", "rss:requests:hosts")  # the tasks themselves are not what is measured
    each = (used(client) - empty) / number
    print(f"seen: {each:.1f} bytes a known URL, {1e6 * (spent(client) - before) / number:.0f} µs of Redis' processor each with its task")


def peer(client: Any, hosts: int) -> None:
    """scrapy-redis' queue and filter, which pickle the request and keep its fingerprint in a set."""
    import warnings

    from scrapy import Request, Spider
    from scrapy_redis.dupefilter import RFPDupeFilter
    from scrapy_redis.queue import PriorityQueue

    warnings.simplefilter("ignore")

    class Peer(Spider):
        name = "rss"

        def parse_article(self, response: Any) -> None: ...

    client.flushall()
    spider = Peer()
    queue, dupefilter = PriorityQueue(client, spider, "%(spider)s:requests"), RFPDupeFilter(client, "rss:dupefilter")
    requests = [
        Request(url_of(n, hosts), spider.parse_article, cb_kwargs={"link": json.loads(task_of(n, hosts).body)}) for n in range(PEER)
    ]
    empty = used(client)
    for request in requests:
        queue.push(request)
    waiting = used(client)
    for request in requests:
        dupefilter.request_seen(request)
    print(f"scrapy-redis, {PEER:,}: {(waiting - empty) / PEER:.0f} bytes a request, {(used(client) - waiting) / PEER:.0f} a known URL")


def measure_cluster(nodes: list[Any], number: int, hosts: int) -> None:
    """``number`` tasks with as many partitions as it comes, a tenth of them with fewer and with more."""
    client = join_cluster(nodes)
    for partitions in (1, 4, 64, len(PREFIXES)):
        for node in nodes:
            node.flushall()
        queue = RedisQueue(client, "rss", prefixes=PREFIXES if partitions == len(PREFIXES) else [f"{{{n}}}:" for n in range(partitions)])
        tasks = number if partitions == len(PREFIXES) else number // 10
        empty, before, since = sum(map(used, nodes)), sum(map(spent, nodes)), time.perf_counter()
        for batch in batches(tasks, hosts):
            queue.push([replace(task, body="") for task in batch])
        seconds, redis = time.perf_counter() - since, sum(map(spent, nodes)) - before
        each = (sum(map(used, nodes)) - empty) / tasks
        of_node = ", ".join(f"{used(node) / 1e6:.0f}" for node in nodes)
        print(f"\n{tasks:,} tasks without bodies of {hosts:,} hosts, {partitions} partitions, {len(nodes)} masters ({of_node} MB)")
        print(f"push: {tasks / seconds:,.0f}/s, {1e6 * redis / tasks:.0f} µs of Redis' processor each; {each:.0f} bytes a task")
        lease(nodes, queue, 0.0, rest=0.0)
        lease(nodes, queue, 1.0, rest=60.0)
        calls = sorted(timed(lambda queue=queue: queue.take(0, delay=1.0, ahead=2.0)) for _ in range(200))  # type: ignore[misc]
        print(f"take of none: {1000 * statistics.median(calls):.2f} ms")
        queue.leave()


def join_cluster(nodes: list[Any]) -> Any:
    """A client of the cluster that these are from now on, each with as many slots."""
    from redis.cluster import RedisCluster

    ports = [node.connection_pool.connection_kwargs["port"] for node in nodes]
    for place, node in enumerate(nodes):
        node.execute_command("CLUSTER ADDSLOTS", *range(16384 * place // len(nodes), 16384 * (place + 1) // len(nodes)))
        node.execute_command("CLUSTER SET-CONFIG-EPOCH", place + 1)
        node.execute_command("CLUSTER MEET", "127.0.0.1", ports[0], nodes[0].bus)
    while not all("cluster_slots_ok:16384" in str(node.execute_command("CLUSTER INFO")).replace("': '", ":") for node in nodes):
        time.sleep(0.1)
    return RedisCluster(host="127.0.0.1", port=ports[0])


def lease(nodes: list[Any], queue: RedisQueue, delay: float, *, rest: float) -> None:
    """One worker takes 128 at a time, fifty times, ends them and lets their hosts go."""
    tasks, before, since, calls = 0, sum(map(spent, nodes)), time.perf_counter(), []
    for _ in range(50):
        start = time.perf_counter()
        answer = queue.take(128, delay=delay, ahead=2.0)
        calls.append(time.perf_counter() - start)
        queue.done([lease.task.id for lease in answer.leases])
        queue.free(dict.fromkeys(answer.held, rest))
        tasks += len(answer.leases)
    each = 1e6 * (sum(map(spent, nodes)) - before) / max(tasks, 1)
    print(
        f"delay {delay:g}: {tasks / (time.perf_counter() - since):,.0f} leases/s, take of 128 {1000 * statistics.median(calls):.1f} ms, "
        f"{each:.0f} µs of Redis' processor each with done and free"
    )


def timed(call: Any) -> float:
    since = time.perf_counter()
    call()
    return time.perf_counter() - since
