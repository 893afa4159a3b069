"""Hostile stored pages, URLs and requests (threat groups E and F) on a portal without accounts."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from urllib.parse import quote, urlsplit

import httpx
import pytest
from factories import empty_store
from lxml import etree
from lxml import html as lxml_html

from newsportal.errors import SearchUnavailable, StoreUnavailable
from newsportal.items import Image
from newsportal.messages import as_text
from newsportal.portal.guard import hosts_of
from newsportal.search import open_index
from newsportal.services.exchange.form import article_values, incoming
from newsportal.services.exchange.tables import html_page
from newsportal.store import open_store
from newsportal.store.store import Store
from newsportal.text import CONTROL

HOSTILE_HTML = (
    "<script>alert(1)</script><p onclick=alert(1)>一</p>",
    "<img src=x onerror=alert(1)>",
    "<a href='java\tscript:alert(1)'>点</a><a href='&#106;avascript:alert(1)'>击</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>数据</a>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<base href='https://evil.example/'><meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<form action='https://evil.example'><input name=q><button>发送</button></form>",
    "<p style='position:fixed;inset:0'>盖住</p><style>*{display:none}</style>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x></object><embed src=x>",
    "<div class='masthead' id='main'>冒充</div>",
    "<template><script>alert(1)</script></template><noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
)
HOSTILE_TEXT = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}{% raw %}\x1b[31m\u202e\x00]]>&lt;'
MAX_WALKED = 100  # pages; filtered lists would lead to many more
HOSTILE_URL = "javascript:alert(document.cookie)//"

ACTIVE = {"script", "style", "iframe", "object", "embed", "base", "form", "svg", "math", "template", "meta", "link", "frame", "applet"}
OWN_MARKUP = {
    "/html/head",
    "//header[@class='masthead']",
    "//footer",
    "//dialog",
    "//form[@class='search-large']",
    "//form[@class='choices']",
    "//form[@class='orders']",
    "//form[@class='own-topics']",
    "//form[@class='dismiss']",
    "//form[@id='marks']",
    "//div[@class='mark-actions']",
    "//form[@class='save-search']",
    "//form[contains(@class, 'secret')]",
    "//ul[@class='saved-searches']",
    "//form[@class='sizes']",
    "//figure[@class='curve-days']",
    "//form[@class='date-range']",
    "//div[@class='switches']",
    "//div[@class='editors-actions']",
}


@pytest.fixture(scope="module")
def hostile(serve, folder, newsroom: ModuleType) -> httpx.Client:
    """Client of a portal whose store has attacks in every field."""

    store = empty_store(folder / "hostile.db")
    for number, payload in enumerate(HOSTILE_HTML):
        attack = HOSTILE_TEXT + str(number)
        article = newsroom.article(
            f"标题{attack}",
            f"攻击正文 {attack}\n" * 3 + "".join(chr(0x4E00 + (number * 977 + place * 331) % 20_000) for place in range(100)),
            html=payload + "<p>攻击正文</p>",
            site=f"站点{attack}",
            author=attack,
            origin=attack,
            category=f"类{attack}",
            topics=("旅游", f"话题{attack}"),
            images=(
                Image(HOSTILE_URL, attack),
                Image("https://p.example/a.jpg", attack),
                Image("data:image/svg+xml,<svg onload=alert(1)>"),
            ),
            url=HOSTILE_URL + str(number) if number % 2 else f'https://h.example/{number}?"><script>alert(1)</script>',
            source=f"feed:{attack}",
        )
        newsroom.write(store, article, fold_key="one" if number < 3 else None)
    report = newsroom.run()
    from dataclasses import replace

    rows = [replace(row, source=HOSTILE_TEXT, notes=(as_text(HOSTILE_TEXT),), failed={HOSTILE_TEXT: 1}) for row in report.sources[:1]]
    store.save_run(replace(report, id="bad", spiders=(HOSTILE_TEXT,), reason=HOSTILE_TEXT, sources=tuple(rows)))
    index = open_index(f"sqlite:///{folder / 'hostile-index.db'}")
    index.follow(store)
    return serve(store, index, role="editor")


@pytest.fixture(scope="module")
def walked_pages(hostile: httpx.Client) -> dict[str, str]:
    """HTML of the portal's pages reachable from the front page, by path."""
    waiting, pages = ["/", "/runs", "/runs/bad", "/search?q=攻击", "/latest?order=hottest", "/feeds", "/settings"], {}
    while waiting and len(pages) < MAX_WALKED:
        path = waiting.pop(0)
        answer = hostile.get(path, follow_redirects=True)
        assert answer.status_code == 200, path
        if "text/html" not in answer.headers["content-type"]:
            continue
        pages[path] = answer.text
        links = lxml_html.document_fromstring(answer.text).xpath("//a/@href")
        waiting += [link for link in dict.fromkeys(links) if link.startswith("/") and link not in pages and link not in waiting]
    return pages


