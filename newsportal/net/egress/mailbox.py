"""Mails of a mailbox (IMAP, RFC 3501) or of a folder of files, each read once. Nothing is changed there: a mailbox is opened with EXAMINE,
mails are fetched with BODY.PEEK.

A position records how far a mailbox was read: UIDVALIDITY and UID, so that renumbering by the server is noticed; for files the time of
their last status change, which users cannot set.
"""

import imaplib
import os
import re
import socket
import ssl
import stat
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.utils import format_datetime
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote

from newsportal.errors import FetchFailed
from newsportal.net.egress.addresses import Policy
from newsportal.net.egress.client import TIMEOUT, open_socket, tls_context

MAX_MAIL = 4 * 1024 * 1024  # bytes read of a mail: its text precedes attachments; Gmail shows 102 kB
MAX_TOTAL_BYTES = 32 * 1024 * 1024  # bytes per reading; the rest is left to the next one
MAX_SENT = 2 * MAX_TOTAL_BYTES  # maximum bytes accepted from a server, whatever was requested
MAX_HEAD = 256 * 1024  # bytes at a mail's start searched for its header
MAX_SCANNED = 2_000  # mails per reading whose headers are compared with ``senders`` and ``lists``
FETCH_BATCH = 100  # of them requested with one command
MAX_SECONDS = 180.0  # seconds per reading, however slowly a server sends
PORTS = {"imaps": 993, "imap": 143}

