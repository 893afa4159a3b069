"""A process that sends alerts repeatedly until it is killed: ``killed_sender.py FOLDER``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from newsportal.net.egress import Policy
from newsportal.search import open_index
from newsportal.services.accounts import open_accounts
from newsportal.services.alerts.base import Setting
from newsportal.services.alerts.run import Work, step
from newsportal.store import open_store


def main(folder: Path) -> None:
    accounts, store = open_accounts(f"sqlite:///{folder / 'accounts.db'}"), open_store(f"sqlite:///{folder / 'store.db'}")
    index = open_index(f"sqlite:///{folder / 'index.db'}")
    work = Work(accounts, store, index, UTC, Setting(Policy(("127.0.0.1",))), per_hour=1000, now=lambda: datetime.now(UTC))
    print("begun", flush=True)
    while True:
        index.follow(store)
        step(work)


main(Path(sys.argv[1]))
