"""What list pages and articles have in common: a spider that asks for them, with a source's manners."""

from __future__ import annotations

from typing import Any, Protocol

from scrapy.http import Response

from newsportal.frontier.ledger import Ledger


class Source(Protocol):
    """What every kind of source in sources.yaml has."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def enabled(self) -> bool: ...


class Asking:
    """What a spider that asks for pages knows; ``base.NewsSpider`` says whence."""

    thorough: set[str]
    visited: set[str]

    @property
    def ledger(self) -> Ledger:
        raise NotImplementedError

    def by_key(self, key: str) -> Any:
        """The source that a link names; ``None`` if it has gone from the file since."""
        raise NotImplementedError

    def manners(self, source: Any) -> dict[str, Any]:
        """What the middlewares must know of a source."""
        obeys = getattr(source, "obey_robots", None)
        return {
            "obey_robots": self.ledger.sources.politeness.obey_robots if obeys is None else obeys,
            "verify_certificate": getattr(source, "verify_certificate", True),
            **({"render": True} if getattr(source, "render", False) else {}),
        }


def header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1").strip() or None if value else None
