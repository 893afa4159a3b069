"""Pages in a real Chromium with hostile servers on loopback: its requests are checked or blocked, and it never outlives the crawl."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from forked import Started

from newsportal.crawl.middlewares import RobotsDenied
from newsportal.errors import EgressDenied, FetchFailed, RenderFailed
from newsportal.net.egress import Policy
from newsportal.net.rendering import Limits, find_chromium, standalone
from newsportal.net.rendering.chromium import Chromium, Setup, process_tree

REASON = "needs Chromium and playwright (make tools)"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_chromium() is None or find_spec("scrapy_playwright") is None, reason=REASON),
]

SCRIPT = """
fetch('/list.json').then(answer => answer.json()).then(names => {
  for (const name of names) {
    const picture = document.createElement('img');
    picture.src = name;
    document.getElementById('story').append(picture);
  }
});
"""
Render = Callable[..., Any]
PAGES = 4


def html(body: str, **headers: str) -> bytes:
    text = f"<!DOCTYPE html><html><head><meta charset=utf-8><title>页</title></head><body>{body}</body></html>".encode()
    fields = {"content-type": "text/html; charset=utf-8", "content-length": str(len(text)), "connection": "close"} | headers
    return "\r\n".join(["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in fields.items()), "", ""]).encode() + text


@pytest.fixture(scope="module")
def shared_browsers(reactor_loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Keep the browsers of crawls open for the next, as a second crawl in the process would: to start one takes a second."""
    from newsportal.crawl.handlers.rendered import _BROWSERS

    setups = [Setup(Limits(pages=PAGES), isolate=isolate) for isolate in (True, False)]
    browsers = [_BROWSERS.setdefault(reactor_loop, {}).setdefault(setup, Chromium(setup)) for setup in setups]
    for browser in browsers:
        browser.acquire()
    yield
    for browser in browsers:
        reactor_loop.run_until_complete(browser.release())


@pytest.fixture
def render(crawl: Any, site: Any, shared_browsers: None) -> Render:
    """Function that crawls paths of ``site`` as rendered pages; limits by name. Another ``pages`` or ``memory`` starts another browser."""

    def run(*paths: str, allow: tuple[str, ...] = (), settings: dict[str, Any] | None = None, **limits: Any) -> Any:
        requests = [{"url": site.url(path), "meta": {"render": True, "source": "feed:x"}} for path in paths]
        rendering = {"timeout": 300, "wait": 60, "pages": PAGES, **limits}  # idle pages end at once
        return crawl(*requests, NEWSPORTAL_ALLOW_PRIVATE=[*site.allow, *allow], NEWSPORTAL_RENDERING=rendering, **(settings or {}))

    return run


@pytest.fixture
def story(site: Any, response: Any) -> str:
    """A photo story that scripts make from a list; returns its path."""
    page = f"<title>北京</title><div id=story></div><script>{SCRIPT}</script>".encode("gb18030")
    site.routes["/story"] = response(page, content_type="text/html; charset=gbk")
    site.routes["/list.json"] = response(b'["/1.jpg", "/2.jpg"]', content_type="application/json")
    return "/story"


def test_page_made_by_scripts_is_rendered(render: Render, site: Any, story: str) -> None:
    found = render(story)
    page = found.pages[site.url(story)]
    assert '<img src="/1.jpg"><img src="/2.jpg">' in page.text
    assert "北京" in page.body.decode("utf-8")
    assert page.flags == ["rendered"]
    assert page.headers["Content-Type"] == b"text/html; charset=utf-8"
    assert sorted(site.paths()) == ["/list.json", story]  # the URLs of pictures are enough
    assert {request.headers["user-agent"] for request in site.requests} == {"newsportal/0.1 (+https://portal.example)"}
    assert found.stats["render/pages/feed:x"] == 1
    assert found.stats["render/requests/feed:x"] == 1
    assert found.stats["render/blocked/image"] == 2


