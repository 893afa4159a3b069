"""The portal in a real browser: the system's Chromium, driven by playwright. Skipped, with the reason, where either is missing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from newsportal.portal.app import create_app
from newsportal.search import open_index
from newsportal.storage import open_store
from newsportal.storage.base import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TESTS = Path(__file__).resolve().parent.parent
CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]


def load(path: str) -> ModuleType:
    """A module of the tests by its path (tests are no package)."""
    place = TESTS / path
    found = spec_from_file_location(f"e2e_{place.stem}", place)
    assert found
    assert found.loader
    made = sys.modules[found.name] = module_from_spec(found)
    found.loader.exec_module(made)
    return made


NEWSROOM, ALBUMS, SERVING, PICTURES = (
    load(f"{name}.py") for name in ("portal/newsroom", "portal/albums", "portal/serving", "e2e/pictures")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = None
    if find_spec("playwright") is None:
        reason = "needs playwright: pip install playwright"
    elif CHROMIUM is None:
        reason = "needs Chromium: apt-get install chromium"
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


class Site:
    """A served portal: its address, the ids of its stories, the newsroom that filled it, its store."""

    def __init__(self, address: str, ids: dict[str, str], store: Store) -> None:
        self.address, self.ids, self.newsroom, self.store = address, ids, NEWSROOM, store


@contextmanager
def portal(folder: Path, *, albums: bool = False) -> Iterator[Site]:
    """A filled portal with pictures, and with photo stories where they are asked for."""
    store, index = open_store(f"sqlite:///{folder / 'store.db'}"), open_index(f"sqlite:///{folder / 'index.db'}")
    with PICTURES.pictures() as pictures:
        ids = NEWSROOM.fill(store, pictures)
        if albums:
            ids |= {f"album-{name}": id for name, id in ALBUMS.fill(store, pictures).items()}
        index.follow(store)
        with SERVING.serving(create_app(store, index, NEWSROOM.Settings(), now=lambda: NEWSROOM.NOW, follow_every=0)) as address:
            yield Site(address, ids, store)
    index.close()
    store.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with portal(tmp_path_factory.mktemp("site")) as made:
        yield made


@pytest.fixture(scope="session")
def album_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same with photo stories."""
    with portal(tmp_path_factory.mktemp("albums"), albums=True) as made:
        yield made


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


class Visitor:
    """A page of the browser that remembers what went wrong in it."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site, self.faults = page, site, list[str]()
        page.on("console", lambda message: self.faults.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def go(self, path: str) -> Page:
        self.page.goto(self.site.address + path)
        return self.page


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Any]:
    """``visit(**options of the browser's context)`` answers a visitor. At the end, nothing may have gone wrong in any page."""
    contexts, visitors = [], []

    def start(**options: Any) -> Visitor:
        context = browser.new_context(**{"locale": "zh-CN", "viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(15_000)
        contexts.append(context)
        visitors.append(Visitor(context.new_page(), site))
        return visitors[-1]

    yield start
    faults = [fault for visitor in visitors for fault in visitor.faults]
    for context in contexts:
        context.close()
    assert not faults
