"""Between subscriptions and rows of ``subscriptions``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from newsportal.storage.rows import name
from newsportal.storage.subscriptions import Subscription

TOKEN_CHARS: Final = 64

MOMENTS: Final = ("asked", "until", "pushed")
TOLD: Final = tuple(field.name for field in fields(Subscription) if field.name not in ("source", "token"))


def is_token(token: str) -> bool:
    """Whether it may name a callback. Anything else is a guess, and NUL is what PostgreSQL takes in no text."""
    return len(token) <= TOKEN_CHARS and token.isprintable()


def subscription_row(subscription: Subscription) -> dict[str, Any]:
    """The columns of a subscription."""
    told = {key: getattr(subscription, key) for key in TOLD}
    told |= {key: told[key].isoformat() for key in MOMENTS if told[key]}
    return {"source": name(subscription.source), "token": subscription.token, "told": told}


def subscription_of(source: str, token: str, told: Mapping[str, Any]) -> Subscription:
    """The inverse of :func:`subscription_row`; what a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values |= {key: datetime.fromisoformat(values[key]) for key in MOMENTS if values.get(key)}
    return Subscription(source, token=token, **values)