def test_pages_of_hostile_store_have_no_active_content(walked_pages: dict[str, str]) -> None:
    assert len([path for path in walked_pages if path.startswith("/story/")]) > len(HOSTILE_HTML)
    for path, text in walked_pages.items():
        check_passive(text, path)


DESK_PATHS = (
    "/desk", "/articles", "/articles?show=short", "/corrections", "/publishing", "/monitor", "/monitor/crawls", "/monitor/failures",
    "/monitor/reading", "/monitor/log", "/runs", "/runs/bad", "/topics", "/suggestions", "/templates", "/wrappers", "/corpora", "/models",
    "/jobs", "/alerts", "/alerts/new?channel=webhook", "/starred", "/profile", "/for-you", "/searches", "/account", "/api", "/feeds",
    "/photos", "/search?q=攻击&folds=open",
)  # fmt: skip


def test_desk_pages_of_hostile_store_have_no_active_content(hostile: httpx.Client) -> None:
    """The pages are those of an editor."""
    story = hostile.get("/api/v1/stories").json()["items"][0]["id"]
    version = hostile.get(f"/api/v1/stories/{story}").json()["articles"][0]["id"]
    hostile.post("/marks", data={"star": story})
    hostile.post("/searches", data={"query": f"q={quote(HOSTILE_TEXT)}&site={quote(HOSTILE_TEXT)}", "name": HOSTILE_TEXT})
    of_story = [f"/story/{story}/{version}/{page}" for page in ("edit", "fold", "revisions")]
    for path in (*DESK_PATHS, *of_story, f"/publishing?article={version}"):
        answer = hostile.get(path)
        if answer.status_code == 404:
            continue  # needs a sources.yaml
        assert answer.status_code == 200, path
        check_passive(answer.text, path)


def test_control_characters_are_removed_from_pages(hostile: httpx.Client, walked_pages: dict[str, str]) -> None:
    """The characters come from crawled pages or from the URL (terminal escapes, NUL, surrogates)."""
    escape = "%1b[31m%00"
    paths = [
        f"/search?q=攻击{escape}",
        f"/search?q=攻击&site={escape}&category={escape}&topic={escape}",
        f"/latest?site={escape}",
        "/feed.json",
    ]
    for path, text in (*walked_pages.items(), *((path, hostile.get(path).text) for path in paths)):
        found = CONTROL.search(text)
        assert found is None, (path, text[max(0, found.start() - 60) : found.end()])


def test_bodies_have_no_classes_or_ids(walked_pages: dict[str, str]) -> None:
    for path, text in walked_pages.items():
        page = lxml_html.document_fromstring(text)
        assert not page.xpath("//div[@class='body']//*[@class or @id]"), path


def check_passive(text: str, path: str) -> None:
    page = lxml_html.document_fromstring(text)
    for xpath in OWN_MARKUP:
        for node in page.xpath(xpath):
            allowed = [script.get("src") for script in node.iter("script")]
            assert all(source and source.startswith("/static/") for source in allowed), path
            node.getparent().remove(node)
    for form in page.xpath("//div[@class='desk-page']//form[not(ancestor::*[contains(@class, 'body')])]"):
        form.tag = "own-form"  # its contents are checked like all others
    for node in page.iter():
        if not isinstance(node.tag, str):
            continue
        assert node.tag not in ACTIVE, (path, node.tag)
        for name, value in node.attrib.items():
            assert not name.startswith("on"), (path, name)
            assert name not in ("style", "srcdoc", "formaction"), (path, name)
            if name in ("href", "src", "action", "data-original"):
                assert re.match(r"(https?://|/(?![/\\])|#)", value), (path, name, value)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text), path
    assert "49" not in "".join(page.xpath("//h1//text()"))  # {{7*7}} was not evaluated


