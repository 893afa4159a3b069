"""E-mails as feed entries: usual newsletters, odd ones and hostile ones."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta, timezone
from email.message import EmailMessage

import pytest

from newsportal.errors import NotApplicable
from newsportal.extractors.article.tidy import read_fragment
from newsportal.extractors.feeds.mail import MAX_HEAD_BYTES, Mail, id_of, parse_mail
from newsportal.text.characters import CONTROL

NOW = datetime(2026, 11, 26, tzinfo=UTC)
HTML = """<html><head><title>没有人读的标题</title><style>p{}</style></head><body>
<div style="display:none">预览文字，收件箱里才看得到</div>
<table><tr><td><p>今天起高铁提速，<a href="https://n.example/a?x=1">新华社记者报道提速细节</a>。</p><p>第二段写得比较长一些，免得太短。</p>
<img src="cid:logo"><img src="https://t.example/open.gif" width="1" height="1"><img src="https://t.example/o" style="width: 1px">
<img src="https://t.example/photo.jpg" width="600"><img src="http://192.168.0.1/router.png"><form action="/x"><input></form></td></tr>
<tr><td>您收到此邮件，是因为订阅了早报。<a href="https://b.example/u?id=9">退订</a>
<a href="%s">在浏览器中查看</a></td></tr></table><script>alert(1)</script></body></html>"""


def newsletter(online: str = "https://b.example/online/5", **headers: str) -> bytes:
    message = EmailMessage()
    message["Subject"] = "【早报】高铁提速 & 地铁新线"
    message["From"] = "早报编辑部 <news@b.example>"
    message["Date"] = "Wed, 25 Nov 2026 08:00:00 +0800"
    message["Message-ID"] = "<x1@b.example>"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content("没有人读的纯文本")
    message.add_alternative(HTML % online, subtype="html")
    message.add_attachment(b"PK\x03\x04" * 99, maintype="application", subtype="zip", filename="a.zip")
    message.add_attachment("<p>附件里的网页</p>", subtype="html", filename="a.html")
    return bytes(message)


def read(raw: bytes) -> Mail:
    return parse_mail(raw, NOW)


def test_newsletter_text_links_and_images() -> None:
    found = read(newsletter())
    assert (found.id, found.title, found.author) == ("x1@b.example", "【早报】高铁提速 & 地铁新线", "早报编辑部")
    assert found.published == datetime(2026, 11, 25, 8, tzinfo=timezone(timedelta(hours=8)))
    assert found.links == (("https://n.example/a?x=1", "新华社记者报道提速细节"),)
    body = read_fragment(found.html, found.url)
    assert body.text == "今天起高铁提速，新华社记者报道提速细节。\n第二段写得比较长一些，免得太短。"
    assert [image.url for image in body.images] == ["https://t.example/photo.jpg"]
    assert body.html is not None
    assert not [word for word in ("script", "form", "cid:", "192.168", "退订", "预览") if word in body.html]


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        (newsletter(), "https://b.example/online/5"),
        (newsletter(Archived_At="<https://lists.example/m/1>"), "https://lists.example/m/1"),
        (newsletter("https://b.example/o?subscriber=9", List_Archive="<https://lists.example/>"), "https://lists.example/"),
        (newsletter("https://[", Archived_At="<https://[>", List_Archive="<mailto:a@b.example>"), "mid:x1@b.example"),
        (newsletter("https://b.example/o?subscriber=9"), "mid:x1@b.example"),  # its subscriber id would let readers unsubscribe
    ],
)
def test_url_of_a_mail(raw: bytes, url: str) -> None:
    assert read(raw).url == url


def test_wrong_charsets_of_headers_and_body() -> None:
    subject = b64encode("朱镕基谈改革".encode("gbk")).decode()
    head = f"Subject: =?gb2312?B?{subject}?=\nFrom: a@b.example\nContent-Type: text/plain; charset=us-ascii\n\n"
    found = read(head.encode() + "镕字不在国标二三一二之中，邮件却常这样写。".encode("gbk"))
    assert (found.title, found.author) == ("朱镕基谈改革", "a@b.example")
    assert "镕字不在国标二三一二之中" in found.html
    assert read("Subject: 裸写的标题\n\n正文".encode("gb18030")).title == "裸写的标题"
    first, second = (b64encode(part).decode() for part in ("高铁".encode()[:4], "高铁".encode()[4:]))
    assert read(f"Subject: =?utf-8?B?{first}?=\n =?utf-8?B?{second}?=\n\nx".encode()).title == "高铁"


def test_plain_text_becomes_paragraphs_and_links() -> None:
    text = "第一行 \n接着写。\n\n见 https://n.example/a?b=1&c=2 。\n\nUnsubscribe: https://b.example/u\n\n-- \n签名"
    found = read(f"Content-Type: text/plain; charset=utf-8; format=flowed\n\n{text}".encode())
    assert read_fragment(found.html, found.url).text == "第一行 接着写。\n见 https://n.example/a?b=1&c=2 。"
    assert 'href="https://n.example/a?b=1&amp;c=2"' in found.html
    assert (found.title, found.published) == ("第一行 接着写。", NOW)


def test_invalid_dates_fall_back() -> None:
    head = "Date: Mon, 99 Foo 99999 99:99:99\nReceived: from x by y; Tue, 24 Nov 2026 08:00:00 +0000\n\ntext"
    assert read(head.encode()).published == datetime(2026, 11, 24, 8, tzinfo=UTC)
    assert read(b"Date: Fri, 1 Jan 2100 00:00:00 +0000\n\ntext").published == NOW


def test_short_newsletter_with_unsubscribe_link_is_kept() -> None:
    page = '<body><div>今天只有一句话。<a href="https://b.example/u">退订</a></div></body>'
    assert "今天只有一句话。" in read(f"Content-Type: text/html; charset=utf-8\n\n{page}".encode()).html


BOUNDARIES = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) for number in range(10_000))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (BOUNDARIES, "mail-parts"),
        (b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 10_000, "mail-parts"),
        (b"Content-Type: message/rfc822\n\n" * 3_000 + b"text", "mail-broken"),
        (b"X: y\n" * (MAX_HEAD_BYTES // 5 + 9) + b"\ntext", "mail-broken"),
        (b"Subject: " + b"=?a?q?" * 50_000 + b"\n\ntext", "mail-broken"),
        (b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + b"!!!@@@===\x00" * 99, "no-body"),
        (b"Content-Type: application/zip\n\nPK\x03\x04", "no-body"),
        (b"Content-Type: multipart/mixed\n\ntext", "no-body"),
        (b"", "no-body"),
    ],
)
def test_hostile_mails_are_refused_with_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(NotApplicable) as caught:
        read(raw)
    assert caught.value.reason == reason
    assert id_of(raw).endswith("@mail.invalid")  # even a refused mail has an id


def test_truncated_mail_is_refused_as_too_large() -> None:
    with pytest.raises(NotApplicable, match="mail-too-large"):
        parse_mail(b"Content-Type: application/zip\n\nPK\x03\x04", NOW, truncated=True)


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: text/html; charset=rot13\n\n<p>hello</p>",
        b'Content-Type: text/html; charset="\\xff;;;=\n\n<p>hello</p>',
        b"Subject: \xed\xa0\x80\nMessage-ID: <\x00\xff>\nContent-Type: text/plain; charset=utf-8\n\n\xed\xa0\x80 hello",
        b"Content-Type: text/html\n\n<p>hello\x01&#2;&#xD800;</p>",
        b"Subject: =?utf-8?B?////=?= =?x?q?=00?=\n\nhello",
    ],
)
def test_malformed_mails_are_read_as_far_as_possible(raw: bytes) -> None:
    found = read(raw)
    assert "hello" in found.html
    for text in (found.id, found.url, found.title or "", found.html):
        assert not CONTROL.search(text)  # no control characters and no lone surrogates
