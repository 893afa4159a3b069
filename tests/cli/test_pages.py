"""Saved pages from files and folders, with or without gzip; an invalid page gives its reason and the next one follows."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from newsportal.cli import pages
from newsportal.cli.pages import BadPage, page_id, read_bounded, saved_pages


def test_folder_gives_its_pages_by_name(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_bytes("<p>乙".encode())
    (tmp_path / "a.html.gz").write_bytes(gzip.compress("<p>甲".encode()))
    (tmp_path / "c.htm").write_bytes(b"<p>c")
    (tmp_path / "notes.txt").write_bytes(b"no page")
    (tmp_path / "sub.html").mkdir()
    assert [(page.id, page.body.decode()) for page in saved_pages(tmp_path)] == [("a", "<p>甲"), ("b", "<p>乙"), ("c", "<p>c")]


def test_url_and_summary_are_read_from_the_description(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x")
    (tmp_path / "a.json").write_text(json.dumps({"url": "https://a.example/1", "summary": " 摘要 ", "text": "gold"}))
    (tmp_path / "h.html.gz").write_bytes(gzip.compress(b"x"))
    (tmp_path / "h.json").write_text(json.dumps({"base": "https://a.example/", "summary": None}))
    found = {page.id: (page.url, page.summary) for page in saved_pages(tmp_path)}
    assert found == {"a": ("https://a.example/1", "摘要"), "h": ("https://a.example/", None)}


@pytest.mark.parametrize("description", ["", "{", "[]", "[" * 100_000, '{"url": 3}', "\x00\x01"])
def test_broken_description_is_ignored(tmp_path: Path, description: str) -> None:
    (tmp_path / "a.html").write_bytes(b"x")
    (tmp_path / "a.json").write_text(description)
    (page,) = saved_pages(tmp_path)
    assert (page.url, page.summary, page.error) == (None, None, None)


def test_decompression_bomb_is_an_error_and_next_page_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.read_bounded, "__defaults__", (10_000,))
    (tmp_path / "bomb.html.gz").write_bytes(gzip.compress(bytes(5_000_000)))
    (tmp_path / "broken.html.gz").write_bytes(gzip.compress(b"half" * 1000)[:-12])
    (tmp_path / "garbage.html.gz").write_bytes(b"\x1f\x8bnot gzip")
    (tmp_path / "good.html").write_bytes(b"good")
    found = {page.id: (page.error or "", page.body) for page in saved_pages(tmp_path)}
    assert "larger than 10000 bytes" in found["bomb"][0]
    assert "truncated" in found["broken"][0]
    assert "broken gzip" in found["garbage"][0]
    assert found["good"] == ("", b"good")


def test_uncompressed_file_named_gz_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html.gz").write_bytes(b"<p>plain")
    assert next(saved_pages(tmp_path)).body == b"<p>plain"


def test_standard_input_is_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(b"<p>in"))

    monkeypatch.setattr("sys.stdin", Stdin())
    (page,) = saved_pages("-")
    assert (page.id, page.body) == ("-", b"<p>in")


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        list(saved_pages(tmp_path / "nowhere"))


def test_size_limit_is_exact() -> None:
    assert read_bounded(io.BytesIO(b"12345"), limit=5) == b"12345"
    with pytest.raises(BadPage):
        read_bounded(io.BytesIO(b"123456"), limit=5)
    assert read_bounded(io.BytesIO(gzip.compress(b"12345")), limit=5) == b"12345"


@pytest.mark.parametrize(
    ("name", "expected"), [("a.b.html.gz", "a.b"), ("页.HTML", "页"), ("x.htm", "x"), ("noend", "noend"), ("a.bin", "a")]
)
def test_page_id(name: str, expected: str) -> None:
    assert page_id(Path(name)) == expected
