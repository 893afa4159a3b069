"""Interface of publishing targets, and their errors."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final, Protocol

from newsportal.errors import NewsportalError
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

FIRST_WAIT: Final = timedelta(seconds=30)


class TargetDown(NewsportalError):
    """Raised by a target that is not reachable or writable. The caller returns its entries and retries later."""


class BadTarget(NewsportalError):
    """Raised by a target that does not match ``sources.yaml``: a missing table or column. Nothing is published until it is corrected."""


class UnknownTarget(NewsportalError):
    """Raised for a target not in ``sources.yaml``, an unknown article, or an unknown action. The caller responds 404."""


class Refused(NewsportalError):
    """Raised by a target or an alert channel that refuses permanently. The caller records the reason; it contains no secret."""


class RetryLater(NewsportalError):
    """Raised by a target or an alert channel that refuses for now; ``seconds``: its Retry-After, if any."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds

    def wait(self, tries: int, longest: timedelta) -> timedelta:
        """Return the wait until the next try: half a minute, doubled each time, at least what was requested."""
        doubled: timedelta = FIRST_WAIT * 2 ** (tries - 1)
        return max(min(doubled, longest), timedelta(seconds=self.seconds or 0))


class Deleted(NewsportalError):
    """Raised by a target that has deleted the article permanently. The caller marks it as withdrawn."""


class AlreadyPublished(NewsportalError):
    """Raised if a process with a later lease has already written to the target. The caller discards its entry."""

    def __init__(self) -> None:
        super().__init__("another process has published it meanwhile")


@dataclass(frozen=True, slots=True)
class Published:
    """A published article. ``place``: where it is, in the target's notation (JSON, a path); ``note``: a remark for the operator."""

    place: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An operation of a target: an SQL statement with separate parameters, a file, a request."""

    operation: str
    values: dict[str, Any]


class Target(Protocol):
    """A publishing target. Blocking, used by one thread. Every call may raise ``TargetDown`` and ``BadTarget``. Guarantees: a repeated
    ``put`` has no further effect even if the result of the first was lost: the article is found at the target by the data written with it.
    ``put`` and ``remove`` with a ``fence`` lower than an earlier one have no effect, if the target can store it."""

    def check(self) -> Sequence[str]:
        """Check the target without changing it; return remarks for the operator. Raises ``BadTarget``."""

    def digest(self, article: StoredArticle) -> str:
        """Return a digest of all that would be published: it changes with the content. Raises ``Refused``."""

    def put(self, article: StoredArticle, entry: OutboxEntry) -> Published:
        """Publish or replace the article. Raises ``Refused``, ``RetryLater``, ``Deleted``, ``AlreadyPublished``."""

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        """Withdraw the article; no effect if it is not published. ``article``: ``None`` if it is no longer in the store."""

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        """Return what ``put``, or ``remove`` for an entry to withdraw, would do, without changes."""

    def close(self) -> None: ...


DIGEST_BYTES = 20


def digest_of(values: Any) -> str:
    """Return a digest of JSON values, the same in every process."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
