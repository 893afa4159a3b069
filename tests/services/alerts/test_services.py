"""Requests to each service, interpretation of responses, and hiding of secrets."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from hmac import new
from urllib.parse import parse_qs, urlsplit

import pytest

from newsportal.net.egress import HttpResponse
from newsportal.services.accounts.alerts import Alert
from newsportal.services.alerts.base import BadField, Item, Setting, message_of
from newsportal.services.alerts.services import SERVICES, WECOM_BYTES, mail_address, mask_fields
from newsportal.services.publishing.base import Refused, RetryLater

NOW = datetime(2026, 5, 20, 2, 0, tzinfo=UTC)
BOT = "123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KEY = "693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa"


def message(number: int = 2) -> object:
    alert = Alert("a", "p", "旅游", "topic", "旅游", "webhook", {}, NOW)
    title = "云岭峡谷观景桥今日开放"
    items = [Item(f"s{place}", f"第{place}条：{title}", "晨光网", f"https://p.example/story/s{place}") for place in range(number)]
    return message_of(alert, items, "k1")


@pytest.mark.parametrize(
    ("name", "values", "stored"),
    [
        ("wecom", {"key": f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={KEY}"}, {"key": KEY}),
        ("wecom", {"key": f" {KEY} "}, {"key": KEY}),
        ("feishu", {"key": f"https://open.feishu.cn/open-apis/bot/v2/hook/{KEY}"}, {"key": KEY, "secret": ""}),
        ("dingtalk", {"key": f"https://oapi.dingtalk.com/robot/send?access_token={KEY}", "secret": "SEC1"}, {"key": KEY, "secret": "SEC1"}),
        ("ntfy", {"topic": "news"}, {"topic": "news", "server": "https://ntfy.sh", "token": ""}),
        ("mail", {"to": "a@b.cn， c@d.cn"}, {"to": "a@b.cn, c@d.cn"}),
        ("telegram", {"token": f" {BOT}", "chat": "@news "}, {"token": BOT, "chat": "@news"}),
    ],
)
def test_pasted_values_are_normalized(name: str, values: dict[str, str], stored: dict[str, str]) -> None:
    assert SERVICES[name].checked(values) == stored


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        ("wecom", {}, "key"),
        ("wecom", {"key": f"https://evil.example/cgi-bin/webhook/send?key={KEY}"}, "key"),
        ("wecom", {"key": "https://[qyapi.weixin.qq.com/send?key=1"}, "key"),
        ("feishu", {"key": "https://open.feishu.cn/open-apis/bot/v2/hook/"}, "key"),
        ("feishu", {"key": "[https://open.feishu.cn"}, "key"),
        ("dingtalk", {"key": "https://[oapi"}, "key"),
        ("webhook", {"url": "https://[a.example/"}, "url"),
        ("ntfy", {"topic": "a", "server": "https://[ntfy.sh"}, "server"),
        ("dingtalk", {"key": f"{KEY}&x=/../"}, "key"),
        ("telegram", {"token": "abc", "chat": "1"}, "token"),
        ("telegram", {"token": "123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ/../", "chat": "12345"}, "token"),
        ("telegram", {"token": "123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ", "chat": "my chat"}, "chat"),
        ("ntfy", {"topic": "a/b"}, "topic"),
        ("ntfy", {"topic": "a", "server": "file:///etc/passwd"}, "server"),
        ("webhook", {"url": "http://169.254.169.254\\@example.com/"}, "url"),
        ("webhook", {"url": "https://a.example/\r\nx: y"}, "url"),
        ("mail", {"to": "nobody"}, "to"),
        ("mail", {"to": "a@b.cn&bcc=x@y.z"}, "to"),
        ("mail", {"to": "a@b.cn\nBcc: x@y.z"}, "to"),
        ("mail", {"to": ", ".join(f"a{number}@b.cn" for number in range(11))}, "to"),
    ],
)
def test_invalid_value_is_reported_for_its_field(name: str, values: dict[str, str], field: str) -> None:
    with pytest.raises(BadField) as error:
        SERVICES[name].checked(values)
    assert error.value.field == field


def test_links_to_publisher_are_left_out_of_long_messages() -> None:
    alert = Alert("a", "p", "旅游", "topic", "旅游", "webhook", {}, NOW)
    items = [
        Item(f"s{place}", "观景桥开放", "晨光网", f"https://p.example/story/s{place}", original=f"https://cg.example/{place}")
        for place in (1, 2)
    ]
    sent = message_of(alert, items, "k1")
    both = "观景桥开放\n晨光网\nhttps://p.example/story/s1\nhttps://cg.example/1\n\n观景桥开放\n晨光网\nhttps://p.example/story/s2\nhttps://cg.example/2"
    assert sent.text() == sent.text(len(both.encode())) == both
    assert sent.text(len(both.encode()) - 1) == both.replace("\nhttps://cg.example/1", "").replace("\nhttps://cg.example/2", "")
    body = json.loads(SERVICES["webhook"].build_request({"url": "https://a.example/"}, sent, NOW).body)  # type: ignore[misc]
    assert next((story["url"], story["original"]) for story in body["stories"]) == ("https://p.example/story/s1", "https://cg.example/1")


def test_chat_robots_get_text_and_signature() -> None:
    sent = {name: SERVICES[name].build_request({"key": KEY, "secret": "SEC1"}, message(), NOW) for name in ("wecom", "feishu", "dingtalk")}  # type: ignore[misc,arg-type]
    wecom, feishu = json.loads(sent["wecom"].body), json.loads(sent["feishu"].body)
    assert wecom["text"]["content"].startswith("「旅游」有 2 条新消息\n\n第0条")
    assert sent["wecom"].url.endswith(f"?key={KEY}")
    assert feishu["sign"] == b64encode(new(f"{feishu['timestamp']}\nSEC1".encode(), b"", sha256).digest()).decode()
    query = parse_qs(urlsplit(sent["dingtalk"].url).query)
    assert query["sign"] == [b64encode(new(b"SEC1", f"{query['timestamp'][0]}\nSEC1".encode(), sha256).digest()).decode()]


def test_long_message_ends_with_remaining_count() -> None:
    request = SERVICES["wecom"].build_request({"key": KEY}, message(100), NOW)  # type: ignore[misc,arg-type]
    content = json.loads(request.body)["text"]["content"]
    assert len(content.encode()) <= WECOM_BYTES
    count = content.count("https://")
    assert content.endswith(f"另有 {100 - count} 条")


@pytest.mark.parametrize(
    ("name", "status", "body", "error"),
    [
        ("wecom", 200, {"errcode": 0, "errmsg": "ok"}, None),
        ("wecom", 200, {"errcode": 93000, "errmsg": "invalid webhook url"}, Refused),
        ("wecom", 200, {"errcode": 45009, "errmsg": "api freq out of limit"}, RetryLater),
        ("feishu", 200, {"code": 19021, "msg": "sign match fail"}, Refused),
        ("feishu", 200, {"StatusCode": 0, "StatusMessage": "success"}, None),
        ("dingtalk", 200, {"errcode": 310000, "errmsg": "keywords not in content"}, Refused),
        ("telegram", 429, {"ok": False}, RetryLater),
        ("telegram", 401, {"ok": False}, Refused),
        ("ntfy", 507, {}, RetryLater),
        ("webhook", 301, {}, Refused),
        ("wecom", 200, "<html>", Refused),
    ],
)
def test_responses_are_interpreted(name: str, status: int, body: object, error: type[Exception] | None) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    check_answer = SERVICES[name].check_answer
    assert check_answer is not None
    if error is None:
        check_answer(HttpResponse(status, {}, raw))
    else:
        with pytest.raises(error):
            check_answer(HttpResponse(status, {}, raw))


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("smtps://me%40x.cn:p%3Aw@smtp.x.cn", ("smtp.x.cn", True)),
        ("smtp+starttls://smtp.x.cn:587", ("smtp.x.cn", True)),
        ("smtp://127.0.0.1:2525", ("127.0.0.1", False)),
    ],
)
def test_mail_server_as_apprise_url(server: str, expected: tuple[str, bool]) -> None:
    import apprise

    service = apprise.Apprise.instantiate(mail_address({"to": "a@b.cn, c@d.cn"}, Setting(mail_server=server)))
    assert service is not None
    assert (service.smtp_host, service.secure) == expected
    assert [address for _, address in service.targets] == ["a@b.cn", "c@d.cn"]


def test_missing_mail_server_error_names_setting() -> None:
    with pytest.raises(Refused, match=r"alerts\.mail_server"):
        mail_address({"to": "a@b.cn"}, Setting())


def test_secrets_are_hidden() -> None:
    assert (
        mask_fields("POST https://h.example/abcdefg failed with abcdefg", {"key": "abcdefg"})
        == "POST https://h.example/*** failed with ***"
    )
    alert = Alert("a", "p", "旅游", "topic", "旅游", "webhook", {"url": "https://geheim.example"}, NOW)
    assert "geheim" not in repr(alert)
    assert "geheim" not in repr(Setting(mail_server="smtp://u:geheim@h"))
