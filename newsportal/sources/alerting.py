"""How alerts are sent."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from newsportal.messages import Message
from newsportal.sources.parts import Part
from newsportal.sources.uris import mask
from newsportal.sources.values import Filled, Line, mistake

MAIL_SCHEMES = ("smtps", "smtp", "smtp+starttls")


def _mail_server(value: str) -> str:
    try:
        parts = urlsplit(value)
        whole = parts.scheme in MAIL_SCHEMES and bool(parts.hostname) and parts.port != 0 and value.isprintable()
    except ValueError:
        whole = False
    if not whole:
        raise mistake(Message("sources.mail-server", found=repr(mask(value))))
    return value


MailServer = Annotated[Filled, AfterValidator(_mail_server)]


class Alerting(Part):
    """How people are told of what is new."""

    enabled: bool = True
    """false: nothing is sent; what people set up is kept."""
    mail_server: MailServer | None = None
    """The server that takes mail: smtps://USER:PASSWORD@HOST, smtp+starttls://… or smtp://HOST:PORT; better ${NAME} than the password."""
    mail_from: Line | None = None
    """The address that mail comes from; by default newsportal at the mail server."""
    per_hour: Annotated[int, Field(ge=1, le=60)] = 20
    """Messages an hour that one alert may send at most; what is more waits and goes into the next."""
    disk_free: Annotated[float, Field(gt=0, lt=100)] = 10.0
    """Per cent of the disk: alerts about the disk are sent when less of it is free."""
    crawl_hours: Annotated[float, Field(gt=0, le=720)] = 12.0
    """Hours: alerts about the crawl are sent when none has come to an end for so long."""
