"""Mailboxes are read once and never changed, through the checked way out; errors of servers have names."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from imap_server import PASSWORD, ImapServer, imap_server

from newsportal.errors import EgressDenied, FetchFailed
from newsportal.net.egress import PUBLIC, Policy, mailbox
from newsportal.net.egress.mailbox import Mailbox, MailboxResult, MailFilter, read_mailbox

WANTED = MailFilter(None, datetime(2026, 11, 1, tzinfo=UTC), 10)


def mail(number: int, sender: str = "早报 <news@b.example>", more: str = "") -> bytes:
    return f"From: {sender}\r\nSubject: {number}\r\n{more}\r\nbody {number}\r\n".encode()


@pytest.fixture
def server() -> Iterator[ImapServer]:
    with imap_server() as imap:
        imap.mails = {uid: mail(uid) for uid in (3, 5, 9)}
        yield imap


def mailbox_at(server: ImapServer, **changed: object) -> Mailbox:
    return replace(Mailbox("INBOX", "127.0.0.1", server.port, False, "me@b.example", PASSWORD), **changed)  # type: ignore[arg-type]


def read(server: ImapServer, filters: MailFilter = WANTED, **changed: object) -> MailboxResult:
    return read_mailbox(mailbox_at(server, **changed), filters, Policy(server.allow), 60)


def bodies(found: MailboxResult) -> list[bytes]:
    return [fetched.raw.split()[-1] for fetched in found.mails]


def test_each_mail_is_read_once_and_not_changed(server: ImapServer) -> None:
    first = read(server, replace(WANTED, limit=2))
    assert (bodies(first), first.position, first.remaining) == ([b"3", b"5"], "7-dde83cda.5", 1)
    assert first.mails[0].received == datetime(2026, 11, 25, 8, tzinfo=UTC)
    second = read(server, replace(WANTED, after=first.position))
    assert (bodies(second), second.position) == ([b"9"], "7-dde83cda.9")
    third = read(server, replace(WANTED, after=second.position))
    assert (third.mails, third.position, third.remaining) == ((), "7-dde83cda.9", 0)  # a server returns its last mail for 10:*
    assert not [command for command in server.commands if command.split()[0] not in ("CAPABILITY", "LOGIN", "EXAMINE", "UID", "LOGOUT")]
    assert all("BODY.PEEK[" in command for command in server.commands if "FETCH" in command)
    assert "UID SEARCH SINCE 01-Nov-2026" in server.commands


def test_mailbox_with_new_uid_validity_is_read_again(server: ImapServer) -> None:
    server.validity = 8
    assert bodies(read(server, replace(WANTED, after="7-dde83cda.9"))) == [b"3", b"5", b"9"]


def test_filter_by_sender_and_list(server: ImapServer) -> None:
    server.mails |= {11: mail(11, "spam@evil.example"), 12: mail(12, "a@B.example", "List-Id: =?utf-8?q?x?= <daily.b.example>\r\n")}
    assert bodies(read(server, replace(WANTED, senders=("@b.example",)))) == [b"3", b"5", b"9", b"12"]
    filtered = read(server, replace(WANTED, senders=("@b.example",), lists=("daily.b",)))
    assert (bodies(filtered), filtered.position) == ([b"12"], "7-dde83cda.12")


def test_folder_names_in_any_script(server: ImapServer) -> None:
    assert bodies(read(server, folder="通讯")) == [b"3", b"5", b"9"]
    with pytest.raises(FetchFailed, match="mail-folder"):
        read(server, folder='没有 "此" & 夹')
    assert server.commands[-1] == 'EXAMINE "&bKFnCQ- \\"&ezQ-\\" &- &WTk-"'.replace("&ezQ-", "&a2Q-")


def test_wrong_password_is_reported_and_hidden(server: ImapServer) -> None:
    with pytest.raises(FetchFailed, match="mail-login") as caught:
        read(server, password="falsch")
    assert "falsch" not in str(caught.value)
    assert "app password" in str(caught.value.remedy)


def test_long_mail_is_truncated(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "MAX_MAIL", 60)
    monkeypatch.setattr(mailbox, "MAX_TOTAL_BYTES", 100)
    server.mails = {1: mail(1) + b"x" * 1000, 2: mail(2), 3: mail(3), 4: mail(4)}
    found = read(server)
    assert [(len(fetched.raw), fetched.is_truncated) for fetched in found.mails] == [(60, True), (len(mail(2)), False)]
    assert (found.position, found.remaining) == ("7-dde83cda.2", 2)
    server.instead = {"UID FETCH": b"* 1 FETCH (UID 1 BODY[]<0> {99999999999}\r\n"}
    with pytest.raises(FetchFailed, match="mail-server"):
        read(server)


def test_endless_response_is_aborted(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "MAX_SENT", 1_000)
    server.instead = {"UID SEARCH": b"* 1 EXISTS\r\n" * 1_000}
    with pytest.raises(FetchFailed, match="more than 1000 bytes"):
        read(server)


def test_broken_connection_loses_no_mail(server: ImapServer) -> None:
    server.instead = {"UID FETCH 9": b"* 3 FETCH (UID 9 BODY[]<0> {500}\r\nFrom: half"}
    found = read(server)
    assert (bodies(found), found.position, found.remaining) == ([b"3", b"5"], "7-dde83cda.5", 1)
    with pytest.raises(FetchFailed, match="mail-server"):
        read(server, replace(WANTED, after=found.position))
    server.instead = {}
    assert bodies(read(server, replace(WANTED, after=found.position))) == [b"9"]


@pytest.mark.parametrize("command", ["LOGIN", "UID FETCH"])
def test_hanging_server_times_out(server: ImapServer, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "MAX_SECONDS", 0.3)
    server.instead = {command: None}
    with pytest.raises(FetchFailed, match="timeout"):
        read(server)


def test_server_that_is_not_imap_is_reported(server: ImapServer) -> None:
    with pytest.raises(FetchFailed, match="tls"):
        read(server, tls=True)
    server.instead = {"CAPABILITY": b"HTTP/1.1 400 Bad Request\r\n\r\n"}
    with pytest.raises(FetchFailed, match="mail-server"):
        read(server)
    with pytest.raises(EgressDenied, match="loopback"):
        read_mailbox(mailbox_at(server), WANTED, PUBLIC)


def test_certificate_is_verified_unless_disabled(server_context: ssl.SSLContext) -> None:
    with imap_server(server_context) as server:
        server.mails = {1: mail(1)}
        with pytest.raises(FetchFailed, match="tls"):
            read(server, tls=True)
        assert bodies(read(server, tls=True, verify=False)) == [b"1"]


def test_folder_of_files_is_read_once(tmp_path: Path) -> None:
    for name in ("b.eml", "a.EML", "no.txt", "cur/1:2,S", "new/2"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(mail(len(name)))
    (tmp_path / "link.eml").symlink_to("/etc/passwd")
    place = Mailbox(str(tmp_path))
    first = read_mailbox(place, replace(WANTED, limit=3), PUBLIC)
    second = read_mailbox(place, replace(WANTED, after=first.position), PUBLIC)
    assert (len(first.mails), first.remaining, len(second.mails), second.remaining) == (3, 1, 1, 0)
    assert read_mailbox(place, replace(WANTED, after=second.position), PUBLIC) == MailboxResult((), second.position)
    before = (tmp_path / "b.eml").stat().st_ctime_ns
    while (tmp_path / "b.eml").stat().st_ctime_ns == before:  # file system clocks tick in milliseconds
        os.chmod(tmp_path / "b.eml", 0o600)
    again = read_mailbox(place, replace(WANTED, after=second.position, senders=("nobody@",)), PUBLIC)
    assert (again.mails, again.position != second.position) == ((), True)
    with pytest.raises(FetchFailed, match="mail-folder"):
        read_mailbox(Mailbox(str(tmp_path / "none")), WANTED, PUBLIC)
