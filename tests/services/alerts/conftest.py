"""Accounts, a store and an index, with receivers of alerts on loopback: a Web server that records its requests, and a mail server."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from factories import CHEAP

from newsportal.items import Article, FoldKey, Link
from newsportal.net.egress import Policy
from newsportal.search import open_index
from newsportal.services.accounts import Accounts, Role, open_accounts
from newsportal.services.accounts.alerts import Alert
from newsportal.services.accounts.base import random_id
from newsportal.services.alerts.base import Setting
from newsportal.services.alerts.run import Work
from newsportal.store import open_store
from newsportal.store.results import AddResult

START = datetime(2026, 5, 20, 2, 0, tzinfo=UTC)
"""10:00 in Shanghai."""

SHANGHAI = ZoneInfo("Asia/Shanghai")


class Receiver:
    """A Web server on loopback that records its requests. ``answers``: its responses in order; the last is repeated."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answers: list[tuple[int, bytes]] = [(200, b"{}")]
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.received.append((self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(body)))
                status, answer = receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0]
                if status == 0:  # close the connection without a response
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def stories(self) -> list[str]:
        return [story["title"] for _, _, body in self.received for story in body.get("stories", ())]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class MailServer(socketserver.ThreadingTCPServer):
    """The part of SMTP that accepts a mail. ``refuses``: the response to each recipient."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MailSession)
        self.mails: list[str] = []
        self.refuses: bytes | None = None
        self.hangs_up = False
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self) -> str:
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class MailSession(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            word = line.strip().upper()
            if word.startswith(b"RCPT") and self.server.refuses:
                self.wfile.write(self.server.refuses + b"\r\n")
            elif word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self._data()
                if self.server.hangs_up:
                    return
                self.wfile.write(b"250 taken\r\n")
            elif word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 ok\r\n")

    def _data(self) -> None:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line)
        self.server.mails.append(b"".join(lines).decode())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with closing(Receiver()) as receiver:
        yield receiver


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    yield server
    server.shutdown()
    server.server_close()


def random_text(title: str) -> str:
    """Return a text that is similar to no other."""
    generator = Random(title)
    return "".join(chr(generator.randrange(0x4E00, 0x9000)) for _ in range(120))


@dataclass
class Desk:
    """Parts of a portal, with a clock set by the test."""

    work: Work
    clock: list[datetime]
    person: str
    accounts: Accounts
    names: dict[str, str] = field(default_factory=dict)

    def pass_time(self, **delta: float) -> None:
        self.clock[0] += timedelta(**delta)

    def alert(self, channel: str, fields: dict[str, str], **changes: Any) -> Alert:
        values: dict[str, Any] = {"name": "旅游", "about": "topic", "of": "旅游", "after_seq": self.work.store.last_seq(), **changes}
        alert = Alert(random_id(), self.person, channel=channel, fields=fields, created=self.clock[0], **values)
        self.accounts.alerts.add(alert)
        return alert

    def write(
        self, title: str, text: str | None = None, *, topics: tuple[str, ...] = ("旅游",), fold_key: str | None = None, **changes: Any
    ) -> AddResult:
        site = changes.pop("site", "晨光网")
        url = changes.pop("url", f"https://{site}.example/{title}.html")
        article = Article(
            url=url,
            link=Link(url=url, source=f"feed:{site}"),
            fetched=self.clock[0],
            identity=url,
            title=title,
            text=f"{title}。{text or random_text(title)}",
            site=site,
            topics=topics,
            published=changes.pop("published", self.clock[0]),
            language="zh",
            **changes,
        )
        added = self.work.store.add(article, [FoldKey(fold_key, "同题")] if fold_key else [], now=self.clock[0])
        if self.work.index is not None:
            self.work.index.follow(self.work.store)
        return added


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Folder with the files of a portal with one editor, and the editor's id."""
    folder = tmp_path_factory.mktemp("alerts")
    with closing(open_accounts(f"sqlite:///{folder / 'accounts.db'}", hasher=CHEAP)) as accounts:
        person = accounts.people.add("editor", "correct horse battery staple", Role.EDITOR, now=START).id
    for opened in (open_store(f"sqlite:///{folder / 'store.db'}"), open_index(f"sqlite:///{folder / 'index.db'}")):
        opened.close()
    return folder, person


@pytest.fixture(scope="session")
def open_desk(empty: tuple[Path, str]) -> Callable[[Path], AbstractContextManager[Desk]]:
    """Open a separate portal in an empty folder."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Desk]:
        copytree(empty[0], folder, dirs_exist_ok=True)
        with ExitStack() as stack:
            accounts = stack.enter_context(closing(open_accounts(f"sqlite:///{folder / 'accounts.db'}", hasher=CHEAP)))
            store = stack.enter_context(closing(open_store(f"sqlite:///{folder / 'store.db'}")))
            index = stack.enter_context(closing(open_index(f"sqlite:///{folder / 'index.db'}")))
            clock = [START]
            setting = Setting(Policy(("127.0.0.1",)))
            work = Work(accounts, store, index, SHANGHAI, setting, "https://portal.example", now=lambda: clock[0])
            yield Desk(work, clock, empty[1], accounts)

    return opened


@pytest.fixture
def desk(tmp_path: Path, open_desk: Callable[[Path], AbstractContextManager[Desk]]) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened
