"""``render: true`` in sources.yaml in a complete crawl, with and without a browser."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from forked import run

from newsportal.net.rendering import find_chromium
from newsportal.store import open_store

TEXT = "北京市文化和旅游局今天公布，第三季度全市接待游客人数同比增长一成，其中郊区的民宿和景区最受欢迎。"
OTHER = "上海图书馆东馆从本周起向读者开放，新馆设有六千个座位，全年举办上千场讲座、展览和亲子活动。"
FEED = "<?xml version='1.0'?><rss version='2.0'><channel><title>f</title>{items}</channel></rss>"
ITEM = "<item><title>{title}</title><link>{link}</link></item>"
PAGE = """<!DOCTYPE html><html><head><meta charset=utf-8><title>{title}</title></head><body><div id=root></div><script>
const part = (name, text) => {{ const e = document.createElement(name); e.textContent = text; root.append(e); }};
setTimeout(() => {{ part('h1', '{title}'); for (let i = 1; i < 7; i++) part('p', '第' + i + '段：{text}'); }}, 300);
</script></body></html>"""
PLAIN = "<!DOCTYPE html><html><head><meta charset=utf-8><title>{title}</title></head><body><h1>{title}</h1>{paragraphs}</body></html>"


@pytest.fixture
def sources(site: Any, response: Any, tmp_path: Path) -> Path:
    """Two feeds: one with articles made by scripts, one with plain articles."""
    for feed, title in (("made", "北京旅游人数增长"), ("plain", "上海图书馆开放新馆")):
        link = site.url(f"/{feed}.html")
        site.routes[f"/{feed}.xml"] = response(FEED.format(items=ITEM.format(title=title, link=link)).encode(), content_type="text/xml")
        paragraphs = "".join(f"<p>第{number}段：{OTHER}</p>" for number in range(1, 7))
        text = PAGE.format(title=title, text=TEXT) if feed == "made" else PLAIN.format(title=title, paragraphs=paragraphs)
        site.routes[f"/{feed}.html"] = response(text.encode(), content_type="text/html; charset=utf-8")
    file = tmp_path / "sources.yaml"
    file.write_text(
        f"politeness: {{allow_private: ['127.0.0.1:{site.port}'], delay: 0.1}}\nfeeds:\n"
        f"- {{name: made, url: '{site.url('/made.xml')}', render: true}}\n- {{name: plain, url: '{site.url('/plain.xml')}'}}\n",
        "utf-8",
    )
    return file


def _crawled(sources: Path, **environment: str) -> tuple[dict[str, Any], str]:
    done = run("crawl", "rss", "--json", "--sources", str(sources), **environment)
    assert done.returncode == 0, done.stderr
    return {row["source"]: row for row in json.loads(done.stdout)["sources"]}, done.stderr


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None or find_spec("scrapy_playwright") is None, reason="needs Chromium and playwright (make tools)")
def test_articles_made_by_scripts_are_stored(sources: Path, site: Any) -> None:
    rows, _ = _crawled(sources)
    assert [rows[name]["stored"] for name in ("feed:made", "feed:plain")] == [1, 1]
    assert rows["feed:made"]["notes"][0]["text"].startswith("1 page rendered in ")
    assert rows["feed:plain"]["notes"] == []
    store = open_store(f"sqlite:///{sources.parent / 'data' / 'newsportal.db'}")
    found = next(article for article in store.all_articles() if article.source == "feed:made")
    store.close()
    assert found.title == "北京旅游人数增长"
    assert found.text is not None
    assert found.text.count(TEXT) == 6
    assert site.paths().count("/made.html") == 1


@pytest.mark.slow
def test_missing_browser_fails_its_sources_only(sources: Path, site: Any) -> None:
    rows, log = _crawled(sources, NEWSPORTAL_CHROMIUM="/nowhere/chromium")
    assert rows["feed:plain"]["stored"] == 1
    assert rows["feed:made"]["list_failed"] == {"no-browser": 1}
    assert "fix NEWSPORTAL_CHROMIUM" in rows["feed:made"]["notes"][0]["text"]
    assert "feed:made is not visited, since its pages need rendering: there is no browser '/nowhere/chromium'" in log
    assert not any("made" in path for path in site.paths())
    store = open_store(f"sqlite:///{sources.parent / 'data' / 'newsportal.db'}")
    state = store.source_state("feed:made")
    store.close()
    assert state.last_error is not None
    assert state.last_error.startswith("no-browser: ")
    assert state.failures_in_row == 1
