"""The command line of ``scripts/servers``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local_servers import KINDS, keeping
from local_servers.machine import Missing, cache

ABOUT = "Real servers on the loopback, for tests and for trying out: Redis, PostgreSQL, MariaDB, MongoDB (or FerretDB), Elasticsearch."


def running(arguments: argparse.Namespace) -> Path:
    """The folder of the command line's servers, and their state."""
    return Path(arguments.folder) if arguments.folder else cache() / "running"


def install(arguments: argparse.Namespace) -> int:
    """Print a line per server. A server that is not available is no failure: its tests are skipped, with the reason."""
    for name in arguments.names:
        kind = KINDS[name]
        try:
            kind.install()
            print(f"{name}: {kind.version()}")
        except Missing as error:
            print(f"{name}: cannot be had, its tests will be skipped: {error}")
    return 0


def start(arguments: argparse.Namespace) -> int:
    """Start the servers that do not run, all at once, and print their URIs; return 1 if one is not available."""
    folder = running(arguments)
    with ThreadPoolExecutor(len(KINDS)) as threads:
        states = dict(zip(arguments.names, threads.map(lambda name: keeping.start(name, folder), arguments.names), strict=True))
    if arguments.json:
        print(json.dumps(states, ensure_ascii=False, indent=1))
    for name, state in states.items():
        if "error" in state:
            print(f"{name}: cannot be had: {state['error']}", file=sys.stderr)
        elif not arguments.json:
            print(f"{name:14} {state['uri']}   ({state['version']})", flush=True)
    if arguments.foreground:
        wait(arguments, folder)
    return int(any("error" in state for state in states.values()))


def wait(arguments: argparse.Namespace, folder: Path) -> None:
    """Wait for Ctrl-C, SIGTERM or the end of the parent process; then stop all servers."""
    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: ended.append(number))
    parent = os.getppid()
    while not ended and os.getppid() == parent:
        time.sleep(keeping.LOOK_SECONDS)
    for name in arguments.names:
        keeping.stop(name, folder)


def stop(arguments: argparse.Namespace) -> int:
    for name in arguments.names:
        if keeping.stop(name, running(arguments)):
            print(f"{name}: stopped")
    return 0


def status(arguments: argparse.Namespace) -> int:
    """Print the servers, which of them run, which are missing, and how to install those."""
    states = {}
    for name in arguments.names:
        state = keeping.state(running(arguments), name)
        if state is not None and "error" not in state:
            states[name] = {"state": "running", **state}
            continue
        try:
            states[name] = {"state": "installed", "version": KINDS[name].version()}
        except Missing as error:
            states[name] = {"state": "missing", "error": str(error)}
    if arguments.json:
        print(json.dumps(states, ensure_ascii=False, indent=1))
        return 0
    for name, entry in states.items():
        print(f"{name:14} {entry['state']:10} {entry.get('uri') or entry.get('error') or ''}   {entry.get('version', '')}".rstrip())
    return 0


def env(arguments: argparse.Namespace) -> int:
    """Print shell lines with the URIs of running servers."""
    for name in arguments.names:
        state = keeping.state(running(arguments), name)
        if state is not None and "error" not in state:
            print(f"export NEWSPORTAL_{name.upper()}={state['uri']}")
    return 0


def keep(arguments: argparse.Namespace) -> int:
    return keeping.keep(arguments.name, Path(arguments.folder), Path(arguments.held) if arguments.held else None)


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="scripts/servers", description=ABOUT)
    commands = root.add_subparsers(dest="command", required=True)
    helps = {
        install: "get what is missing (apt, Go, Maven), as far as this machine and user allow",
        start: "start them and say where they are",
        stop: "stop them",
        status: "which there are and which run",
        env: "print export lines for a shell",
    }
    for does, help_text in helps.items():
        command = commands.add_parser(does.__name__, help=help_text)
        command.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(KINDS)}; without: all")
        command.add_argument("--folder", help="where they keep their data and what is known of them")
        command.set_defaults(does=does, foreground=False)
        if does in (start, status):
            command.add_argument("--json", action="store_true", help="for machines")
    commands.choices["start"].add_argument("--foreground", action="store_true", help="stay, and stop them at Ctrl-C")
    keeper = commands.add_parser("keep", help="be the process that one server hangs on (start does this)")
    keeper.add_argument("name", choices=list(KINDS))
    keeper.add_argument("--folder", required=True)
    keeper.add_argument("--held", help="go once nobody holds this file's lock any more")
    keeper.set_defaults(does=keep)
    return root


def main(words: list[str]) -> int:
    root = parser()
    arguments = root.parse_args(words)
    if arguments.command != "keep":
        unknown = [name for name in arguments.names if name not in KINDS]
        if unknown:
            root.error(f"no server {unknown[0]!r}; supported: {', '.join(KINDS)}")
        arguments.names = arguments.names or list(KINDS)
    try:
        return int(arguments.does(arguments))
    except KeyboardInterrupt:
        return 130
