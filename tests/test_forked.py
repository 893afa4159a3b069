"""The fork server: commands end with their client."""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep

import pytest

from tests import fork_server
from tests.forked import Started, run

pytestmark = pytest.mark.slow


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_command_ends_with_its_client() -> None:
    with Started(script="input()", piped=True) as holder:  # keeps the server running until the end of this test
        client, nothing = fork_server.connect(), os.open(os.devnull, os.O_RDWR)
        program = ("import signal; signal.pause()", "", (), "/", dict(os.environ), sys.path)
        process = fork_server.ask(client, program, [nothing] * 3)
        assert is_running(process)
        client.close()
        os.close(nothing)
        until = monotonic() + 600
        while is_running(process):
            assert monotonic() < until
            sleep(0.01)
        holder.stdin.write("\n")
        assert holder.communicate() == ("", "")
        assert holder.returncode == 0


def test_command_returns_status_and_output() -> None:
    done = run("a", script="import os, sys; print(sys.argv[1:], os.environ['A']); sys.exit('wrong')", A="b")
    assert (done.returncode, done.stdout, done.stderr) == (1, "['a'] b\n", "wrong\n")
