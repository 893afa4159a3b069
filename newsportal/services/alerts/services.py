"""The services: 企业微信, 飞书, 钉钉, Telegram, ntfy, webhooks over HTTP, through the egress guard; mail and all others through Apprise.

The robots of 企业微信, 飞书 and 钉钉 answer 200 whatever happened and tell in the body what did, so that is read here.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from newsportal.messages import Message
from newsportal.net.egress import Answer
from newsportal.services.alerts.base import BadField, Field, Fields, Later, Rejected, Request, Service, Told
from newsportal.services.publishing.webhook import SIGNATURE, signature
from newsportal.sources.uris import BadAddress, check_url

JSON: Final = {"content-type": "application/json; charset=utf-8", "accept": "application/json"}
WECOM_BYTES: Final = 2048  # developer.work.weixin.qq.com: a text message of a robot
FEISHU_BYTES: Final = 18_000  # open.feishu.cn: a request of a robot has at most 20 kB
DINGTALK_BYTES: Final = 18_000  # open.dingtalk.com: 20,000 bytes
TELEGRAM_BYTES: Final = 4000  # core.telegram.org: 4096 characters after entities
NTFY_BYTES: Final = 3800  # docs.ntfy.sh: more than 4096 bytes become an attachment
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{8,200}")
TELEGRAM_TOKEN: Final = re.compile(r"\d{5,20}:[A-Za-z0-9_-]{20,100}")
TELEGRAM_CHAT: Final = re.compile(r"-?\d{3,20}|@[A-Za-z][A-Za-z0-9_]{3,40}")
NO_KEY: Final = Message("alert.no-key")
NTFY_TOPIC: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ADDRESS: Final = re.compile(r"[^\s@,;<>\"'?&]+@[^\s@,;<>\"'?&]+\.[^\s@,;<>\"'?&]+")

MOST_RECIPIENTS: Final = 10
"""Mail addresses of one alert: a group has an address of its own, and the operator's server is nobody's to write to all the world."""

BUSY: Final[Mapping[str, frozenset[int]]] = {
    "wecom": frozenset({-1, 45009}),
    "feishu": frozenset({11232, 99991400}),
    "dingtalk": frozenset({-1, 130101}),
}
"""Codes with which a robot says: too many for now (its documentation), or: busy."""


def _json(url: str, told: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Request:
    return Request(url, json.dumps(told, ensure_ascii=False).encode(), {**JSON, **(headers or {})})


def _lines(told: Told, limit: int) -> str:
    return f"{told.title}\n\n{told.text(limit - len(told.title.encode()) - 2)}"


def _key_from(host: str, parameter: str | None) -> Callable[[dict[str, str]], dict[str, str]]:
    """Takes a robot's key from what people paste: the key, or the address of its webhook, which has it as ``parameter`` or at its end."""

    def checks(told: dict[str, str]) -> dict[str, str]:
        key = told["key"]
        if key.startswith(("http://", "https://")):
            try:
                parts = urlsplit(key)
                found = parse_qs(parts.query).get(parameter, [""]) if parameter else [parts.path.rpartition("/")[2]]
            except ValueError:  # brackets with no address between them, more fields than anybody sends
                raise BadField("key", NO_KEY) from None
            if parts.hostname != host:
                raise BadField("key", Message("alert.other-service"))
            key = found[0]
        if not TOKEN.fullmatch(key):
            raise BadField("key", NO_KEY)
        return told | {"key": key}

    return checks


WECOM_FIELDS: Final = (Field("key", Message("field.webhook"), Message("field-hint.webhook"), secret=True),)
FEISHU_FIELDS: Final = (
    Field("key", Message("field.webhook"), Message("field-hint.webhook"), secret=True),
    Field("secret", Message("field.secret"), Message("field-hint.robot-secret"), secret=True, needed=False),
)
DINGTALK_FIELDS: Final = FEISHU_FIELDS
TELEGRAM_FIELDS: Final = (
    Field("token", Message("field.bot-token"), Message("field-hint.bot-token"), secret=True),
    Field("chat", Message("field.chat"), Message("field-hint.chat")),
)
NTFY_FIELDS: Final = (
    Field("topic", Message("field.ntfy-topic"), Message("field-hint.ntfy-topic"), secret=True),
    Field("server", Message("field.server"), needed=False, default="https://ntfy.sh"),
    Field("token", Message("field.access-token"), Message("field-hint.access-token"), secret=True, needed=False),
)
WEBHOOK_FIELDS: Final = (
    Field("url", Message("field.url"), Message("field-hint.url"), secret=True),
    Field("secret", Message("field.secret"), Message("field-hint.secret"), secret=True, needed=False),
)
MAIL_FIELDS: Final = (Field("to", Message("field.mail"), Message("field-hint.mail")),)
APPRISE_FIELDS: Final = (Field("url", Message("field.apprise"), Message("field-hint.apprise"), secret=True),)


def _wecom(fields: Fields, told: Told, now: datetime) -> Request:
    url = f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={fields['key']}"
    return _json(url, {"msgtype": "text", "text": {"content": _lines(told, WECOM_BYTES)}})


def _feishu(fields: Fields, told: Told, now: datetime) -> Request:
    body: dict[str, Any] = {"msg_type": "text", "content": {"text": _lines(told, FEISHU_BYTES)}}
    if fields.get("secret"):
        seconds = str(int(now.timestamp()))
        sign = b64encode(hmac.new(f"{seconds}\n{fields['secret']}".encode(), b"", sha256).digest()).decode()
        body |= {"timestamp": seconds, "sign": sign}
    return _json(f"https://open.feishu.cn/open-apis/bot/v2/hook/{fields['key']}", body)


