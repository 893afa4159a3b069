"""Launcher run in place of Chromium: removes the network, ties the browser to its parent process, and executes the browser.

``python -c SOURCE PIDFILE ISOLATE CHROMIUM ARGUMENTS…``. Uses only Python's standard library; steps that the kernel refuses are skipped,
because the browser has two more barriers (see :mod:`newsportal.net.rendering.chromium`).
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000  # linux/prctl.h and linux/sched.h
PROFILE = "--user-data-dir="


def die_with_parent(libc: ctypes.CDLL) -> None:
    """End the browser with its parent, even if the crawl is killed: the driver ends when its pipe closes, and the browser with it."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == 1:  # it died before that
        sys.exit(1)


def without_network(libc: ctypes.CDLL) -> bool:
    """Remove the network devices of this process, and return whether that worked. Root can do so directly, others in a user namespace."""
    if libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def main(arguments: list[str]) -> None:
    pid_file, isolate, *command = arguments
    isolated = False
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        die_with_parent(libc)
        if isolate == "1":
            with suppress(OSError):
                isolated = without_network(libc)
    Path(pid_file).write_text(f"{os.getpid()} {int(isolated)}")
    profile = Path(pid_file).with_name("profile")  # beside it, so that cleaning up finds it
    command = [f"{PROFILE}{profile}" if word.startswith(PROFILE) else word for word in command]
    os.execv(command[0], command)  # noqa: S606 - it becomes the browser, with the same process number


if __name__ == "__main__":
    main(sys.argv[1:])
