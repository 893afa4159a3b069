"""Fixtures that run the portal with a real store and index on a real server on loopback."""

from __future__ import annotations

import fcntl
import json
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copy
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_accounts, empty_index, empty_store

from newsportal.portal import context
from newsportal.portal.app import create_app
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.services.accounts import Role
from newsportal.sources import Sources
from newsportal.store import open_store
from newsportal.store.store import Store


def load(name: str) -> ModuleType:
    """Load a module of this folder (the tests are not a package)."""
    spec = spec_from_file_location(f"portal_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NEWSROOM, ALBUMS, SERVING, MESSAGES = load("newsroom"), load("albums"), load("serving"), load("messages")


@pytest.fixture(scope="session")
def newsroom() -> ModuleType:
    return NEWSROOM


@pytest.fixture(scope="session")
def albums() -> ModuleType:
    return ALBUMS


@pytest.fixture(scope="session")
def messages() -> ModuleType:
    return MESSAGES


context.RELATED_WITHIN = 30.0  # pages must not depend on how busy the machine is

Serve = Callable[..., httpx.Client]

LOOPBACK_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Clients connect to loopback only; loading the trusted certificates takes 17 ms for each."""


def sign_in(client: httpx.Client, role: str, now: datetime) -> None:
    """Sign ``client`` in as a new user with this role, by the cookie of a real session."""
    accounts = client.accounts  # type: ignore[attr-defined]
    person = accounts.people.add(f"{role} {len(accounts.people.all())}", "correct horse battery staple", Role(role), now=now)
    client.headers["origin"] = str(client.base_url)  # as a browser does for the portal's own pages
    client.cookies.set("session", accounts.sessions.begin(person.id, now=now))


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Return ``serve(store, index)``, which starts a portal and returns a client of it; all stop at the end of the module.

    ``role`` (``reader``, ``editor``, ``admin``): sign in a user with this role; otherwise anonymous.
    """
    with ExitStack() as opened, SERVING.servers() as portal, ExitStack() as clients:

        def start(
            store: Store, index: Index | None = None, settings: Sources | None = None, *, role: str | None = None, **options: Any
        ) -> httpx.Client:
            options = {"now": lambda: NEWSROOM.NOW, "follow_every": 0, **options}
            if "accounts" not in options:
                options["accounts"] = opened.enter_context(closing(empty_accounts(tmp_path_factory.mktemp("people") / "people.db")))
            app = create_app(store, index, settings or NEWSROOM.settings(), **options)
            address = portal(app)
            headers = {"accept-language": "zh-CN"}
            client = clients.enter_context(httpx.Client(base_url=address, headers=headers, timeout=600, verify=LOOPBACK_TLS))
            client.app, client.accounts = app, options["accounts"]  # type: ignore[attr-defined]
            if role is not None:
                sign_in(client, role, options["now"]())
            return client

        yield start


@dataclass(frozen=True)
class Filled:
    """Files of a filled store and its index, to be copied, not opened; article ids by a short name."""

    store: Path
    index: Path
    ids: dict[str, str]


def fill_once(folder: Path, fill: Callable[[Path], dict[str, str]]) -> dict[str, str]:
    """Return the ids of what ``fill`` wrote into ``folder``: the first process of the run fills it, the others wait."""
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = Path(mkdtemp(dir=folder.parent))
            (part / "ids.json").write_text(json.dumps(fill(part)), "utf-8")
            part.rename(folder)
    ids: dict[str, str] = json.loads((folder / "ids.json").read_text("utf-8"))
    return ids


@pytest.fixture(scope="session")
def filled(run_folder: Path) -> Filled:
    def fill(folder: Path) -> dict[str, str]:
        with closing(empty_store(folder / "store.db")) as store, closing(empty_index(folder / "index.db")) as index:
            ids: dict[str, str] = NEWSROOM.fill(store)
            index.follow(store)
        return ids

    folder = run_folder / "portal-filled"
    ids = fill_once(folder, fill)
    return Filled(folder / "store.db", folder / "index.db", ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("portal")


@pytest.fixture(scope="module")
def store(filled: Filled, folder: Path) -> Iterator[Store]:
    """A filled store."""
    with closing(open_store(f"sqlite:///{copy(filled.store, folder)}")) as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(filled: Filled, store: Store) -> dict[str, str]:
    return filled.ids


@pytest.fixture(scope="module")
def index(filled: Filled, folder: Path) -> Iterator[Index]:
    """Index of ``store``."""
    with closing(open_index(f"sqlite:///{copy(filled.index, folder)}")) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(serve: Serve, store: Store, index: Index) -> httpx.Client:
    """Client of the filled portal."""
    return serve(store, index)


@pytest.fixture(scope="module")
def editor(serve: Serve, store: Store, index: Index) -> httpx.Client:
    """Client of the filled portal, signed in as an editor."""
    return serve(store, index, role="editor")


@pytest.fixture(scope="session")
def stocked(run_folder: Path) -> tuple[Path, dict[str, str]]:
    """File of a store with articles and photo stories, and their ids by short names; to be copied, not opened."""

    def fill(folder: Path) -> dict[str, str]:
        with closing(empty_store(folder / "own_store.db")) as store:
            return {**NEWSROOM.fill(store), **{f"album-{name}": id for name, id in ALBUMS.fill(store).items()}}

    folder = run_folder / "portal-stocked"
    ids = fill_once(folder, fill)
    return folder / "own_store.db", ids


@pytest.fixture
def own_store(stocked: tuple[Path, dict[str, str]], tmp_path: Path) -> Iterator[Store]:
    """A private copy of the stocked store; ``ids`` holds its ids."""
    file, ids = stocked
    opened = open_store(f"sqlite:///{copy(file, tmp_path)}")
    opened.ids = ids  # type: ignore[attr-defined]
    yield opened
    opened.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Store]:
    """An empty private store."""
    opened = empty_store(tmp_path / "fresh.db")
    yield opened
    opened.close()
