"""The message services, each in its own section: request, fields with their checks, :class:`Service`.

企业微信, 飞书, 钉钉, Telegram, ntfy and webhooks are called over HTTP, through the egress guard; mail and all others through Apprise. A
message is sent once; errors distinguish messages not sent yet, permanently refused, and perhaps sent.
"""

import hmac
import json
import logging
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from newsportal.errors import DependencyMissing, EgressDenied, FetchFailed
from newsportal.messages import Message
from newsportal.net import egress
from newsportal.net.egress import HttpResponse
from newsportal.schedule.freshness import retry_after
from newsportal.services.alerts.base import AlertMessage, CheckAnswer, DeliveryUnknown, Field, Fields, Request, Service, Setting
from newsportal.services.alerts.web_push import web_push
from newsportal.services.publishing.base import Refused, RetryLater
from newsportal.services.publishing.webhook import SIGNATURE, signature
from newsportal.sources.uris import BadAddress, check_url

JSON: Final = {"content-type": "application/json; charset=utf-8", "accept": "application/json"}


def _json(url: str, payload: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Request:
    return Request(url, json.dumps(payload, ensure_ascii=False).encode(), {**JSON, **(headers or {})})


def _lines(message: AlertMessage, limit: int) -> str:
    return f"{message.title}\n\n{message.text(limit - len(message.title.encode()) - 2)}"


def _web_address(value: str) -> str | Message:
    try:
        return check_url(value)
    except BadAddress:
        return Message("alert.invalid-url")


def _matches(pattern: str, code: str) -> Callable[[str], str | Message]:
    return lambda value: value if re.fullmatch(pattern, value) else Message(code)


def check_status(answer: HttpResponse) -> None:
    if 200 <= answer.status < 300:
        return
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise RetryLater(f"the service answered {answer.status}", retry_after(answer.headers.get("retry-after"), datetime.now(UTC)))
    raise Refused(f"the service answered {answer.status}")


# Group robots of 企业微信, 飞书 and 钉钉: the status is always 200, the result is in the body.

NO_KEY: Final = Message("alert.invalid-key")
ROBOT_SECRET: Final = Field("secret", Message("field.secret"), Message("field-hint.robot-secret"), secret=True, required=False)


def _robot_key(host: str, parameter: str | None) -> Field:
    """Return a field that accepts a robot's key or the URL of its webhook, with the key as ``parameter`` or last path segment."""

    def check(key: str) -> str | Message:
        if key.startswith(("http://", "https://")):
            try:
                parts = urlsplit(key)
                found = parse_qs(parts.query).get(parameter, [""]) if parameter else [parts.path.rpartition("/")[2]]
            except ValueError:  # brackets without an address, or too many fields
                return NO_KEY
            if parts.hostname != host:
                return Message("alert.wrong-service")
            key = found[0]
        return key if re.fullmatch(r"[A-Za-z0-9_-]{8,200}", key) else NO_KEY

    return Field("key", Message("field.webhook"), Message("field-hint.webhook"), secret=True, check=check)


def _robot(busy: Collection[int], code: str = "errcode", words: str = "errmsg") -> CheckAnswer:
    """Return the check of a robot's answer. ``busy``: codes for "too many requests" or "busy" (its documentation)."""

    def check(answer: HttpResponse) -> None:
        check_status(answer)
        try:
            reply = json.loads(answer.body)
            number = reply.get(code, reply.get("StatusCode", 0))
        except (ValueError, RecursionError, AttributeError) as error:
            raise Refused("the answer is not that of a robot service") from error
        if number in busy:
            raise RetryLater(f"the service reports too many messages ({number})")
        if number:
            raise Refused(f"the service says: {number} {' '.join(str(reply.get(words, '')).split())[:200]}")

    return check


WECOM_BYTES: Final = 2048  # developer.work.weixin.qq.com: a text message of a robot


def _wecom(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    url = f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={fields['key']}"
    return _json(url, {"msgtype": "text", "text": {"content": _lines(message, WECOM_BYTES)}})


WECOM: Final = Service("wecom", "WeCom", (_robot_key("qyapi.weixin.qq.com", "key"),), _wecom, _robot((-1, 45009)))

FEISHU_BYTES: Final = 18_000  # open.feishu.cn: a request of a robot has at most 20 kB


def _feishu(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    body: dict[str, Any] = {"msg_type": "text", "content": {"text": _lines(message, FEISHU_BYTES)}}
    if fields.get("secret"):
        seconds = str(int(now.timestamp()))
        sign = b64encode(hmac.new(f"{seconds}\n{fields['secret']}".encode(), b"", sha256).digest()).decode()
        body |= {"timestamp": seconds, "sign": sign}
    return _json(f"https://open.feishu.cn/open-apis/bot/v2/hook/{fields['key']}", body)


FEISHU: Final = Service(
    "feishu", "Feishu", (_robot_key("open.feishu.cn", None), ROBOT_SECRET), _feishu, _robot((11232, 99991400), "code", "msg")
)

DINGTALK_BYTES: Final = 18_000  # open.dingtalk.com: 20,000 bytes


def _dingtalk(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    url = f"https://oapi.dingtalk.com/robot/send?access_token={fields['key']}"
    if fields.get("secret"):
        moment = str(int(now.timestamp() * 1000))
        sign = b64encode(hmac.new(fields["secret"].encode(), f"{moment}\n{fields['secret']}".encode(), sha256).digest()).decode()
        url += f"&timestamp={moment}&sign={quote(sign, safe='')}"
    return _json(url, {"msgtype": "text", "text": {"content": _lines(message, DINGTALK_BYTES)}})


DINGTALK: Final = Service(
    "dingtalk", "DingTalk", (_robot_key("oapi.dingtalk.com", "access_token"), ROBOT_SECRET), _dingtalk, _robot((-1, 130101))
)

TELEGRAM_BYTES: Final = 4000  # core.telegram.org: 4096 characters after entities
TELEGRAM_FIELDS: Final = (
    Field(
        "token", Message("field.bot-token"), Message("field-hint.bot-token"), secret=True,
        check=_matches(r"\d{5,20}:[A-Za-z0-9_-]{20,100}", "alert.invalid-token"),
    ),
    Field(
        "chat", Message("field.chat"), Message("field-hint.chat"),
        check=_matches(r"-?\d{3,20}|@[A-Za-z][A-Za-z0-9_]{3,40}", "alert.invalid-chat"),
    ),
)  # fmt: skip


def _telegram(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    body = {"chat_id": fields["chat"], "text": _lines(message, TELEGRAM_BYTES), "disable_web_page_preview": True}
    return _json(f"https://api.telegram.org/bot{fields['token']}/sendMessage", body)


TELEGRAM: Final = Service("telegram", "Telegram", TELEGRAM_FIELDS, _telegram, check_status)

NTFY_BYTES: Final = 3800  # docs.ntfy.sh: more than 4096 bytes become an attachment

NTFY_FIELDS: Final = (
    Field(
        "topic", Message("field.ntfy-topic"), Message("field-hint.ntfy-topic"), secret=True,
        check=_matches(r"[A-Za-z0-9_-]{1,64}", "alert.invalid-ntfy-topic"),
    ),
    Field("server", Message("field.server"), required=False, default="https://ntfy.sh", check=lambda url: _web_address(url.rstrip("/"))),
    Field("token", Message("field.access-token"), Message("field-hint.access-token"), secret=True, required=False),
)  # fmt: skip


def _ntfy(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    body: dict[str, Any] = {"topic": fields["topic"], "title": message.title, "message": message.text(NTFY_BYTES)}
    if len(message.items) == 1:
        body["click"] = message.items[0].address
    return _json(fields["server"], body, {"authorization": f"Bearer {fields['token']}"} if fields.get("token") else None)


NTFY: Final = Service("ntfy", "ntfy", NTFY_FIELDS, _ntfy, check_status)

WEBHOOK_FIELDS: Final = (
    Field("url", Message("field.url"), Message("field-hint.url"), secret=True, check=_web_address),
    Field("secret", Message("field.secret"), Message("field-hint.secret"), secret=True, required=False),
)


def _webhook(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    stories = [
        {"id": item.id, "title": item.title, "site": item.site, "url": item.address, "original": item.original, "sites": item.sites}
        for item in message.items
    ]
    body = {
        "form": 1, "event": "alert", "alert": message.alert, "title": message.title, "text": message.text(), "stories": stories, "more": 0,
    }  # fmt: skip
    request = _json(fields["url"], body, {"idempotency-key": message.key})
    if not fields.get("secret"):
        return request
    return Request(request.url, request.body, {**request.headers, SIGNATURE: signature(fields["secret"], request.body, now)})


WEBHOOK: Final = Service("webhook", "Webhook", WEBHOOK_FIELDS, _webhook, check_status)

ADDRESS: Final = re.compile(r"[^\s@,;<>\"'?&]+@[^\s@,;<>\"'?&]+\.[^\s@,;<>\"'?&]+")
DOMAIN: Final = re.compile(r"[^.]\.[A-Za-z][A-Za-z0-9-]*$")  # mail needs a domain name; an IP address is not accepted
MAX_RECIPIENTS: Final = 10
"""Mail addresses of one alert: a group has its own address, and the operator's server must not be used for mass mail."""


def _recipients(value: str) -> str | Message:
    addresses = [address.strip() for address in value.replace("，", ",").replace(";", ",").split(",") if address.strip()]
    if not addresses or not all(ADDRESS.fullmatch(address) for address in addresses):
        return Message("alert.invalid-mail")
    return ", ".join(addresses) if len(addresses) <= MAX_RECIPIENTS else Message("alert.too-many-mails", most=MAX_RECIPIENTS)


def mail_address(fields: Mapping[str, str], setting: Setting) -> str:
    """Return the Apprise URL for mail through the operator's server."""
    if setting.mail_server is None:
        raise Refused("this portal cannot send mail: no mail server is set (alerts.mail_server)")
    parts = urlsplit(setting.mail_server)
    scheme, mode = {"smtp": ("mailto", "insecure"), "smtps": ("mailtos", "ssl")}.get(parts.scheme, ("mailtos", "starttls"))
    user = f"{parts.username}:{parts.password or ''}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    host = parts.hostname or "localhost"
    sender = setting.mail_from or f"newsportal@{host if DOMAIN.search(host) else 'localhost.localdomain'}"
    params = "".join(f"&{key}={quote(value, safe='')}" for key, value in (("from", sender), ("to", fields["to"]), ("smtp", host)))
    return f"{scheme}://{user}{host}{port}?mode={mode}{params}"


MAIL_FIELD: Final = Field("to", Message("field.mail"), Message("field-hint.mail"), check=_recipients)
MAIL: Final = Service("mail", "Mail", (MAIL_FIELD,), address=mail_address)

APPRISE_FIELD: Final = Field(
    "url", Message("field.apprise"), Message("field-hint.apprise"), secret=True, check=_matches(".*://.*", "alert.unsupported-url")
)
APPRISE: Final = Service("apprise", "Another service", (APPRISE_FIELD,), address=lambda fields, _: fields["url"], right="administer")

PUSH: Final = web_push(check_status)

SERVICES: Final[Mapping[str, Service]] = {
    service.name: service for service in (MAIL, PUSH, WECOM, FEISHU, DINGTALK, TELEGRAM, NTFY, WEBHOOK, APPRISE)
}


def title_of(channel: str, translate: Callable[[str], str]) -> str:
    return translate(SERVICES[channel].title) if channel in SERVICES else channel


TIMEOUT: Final = 20.0  # seconds for a message and its answer
MAX_ANSWER: Final = 64 * 1024

NOT_SENT: Final = re.compile(
    r"\(\d{3}, b|[Cc]onnection refused|[Nn]ame or service|getaddrinfo|[Nn]o route to host|[Nn]etwork is unreachable|NewConnectionError"
    r"|ConnectTimeout|NameResolutionError|CERTIFICATE|error=\d{3}|Errno 111|refused"
)
"""In the log of Apprise: the service answered or was never reached, so nothing was sent. Otherwise that is unknown."""

PERMANENT: Final = re.compile(r"\(5\d\d, b|error=4(?!08|25|29)\d\d")
"""A permanent refusal (RFC 5321 section 4.2.1, RFC 9110 section 15.5)."""


def send(name: str, fields: Mapping[str, str], message: AlertMessage, setting: Setting, now: datetime) -> None:
    """Send a message. Raises ``Refused``, ``RetryLater``, ``DeliveryUnknown``, ``DependencyMissing``. Blocking."""
    service = SERVICES.get(name)
    if service is None:
        raise Refused("the service no longer exists")
    if service.signs:
        fields = {**fields, **setting.portal_fields()}
    if service.build_request is not None:
        _by_http(service, service.build_request(fields, message, now), fields, setting)
    elif service.address is not None:
        _by_apprise(service.address(fields, setting), fields, message, setting)


def _by_http(service: Service, request: Request, fields: Mapping[str, str], setting: Setting) -> None:
    headers = {**request.headers, "content-length": str(len(request.body)), "user-agent": setting.agent}
    try:
        answer = egress.request("POST", request.url, setting.policy, headers, request.body, max_bytes=MAX_ANSWER, timeout=TIMEOUT)
    except EgressDenied as error:
        raise Refused(
            f"requests to this URL are not allowed ({error.reason}); an operator can allow it: politeness.allow_private"
        ) from error
    except FetchFailed as error:
        if egress.was_not_sent(error):
            raise RetryLater(f"it is not reachable ({error.reason})") from error
        raise DeliveryUnknown(f"no answer came ({error.reason}): it may have arrived") from error
    if service.check_answer is not None:
        try:
            service.check_answer(answer)
        except Refused as error:
            raise type(error)(mask_fields(str(error), fields)) from error


def _by_apprise(address: str, fields: Mapping[str, str], message: AlertMessage, setting: Setting) -> None:
    try:
        import apprise
    except ImportError as error:
        raise DependencyMissing("sending by mail and by Apprise", "alerts") from error
    target = apprise.Apprise.instantiate(address)
    if target is None:
        raise Refused("Apprise does not support this URL")
    with apprise.LogCapture(level=logging.DEBUG, fmt="%(message)s") as capture:  # type: ignore[no-untyped-call]
        sent = target.notify(body=message.text(), title=message.title, body_format="text")
        output = capture.getvalue()
    if sent:
        return
    # the last line about a failure; other lines contain payloads and addresses
    lines = [line for line in output.splitlines() if re.search(r"Exception|error|[Ff]ailed|refused", line) and "URL" not in line]
    failure = " ".join(lines[-1].split())[:200] if lines else "Apprise could not send it"
    reason = mask_fields(failure, {**fields, "server": setting.mail_server or ""})
    if PERMANENT.search(output):
        raise Refused(reason)
    if NOT_SENT.search(output):
        raise RetryLater(reason)
    raise DeliveryUnknown(f"{reason}: it may have arrived")


def mask_fields(text: str, fields: Mapping[str, str]) -> str:
    for value in sorted((value for value in fields.values() if len(value) > 3), key=len, reverse=True):
        text = text.replace(value, "***")
    return text