def test_lazy_pictures_and_changed_base_url(render: Render, site: Any) -> None:
    lazy = "".join(f'<div style="height:1500px"><img data-src="/{number}.jpg"></div>' for number in range(6))
    script = """new IntersectionObserver(seen => seen.forEach(one => {
      if (one.isIntersecting) one.target.src = one.target.dataset.src; }))"""
    site.routes["/"] = html(f"{lazy}<script>const o = {script}; document.querySelectorAll('img').forEach(i => o.observe(i));</script>")
    site.routes["/story/1"] = html("<a href='2.html'>next</a><script>history.pushState({}, '', '/gallery/9/')</script>")
    found = render("/", "/story/1").pages
    assert [f' src="/{number}.jpg"' in found[site.url("/")].text for number in range(6)] == [True] * 6
    page = found[site.url("/story/1")]
    assert page.url == site.url("/story/1")
    assert f'<base href="{site.url("/gallery/9/")}">' in page.text


def test_other_content_is_returned_without_a_browser(render: Render, site: Any, response: Any) -> None:
    feed = b'<?xml version="1.0"?><rss version="2.0"><channel><item><title>a</title></item></channel></rss>'
    site.routes["/rss"] = response(feed, content_type="text/html")
    site.routes["/xml"] = response(feed, content_type="application/rss+xml")
    site.routes["/gone"] = response(b"<p>gone", "404 Not Found", content_type="text/html")
    found = render("/rss", "/xml", "/gone")
    assert [found.pages[site.url(path)].body for path in ("/rss", "/xml")] == [feed, feed]
    assert found.pages[site.url("/gone")].status == 404
    assert "playwright/browser_count" not in found.stats


ATTEMPTS = {
    "script": "<script src='{inside}'></script>",
    "stylesheet": "<link rel=stylesheet href='{inside}'>",
    "picture": "<img src='{inside}'><div style='background:url({inside}?b)'>x</div>",
    "frame": "<iframe src='{inside}'></iframe><object data='{inside}'></object><embed src='{inside}'>",
    "fetch": "<script>fetch('{inside}', {{mode: 'no-cors'}})</script>",
    "xhr": "<script>const x = new XMLHttpRequest(); x.open('POST', '{inside}'); x.send('a=1')</script>",
    "redirect": "<script src='/moved.js'></script>",
    "socket": "<script>new WebSocket('{socket}')</script>",
    "stream": "<script>new EventSource('{inside}')</script>",
    "beacon": "<script>navigator.sendBeacon('{inside}', 'x')</script><a ping='{inside}' href='#x' id=p>p</a><script>p.click()</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('{inside}', {{mode: 'no-cors'}}); "
    "importScripts('{inside}')\"])))</script>",
    "service worker": "<script>navigator.serviceWorker?.register('/sw.js')</script>",
    "hint": "<link rel=preconnect href='{inside}'><link rel=dns-prefetch href='{inside}'><link rel=prefetch href='{inside}'>"
    "<link rel=preload as=script href='{inside}'>",
    "speculation": '<script type=speculationrules>{{"prerender": [{{"source": "list", "urls": ["/9999"], '
    '"eagerness": "immediate"}}]}}</script>',
    "film": "<video src='{inside}' autoplay></video><audio src='{inside}' autoplay></audio>",
    "font": "<style>@font-face {{font-family: f; src: url({inside})}} p {{font-family: f}}</style><p>x</p>",
    "form": "<form id=f method=post action='{inside}' target=_blank><input name=a></form><script>f.submit()</script>",
    "window": "<script>window.open('{inside}'); window.open('{inside}', '_blank', 'noopener')</script>",
    "RTC": "<script>try {{ const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}?transport=tcp'}}, "
    "{{urls: 'turn:127.0.0.1:{port}?transport=tcp', username: 'a', credential: 'b'}}]}}); c.createDataChannel('a'); "
    "c.createOffer().then(o => c.setLocalDescription(o)) }} catch {{}}</script>",
    "transport": "<script>try {{ new WebTransport('https://127.0.0.1:{port}/') }} catch {{}}</script>",
}


@pytest.mark.parametrize("isolate", [True, False], ids=["network isolated", "other checks only"])
def test_no_feature_of_a_page_reaches_a_private_address(render: Render, site: Any, make_site: Any, response: Any, isolate: bool) -> None:
    inside = make_site({"/": response(b"secret", access_control_allow_origin="*")})
    site.routes["/moved.js"] = response(b"", "302 Found", location=inside.url())
    site.routes["/sw.js"] = response(f"fetch('{inside.url()}')".encode(), content_type="text/javascript")
    values = {"inside": inside.url(), "socket": inside.url().replace("http", "ws"), "port": str(inside.port)}
    paths = []
    for number, attempt in enumerate(ATTEMPTS.values()):
        after = f"<p id=after></p><script>new Image().src='{inside.url()}'; after.textContent='后'</script>"
        site.routes[f"/{number}"] = html(attempt.format(**values) + after)
        paths.append(f"/{number}")
    found = render(*paths, isolate=isolate)
    assert inside.connections == 0
    assert found.errors == {}
    assert [path for path in paths if "后" not in found.pages[site.url(path)].text] == []
    assert found.stats["egress/denied"] >= 7
    assert found.stats["render/blocked/frame"] >= 1


