"""An IMAP server on loopback with the commands that a reader needs (RFC 3501), which misbehaves on request."""

from __future__ import annotations

import re
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PASSWORD = "geheim wort"
FOLDERS = {'"INBOX"', '"&kBqLrw-"'}  # the second is 通讯


@dataclass
class ImapServer:
    """``mails`` by UID. ``commands``: the received commands, without tags. ``instead``: the response to commands with this prefix."""

    mails: dict[int, bytes] = field(default_factory=dict)
    validity: int = 7
    port: int = 0
    commands: list[str] = field(default_factory=list)
    instead: dict[str, bytes | None] = field(default_factory=dict)
    """Bytes are sent and the connection is closed; ``None`` sends no response at all."""
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def allow(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}",)


class _Session(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: ImapServer = self.server.imap  # type: ignore[attr-defined]
        self.wfile.write(b"* OK [CAPABILITY IMAP4rev1] ready\r\n")
        while line := self.rfile.readline().decode().rstrip():
            tag, _, command = line.partition(" ")
            server.commands.append(command)
            for start, answer in server.instead.items():
                if command.startswith(start):
                    if answer is None:
                        server.ended.wait()
                    self.wfile.write(answer or b"")
                    return
            name = " ".join(command.split()[: 1 + command.startswith("UID")]).replace(" ", "_").lower()
            status = getattr(self, name, lambda server, command: "BAD no such command")(server, command)
            self.wfile.write(f"{tag} {status}\r\n".encode())
            if name == "logout":
                return

    def capability(self, server: ImapServer, command: str) -> str:
        self.wfile.write(b"* CAPABILITY IMAP4rev1\r\n")
        return "OK done"

    def login(self, server: ImapServer, command: str) -> str:
        return "OK done" if command == f'LOGIN me@b.example "{PASSWORD}"' else "NO [AUTHENTICATIONFAILED] wrong"

    def examine(self, server: ImapServer, command: str) -> str:
        if command.partition(" ")[2] not in FOLDERS:
            return "NO [NONEXISTENT] no such folder"
        self.wfile.write(f"* {len(server.mails)} EXISTS\r\n* OK [UIDVALIDITY {server.validity}] ok\r\n".encode())
        return "OK [READ-ONLY] done"

    def uid_search(self, server: ImapServer, command: str) -> str:
        found = re.search(r"UID (\d+):\*", command)
        last = max(server.mails, default=0)
        uids = [uid for uid in server.mails if found is None or uid >= min(int(found[1]), last)]
        self.wfile.write(f"* SEARCH {' '.join(map(str, uids))}\r\n".encode())
        return "OK done"

    def uid_fetch(self, server: ImapServer, command: str) -> str:
        uids = command.split()[2].split(",")
        head = "HEADER" in command
        for number, (uid, mail) in enumerate(server.mails.items(), start=1):
            if str(uid) in uids:
                limit = re.search(r"<0\.(\d+)>", command)
                part = mail.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if head else mail[: int(limit[1])] if limit else mail
                date = 'INTERNALDATE "25-Nov-2026 08:00:00 +0000" '
                self.wfile.write(f"* {number} FLAGS (\\Seen)\r\n* {number} FETCH ({date}BODY[]<0> {{{len(part)}}}\r\n".encode())
                self.wfile.write(part + f" UID {uid})\r\n".encode())
        return "OK done"

    def logout(self, server: ImapServer, command: str) -> str:
        self.wfile.write(b"* BYE\r\n")
        return "OK done"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    context: ssl.SSLContext | None = None

    def finish_request(self, request: object, client_address: object) -> None:
        if self.context is None:
            self.RequestHandlerClass(request, client_address, self)  # type: ignore[arg-type]
            return
        with self.context.wrap_socket(request, server_side=True) as wrapped:  # type: ignore[arg-type]
            self.RequestHandlerClass(wrapped, client_address, self)  # type: ignore[arg-type]

    def handle_error(self, request: object, client_address: object) -> None:
        """The client closed the connection."""


@contextmanager
def imap_server(context: ssl.SSLContext | None = None) -> Iterator[ImapServer]:
    imap = ImapServer()
    with _Server(("127.0.0.1", 0), _Session) as server:
        server.context, server.imap = context, imap  # type: ignore[attr-defined]
        imap.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield imap
        finally:
            imap.ended.set()
            server.shutdown()
            thread.join()
