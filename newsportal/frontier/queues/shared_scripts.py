"""The scripts of the queue in Redis (``lua/``), how they are called, and what their errors mean.

Keys, of a queue whose waiting tasks lie under ``Q`` (``rss:requests``): ``Q`` sorted set of all that wait now, each as PLACE|PRIORITY|
NUMBER|ID, so that the order of a place is that of its characters (a place is a host, ``~LANE`` for those behind another of their lane,
``!`` for suspects); ``Q:tasks`` hash of the tasks by id, packed by MessagePack; ``Q:later`` by their moment; ``Q:ready`` hosts that nobody
holds, the most urgent first; ``Q:resting`` those that may not be had yet, by their moment; ``Q:blocked`` hosts held for another queue;
``Q:hosts``, ``Q:sources`` what waits, what is outstanding; ``Q:lanes``, ``Q:aside``, ``Q:reasons``, ``Q:workers``; ``Q:about`` whose
queue it is. Of all queues together, under ``newsportal:``: ``workers`` by the moment at which they count as dead, ``worker:NAME`` and what
each has in hand, ``holders`` of hosts, ``free`` moments of hosts, ``wanted`` hosts, ``jobs:OWNER``, ``clock``. A script is one step:
nobody sees a queue half changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, Final, Protocol

from newsportal.errors import FrontierRefused, FrontierUnavailable

NAMES: Final = (
    *("push", "take", "done", "back", "beat", "hold", "free", "claim", "release", "leave", "bury"),
    *("state", "outstanding", "aside", "settle", "clear", "workers"),
)

REMEDIES: Final = {
    "OOM": "its memory is full (maxmemory): give it more, or take tasks out with: newsportal frontier clear",
    "READONLY": "it is a replica that takes no writes: name the primary",
    "MISCONF": "it cannot save to its disk and refuses writes: look at its log, free its disk",
    "LOADING": "it is reading its data; it will answer in a moment",
    "BUSY": "another script keeps it busy; redis-cli SCRIPT KILL ends that",
    "NOAUTH": "it asks for a password: redis://:PASSWORD@HOST:PORT/0",
    "WRONGPASS": "it refuses the password or the user's name",
    "NOPERM": "its user may not run what is needed: allow scripts (@scripting) and the keys of the queue",
    "MOVED": "it is a cluster; the queue needs one Redis",
    "CROSSSLOT": "it is a cluster; the queue needs one Redis",
}
"""By the first word of Redis' errors."""


class Client(Protocol):
    """What is asked of redis-py's client. A script that Redis lost (a restart) is sent again by the client itself."""

    def register_script(self, script: str) -> Callable[..., Any]: ...
    def close(self) -> Any: ...


@cache
def script(name: str) -> str:
    """The script's text, with what every script begins with. Read as package data: a crawl may run from an egg."""
    folder = files(__package__) / "lua"
    return f"{(folder / 'common.lua').read_text('utf-8')}\n{(folder / f'{name}.lua').read_text('utf-8')}"


class Scripts:
    """Calls scripts by name, one at a time. ``away``: the last call found nobody, so that the next one says it."""

    def __init__(self, client: Client, keys: Sequence[str], where: str) -> None:
        self.client, self.keys, self.where = client, list(keys), where
        self.away = False
        self._scripts = {name: client.register_script(script(name)) for name in NAMES}
        self._lock = Lock()

    def __call__(self, name: str, context: Callable[[bool], str], arguments: Sequence[Any] = ()) -> Any:
        """Raises ``FrontierUnavailable`` (away, full, refusing) and ``FrontierRefused`` (not ours)."""
        from redis.exceptions import AuthenticationError, RedisError, ResponseError

        with self._lock:
            try:
                answer = self._scripts[name](keys=self.keys, args=[context(self.away), *arguments])
            except (ResponseError, AuthenticationError) as error:
                raise self._told(error) from error
            except (RedisError, OSError) as error:
                self.away = True
                raise self._told(error) from error
            self.away = False
            return answer

    def _told(self, error: Exception) -> FrontierUnavailable | FrontierRefused:
        said = str(error)
        if "NEWSPORTAL " in said:
            return FrontierRefused(self._refused(said.partition("NEWSPORTAL ")[2]))
        remedy = next((remedy for word, remedy in REMEDIES.items() if word in said.split()), None)
        kind = type(error).__name__
        if remedy is None and kind in {"AuthenticationError", "AuthenticationWrongNumberOfArgsError"}:
            remedy = REMEDIES["WRONGPASS"]
        elif remedy is None and kind in {"OutOfMemoryError", "ReadOnlyError", "BusyLoadingError", "NoPermissionError"}:
            words = {"OutOfMemoryError": "OOM", "ReadOnlyError": "READONLY", "BusyLoadingError": "LOADING", "NoPermissionError": "NOPERM"}
            remedy = REMEDIES[words[kind]]
        elif "WRONGTYPE" in said:
            return FrontierRefused(self._refused(f"FOREIGN {self.keys[0]}"))
        return FrontierUnavailable(f"queue of requests: Redis at {self.where} does not serve: {remedy or said or kind}")

    def _refused(self, why: str) -> str:
        kind, _, rest = why.partition(" ")
        if kind == "FOREIGN":
            return (
                f"Redis at {self.where}: {rest} is not of newsportal (scrapy-redis' own requests, say, which are pickled and never read); "
                f"finish that crawl first, or remove the key: redis-cli DEL {rest}; or take another database: redis://HOST:PORT/1"
            )
        if kind == "OWNER":
            return (
                f"Redis at {self.where}: {self.keys[0]} belongs to another portal ({rest}), whose tasks wait there; "
                "take another database of that Redis: redis://HOST:PORT/1"
            )
        return f"Redis at {self.where}: {self.keys[0]} was written by another version of newsportal (form {rest}): update the older one"