def _dingtalk(fields: Fields, told: Told, now: datetime) -> Request:
    url = f"https://oapi.dingtalk.com/robot/send?access_token={fields['key']}"
    if fields.get("secret"):
        moment = str(int(now.timestamp() * 1000))
        sign = b64encode(hmac.new(fields["secret"].encode(), f"{moment}\n{fields['secret']}".encode(), sha256).digest()).decode()
        url += f"&timestamp={moment}&sign={quote(sign, safe='')}"
    return _json(url, {"msgtype": "text", "text": {"content": _lines(told, DINGTALK_BYTES)}})


def _telegram_fields(told: dict[str, str]) -> dict[str, str]:
    if not TELEGRAM_TOKEN.fullmatch(told["token"]):
        raise BadField("token", Message("alert.no-token"))
    if not TELEGRAM_CHAT.fullmatch(told["chat"]):
        raise BadField("chat", Message("alert.no-chat"))
    return told


def _telegram(fields: Fields, told: Told, now: datetime) -> Request:
    body = {"chat_id": fields["chat"], "text": _lines(told, TELEGRAM_BYTES), "disable_web_page_preview": True}
    return _json(f"https://api.telegram.org/bot{fields['token']}/sendMessage", body)


def _web_address(value: str, name: str) -> str:
    try:
        return check_url(value)
    except BadAddress as error:
        raise BadField(name, Message("alert.no-url")) from error


def _ntfy_fields(told: dict[str, str]) -> dict[str, str]:
    if not NTFY_TOPIC.fullmatch(told["topic"]):
        raise BadField("topic", Message("alert.ntfy-topic"))
    return told | {"server": _web_address(told["server"], "server").rstrip("/")}


def _ntfy(fields: Fields, told: Told, now: datetime) -> Request:
    body: dict[str, Any] = {"topic": fields["topic"], "title": told.title, "message": told.text(NTFY_BYTES)}
    if len(told.items) == 1:
        body["click"] = told.items[0].address
    return _json(fields["server"], body, {"authorization": f"Bearer {fields['token']}"} if fields.get("token") else None)


def _webhook_fields(told: dict[str, str]) -> dict[str, str]:
    return told | {"url": _web_address(told["url"], "url")}


def _webhook(fields: Fields, told: Told, now: datetime) -> Request:
    stories = [{"id": one.id, "title": one.title, "site": one.site, "url": one.address, "sites": one.sites} for one in told.items]
    body = {
        "form": 1, "event": "alert", "alert": told.alert, "title": told.title, "text": told.text(), "stories": stories, "more": told.more,
    }  # fmt: skip
    asked = _json(fields["url"], body, {"idempotency-key": told.key})
    if not fields.get("secret"):
        return asked
    return Request(asked.url, asked.body, {**asked.headers, SIGNATURE: signature(fields["secret"], asked.body, now)})


def _mail_fields(told: dict[str, str]) -> dict[str, str]:
    found = [one.strip() for one in told["to"].replace("，", ",").replace(";", ",").split(",") if one.strip()]
    if not found or not all(ADDRESS.fullmatch(one) for one in found):
        raise BadField("to", Message("alert.no-mail"))
    if len(found) > MOST_RECIPIENTS:
        raise BadField("to", Message("alert.many-mails", most=MOST_RECIPIENTS))
    return {"to": ", ".join(found)}


def _apprise_fields(told: dict[str, str]) -> dict[str, str]:
    if "://" not in told["url"]:
        raise BadField("url", Message("alert.no-apprise"))
    return told


def judge(answer: Answer) -> None:
    """By the status alone."""
    if 200 <= answer.status < 300:
        return
    if answer.status in (408, 425, 429) or answer.status >= 500:
        wait = answer.headers.get("retry-after", "")
        raise Later(f"the service answered {answer.status}", min(float(wait), 86_400.0) if wait.isdecimal() else None)
    raise Rejected(f"the service answered {answer.status}")


def _robot(name: str, code: str = "errcode", words: str = "errmsg") -> Any:
    def judged(answer: Answer) -> None:
        judge(answer)
        try:
            told = json.loads(answer.body)
            number = told.get(code, told.get("StatusCode", 0))
        except (ValueError, RecursionError, AttributeError) as error:
            raise Rejected("the service answered something that is no answer of a robot") from error
        if number in BUSY[name]:
            raise Later(f"the service says: too many for now ({number})")
        if number:
            raise Rejected(f"the service says: {number} {' '.join(str(told.get(words, '')).split())[:200]}")

    return judged


SERVICES: Final[Mapping[str, Service]] = {
    service.name: service
    for service in (
        Service("mail", MAIL_FIELDS, _mail_fields),
        Service("wecom", WECOM_FIELDS, _key_from("qyapi.weixin.qq.com", "key"), _wecom, _robot("wecom")),
        Service("feishu", FEISHU_FIELDS, _key_from("open.feishu.cn", None), _feishu, _robot("feishu", "code", "msg")),
        Service("dingtalk", DINGTALK_FIELDS, _key_from("oapi.dingtalk.com", "access_token"), _dingtalk, _robot("dingtalk")),
        Service("telegram", TELEGRAM_FIELDS, _telegram_fields, _telegram, judge),
        Service("ntfy", NTFY_FIELDS, _ntfy_fields, _ntfy, judge),
        Service("webhook", WEBHOOK_FIELDS, _webhook_fields, _webhook, judge),
        Service("apprise", APPRISE_FIELDS, _apprise_fields, needs="administer"),
    )
}
"""A new one is a line here."""
