"""Readers of external input: how each is called, its seed inputs, and the rules that its output must obey for any input."""

from __future__ import annotations

import atexit
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta, timezone
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote, urlsplit

import httpx
from lxml import html as lxml_html
from madeup.engines import PATHS
from madeup.exchange import Request, Response
from madeup.feeds import FEEDS
from madeup.forums.server import ENGINES
from madeup.forums.world import forums
from madeup.router import Router
from madeup.sitemaps import ALL, INDEX, NEWS, TEXT
from madeup.sites import ENGINE_KEYS, KEYS, ROBOTS, SITES
from madeup.world import World

from newsportal.cli.exchange import Row, import_rows
from newsportal.errors import NewsportalError
from newsportal.extractors import extractor
from newsportal.extractors.feeds import feed, mail, sitemap
from newsportal.extractors.forum import post_extractor
from newsportal.extractors.gallery import page as gallery_page
from newsportal.extractors.lists import hub, result_pages
from newsportal.extractors.lists.pagination import find_pager
from newsportal.items import Page
from newsportal.net.archive import records
from newsportal.net.archive.writer import Exchange, Writer
from newsportal.net.egress.robots import parse_robots
from newsportal.services.discovery import opml
from newsportal.sources.loading import parse as parse_sources
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import dom
from newsportal.text.characters import CONTROL

ROOT: Final = Path(__file__).resolve().parent.parent.parent
NOW: Final = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=8)))
URL: Final = "https://a.example/2026/0301/1.html"
PAGES_OF_A_KIND: Final = 12  # made-up pages with different layouts
PATIENCE: Final = 600.0  # seconds that a response may take on a busy machine
ACTIVE: Final = frozenset("script style iframe frame object embed base meta link form input button svg math template noscript".split())
ADDRESSES: Final = frozenset({"href", "src", "srcset", "poster", "action", "cite", "data"})
HARMLESS: Final = ("http", "https", "mailto", "")


@dataclass(frozen=True, slots=True)
class Target:
    """``run(data)`` reads input and returns strings for people or programs, or raises ``NewsportalError`` if there is nothing to return.
    ``seeds`` are good inputs."""

    name: str
    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes], Iterable[object]]


def check(target: Target, data: bytes) -> bool:
    """Read ``data``; return whether there was a result.

    Raises ``AssertionError`` if the result breaks a rule, and passes on any exception that is not a ``NewsportalError``.
    """
    with suppress(NewsportalError):
        for value in target.run(data):
            _check_value(value)
        return True
    return False


def _check_value(value: object) -> None:
    if isinstance(value, Html):
        _check_html(value)
    elif isinstance(value, Url):
        assert urlsplit(value).scheme in HARMLESS, f"an address of another kind: {value!r}"
    if isinstance(value, str):
        assert not CONTROL.search(value), f"control characters: {value!r}"


class Html(str):
    """Markup sent to browsers."""


class Url(str):
    """A URL that readers or the crawler follow."""


def _check_html(markup: str) -> None:
    if not markup.strip():
        return
    for node in lxml_html.fragment_fromstring(markup, create_parent="div").iter():
        assert isinstance(node.tag, str), f"{node!r} in {markup[:200]!r}"
        assert node.tag not in ACTIVE, f"<{node.tag}> in {markup[:200]!r}"
        for name, value in node.attrib.items():
            assert not name.startswith("on"), f"{name} in {markup[:200]!r}"
            if name in ADDRESSES:
                scheme = re.sub(r"[\x00-\x20]", "", value).partition(":")[0].lower() if ":" in value else ""
                assert scheme in HARMLESS or "/" in scheme, f"{name}={value!r}"


