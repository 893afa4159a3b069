"""What a target is, and what it may answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final, Protocol

from newsportal.errors import NewsportalError
from newsportal.store.outbox import Entry
from newsportal.store.results import StoredArticle

FIRST_WAIT: Final = timedelta(seconds=30)


class TargetAway(NewsportalError):
    """Raised by a target that cannot be reached or written to. The caller gives back what it has and tries again later."""


class TargetUnfit(NewsportalError):
    """Raised by a target that is not as ``sources.yaml`` says: no such table, a column that is missing. Nothing is published there until
    somebody mends it; the caller tells it."""


class UnknownTarget(NewsportalError):
    """Raised for a target that ``sources.yaml`` does not name, an unknown article, or an unknown wish. The caller answers 404."""


class Refused(NewsportalError):
    """Raised by a target or a channel of alerts that does not take it, now or later. The caller notes the reason; it holds no secret."""


class PutOff(NewsportalError):
    """Raised by a target or channel of alerts that does not take it for now; ``seconds``: when it may be asked again, if it said so."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds

    def wait(self, tries: int, longest: timedelta) -> timedelta:
        """Until the next try: from half a minute on, doubled with each one, no sooner than was asked for."""
        doubled: timedelta = FIRST_WAIT * 2 ** (tries - 1)
        return max(min(doubled, longest), timedelta(seconds=self.seconds or 0))


class Unwanted(NewsportalError):
    """Raised by a target that says that it has let the article go for good. The caller notes it as taken back."""


class Overtaken(NewsportalError):
    """Raised by a target at which another process, which took the article later, has been before. The caller forgets what it has."""

    def __init__(self) -> None:
        super().__init__("a process that took it later has been there")


@dataclass(frozen=True, slots=True)
class Placed:
    """``place``: where it stands, in the target's own words (JSON, a path); ``note``: what somebody may want to know."""

    place: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What a target would do: a statement of SQL with its parameters apart, a file, a request."""

    what: str
    values: dict[str, Any]


class Target(Protocol):
    """A place to publish to. Blocking calls, by one thread. Every call may raise ``TargetAway`` and ``TargetUnfit``.

    Promises: what ``put`` has done once it does not do again, though nobody was told that it was done: the article is found there by what
    was written with it. ``put`` and ``remove`` with a smaller ``fence`` than one before change nothing, where the place can keep it.
    """

    def check(self) -> Sequence[str]:
        """Look at the place without changing it. Answers what is allowed, and what somebody should know. Raises ``TargetUnfit``."""

    def digest(self, article: StoredArticle) -> str:
        """Of all that would stand there: another digest, another text. Raises ``Refused``."""

    def put(self, article: StoredArticle, entry: Entry) -> Placed:
        """Let the article stand there, in place of what stands there of it. Raises ``Refused``, ``PutOff``, ``Unwanted``, ``Overtaken``."""

    def remove(self, article: StoredArticle | None, entry: Entry) -> None:
        """Take it back. Nothing happens where it does not stand. ``article`` is ``None`` for one that is not in the store any more."""

    def steps(self, article: StoredArticle | None, entry: Entry) -> Sequence[Step]:
        """What ``put``, or ``remove`` for an entry that is to go, would do; nothing is changed."""

    def close(self) -> None: ...


DIGEST_BYTES = 20


def digest_of(values: Any) -> str:
    """Of values as JSON writes them; the same in every process."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
