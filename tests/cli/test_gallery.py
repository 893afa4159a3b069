"""``newsportal gallery``: one line per saved page, or all pages of a URL."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from factories import run_command
from typer.testing import Result

from newsportal.cli import gallery
from newsportal.errors import FetchFailed
from newsportal.items import Page

URL = "https://photo.example/2026/c10235.html"
CAPTIONS = ("工匠给龙舟上最后一遍桐油。", "十二岁的鼓手第一次坐上船头。", "三百艘龙舟从七个码头出发。")


def html(at: int) -> bytes:
    return (
        f"<title>龙舟下水({at}/3)_图片网</title><body><h1>龙舟下水</h1>"
        f"<div class=photo><img src=/up/7f{at}3.jpg><p>{CAPTIONS[at - 1]}</p></div>"
    ).encode()


def numbered(at: int) -> str:
    return URL if at == 1 else URL.replace(".html", f"_{at}.html")


run = partial(run_command, "gallery")


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes | int]:
    """Bodies or statuses by URL; 404 for all others."""
    pages: dict[str, bytes | int] = {numbered(at): html(at) for at in (1, 2, 3)}

    def fetched(url: str) -> Page:
        body = pages.get(url, 404)
        if body == 0:
            raise FetchFailed(url, "timeout")
        return Page(url, b"" if isinstance(body, int) else body, datetime.now(UTC), body if isinstance(body, int) else 200)

    monkeypatch.setattr(gallery, "fetch_public", fetched)
    monkeypatch.setattr(gallery, "DELAY", 0.0)
    return pages


def test_url_is_read_over_all_its_pages(web: dict[str, bytes | int]) -> None:
    (row,) = lines(run(URL, "--pattern", "{id}_{n}.html", "--json"))
    assert [image["caption"] for image in row["images"]] == list(CAPTIONS)
    assert (row["title"], row["complete"], row["total"], row["missing"]) == ("龙舟下水", True, 3, [])
    assert row["pages"] == [numbered(at) for at in (1, 2, 3)]


@pytest.mark.parametrize("status", [0, 503])
def test_failing_page_is_named_and_story_incomplete(web: dict[str, bytes | int], status: int) -> None:
    web[numbered(2)] = status
    result = run(URL, "--pattern", "{id}_{n}.html", "--json")
    (row,) = lines(result)
    assert (row["missing"], row["complete"], len(row["images"])) == ([2], False, 2)
    assert numbered(2) in result.stderr
    assert "try again later" in result.stderr


def test_further_pages_are_found_by_usual_names(web: dict[str, bytes | int]) -> None:
    def silent(at: int, title: str = "龙舟下水") -> bytes:
        return html(at).replace(f"({at}/3)".encode(), b"").replace("龙舟下水".encode(), title.encode())

    web.update({numbered(at): silent(at) for at in (1, 2, 3)})
    (row,) = lines(run(URL, "--json"))
    assert (len(row["images"]), row["complete"]) == (3, True)
    web[numbered(2)] = silent(2, "北麓冰上帆船赛")
    (row,) = lines(run(URL, "--json"))
    assert (len(row["images"]), row["complete"]) == (1, True), "another story has this URL"
    web[numbered(2)] = 0
    (row,) = lines(run(URL, "--json"))
    assert (len(row["images"]), row["complete"]) == (1, True), "only a guess suggests further pages"


def test_missing_url_gives_an_error(web: dict[str, bytes | int]) -> None:
    (row,) = lines(run("https://photo.example/2026/gone.html", "--json"))
    assert row["error"] == "http-404"


def test_folder_gives_one_line_per_page(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(html(1))
    (tmp_path / "a.json").write_text(json.dumps({"url": URL}))
    (tmp_path / "b.html").write_text("<p>只有文字</p>", "utf-8")
    (tmp_path / "c.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    first, second, third = lines(run(str(tmp_path), "--json"))
    assert (first["id"], first["url"], first["images"]) == (
        "a",
        URL,
        [{"url": "https://photo.example/up/7f13.jpg", "caption": CAPTIONS[0], "width": None, "height": None}],
    )
    assert second["error"].startswith("no-pictures")
    assert "gzip" in third["error"]


def test_output_as_table(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_bytes(html(1))
    result = run(str(page), "--url", URL)
    assert "龙舟下水" in result.stdout
    assert "pages missing: 2, 3" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("nowhere.html",), 1), ((URL, "--pattern", "{id}.html"), 2), ((".", "--url", URL), 2), (("x", "--url", "ftp://x"), 2)],
)
def test_invalid_usage_is_reported(arguments: tuple[str, ...], code: int) -> None:
    assert run(*arguments).exit_code == code