def texts(value: object) -> Iterator[object]:
    """Yield every string in ``value``: of dataclasses, mappings and sequences."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from texts(inner)


# ---- readers


def _document(data: bytes) -> dom.Document:
    return dom.document(Page(URL, data, NOW, content_type="text/html"))


def read_article(data: bytes) -> Iterator[object]:
    document = _document(data)
    find_pager(document)
    found = extractor("best")(document, None, NOW)
    yield from (Url(image.url) for image in found.images)
    yield from (found.title, *found.text.split("\n"), found.author)
    yield Html(found.html or "")


def read_thread(data: bytes) -> Iterator[object]:
    for post in post_extractor("best")(_document(data), NOW):
        yield from texts({name: value for name, value in asdict(post).items() if name not in ("text", "block_text", "html")})
        yield from post.text.split("\n")


def read_hub(data: bytes) -> Iterator[object]:
    document = _document(data)
    hub.next_pages(document)
    feed.discover_feeds(document)
    for link in hub.links(document, now=NOW):
        yield Url(link.url)
        yield link.text


def read_gallery(data: bytes) -> Iterator[object]:
    found = gallery_page.read(_document(data), now=NOW)
    yield from (Url(image.url) for image in found.images)
    yield found.title


def read_results(data: bytes) -> Iterator[object]:
    document = _document(data)
    for result in result_pages.read_results(result_pages.guess_engine(document), document, NOW).results:
        yield Url(result.link)
        yield from (result.title, result.site, result.summary)


def read_feed(data: bytes) -> Iterator[object]:
    found = feed.parse_feed(data, URL, None, NOW)
    for entry in found.entries:
        yield Url(entry.url or "")
        yield from (entry.title, entry.summary)


def read_mail(data: bytes) -> Iterator[object]:
    found = mail.parse_mail(data, NOW)
    yield from (found.title, found.author, mail.id_of(data), Html(found.html))
    yield from (Url(url) for url, _ in found.links)
    yield Url("" if found.url.startswith("mid:") else found.url)


def read_sitemap(data: bytes) -> Iterator[object]:
    yield from (Url(entry.url) for entry in sitemap.parse_sitemap(data, URL, None, NOW).entries)


def read_robots(data: bytes) -> Iterator[object]:
    rules = parse_robots(200, data, "newsportal")
    rules.allows(URL)
    assert 0 <= rules.delay <= 60
    yield from map(Url, sitemap.sitemaps_in_robots(data, URL))


def read_warc(data: bytes) -> Iterator[object]:
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(data)
        file.flush()
        for record in records(Path(file.name)):
            yield record.kind


def read_sources(data: bytes) -> Iterator[object]:
    parse_sources(data, ROOT / "sources.yaml", {})
    return iter(())


def read_opml(data: bytes) -> Iterator[object]:
    for outline in opml.read(data).feeds:
        yield Url(outline.url)
        yield outline.title


def read_import(data: bytes) -> Iterator[object]:
    import json

    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        with suppress(ValueError, RecursionError):
            rows.append(Row("fuzz.jsonl", number, json.loads(line)))
    done = list(import_rows(rows, _store(), NOW))
    assert len(done) == len(rows), "a row was lost"
    for row in done:
        if row.id is not None and (article := _store().article(row.id)) is not None:
            yield from (article.title, *article.text.split("\n"), Html(article.html or ""))


# ---- seeds


@cache
def _store() -> Store:
    return open_store("sqlite://")


@cache
def _world() -> tuple[World, Router]:
    world = World(NOW, 1, {key: f"https://{key}.example" for key in KEYS})
    return world, Router(world)


def _bodies(answers: Iterable[Response]) -> list[bytes]:
    return [answer.body for answer in answers if answer.status == 200 and answer.body]


def _made_up(paths: Iterable[tuple[str, str]]) -> list[bytes]:
    return _bodies(_world()[1].answer(Request(site, path)) for site, path in paths)


def articles() -> list[bytes]:
    world = _world()[0]
    return _made_up((key, copy.path) for key in SITES for copy in list(world.of(key))[:3])


def hubs() -> list[bytes]:
    return _made_up(list(_world()[1].hubs)[:: max(1, len(_world()[1].hubs) // PAGES_OF_A_KIND)])


def threads() -> list[bytes]:
    paths = {"discuz": "/thread-{}-1-1.html", "phpbb": "/viewtopic.php?t={}", "phpwind": "/read.php?tid={}", "homemade": "/t/{}"}
    by_engine = forums(NOW, 1)
    return _bodies(
        ENGINES[key](by_engine[key], 0, Request(key, path.format(thread.number)))
        for key, path in paths.items()
        for board in by_engine[key].boards
        for thread in board.threads[:3]
    )


def feeds() -> list[bytes]:
    return _made_up((feed.site, feed.path) for feed in FEEDS)


def mails() -> list[bytes]:
    messages = []
    for page in articles()[:6]:
        message = EmailMessage()
        message["Subject"], message["From"], message["List-Archive"] = "台风登陆 & 更多", "编辑部 <a@a.example>", "<https://a.example/>"
        message.set_content("纯文本 https://a.example/1 \n\n-- \n签名")
        message.add_alternative(page.decode("utf-8", "replace"), subtype="html")
        messages.append(bytes(message))
    return messages


def sitemaps() -> list[bytes]:
    return _made_up([INDEX, (INDEX[0], ALL), (INDEX[0], NEWS), TEXT])


def results() -> list[bytes]:
    return _made_up((key, PATHS[key].replace("##QUERY##", quote("旅游")).replace("##START##", "0")) for key in ENGINE_KEYS)


def robots() -> list[bytes]:
    return [*_bodies(ROBOTS.values()), b"User-agent: *\nDisallow: /a*b$\nCrawl-delay: 1e9\nSitemap: https://a.example/s.xml\n" * 3]


def archives() -> list[bytes]:
    found = []
    for number, body in enumerate(articles()[:4]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.warc.gz"
            with Writer(path) as writer:
                headers = ((b"Content-Type", b"text/html"),)
                writer.write(Exchange(f"{URL}?{number}", 200, headers, body[:3000], when=NOW))
                writer.write_metadata(URL, "application/json", b"{}", NOW)
            found.append(path.read_bytes())
    return found


def source_files() -> list[bytes]:
    files = [ROOT / "sources.yaml", *sorted((ROOT / "newsportal" / "sources" / "presets").glob("*.yaml"))]
    return [file.read_bytes() for file in files]


def outlines() -> list[bytes]:
    rows = [opml.Outline(f"https://{key}.example/rss.xml", site.name) for key, site in SITES.items()]
    return [opml.write("江畔新闻", rows, NOW).encode()]


def imported() -> list[bytes]:
    import json

    rows = [
        {"url": f"https://a.example/{number}", "title": "滨海新线今晨通车", "text": "首班列车今晨从东站出发。" * 9, "site": "晨光网"}
        | {"published": NOW.isoformat(), "html": "<p>首班<b>列车</b><img src='/1.jpg' alt='车'></p>", "topics": ["旅游"], "author": "林远"}
        for number in range(4)
    ]
    return ["\n".join(json.dumps(row | {"number": number}, ensure_ascii=False) for row in rows).encode() for number in range(2)]


# ---- the API, over a real connection


@cache
def _portal() -> tuple[httpx.Client, list[tuple[str, str]]]:
    """Return an administrator's client and the operations: method and path, with the id of an existing story for each parameter."""
    from newsportal.portal.app import create_app
    from newsportal.search import open_index
    from newsportal.services.accounts import Role, open_accounts
    from tests.portal.newsroom import fill, settings
    from tests.portal.serving import serving

    store, index, accounts = open_store("sqlite://"), open_index("sqlite://"), open_accounts("sqlite://")
    ids = fill(store)
    index.follow(store)
    app = create_app(store, index, settings(), accounts, follow_every=0)
    served = ExitStack()
    atexit.register(served.close)
    address = served.enter_context(serving(app))
    client = httpx.Client(base_url=address, headers={"origin": address, "content-type": "application/json"}, timeout=PATIENCE)
    person = accounts.people.add("fuzz", "correct horse battery staple", Role.ADMIN, now=NOW)
    client.cookies.set("session", accounts.sessions.begin(person.id, now=datetime.now(UTC)))
    id = next(iter(ids.values()))
    paths = client.get("/api/openapi.json").json()["paths"]
    return client, [(method.upper(), re.sub(r"{\w+}", id, path)) for path, methods in paths.items() for method in methods]


