"""The portal in a real browser: the system's Chromium, driven by playwright. Tests are skipped, with the reason, if either is missing."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copytree
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from factories import CHEAP, empty_index, empty_store

from newsportal.items.visits import Visit
from newsportal.net.rendering.chromium import find_chromium
from newsportal.portal.app import create_app
from newsportal.portal.monitor.queues import AsideRow, BusyHost, QueueRow, Queues, WorkerRow
from newsportal.search import open_index
from newsportal.services.accounts import Accounts, Role, open_accounts
from newsportal.sources import load as load_sources
from newsportal.store import open_store
from newsportal.store.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TESTS = Path(__file__).resolve().parent.parent
CHROMIUM = find_chromium()
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
QUIET += ["--js-flags=--no-opt,--no-maglev,--no-flush-bytecode"]  # pages close too soon to optimise; the next has the same scripts
LOOKS: dict[str, dict[str, Any]] = {
    "light, wide": {"color_scheme": "light", "locale": "zh-CN", "viewport": {"width": 1280, "height": 900}},
    "dark, narrow": {"color_scheme": "dark", "locale": "en", "viewport": {"width": 360, "height": 740}},
}


def load(path: str) -> ModuleType:
    """Load a module of the tests by its path (the tests are no package)."""
    place = TESTS / path
    found = spec_from_file_location(f"e2e_{place.stem}", place)
    assert found
    assert found.loader
    module = sys.modules[found.name] = module_from_spec(found)
    found.loader.exec_module(module)
    return module


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
        if item.nodeid.startswith("tests/e2e/"):
            item.add_marker(pytest.mark.browser)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


Filled = tuple[Path, dict[str, str], str]  # folder, ids of the stories, URL of the picture server


class Site:
    """A served portal: its URL, the ids of its stories, the newsroom that filled it, its store and its accounts."""

    def __init__(self, address: str, ids: dict[str, str], store: Store, accounts: Accounts) -> None:
        self.address, self.ids, self.newsroom, self.store, self.accounts = address, ids, NEWSROOM, store, accounts

    def session(self, role: str) -> dict[str, str]:
        """Return the session cookie of a signed-in user with this role."""
        name = f"{role} of the tests"
        person = self.accounts.people.by_name(name)
        person = person or self.accounts.people.add(name, "correct horse battery staple", Role(role), now=NEWSROOM.NOW)
        return {"name": "session", "value": self.accounts.sessions.begin(person.id, now=NEWSROOM.NOW), "url": self.address}


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Return the folder of a filled portal with pictures, and the ids of its stories. Copy the files; do not open them."""
    folder = tmp_path_factory.mktemp("filled")
    with PICTURES.pictures() as pictures:
        with closing(empty_store(folder / "store.db")) as store, closing(empty_index(folder / "index.db")) as index:
            ids = NEWSROOM.fill(store, pictures)
            index.follow(store)
        yield folder, ids, pictures


@contextmanager
def portal(filled: Filled, folder: Path, *, albums: bool = False) -> Iterator[Site]:
    """Serve a filled portal with pictures, with photo stories if ``albums``."""
    copied, ids, pictures = filled
    copytree(copied, folder, dirs_exist_ok=True)
    store, index = open_store(f"sqlite:///{folder / 'store.db'}"), open_index(f"sqlite:///{folder / 'index.db'}")
    with ExitStack() as stack:
        if albums:
            ids = {**ids, **{f"album-{name}": id for name, id in ALBUMS.fill(store, pictures).items()}}
            index.follow(store)
        accounts = stack.enter_context(closing(open_accounts("sqlite://", hasher=CHEAP)))
        settings = NEWSROOM.settings()
        nearby = settings.politeness.model_copy(update={"allow_private": ("127.0.0.0/8",)})  # the picture server is on this machine
        settings = settings.model_copy(update={"politeness": nearby})
        app = create_app(store, index, settings, accounts, now=lambda: NEWSROOM.NOW, follow_every=0)
        yield Site(stack.enter_context(SERVING.serving(app)), dict(ids), store, accounts)
    index.close()
    store.close()