ITEM = re.compile(rb"\bUID (\d+)")
ENCODED_RUN = re.compile(r"[^\x20-\x7e]+|&")  # encoded in base64 by modified UTF-7 (RFC 3501, 5.1.3); ``&`` becomes ``&-``


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A folder of a mailbox at ``host``; without a host the ``folder`` of files: mails (``*.eml``), or a maildir."""

    folder: str
    host: str = ""
    port: int = 0
    tls: bool = True
    user: str = ""
    password: str = field(default="", repr=False)
    verify: bool = True

    @property
    def address(self) -> str:
        """URL without user and password."""
        if not self.host:
            return f"mailbox://localhost{quote(self.folder)}"
        scheme, host = "imaps" if self.tls else "imap", f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}{f':{self.port}' if self.port != PORTS[scheme] else ''}/{quote(self.folder)}"


@dataclass(frozen=True, slots=True)
class MailFilter:
    """``after``: position up to which everything was read. Without one, mails since ``since``. At most ``limit`` mails whose From contains
    one of ``senders``, and whose List-Id one of ``lists``, if given."""

    after: str | None
    since: datetime
    limit: int
    senders: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    def matches(self, head: bytes) -> bool:
        """Return whether a mail with these headers is wanted."""
        if not self.senders and not self.lists:
            return True
        headers = message_from_bytes(head[:MAX_HEAD].partition(b"\r\n\r\n")[0].partition(b"\n\n")[0])
        pairs = ((self.senders, "From"), (self.lists, "List-Id"))
        texts = ((words, " ".join(map(str, headers.get_all(name, ()))).lower()) for words, name in pairs if words)
        return all(any(word.lower() in text for word in words) for words, text in texts)


@dataclass(frozen=True, slots=True)
class RawMail:
    """``raw``: at most ``MAX_MAIL`` bytes. ``received``: arrival in the mailbox, if known."""

    raw: bytes
    received: datetime

    @property
    def is_truncated(self) -> bool:
        """Whether only its beginning was read."""
        return len(self.raw) >= MAX_MAIL


@dataclass(frozen=True, slots=True)
class MailboxResult:
    """``position``: up to which everything was read; ``remaining``: later mails, left to the next reading."""

    mails: tuple[RawMail, ...]
    position: str | None
    remaining: int = 0


def read_mailbox(box: Mailbox, wanted: MailFilter, policy: Policy, timeout: float = TIMEOUT) -> MailboxResult:
    """Read the mails after ``wanted.after``, oldest first; if the server disconnects, those received completely. Blocking. Raises
    :class:`EgressDenied`, :class:`FetchFailed` (``mail-login``, ``mail-folder``, ``mail-server``, and those of ``fetch``)."""
    if not box.host:
        return _read_folder(box, wanted)
    connection = None
    try:
        connection = _Connection(box, policy, timeout)
        fetched = _read(connection, box, wanted)
        with suppress(OSError, imaplib.IMAP4.error):
            connection.logout()
    except (OSError, imaplib.IMAP4.error, ValueError) as error:
        cause = connection.late if connection is not None and connection.was_cut else error
        kinds = ((ssl.SSLError, "tls"), (TimeoutError, "timeout"), (socket.gaierror, "dns"), (OSError, "connection"))
        reason = next((name for kind, name in kinds if isinstance(cause, kind)), "mail-server")
        raise FetchFailed(box.address, reason, _one_line(cause)) from error
    else:
        return fetched
    finally:
        if connection is not None:
            connection.ending.cancel()
            with suppress(OSError):  # LOGOUT has closed it
                connection.shutdown()


class _Connection(imaplib.IMAP4):
    """An IMAP connection to allowed IP addresses only, which limits responses to the size of a mail and ends after ``MAX_SECONDS``."""

    def __init__(self, box: Mailbox, policy: Policy, timeout: float) -> None:
        self._box, self._policy, self.was_cut = box, policy, False
        self._room = MAX_SENT
        self.ending = threading.Timer(MAX_SECONDS, self._cut)
        self.ending.daemon = True
        try:
            super().__init__(box.host, box.port, timeout)
        except BaseException as error:
            self.ending.cancel()
            if self.was_cut:
                raise self.late from error
            raise

    def _create_socket(self, timeout: float | None) -> socket.socket:
        self._opened = connection = open_socket(self._box.host, self._box.port, self._policy, timeout)
        try:
            if self._box.tls:
                context = tls_context(self._box.verify)
                self._opened = connection = context.wrap_socket(connection, server_hostname=self._box.host, do_handshake_on_connect=False)
            self.ending.start()
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def late(self) -> TimeoutError:
        return TimeoutError(f"no end within {MAX_SECONDS:g} s")

    def _cut(self) -> None:
        self.was_cut = True
        with suppress(OSError):  # the server was faster
            getattr(self, "sock", self._opened).shutdown(socket.SHUT_RDWR)

    def read(self, size: int) -> bytes:
        if size > MAX_MAIL:
            raise self.abort(f"an answer of {size} bytes, although {MAX_MAIL} were requested")
        self._take(size)
        return super().read(size)

    def readline(self) -> bytes:
        line = super().readline()
        self._take(len(line))
        return line

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise self.abort(f"more than {MAX_SENT} bytes were sent")

    def uid_command(self, *command: str) -> list[bytes | tuple[bytes, bytes]]:
        """Return the response to a UID command. Raises ``IMAP4.error`` if it is refused."""
        status, data = self.uid(*command)
        if status != "OK":
            raise self.error(f"{command[0]}: {data}")
        return [line for line in data if line is not None]


def _read(connection: _Connection, box: Mailbox, wanted: MailFilter) -> MailboxResult:
    if not box.tls and "STARTTLS" in connection.capabilities:
        connection.starttls(tls_context(box.verify))
    try:
        connection.login(box.user, box.password)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        raise FetchFailed(box.address, "mail-login", "LOGIN") from error  # the server's message may contain the password
    status, data = connection.select(f'"{_utf7(box.folder)}"', readonly=True)
    if status != "OK":
        raise FetchFailed(box.address, "mail-folder", _one_line(data))
    user = blake2b(box.user.encode(), digest_size=4).hexdigest()  # the same folder of another user is a different one
    validity = f"{int(connection.response('UIDVALIDITY')[1][0] or 0)}-{user}"
    before, _, last = (wanted.after or "").partition(".")
    start = int(last) if before == validity and last.isdigit() else 0
    criteria = ("UID", f"{start + 1}:*") if start else ("SINCE", "-".join(format_datetime(wanted.since).split()[1:4]))
    answer = b" ".join(line for line in connection.uid_command("SEARCH", *criteria) if isinstance(line, bytes))
    uids = sorted({uid for uid in map(int, answer.split()) if uid > start})  # n:* matches the last mail, however old
    mails: list[RawMail] = []
    size, read = 0, start
    try:
        for uid, is_wanted in _chosen(connection, uids[:MAX_SCANNED], wanted):
            if is_wanted and (len(mails) >= wanted.limit or size >= MAX_TOTAL_BYTES):
                break
            if is_wanted and (mail := _mail(connection, uid)) is not None:  # None: deleted meanwhile
                mails.append(mail)
                size += len(mail.raw)
            read = uid
    except (OSError, imaplib.IMAP4.error):
        if read == start:
            raise
    return MailboxResult(tuple(mails), f"{validity}.{read}" if read else None, sum(uid > read for uid in uids))


def _chosen(connection: _Connection, uids: list[int], wanted: MailFilter) -> Iterator[tuple[int, bool]]:
    """Yield each of these mails, and whether it is wanted."""
    for start in range(0, len(uids), FETCH_BATCH):
        some = uids[start : start + FETCH_BATCH]
        if not wanted.senders and not wanted.lists:
            yield from ((uid, True) for uid in some)
            continue
        heads = dict(_literals(connection.uid_command("FETCH", ",".join(map(str, some)), "(BODY.PEEK[HEADER.FIELDS (FROM LIST-ID)])")))
        yield from ((uid, uid in heads and wanted.matches(heads[uid][1])) for uid in some)


def _mail(connection: _Connection, uid: int) -> RawMail | None:
    answer = connection.uid_command("FETCH", str(uid), f"(INTERNALDATE BODY.PEEK[]<0.{MAX_MAIL}>)")
    parts = dict(_literals(answer)).get(uid)
    if parts is None:
        return None
    received = datetime.now(UTC)
    with suppress(KeyError, ValueError, OverflowError, OSError):  # an impossible date
        if local := imaplib.Internaldate2tuple(parts[0]):
            received = datetime.fromtimestamp(time.mktime(local), UTC)
    return RawMail(parts[1], received)


def _literals(answer: list[bytes | tuple[bytes, bytes]]) -> Iterator[tuple[int, tuple[bytes, bytes]]]:
    """Yield each mail of a FETCH by its UID, with its data and its literal. Unsolicited data of the server (flags) is ignored."""
    for item, following in zip(answer, [*answer[1:], b""], strict=True):
        if isinstance(item, tuple):
            attributes = item[0] + b" " + (following if isinstance(following, bytes) else b"")
            if (match := ITEM.search(attributes)) is not None:
                yield int(match[1]), (attributes, item[1])


def _utf7(name: str) -> str:
    def encoded(match: re.Match[str]) -> str:
        text = b64encode(match[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",") if match[0] != "&" else ""
        return f"&{text}-"

    return ENCODED_RUN.sub(encoded, name).replace("\\", "\\\\").replace('"', '\\"')


def _one_line(message: object) -> str:
    return " ".join(str(message).split())[:200]


def _read_folder(box: Mailbox, wanted: MailFilter) -> MailboxResult:
    top = Path(box.folder)
    mails: list[RawMail] = []
    size = read = 0
    try:
        places = sorted(place for place in _files(top) if place[0] > (wanted.after or ""))
        for _, file in places:
            if len(mails) >= wanted.limit or size >= MAX_TOTAL_BYTES:
                break
            read += 1
            with suppress(FileNotFoundError), file.open("rb") as opened:  # a mail program may move it meanwhile
                mail = RawMail(opened.read(MAX_MAIL), datetime.fromtimestamp(os.fstat(opened.fileno()).st_mtime, UTC))
                if wanted.matches(mail.raw):
                    mails.append(mail)
                    size += len(mail.raw)
    except OSError as error:
        raise FetchFailed(box.address, "mail-folder", _one_line(error)) from error
    return MailboxResult(tuple(mails), places[read - 1][0] if read else wanted.after, len(places) - read)


def _files(top: Path) -> Iterator[tuple[str, Path]]:
    """Yield the mails of a folder, each with its position. Symbolic links are not followed."""
    for place in (top, *(place for place in (top / "cur", top / "new") if place.is_dir() and not place.is_symlink())):
        for file in place.iterdir():
            with suppress(FileNotFoundError):
                status = file.lstat()
                if stat.S_ISREG(status.st_mode) and (place != top or file.suffix.lower() == ".eml"):
                    yield f"{status.st_ctime_ns:020}.{quote(os.fsencode(file.name))}", file