def call_api(data: bytes) -> Iterator[object]:
    client, operations = _portal()
    for method, path in Random(data).sample(operations, 3):
        query = "" if method != "GET" else "?" + quote(data[:500].replace(b"\x00", b""), safe="=&")
        answer = client.request(method, path + query, content=None if method == "GET" else data)
        assert answer.status_code < 500, f"{method} {path}: {answer.status_code}"
        assert "Traceback" not in answer.text
        yield method


def bodies() -> list[bytes]:
    return [
        b'{"name":"\xe6\x97\x85\xe6\xb8\xb8","keywords":["\xe5\x9c\xb0\xe9\x93\x81"],"engines":["bing_news"],"every":"30m","enabled":true}',
        b'{"url":"https://a.example/rss.xml","name":"a","topic":"b","priority":5,"extractor":"best"}',
        b'{"title":"t","text":"x","hidden":true,"category":"c","ids":["a","b"],"into":"a","from":"2026-03-01T00:00:00Z","limit":10}',
        b'{"password":"correct horse","role":"editor","rights":["read"],"days":30,"channel":"webhook","fields":{"url":"https://a.example/"}}',
        b"q=%E6%97%85%E6%B8%B8&limit=10&page=2&from=2026-03-01&to=2026-03-02&topic=a&sort=date&site=b&format=csv",
    ]


TARGETS: Final = (
    Target("article", articles, read_article),
    Target("thread", threads, read_thread),
    Target("hub", hubs, read_hub),
    Target("gallery", lambda: articles() + hubs(), read_gallery),
    Target("results", results, read_results),
    Target("feed", feeds, read_feed),
    Target("mail", mails, read_mail),
    Target("sitemap", sitemaps, read_sitemap),
    Target("robots", robots, read_robots),
    Target("warc", archives, read_warc),
    Target("sources.yaml", source_files, read_sources),
    Target("opml", outlines, read_opml),
    Target("import", imported, read_import),
    Target("api", bodies, call_api),
)
