"""A TCP relay that is slow or hangs."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 1 << 16


class SlowRelay:
    """Relay from 127.0.0.1:``port`` to ``target``: every chunk is delayed by ``delay`` seconds, and held while ``hung``."""

    def __init__(self, target: int, delay: float) -> None:
        self.delay = delay
        self.hung = False
        self._target = target
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._let_in, daemon=True).start()

    def _let_in(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(PIECE):
                time.sleep(self.delay)
                while self.hung:
                    time.sleep(0.02)
                sink.sendall(chunk)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hung = False
        self._door.close()
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def slow_relay(target: int, delay: float) -> Iterator[SlowRelay]:
    relay = SlowRelay(target, delay)
    try:
        yield relay
    finally:
        relay.close()