@pytest.mark.parametrize(
    "path", ["/feed.rss", "/feed.atom", "/topic/旅游/feed.rss", "/search/feed.atom?q=攻击", "/feeds.opml", "/opensearch.xml"]
)
def test_feeds_of_hostile_store_are_well_formed_and_passive(hostile: httpx.Client, path: str) -> None:
    answer = hostile.get(path)
    assert answer.status_code == 200
    root = etree.fromstring(answer.content)
    for node in root.iter():
        for value in (node.text or "", *node.attrib.values()):
            if node.tag.endswith(("encoded", "content")):
                check_passive(f"<html><head></head><body>{value}</body></html>", path)
            assert not value.startswith("javascript:")
    assert root.getchildren()


def test_json_feed_of_hostile_store_is_passive(hostile: httpx.Client) -> None:
    items = json.loads(hostile.get("/feed.json").content)["items"]
    assert len(items) == len(HOSTILE_HTML) - 2  # three of them are one story
    for item in items:
        assert urlsplit(item["url"]).scheme in ("http", "https")
        check_passive(f"<html><head></head><body>{item['content_html']}</body></html>", "json")


def test_exports_of_hostile_store_are_passive(hostile: httpx.Client, folder: Path, newsroom: ModuleType) -> None:
    """The stored HTML was not sanitised by a crawl: any program may fill a store."""
    with closing(open_store(f"sqlite:///{folder / 'hostile.db'}")) as store:
        stored = list(store.all_articles())
    sent = [hostile.get(f"/api/v1/articles/{article.id}").json()["html"] for article in stored]
    written = [article_values(article)["html"] for article in stored]
    rows = [{"url": "https://h.example/", "title": article.title, "text": article.text, "html": article.html} for article in stored]
    imported = [incoming(row, newsroom.NOW).item.html for row in rows]
    assert len(sent) == len(written) == len(HOSTILE_HTML)
    for html in (*sent, *written, *imported, *map(html_page, stored)):
        check_passive(f"<html><head></head><body>{html.partition('<body>')[2] or html}</body></html>", "html")


@pytest.mark.parametrize(
    "path",
    ["/", "/latest", "/nope", "/search?q=x", "/feed.rss", "/static/portal.css", "/health", "/settings?theme=dark", "/static/../app.py"],
)
def test_security_headers_are_on_every_answer(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = {part.split()[0]: part.split()[1:] for part in headers["content-security-policy"].split(";")}
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == ["'self'"]
    assert policy["frame-ancestors"] == policy["base-uri"] == ["'none'"]
    assert policy["img-src"] == ["'self'", "https:", "http:"]
    assert policy["connect-src"] == ["'self'"]
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "127.0.0.1", "127.0.0.1:99", "[::1]", "[::1]:8000", "LOCALHOST", "localhost."]
)
def test_own_host_names_are_accepted(client: httpx.Client, host: str) -> None:
    assert client.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8000",
        "localhost@evil.example",
        "user@localhost",
        "10.0.0.1",
        "[::1",
        "",
        "localhost/x",
    ],
)
def test_foreign_host_is_refused_and_not_echoed(client: httpx.Client, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "evil" not in answer.text
    assert "content-security-policy" in answer.headers or not host or "@" not in host


@pytest.mark.parametrize("host", ["a b", '"><script>', "evil.example/x", "a@b", "[::1", ""])
def test_wildcard_host_accepts_only_valid_names(serve, store: Store, host: str) -> None:
    """The host becomes part of feed URLs."""
    client = serve(store, hosts=("*",))
    assert client.get("/feed.rss", headers={"host": "news.example:8080"}).status_code == 200
    answer = client.get("/feed.rss", headers={"host": host})
    assert answer.status_code == 400
    assert "script" not in answer.text


def test_portal_on_all_addresses_accepts_ips_and_named_hosts(serve, store: Store) -> None:
    client = serve(store, hosts=hosts_of("0.0.0.0", ["news.example.org"]))
    for host, status in (("192.168.1.7:8000", 200), ("[fe80::1]", 200), ("news.example.org", 200), ("evil.example", 400)):
        assert client.get("/health", headers={"host": host}).status_code == status, host


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "/%0d%0aX: y",
        "",
        "///x",
    ],
)
def test_redirects_stay_on_the_portal(client: httpx.Client, target: str) -> None:
    answer = client.get("/settings", params={"theme": "dark", "next": target})
    location = answer.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))
    assert "x" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%252e%252e/app.py",
        "/static//etc/passwd",
        "/static/..\\app.py",
    ],
)
def test_static_files_cannot_be_escaped(client: httpx.Client, path: str) -> None:
    answer = client.request("GET", httpx.URL(client.base_url.join("/"), raw_path=path.encode()))
    assert answer.status_code == 404
    assert "create_app" not in answer.text