def test_udp_is_blocked(render: Render, site: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.setblocking(False)
        port = listening.getsockname()[1]
        script = f"""<iframe id=f srcdoc='<p>x'></iframe><script>
        for (const scope of [window, f.contentWindow]) {{ try {{
          const c = new scope.RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
          c.createDataChannel('a'); c.createOffer().then(o => c.setLocalDescription(o));
        }} catch {{}} }}
        new Worker(URL.createObjectURL(new Blob(["new WebTransport('https://127.0.0.1:{port}/')"])));
        setTimeout(() => document.title = 'done', 1500)</script>"""
        site.routes["/"] = html(script)
        render("/", isolate=False)
        with pytest.raises(BlockingIOError):
            listening.recv(1)


def test_public_name_with_private_address_is_refused(
    render: Render, site: Any, make_site: Any, response: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = make_site({"/": response(b"document.title = 'secret'")})
    answers = iter([["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]])
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **_: [(2, 1, 6, "", (address, port)) for address in next(answers)])
    tags = "".join(f"<script src='http://{name}:{inside.port}/'></script>" for name in ("public.test", "mixed.test"))
    site.routes["/"] = html(tags)
    found = render("/")
    assert "secret" not in found.pages[site.url("/")].text
    assert inside.connections == 0
    assert found.stats["render/denied/feed:x"] == 2


def test_private_page_is_refused_before_a_browser_starts(crawl: Any, site: Any) -> None:
    found = crawl({"url": site.url("/"), "meta": {"render": True}})
    assert isinstance(found.errors[site.url("/")], EgressDenied)
    assert site.connections == 0


def test_navigation_is_a_redirect_that_obeys_robots_txt(render: Render, site: Any, response: Any) -> None:
    site.routes["/robots.txt"] = response(b"User-agent: *\nDisallow: /inner", content_type="text/plain")
    site.routes["/"] = html("<script>location.href = '/target'</script>")
    site.routes["/target"] = html("<p>到了")
    site.routes["/trap"] = html("<script>setTimeout(() => location.replace('/inner'), 100)</script>")
    site.routes["/inner"] = html("<p>内部")
    found = render("/", "/trap", settings={"ROBOTSTXT_OBEY": True})
    assert found.pages[site.url("/")].url == site.url("/target")
    assert "到了" in found.pages[site.url("/")].text
    assert isinstance(found.errors[site.url("/trap")], RobotsDenied)
    assert "/inner" not in site.paths()


def test_navigation_loops_end(render: Render, site: Any) -> None:
    for first, other in (("/a", "/b"), ("/b", "/a")):
        site.routes[first] = html(f"<script>location.href = '{other}'</script>")
    site.routes["/again"] = html("<p>同</p><script>location.reload()</script>")
    found = render("/a", "/again", settings={"REDIRECT_MAX_TIMES": 3})
    assert "max redirections" in str(found.errors[site.url("/a")])
    assert "同" in found.pages[site.url("/again")].text
    assert site.paths().count("/again") == 3


def test_page_may_set_a_cookie_and_reload(render: Render, site: Any) -> None:
    door = html("<script>document.cookie = 'seen=1'; location.reload()</script>", **{"set-cookie": "mark=2; HttpOnly"})
    browsers = []

    def answer(request: Any) -> bytes:
        if "seen=1" not in request.headers.get("cookie", ""):
            return door
        browsers.append(_browser_groups())
        return html("<p>里面")

    site.routes["/"] = answer
    found = render("/")
    assert "里面" in found.pages[site.url("/")].text
    assert "mark=2" in site.requests[-1].headers["cookie"]
    before = len(site.requests)
    again = render("/", wait=50)
    assert browsers[0]
    assert browsers[0] == browsers[1], "another limit of a page starts no other browser"
    assert "cookie" not in site.requests[before].headers, "no cookie is left for the next page"
    assert "里面" in again.pages[site.url("/")].text


HANGING = {
    "/loop": "<script>while (true);</script>",
    "/later": "<script>setTimeout(() => { while (true); }, 50)</script>",
    "/microtasks": "<script>(function f() { Promise.resolve().then(f) })()</script>",
    "/layout": "<script>for (;;) { document.body.append('x'); document.body.offsetHeight }</script>",
}


def test_hanging_pages_time_out_with_a_reason(render: Render, site: Any) -> None:
    for path, body in HANGING.items():
        site.routes[path] = html(body)
    found = render(*HANGING, timeout=3)
    assert {path: getattr(found.errors.get(site.url(path)), "reason", None) for path in HANGING} == dict.fromkeys(HANGING, "render-timeout")


def test_busy_pages_are_taken_as_they_are(render: Render, site: Any, slowly: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/javascript\r\n\r\n"
    site.routes["/slow.js"] = lambda request: iter([head, *slowly(b"/* */", 0.2, 60)])
    site.routes["/slow"] = html("<p>先</p><script src=/slow.js></script><p>后</p>")
    site.routes["/clock"] = html("<p id=p>钟</p><script>setInterval(() => document.body.append(Date.now()), 20)</script>")
    site.routes["/asks"] = html("<p>问</p><script>setInterval(() => fetch('/no?' + Math.random()), 50)</script>")
    site.routes["/endless"] = html(
        "<p>长</p><script>onscroll = () => document.body.insertAdjacentHTML('beforeend', '<br>'.repeat(999))</script>" + "<br>" * 500
    )
    found = render("/slow", "/clock", "/asks", "/endless", wait=2)
    assert found.errors == {}
    for path, text in {"/slow": "先", "/clock": "钟", "/asks": "问", "/endless": "长"}.items():
        assert text in found.pages[site.url(path)].text
    assert found.stats["render/restless/feed:x"] >= 3


def test_requests_of_a_page_are_limited(render: Render, site: Any) -> None:
    site.routes["/"] = html("<p>问</p><script>for (let n = 0; n < 20; n++) fetch('/no?' + n)</script>")
    found = render("/", requests=5)
    assert "问" in found.pages[site.url("/")].text
    assert sum(path.startswith("/no?") for path in site.paths()) == 5
    assert found.stats["render/blocked/requests"] > 0


def test_dialogs_windows_and_downloads_do_not_block(render: Render, site: Any, response: Any) -> None:
    site.routes["/file"] = response(b"x" * 1000, content_type="application/zip", content_disposition="attachment; filename=a.zip")
    site.routes["/"] = html(
        "<a id=a href=/file download>file</a><script>alert('a'); confirm('b'); prompt('c'); print(); window.open('/file');"
        "onbeforeunload = () => 'stay'; a.click(); document.body.append('好')</script>"
    )
    site.routes["/attached"] = html("<p>附</p>", **{"content-disposition": "attachment; filename=a.html"})
    found = render("/", "/attached")
    assert "好" in found.pages[site.url("/")].text
    assert "附" in found.pages[site.url("/attached")].text


def test_memory_of_pages_is_limited_and_crawl_continues(render: Render, site: Any, story: str) -> None:
    site.routes["/heap"] = html("<script>const kept = []; for (;;) kept.push({a: [1, 2, 3], b: kept.length + 'x'})</script>")
    step = "const b = new Uint8Array(3e7); b.fill(1); kept.push(b); document.body.append(document.createElement('p'))"
    site.routes["/buffers"] = html(f"<script>const kept = []; setInterval(() => {{ {step} }}, 20)</script>")
    found = render("/heap", "/buffers", story, memory=600 * 1024 * 1024, pages=1, wait=100, timeout=110)
    assert found.errors[site.url("/heap")].reason in {"render-crashed", "render-memory"}
    assert found.errors[site.url("/buffers")].reason == "render-memory"
    assert '<img src="/2.jpg">' in found.pages[site.url(story)].text


def test_oversized_page_is_refused_despite_tampering(render: Render, site: Any) -> None:
    long = "<p id=p hidden></p><script>p.textContent = 'x'.repeat(1.2e6)</script>"
    lie = "<script>Object.defineProperty(Element.prototype, 'outerHTML', {get: () => ''}); document.querySelector = null</script>"
    site.routes["/"], site.routes["/lie"] = html(long), html(long + lie)
    site.routes["/hidden"] = html("<p>真</p><script>Object.defineProperty(document, 'documentElement', {value: null})</script>")
    found = render("/", "/lie", "/hidden", max_bytes=1_000_000)
    for error in (found.errors[site.url("/")], found.errors[site.url("/lie")]):
        assert (error.reason, error.transient) == ("render-too-large", False)
    assert found.pages[site.url("/hidden")].text.startswith("<!DOCTYPE html><html>")
    assert "真" in found.pages[site.url("/hidden")].text


def test_bytes_of_a_page_are_limited(render: Render, site: Any, response: Any) -> None:
    for number in range(5):
        site.routes[f"/{number}.js"] = response(b"//" + b"x" * 300_000, content_type="text/javascript")
    site.routes["/"] = html("<p>字</p>" + "".join(f"<script src=/{number}.js></script>" for number in range(5)))
    found = render("/", max_bytes=700_000)
    assert "字" in found.pages[site.url("/")].text
    assert found.stats["render/bytes"] <= 700_000
    assert sum(found.stats.get(f"render/blocked/{reason}", 0) for reason in ("failed", "bytes")) == 3


def test_rendered_crawl_is_archived_and_replayed(render: Render, site: Any, story: str, tmp_path: Path) -> None:
    archive = tmp_path / "crawl.warc.gz"
    first = render(story, settings={"NEWSPORTAL_ARCHIVE": str(archive)}).pages[site.url(story)]
    site.routes.clear()
    requests = len(site.requests)
    again = render(story, settings={"NEWSPORTAL_REPLAY": str(archive)})
    assert again.pages[site.url(story)].text == first.text
    assert "rendered" in again.pages[site.url(story)].flags
    assert len(site.requests) == requests


def test_standalone_rendering(site: Any, make_site: Any, story: str) -> None:
    setup = Setup(Limits(timeout=20))
    policy = Policy(site.allow)
    site.routes["/door"] = html(f"<script>location.href = '{story}'</script>")
    page = standalone.fetch(site.url("/door"), policy, setup, headers={"user-agent": "mine"})
    assert page.url == site.url(story)
    assert b'<img src="/1.jpg">' in page.body
    assert {request.headers["user-agent"] for request in site.requests} == {"mine"}
    inside = make_site()
    site.routes["/in"] = html(f"<script src='{inside.url()}'></script><script>location.href = '{inside.url()}'</script>")
    with pytest.raises(EgressDenied):
        standalone.fetch(site.url("/in"), policy, setup)
    site.routes["/loop"] = html(HANGING["/loop"])
    with pytest.raises(FetchFailed, match="render-timeout"):
        standalone.fetch(site.url("/loop"), policy, Setup(Limits(timeout=2)))
    assert inside.connections == 0


def test_browser_that_cannot_start_fails_its_pages_only(
    render: Render, site: Any, story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setenv("NEWSPORTAL_CHROMIUM", str(broken))
    found = render(story, pages=1)
    error = found.errors[site.url(story)]
    assert isinstance(error, RenderFailed)
    assert error.reason == "no-browser"
    monkeypatch.setenv("NEWSPORTAL_CHROMIUM", str(tmp_path / "none"))
    assert "fix NEWSPORTAL_CHROMIUM" in str(render(story, pages=1).errors[site.url(story)])


def test_frozen_browser_is_killed(render: Render, site: Any, response: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped, others = [], process_tree(os.getpid())

    def stop(request: Any) -> bytes:
        for pid in set(process_tree(os.getpid())).difference(others):
            if b"--remote-debugging-pipe" in _command(pid) and b"--type=" not in _command(pid):
                os.kill(pid, signal.SIGSTOP)
                stopped.append(pid)
        return response(b"")

    for module in ("crawl.handlers.rendered", "net.rendering.chromium"):
        monkeypatch.setattr(f"newsportal.{module}.CLOSE_SECONDS", 1.0)
    site.routes["/stop.js"] = stop
    site.routes["/"] = html("<script src=/stop.js></script>")
    site.routes["/after"] = html("<p>好</p>")
    found = render("/", "/after", timeout=20, pages=1)  # time for a busy machine to reach the script
    assert found.errors[site.url("/")].reason == "render-timeout"
    assert site.paths().count("/stop.js") == 1
    assert stopped
    assert _ended(stopped)
    assert "好" in found.pages[site.url("/after")].text


CRAWLING = """
import os
import sys

os.setsid()
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

class Fetcher(Spider):
    name = "fetcher"
    async def start(self):
        for url in sys.argv[2:]:
            yield Request(url, errback=lambda failure: None, meta={"render": True}, dont_filter=True)
    def parse(self, response):
        print("page", response.url, flush=True)

handlers = dict.fromkeys(("http", "https"), "newsportal.crawl.handlers.Handler")
process = AsyncCrawlerProcess({"ADDONS": {}, "DOWNLOAD_HANDLERS": handlers, "NEWSPORTAL_ALLOW_PRIVATE": ["127.0.0.1:" + sys.argv[1]],
    "NEWSPORTAL_RENDERING": {"timeout": 60}, "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "ERROR"})
process.crawl(Fetcher)
process.start()
print("modules", sorted(name for name in sys.modules if "playwright" in name)[:1], flush=True)
"""


@pytest.fixture
def start_crawl(site: Any) -> Iterator[Callable[[str], Started]]:
    """Function that crawls a rendered page in a separate process and process group."""
    with ExitStack() as started:
        yield lambda path: started.enter_context(Started(str(site.port), site.url(path), script=CRAWLING, piped=True))


def _alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        found += [pid] if state not in "ZX" else []
    return found


def _command(pid: int) -> bytes:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def _browser_groups() -> set[int]:
    """Return the process groups of the browsers of this process."""
    found = set()
    for pid in process_tree(os.getpid()):
        if b"--remote-debugging-pipe" in _command(pid):
            with suppress(ProcessLookupError):
                found.add(os.getpgid(pid))
    return found


def _browsers(process: Started, site: Any) -> list[int]:
    """Return the processes started by a crawl once its page hangs in the browser."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        found = process_tree(process.pid)
        kinds = [_command(pid) for pid in found]
        if any(b"--type=renderer" in kind for kind in kinds) and "/in" in site.paths():
            return [pid for pid in found if pid != process.pid]
        time.sleep(0.1)
    raise TimeoutError("no page in the browser")


def _ended(pids: list[int]) -> bool:
    until = time.monotonic() + 600
    while _alive(pids) and time.monotonic() < until:
        time.sleep(0.1)
    return not _alive(pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("group", [False, True], ids=["crawl process only", "process group"])
def test_ended_crawl_leaves_no_browser(
    start_crawl: Callable[[str], Started], site: Any, response: Any, number: signal.Signals, group: bool
) -> None:
    site.routes["/in"] = response(b"", content_type="text/javascript")
    site.routes["/"] = html("<script src=/in></script><script>setTimeout(() => { while (true); }, 200)</script>")
    process = start_crawl("/")
    pids = _browsers(process, site)
    time.sleep(0.5)
    assert len(pids) > 3
    (os.killpg if group else os.kill)(process.pid, number)
    if number != signal.SIGKILL:
        time.sleep(0.5)
        with suppress(ProcessLookupError):  # it has ended
            (os.killpg if group else os.kill)(process.pid, number)  # at the second signal Scrapy does not wait for the page
    process.wait(600)
    assert _ended(pids), [Path(f"/proc/{pid}/cmdline").read_bytes()[:200] for pid in _alive(pids)]


def test_finished_crawl_leaves_no_browser(start_crawl: Callable[[str], Started], site: Any, response: Any) -> None:
    numbers = count()
    site.routes["/in"] = lambda request: (next(numbers), time.sleep(2), response(b""))[2]
    site.routes["/"] = html("<script src=/in></script>")
    process = start_crawl("/")
    pids = _browsers(process, site)
    printed, _ = process.communicate(timeout=600)
    assert f"page {site.url('/')}" in printed
    assert _ended(pids)
    site.routes["/feed"] = response(b"<rss/>", content_type="application/rss+xml")
    command = [sys.executable, "-c", CRAWLING, str(site.port), site.url("/feed")]  # without any previous imports
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600, check=True).stdout
    assert f"page {site.url('/feed')}" in printed
    assert "modules []" in printed
