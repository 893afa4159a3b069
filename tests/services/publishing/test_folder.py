"""A folder as a target: files with the article's fields, safe names, replacement and removal."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
import yaml
from cms import run, work_on
from factories import NOW

from newsportal.items import Image
from newsportal.services.publishing.folder import MAX_NAME_BYTES, escape_markdown, markdown, page, safe_name, shorten, write
from newsportal.services.publishing.run import pending
from newsportal.store.store import Store

Add = Callable[..., str]


def target(folder: Path, **more: str) -> str:
    return f"- name: files\n  to: 'folder:{folder}/出 口'\n" + "".join(f"  {key}: {value}\n" for key, value in more.items())


def files(folder: Path) -> dict[str, str]:
    root = folder / "出 口"
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in sorted(root.rglob("*")) if path.is_file()}


def test_article_becomes_file_with_front_matter(store: Store, add: Add, tmp_path: Path) -> None:
    id = add("桥", title='桥: "通车" --- #1', text="第一段 *不是* 斜体\n# 不是标题\n1. 不是列表 <b>", topic="城市")
    assert run(store, tmp_path, target(tmp_path)).published == 1
    ((name, content),) = files(tmp_path).items()
    assert name == f"2026-03-01-青河网-{id}.md"
    head, _, body = content.removeprefix("---\n").partition("\n---\n")
    fields = yaml.safe_load(head)
    assert (fields["title"], fields["site"], fields["topics"], fields["id"]) == ('桥: "通车" --- #1', "青河网", ["城市"], id)
    assert body.strip() == "第一段 \\*不是\\* 斜体\n\n\\# 不是标题\n\n1\\. 不是列表 \\<b\\>"


def test_html_pages_are_safe(store: Store, add: Add, tmp_path: Path) -> None:
    add("桥", title="<script>x</script>", html='<p onclick="x()">正文</p><script>x</script><img src="javascript:x">', author='"><b>')
    run(store, tmp_path, target(tmp_path, format="html"))
    ((name, content),) = files(tmp_path).items()
    assert name.endswith(".html")
    assert "<p>正文</p>" in content
    assert not [markup for markup in ("<script", "onclick", "javascript:", "<b>") if markup in content]


def test_revision_replaces_the_file_even_if_renamed(store: Store, add: Add, tmp_path: Path) -> None:
    add("a")
    config = target(tmp_path, file='"{title}/{id}"')
    run(store, tmp_path, config)
    add("a", title="改过的标题")
    assert run(store, tmp_path, config).revised == 1
    assert [Path(name).parts[0] for name in files(tmp_path)] == ["改过的标题"]


def test_withdrawn_file_is_removed(store: Store, add: Add, tmp_path: Path) -> None:
    id = add("a")
    add("b")
    run(store, tmp_path, target(tmp_path))
    store.outbox.request("files", [id], "withdraw", now=NOW)
    assert run(store, tmp_path, target(tmp_path)).withdrawn == 1
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize(
    "hostile", ["../../etc/passwd", "/etc/passwd", "..", "a\x00b", "con", "x" * 400, "长" * 200, "a\\b:c*?", ". .", "\u202e"]
)
def test_file_names_stay_within_the_folder(store: Store, add: Add, tmp_path: Path, hostile: str) -> None:
    id = add("a", title=hostile, site=hostile)
    tally = run(store, tmp_path, target(tmp_path, file='"{site}/{title}-{id}"'))
    assert (tally.published, tally.unavailable) == (1, None)
    ((name, _),) = files(tmp_path).items()
    assert id in name
    assert all(len(part.encode()) <= MAX_NAME_BYTES + 5 for part in Path(name).parts)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("出 口", "news.db", "news.db-wal", "news.db-shm")] == []


def test_symlink_out_of_the_folder_is_refused(store: Store, add: Add, tmp_path: Path) -> None:
    (tmp_path / "出 口").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "出 口" / "青河网").symlink_to(tmp_path / "elsewhere")
    add("a")
    tally = run(store, tmp_path, target(tmp_path, file='"{site}/{id}"'))
    assert (tally.published, tally.failed) == (0, 1)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_unusable_folder_is_waited_for(store: Store, add: Add, tmp_path: Path) -> None:
    add("a")
    (tmp_path / "出 口").write_text("no folder")
    tally = run(store, tmp_path, target(tmp_path))
    assert tally.unavailable is not None
    assert "it is not a folder" in tally.unavailable
    (tmp_path / "出 口").unlink()
    assert run(store, tmp_path, target(tmp_path)).published == 1


def test_dry_run_creates_no_folder(store: Store, add: Add, tmp_path: Path) -> None:
    add("a")
    with work_on(store, tmp_path, target(tmp_path)) as work:
        steps = [step for article, entry in pending(work) for step in work.target.steps(article, entry)]
    assert [step.operation.partition(" ")[0] for step in steps] == ["write"]
    assert not (tmp_path / "出 口").exists()


def test_urls_are_escaped_in_html_and_markdown(store: Store, add: Add) -> None:
    article = store.articles([add("a")])[0]
    assert 'href="javascript' not in page(replace(article, url="javascript:alert(1)"), UTC)
    assert '<a href="https://' in page(article, UTC)
    picture = Image("https://a.example/1.jpg\n\n[a]: javascript:alert\u2028(1) <b>\\")
    (line,) = [line for line in markdown(replace(article, images=(picture,)), UTC).splitlines() if "1.jpg" in line and line.startswith("!")]
    assert line == "![](https://a.example/1.jpg%0A%0A[a]:%20javascript:alert%E2%80%A8%281%29%20%3Cb%3E%5C)"


def test_concurrent_publishers_use_different_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in two containers with the same process id, with file names of the same beginning."""
    first, second = (tmp_path / f"{'长' * 50}-{name}.md" for name in "ab")
    monkeypatch.setattr("os.getpid", lambda: 1)
    sync = os.fsync

    def write_other(file: int) -> None:
        monkeypatch.setattr("os.fsync", sync)
        write(second, "two")
        sync(file)

    monkeypatch.setattr("os.fsync", write_other)
    write(first, "one, longer")
    assert (first.read_text(), second.read_text()) == ("one, longer", "two")
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_safe_names_and_escaped_lines() -> None:
    assert safe_name("a/b\\c:d") == "a-b-c-d"
    assert safe_name(" .桥 通\n车. ") == "桥 通 车"
    assert safe_name("CON") == "_CON"
    assert shorten("长" * 100 + "-abc", "abc").endswith("-abc")
    assert escape_markdown("12) a") == "12\\) a"
    assert escape_markdown("a & b &lt;") == "a &amp; b &amp;lt;"