def test_head_is_supported_wherever_get_is(editor: httpx.Client, ids: dict[str, str]) -> None:
    for path in (
        "/",
        "/latest",
        "/topic/旅游",
        f"/story/{ids['bridge']}",
        "/search?q=x",
        "/feed.rss",
        "/health",
        "/static/portal.js",
        "/runs",
    ):
        answer = editor.head(path)
        assert (answer.status_code, answer.content) == (200, b""), path
        assert answer.headers["content-type"] == editor.get(path).headers["content-type"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_not_allowed(client: httpx.Client, method: str) -> None:
    origin = str(client.base_url).rstrip("/")
    answer = client.request(method, "/", headers={"origin": origin, "content-type": "application/json"})
    assert answer.status_code == 405


def test_error_page_does_not_echo_the_request(client: httpx.Client) -> None:
    answer = client.get("/<script>alert(1)</script>", params={"q": "<script>alert(2)</script>"})
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("name", ["q", "before", "site", "topic", "order", "lang", "page", "when", "sort", "next"])
@pytest.mark.parametrize("value", ["x" * 10_000, "'\"><script>alert(1)</script>", "\x00\ud7ff\U0001f600", "-1", "NEAR(", "%00"])
def test_any_parameter_is_answered(client: httpx.Client, name: str, value: str) -> None:
    for path in ("/search", "/settings") if name in ("q", "page", "when", "sort", "next") else ("/search", "/topic/旅游"):
        answer = client.get(path, params={"q": "峡谷", name: value})
        assert answer.status_code == 200, (path, name)
        assert "<script>alert" not in answer.text


class UnavailableStore:
    """Store that cannot be reached."""

    def __getattr__(self, name: str) -> object:
        raise StoreUnavailable("database is locked")


class FailingStore:
    """Store with an unexpected error."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("<script>secret trace</script>")


class UnavailableIndex:
    """Index whose server is down."""

    def __getattr__(self, name: str) -> object:
        raise SearchUnavailable("search.intern.example:9200 is away")


def test_health_names_the_error_to_editors_only(serve, store: Store) -> None:
    everybody, editor = (serve(store, UnavailableIndex(), role=role, follow_every=0.01) for role in (None, "editor"))
    for client, named in ((everybody, False), (editor, True)):
        until = monotonic() + 600
        while "error" not in (health := client.get("/health").json())["search"]:
            assert monotonic() < until
            sleep(0.01)
        assert ("search.intern.example" in health["search"]["error"]) is named


def test_unavailable_store_is_a_503_with_advice(serve) -> None:
    client = serve(UnavailableStore())
    answer = client.get("/")
    assert answer.status_code == 503
    assert "文章库正忙" in answer.text
    assert answer.headers["retry-after"]
    assert client.get("/health").json()["status"] == "store-unavailable"


def test_crash_shows_no_traceback_but_keeps_headers(serve) -> None:
    answer = serve(FailingStore()).get("/")
    assert answer.status_code == 500
    assert "出错了" in answer.text
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
