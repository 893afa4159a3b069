"""The claim: a page in the browser costs a second of one core or less, and its memory is bounded.

    python benchmarks/rendering.py [PAGES] [--at-once 1 2 4]

Made-up photo stories are served that a script makes of data (four requests a page; twelve lazy pictures, whose addresses alone are wanted).
They are crawled as they are, and rendered with one, two and more pages open at once. Needs the extra ``render`` and Chromium.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHOTS = 12
SCRIPT = """
fetch('/data/' + location.pathname.slice(1) + '.json').then(answer => answer.json()).then(shots => {
  for (const shot of shots) {
    const box = document.createElement('figure');
    box.style.height = '700px';
    box.innerHTML = `<img data-src="${shot.url}"><figcaption>${shot.caption}</figcaption>`;
    document.body.append(box);
    watcher.observe(box.firstChild);
  }
});
const watcher = new IntersectionObserver(seen => seen.forEach(one => { if (one.isIntersecting) one.target.src = one.target.dataset.src; }));
"""
LIBRARY = "".join(f"function f{n}(a) {{ return a.map(b => b * {n}).filter(Boolean); }}\n" for n in range(3000))
"""A script of the length of the libraries that pages load: some 180 kB."""


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return

    def do_GET(self) -> None:
        if self.path.startswith("/data/"):
            shots = [{"url": f"/{number}.jpg", "caption": f"第{number}张图片的说明文字"} for number in range(SHOTS)]
            self._say("application/json", json.dumps(shots))
        elif self.path.endswith(".js"):
            self._say("text/javascript", LIBRARY if "library" in self.path else SCRIPT)
        elif self.path.endswith(".css"):
            self._say("text/css", "figure { margin: 1em }" * 500)
        else:
            head = "<link rel=stylesheet href=/style.css><script src=/library.js></script>"
            self._say("text/html; charset=utf-8", f"<title>{self.path}</title>{head}<body><script src=/story.js></script>")

    def _say(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


CRAWL = """
import json, resource, sys, time
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

port, pages, at_once = map(int, sys.argv[1:])
whole = []

class Fetcher(Spider):
    name = "fetcher"
    async def start(self):
        for number in range(pages):
            yield Request(f"http://127.0.0.1:{port}/{number}", meta={"render": at_once > 0, "source": "x"}, dont_filter=True)
    def parse(self, response):
        whole.append(response.text.count('<img data-src="') == response.text.count(' src="/') - 2 == 12)

handlers = dict.fromkeys(("http", "https"), "newsportal.crawl.handlers.Handler")
process = AsyncCrawlerProcess({"ADDONS": {}, "DOWNLOAD_HANDLERS": handlers, "NEWSPORTAL_ALLOW_PRIVATE": ["127.0.0.1"], "LOG_LEVEL": "ERROR",
    "NEWSPORTAL_RENDERING": {"pages": max(1, at_once)}, "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False})
crawler = process.create_crawler(Fetcher)
process.crawl(crawler)
began = time.monotonic()
process.start()
seconds = time.monotonic() - began
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({"seconds": seconds, "own": used[0].ru_utime + used[0].ru_stime, "browser": used[1].ru_utime + used[1].ru_stime,
    "whole": sum(whole), "memory": crawler.stats.get_value("render/memory_peak", 0), "failed": pages - len(whole)}))
"""


def measured(port: int, pages: int, at_once: int) -> dict[str, float]:
    command = [sys.executable, "-c", CRAWL, str(port), str(pages), str(at_once)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="?", type=int, default=60)
    parser.add_argument("--at-once", nargs="+", type=int, default=[1, 2, 4], help="pages open at the same time")
    args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(
        f"{args.pages} pages; seconds of the processor a page: the crawl's own, and the driver's and browser's; pages with all pictures\n"
    )
    print("| pages at once | pages/s | own | browser | memory | whole |\n|---|---|---|---|---|---|")
    for at_once in (0, *args.at_once):
        time.sleep(0.5)
        result = measured(server.server_address[1], args.pages, at_once)
        name = at_once or "not rendered"
        shares = " | ".join(f"{result[key] / args.pages:.3f}" for key in ("own", "browser"))
        memory = f"{result['memory'] / 1e6:.0f} MB" if at_once else "–"
        complete = f"{result['whole']:.0f} of {args.pages}" if at_once else "–"
        print(f"| {name} | {args.pages / result['seconds']:.1f} | {shares} | {memory} | {complete} |", flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