@pytest.fixture(scope="session")
def site(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with portal(filled, tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def own_site(filled: Filled, tmp_path: Path) -> Iterator[Site]:
    """A separate portal for a test that changes its data."""
    with portal(filled, tmp_path) as site:
        yield site


@pytest.fixture(scope="session")
def album_site(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The shared portal with photo stories."""
    with portal(filled, tmp_path_factory.mktemp("albums"), albums=True) as site:
        yield site


LINK = '<p><a href="https://a-new-site-with-a-long-name.example/news/2026/1.html">原文</a></p>'
SOURCES = """\
feeds:
  - {name: 名字很长很长的一家早报的滚动新闻频道, url: "https://good.example/feed"}
  - {name: 坏报, url: "https://bad.example/feed"}
"""


def queues() -> Queues:
    """Return one row of each kind, with very long names."""
    now = NEWSROOM.NOW
    return Queues(
        "Redis at redis://127.0.0.1:6379/0",
        (QueueRow("rss", 12, 3, 2, 1, 1),),
        (WorkerRow("a-machine-with-a-long-name:1234567:1", "rss", now, now, 2, 1, ""),),
        (BusyHost("a.example", "rss", 12, None, 0.25),),
        (AsideRow("rss", "0af1", "https://a.example/" + "long/" * 30, "6 workers died", now),),
    )


@pytest.fixture(scope="session")
def editors_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A portal with a working and a failing source, a suggested site, and workers."""
    folder, now = tmp_path_factory.mktemp("editors"), NEWSROOM.NOW
    (folder / "sources.yaml").write_text(SOURCES, "utf-8")
    store, sources = open_store(f"sqlite:///{folder / 'store.db'}"), load_sources(folder / "sources.yaml")
    good, bad = (source.key for source in sources.feeds)
    for number in range(4):
        at = now - number * timedelta(hours=5)
        store.visits.add(Visit(good, at, list_pages=1, entries=9, new=number + 1, stored=2))
        store.visits.add(Visit(bad, at, list_failed={"http-404": 1}))
    NEWSROOM.write(store, NEWSROOM.article("渡轮今晨开航", "海港新航线今晨开通。" * 12, html=LINK))
    with closing(open_accounts("sqlite://", hasher=CHEAP)) as accounts:
        app = create_app(store, None, sources, accounts, now=lambda: now, follow_every=0, queues=queues)
        with SERVING.serving(app) as address:
            yield Site(address, {}, store, accounts)
    store.close()


STEERED = """\
# 晨报的来源
portal: {title: 晨报}
store: sqlite:///store.db
politeness: {allow_private: [127.0.0.0/8], delay: 0}
topics:
  - name: 港口
feeds:
  - name: 老报   # 不要动
    url: https://old.example/feed
  - name: 名字很长很长的一家早报的滚动新闻频道
    url: https://a-site-with-a-very-long-name.example/a/feed/with/a/long/path.xml
"""


@pytest.fixture
def steered_site(tmp_path: Path) -> Iterator[Site]:
    """A portal with its own editable ``sources.yaml`` (``site.file``)."""
    file, now = tmp_path / "sources.yaml", NEWSROOM.NOW
    file.write_text(STEERED, "utf-8")
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    for number in range(30):
        store.visits.add(Visit("feed:老报", now - number * timedelta(hours=3), list_pages=1, entries=9, new=number % 5, stored=2))
    with closing(open_accounts("sqlite://", hasher=CHEAP)) as accounts:
        app = create_app(store, None, load_sources(file), accounts, now=lambda: now, follow_every=0, reread_every=0.2)
        with SERVING.serving(app) as address:
            site = Site(address, {}, store, accounts)
            site.file = file  # type: ignore[attr-defined]
            yield site
    store.close()


WHOLE = """\
portal: {title: 晨报}
store: sqlite:///store.db
topics:
  - {name: 旅游, keywords: {any: [峡谷]}}
feeds:
  - name: 名字很长很长的一家早报的滚动新闻频道
    url: https://a-site-with-a-very-long-name.example/a/feed/with/a/long/path.xml
    category: 旅游
publish:
  - {name: 名字很长很长的一个发布目标, to: "folder:published"}
"""


@pytest.fixture(scope="session")
def full_site(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A portal with news, photo stories and a ``sources.yaml``; ``site.app`` is the application."""
    (copied, ids, pictures), folder = filled, tmp_path_factory.mktemp("whole")
    copytree(copied, folder, dirs_exist_ok=True)
    (folder / "sources.yaml").write_text(WHOLE, "utf-8")
    store, index = open_store(f"sqlite:///{folder / 'store.db'}"), open_index(f"sqlite:///{folder / 'index.db'}")
    with closing(store), closing(index), closing(open_accounts("sqlite://", hasher=CHEAP)) as accounts:
        ALBUMS.fill(store, pictures)
        index.follow(store)
        settings = load_sources(folder / "sources.yaml")
        app = create_app(store, index, settings, accounts, now=lambda: NEWSROOM.NOW, follow_every=0, queues=queues)
        with SERVING.serving(app) as address:
            site = Site(address, dict(ids), store, accounts)
            site.app = app  # type: ignore[attr-defined]
            yield site


OPENED = ExitStack()
"""Closes the browser. Its event loop runs in this thread while it is open, so no other test can start one."""


@cache
def launched() -> Browser:
    from playwright.sync_api import sync_playwright

    started = OPENED.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=QUIET)
    OPENED.callback(started.close)
    OPENED.callback(launched.cache_clear)
    return started


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            OPENED.close()


@pytest.fixture(scope="session")
def browser_closed() -> Iterator[None]:
    """Close the browser also if the run ends before its last test."""
    with OPENED:
        yield


@pytest.fixture
def browser(browser_closed: None, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The browser shared by consecutive browser tests. A click waits until the page that it opens is loaded."""
    from playwright.sync_api import Locator

    def click_and_wait(locator: Locator, **options: Any) -> None:
        click(locator, **options)
        locator.page.wait_for_load_state("domcontentloaded")

    click = Locator.click
    monkeypatch.setattr(Locator, "click", click_and_wait)
    return launched()


NO_FAULTS = ("htmx:sendAbort", "htmx:afterRequest", "Service Worker registration blocked by Playwright")
"""Requests aborted by navigation (failures are reported as ``responseError`` or ``sendError``), and blocked service workers."""


def is_fault(message: Any) -> bool:
    return message.type in ("error", "warning") and not message.text.startswith(NO_FAULTS)


class Visitor:
    """A browser page that records its console errors and exceptions."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site, self.faults = page, site, list[str]()
        page.on("console", lambda message: self.faults.append(message.text) if is_fault(message) else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def go(self, path: str) -> Page:
        self.page.goto(self.site.address + path)
        return self.page


@pytest.fixture(scope="session")
def violations() -> Any:
    """Return a function ``violations(page)`` that lists the violations found by axe-core: the rule and its first elements.

    ``leaving``: the test navigates away next, so only two rows of each shape are kept and all details are opened. The contrast of text with
    an already checked appearance is not checked again: it takes more than half of axe-core's time.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().axe_script
    # passed rules are not listed (their selectors take half the time); target-size is enabled
    options = {"resultTypes": ["violations", "incomplete"], "rules": {"target-size": {"enabled": True}}}
    run_axe, judged = (TESTS / "e2e" / "run_axe.js").read_text("utf-8"), set[int]()

    def find(page: Page, *, leaving: bool = False) -> list[tuple[str, list[str]]]:
        if leaving:
            page.evaluate((TESTS / "e2e" / "two_of_each.js").read_text("utf-8"))
        found = page.evaluate(run_axe, [options, list(judged)])
        if found is None:
            page.add_init_script(axe)  # for all later pages of this tab: sending its 570 kB each time takes longer than running it
            page.evaluate(axe)
            found = page.evaluate(run_axe, [options, list(judged)])
        faults, appearances = found
        judged.update(() if faults else appearances)
        return [(rule, elements) for rule, elements in faults]

    return find


@pytest.fixture(params=LOOKS.values(), ids=LOOKS)
def appearance(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Browser options that cover each value of each choice once: a failure shows with one of them, whatever the others are."""
    return dict(request.param)


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Any]:
    """Return a function ``visit(**context options)`` that opens a page. No page may have reported an error at the end.

    ``role`` (``reader``, ``editor``, ``admin``) signs a user in. ``service_workers="allow"`` caches each page for offline reading, which
    takes a quarter of a visit; it is used where the navigation itself is tested.
    """
    contexts, visitors = [], []

    def start(role: str | None = None, **options: Any) -> Visitor:
        usual = {"locale": "zh-CN", "viewport": {"width": 1280, "height": 900}, "service_workers": "block"}
        context = browser.new_context(**{**usual, **options})  # type: ignore[arg-type]
        context.set_default_timeout(600_000)
        contexts.append(context)
        if role is not None:
            context.add_cookies([site.session(role)])  # type: ignore[list-item]  # playwright's own type of a cookie
        visitors.append(Visitor(context.new_page(), site))
        return visitors[-1]

    yield start
    faults = [fault for visitor in visitors for fault in visitor.faults]
    for context in contexts:
        context.close()
    assert not faults
