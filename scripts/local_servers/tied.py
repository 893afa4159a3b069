"""Become a command that ends with whoever started it, as another user where one is named: ``tied.py PARENT USER COMMAND ...``.

A program of its own: between fork and exec of a process with threads nothing else may be done. ``USER`` is ``-`` for one's own.
"""

import ctypes
import os
import pwd
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Of <linux/prctl.h>: the signal that comes when the parent ends."""


def main(parent: int, user: str, command: list[str]) -> None:
    if user != "-":
        account = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the change of user, which would undo it
    if os.getppid() != parent:
        sys.exit("who started this is gone")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
