"""Which queues of a store lie in Redis."""

from __future__ import annotations

import re
from typing import Any, Final

from newsportal.errors import FrontierUnavailable

QUEUES: Final = "newsportal:queues"
"""The keys of all queues of a Redis (``lua/common.lua``)."""


def names(client: Any, queue_key: str, owner: str, where: str) -> list[str]:
    """The queues whose keys look like ``queue_key`` (``%(spider)s:requests``) and that belong to ``owner``. Closes the client. Raises
    ``FrontierUnavailable``."""
    from redis.exceptions import RedisError

    form = re.compile(re.escape(queue_key).replace(re.escape("%(spider)s"), "(.+)"))
    try:
        keys = [_text(key) for key in client.smembers(QUEUES)]
        found = [(form.fullmatch(key), client.hget(f"{key}:about", "owner")) for key in keys]
    except (RedisError, OSError) as error:
        raise FrontierUnavailable(f"Redis at {where} does not serve: {error}") from error
    finally:
        client.close()
    return sorted(match[1] for match, of in found if match is not None and of is not None and _text(of) == owner)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
