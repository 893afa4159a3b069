"""``newsportal extract DIR`` with a learning algorithm: learns sites with several pages first, then extracts in the folder's order."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from newsportal.cli import extract
from newsportal.cli.pages import page_urls, saved_pages
from newsportal.errors import LibraryError
from newsportal.items import Extraction, Link
from newsportal.text.dom import Document


class Recorder:
    """Records its calls, and fails on one page."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str | None]] = []
        self.found: list[Extraction | None] = []

    def learn(self, document: Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        self.found.append(found)
        assert fetched.tzinfo is not None
        self.calls.append(("learn", document.url, link.summary if link else None))
        if document.url.endswith("/2"):
            raise RecursionError("a page that breaks the reader")

    def __call__(self, document: Document, link: Link | None, fetched: datetime) -> Extraction:
        self.calls.append(("ask", document.url, link.summary if link else None))
        return Extraction(title=document.root.findtext(".//title"), text="正文", algorithm="recorder")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, url in (
        ("a", "https://www.gangwan.example/1"),
        ("b", None),
        ("c", "https://alone.example/1"),
        ("d", "http://gangwan.example/2"),
        ("e", "https://gangwan.example/3"),
    ):
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title>", "utf-8")
        if url:
            (tmp_path / f"{name}.json").write_text(json.dumps({"url": url, "summary": f"摘要{name}"}))
    (tmp_path / "f.html.gz").write_bytes(b"\x1f\x8bbroken")
    (tmp_path / "f.json").write_text(json.dumps({"url": "https://gangwan.example/4"}))
    return tmp_path


def test_pages_of_shared_sites_are_learnt_first(folder: Path) -> None:
    run = Recorder()
    rows = list(extract.answers(str(folder), None, "recorder", run))
    assert [row["id"] for row in rows] == ["a", "b", "c", "d", "e", "f"]
    assert [row["title"] for row in rows] == ["a", "b", "c", "d", "e", None]
    assert "gzip" in rows[-1]["error"]
    learnt = ["https://www.gangwan.example/1", "http://gangwan.example/2", "https://gangwan.example/3"]
    assert [url for kind, url, _ in run.calls[:3] if kind == "learn"] == learnt
    assert [kind for kind, *_ in run.calls[3:]] == ["ask"] * 5
    assert run.calls[0][2] == "摘要a"


def test_results_are_yielded_one_by_one(folder: Path) -> None:
    run = Recorder()
    rows = extract.answers(str(folder), None, "recorder", run)
    next(rows)
    assert [kind for kind, *_ in run.calls] == ["learn"] * 3 + ["ask"]


def test_single_file_is_not_learnt(folder: Path) -> None:
    run = Recorder()
    list(extract.answers(str(folder / "a.html"), "https://gangwan.example/1", "recorder", run))
    assert {kind for kind, *_ in run.calls} == {"ask"}


def test_plain_function_does_not_learn(folder: Path) -> None:
    urls = []

    def plain(document: Document, link: Link | None, fetched: datetime) -> Extraction:
        urls.append(document.url)
        return Extraction(text="正文")

    assert len(list(extract.answers(str(folder), None, "plain", plain))) == 6
    assert len(urls) == 5


def test_addresses_are_read_without_the_pages(folder: Path) -> None:
    assert sorted(page_urls(folder))[-1] == "https://www.gangwan.example/1"
    assert len(list(page_urls(folder))) == 5
    assert [page.id for page in saved_pages(folder, lambda url: url is None)] == ["b"]


def test_single_page_is_learnt_if_the_library_is_kept(folder: Path) -> None:
    run = Recorder()
    list(extract.answers(str(folder), None, "recorder", run, keeping=True))
    assert "https://alone.example/1" in [url for kind, url, _ in run.calls if kind == "learn"]
    run = Recorder()
    list(extract.answers(str(folder / "a.html"), "https://gangwan.example/1", "recorder", run, keeping=True))
    assert [kind for kind, *_ in run.calls] == ["ask", "learn"]
    assert [found and found.text for found in run.found] == ["正文"], "it learns the article with the page"


PROMOTION = "更多港湾新闻，欢迎关注“港湾发布”公众号，每天早上七点，我们准时把城里的大小事情送到您的手边。"


def save(path: Path, name: str) -> None:
    lines = [f"{name}的修缮昨天完工，第{number}段用的是镇上老人自己挑的青石，走了六十年的路终于不再积水。" for number in "一二三四五六"]
    text = "".join(f"<p>{line}</p>" for line in (*lines, PROMOTION))
    path.write_text(
        f"<html><head><title>{name}修好了</title></head><body><h1>{name}修好了</h1><div class=text>{text}</div></body></html>", "utf-8"
    )


def test_best_keeps_its_library_of_sites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "a.html", "码头")
    save(tmp_path / "b.html", "东站")
    texts = []
    for name in ("a", "b"):
        extract.extract(str(tmp_path / f"{name}.html"), f"https://gangwan.example/news/{name}00", library=tmp_path / "sites.json")
        texts.append(json.loads(capsys.readouterr().out)["text"])
    assert PROMOTION in texts[0]
    assert PROMOTION not in texts[1]
    assert texts[1].count("东站") == 6


def test_pages_with_the_same_title_do_not_confirm_boilerplate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        save(tmp_path / f"{name}.html", "码头" if name == "a" else "东站")
        html = (tmp_path / f"{name}.html").read_text("utf-8").replace("码头修好了", "城里的事").replace("东站修好了", "城里的事")
        (tmp_path / f"{name}.html").write_text(html, "utf-8")
        extract.extract(str(tmp_path / f"{name}.html"), f"https://gangwan.example/news/{name}00", library=tmp_path / "sites.json")
        assert PROMOTION in json.loads(capsys.readouterr().out)["text"]


def test_library_of_another_algorithm_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a.html", "码头")
    library = tmp_path / "kept.json"
    for first, second in (("best", "url_tree"), ("url_tree", "best")):
        library.unlink(missing_ok=True)
        extract.extract(str(tmp_path / "a.html"), "https://gangwan.example/1", algorithm=first, library=library)
        content = library.read_bytes()
        with pytest.raises(LibraryError, match=r"kept\.json: .* name another file"):
            extract.extract(str(tmp_path / "a.html"), "https://gangwan.example/1", algorithm=second, library=library)
        assert library.read_bytes() == content
