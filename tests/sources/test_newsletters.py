"""``newsletters:`` in ``sources.yaml``: mailboxes, passwords, and what an editor may not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.errors import SourcesError
from newsportal.net.egress.mailbox import Mailbox
from newsportal.sources import Newsletter, parse
from newsportal.sources.changing import new_variables

ENVIRON = {"PW": "geheim"}
OPENED = "politeness: {allow_private: [mail.intern, 10.1.0.0/16]}\n"


def newsletter(keys: str, before: str = "") -> Newsletter:
    text = f"{before}newsletters:\n  - {{name: 早报, {keys}}}\n"
    (found,) = parse(text.encode(), Path("/there/sources.yaml"), ENVIRON).newsletters
    return found


@pytest.mark.parametrize(
    ("written", "before", "meant"),
    [
        ("imaps://me@b.example@imap.b.example", "", Mailbox("INBOX", "imap.b.example", 993, True, "me@b.example", "geheim")),
        (
            "imaps://me%40b.example@h.example:1993/通讯/My%20News",
            "",
            Mailbox("通讯/My News", "h.example", 1993, True, "me@b.example", "geheim"),
        ),
        ("imap://me@mail.intern/A", OPENED, Mailbox("A", "mail.intern", 143, False, "me", "geheim")),
        ("imap://me@10.1.2.3:1143", OPENED, Mailbox("INBOX", "10.1.2.3", 1143, False, "me", "geheim")),
    ],
)
def test_mailbox_url_is_parsed(written: str, before: str, meant: Mailbox) -> None:
    found = newsletter(f"imap: '{written}', password: '${{PW}}', from: a@b.example", before)
    assert (found.mailbox, found.from_) == (meant, ("a@b.example",))
    assert "geheim" not in repr(found) + repr(found.mailbox) + found.model_dump_json()
    assert found.addresses == (meant.address,)
    assert "me" not in meant.address.replace("My", "")


def test_folder_is_relative_to_file() -> None:
    assert newsletter("folder: mails").mailbox == Mailbox("/there/mails")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("folder: mails, imap: 'imaps://me@h.example', password: '${PW}'", "both or neither"),
        ("enabled: false", "both or neither"),
        ("imap: 'imaps://me@h.example'", "needs a password"),
        ("folder: mails, password: '${PW}'", "needs a password"),
        ("imap: 'imaps://me@h.example', password: geheim", "the file contains a secret"),
        ("imap: 'imaps://me:geheim@h.example', password: '${PW}'", "contains a password"),
        ("imap: 'imaps://h.example', password: '${PW}'", "is not the URL of a mailbox"),
        ("imap: 'https://me@h.example', password: '${PW}'", "is not the URL of a mailbox"),
        ("imap: 'imaps://me%0d%0a@h.example', password: '${PW}'", "is not the URL of a mailbox"),
        ("imap: 'imaps://me@h.example/a%0d%0aLOGOUT', password: '${PW}'", "is not the URL of a mailbox"),
        ("imap: 'imap://me@h.example', password: '${PW}'", "without encryption"),
        ("imap: 'imap://me@10.2.0.1', password: '${PW}'", "without encryption"),
    ],
)
def test_invalid_newsletters_are_refused(keys: str, message: str) -> None:
    with pytest.raises(SourcesError, match=message) as caught:
        newsletter(keys, OPENED)
    assert "geheim" not in str(caught.value)


def test_editor_may_not_change_mail_server_or_folder() -> None:
    before = {"name": "早报", "imap": "imaps://me@h.example", "password": "${PW}"}
    changed = {"imap": "imaps://me@evil.example", "verify_certificate": False, "folder": "/root/mails", "interval": 30}
    assert new_variables(changed, before) == ["imap", "verify_certificate", "folder"]
    assert new_variables(before, {}) == ["password"]
    assert new_variables({"folder": "mails"}, {"folder": "mails"}) == []
