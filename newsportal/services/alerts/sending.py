"""One message to one service, once. What came of it is message by errors: nothing was sent, never will be, or perhaps was."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from newsportal.errors import DependencyMissing, EgressDenied, FetchFailed
from newsportal.net import egress
from newsportal.services.alerts.base import AlertMessage, Request, Service, Setting, Unclear
from newsportal.services.alerts.services import SERVICES
from newsportal.services.publishing.base import PutOff, Refused

TIMEOUT: Final = 20.0  # seconds for a message and its answer
MAX_ANSWER: Final = 64 * 1024

CERTAIN: Final = re.compile(
    r"\(\d{3}, b|[Cc]onnection refused|[Nn]ame or service|getaddrinfo|[Nn]o route to host|[Nn]etwork is unreachable|NewConnectionError"
    r"|ConnectTimeout|NameResolutionError|CERTIFICATE|error=\d{3}|Errno 111|refused",
)
"""In what Apprise logs: the other side answered or was never reached, so nothing was sent. All else leaves that open."""

FOR_EVER: Final = re.compile(r"\(5\d\d, b|error=4(?!08|25|29)\d\d")
"""A refusal that a later try does not change (RFC 5321 section 4.2.1, RFC 9110 section 15.5)."""


def send(name: str, fields: Mapping[str, str], message: AlertMessage, setting: Setting, now: datetime) -> None:
    """Raises ``Refused``, ``PutOff``, ``Unclear``, ``DependencyMissing``. Blocking."""
    service = SERVICES.get(name)
    if service is None:
        raise Refused("there is no such service any more")
    if service.signs:
        fields = {**fields, **setting.own()}
    if service.build_request is not None:
        _by_http(service, service.build_request(fields, message, now), fields, setting)
    elif service.address is not None:
        _by_apprise(service.address(fields, setting), fields, message, setting)


def _by_http(service: Service, request: Request, fields: Mapping[str, str], setting: Setting) -> None:
    headers = {**request.headers, "content-length": str(len(request.body)), "user-agent": setting.agent}
    try:
        answer = egress.request("POST", request.url, setting.policy, headers, request.body, max_bytes=MAX_ANSWER, timeout=TIMEOUT)
    except EgressDenied as error:
        raise Refused(f"that address may not be asked ({error.reason}); an operator can allow it: politeness.allow_private") from error
    except FetchFailed as error:
        if egress.never_sent(error):
            raise PutOff(f"it cannot be reached ({error.reason})") from error
        raise Unclear(f"no answer came ({error.reason}): perhaps it arrived") from error
    if service.check_answer is not None:
        try:
            service.check_answer(answer)
        except Refused as error:
            raise type(error)(hidden(str(error), fields)) from error


def _by_apprise(address: str, fields: Mapping[str, str], message: AlertMessage, setting: Setting) -> None:
    try:
        import apprise
    except ImportError as error:
        raise DependencyMissing("sending by mail and by Apprise", "alerts") from error
    target = apprise.Apprise.instantiate(address)
    if target is None:
        raise Refused("Apprise knows no such address")
    with apprise.LogCapture(level=logging.DEBUG, fmt="%(message)s") as heard:  # type: ignore[no-untyped-call]
        sent = target.notify(body=message.text(), title=message.title, body_format="text")
        said = heard.getvalue()
    if sent:
        return
    # the last line that tells of a failure; payloads and addresses stand in others
    lines = [line for line in said.splitlines() if re.search(r"Exception|error|[Ff]ailed|refused", line) and "URL" not in line]
    failure = " ".join(lines[-1].split())[:200] if lines else "Apprise could not send it"
    reason = hidden(failure, {**fields, "server": setting.mail_server or ""})
    if FOR_EVER.search(said):
        raise Refused(reason)
    if CERTAIN.search(said):
        raise PutOff(reason)
    raise Unclear(f"{reason}: perhaps it arrived")


def hidden(text: str, fields: Mapping[str, str]) -> str:
    """``text`` without what the fields keep secret."""
    for value in sorted((value for value in fields.values() if len(value) > 3), key=len, reverse=True):
        text = text.replace(value, "***")
    return text
