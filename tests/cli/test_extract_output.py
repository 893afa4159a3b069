"""``newsportal extract --format``: only the bodies, of one page or a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal.cli import app

FIRST = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
SECOND = "全程票价六元，学生半价，老人免费；换乘优惠自下月一日起执行，各站都有公告。"
HTML = f"<title>滨海新线今晨通车_滨海网</title><h1>滨海新线今晨通车</h1><div><p>{FIRST}</p><h2>票价</h2><p>{SECOND}</p></div>"
BODIES = {
    "text": f"{FIRST}\n票价\n{SECOND}\n",
    "html": f"<p>{FIRST}</p><h2>票价</h2><p>{SECOND}</p>\n",
    "markdown": f"# 滨海新线今晨通车\n\n{FIRST}\n\n## 票价\n\n{SECOND}\n",
}
ENDINGS = {"text": "txt", "html": "html", "markdown": "md"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.html").write_text(HTML, "utf-8")
    (pages / "b.html").write_text("<title>404 not found</title>", "utf-8")
    return pages


@pytest.mark.parametrize("form", BODIES)
def test_body_of_one_page(folder: Path, tmp_path: Path, form: str) -> None:
    result = CliRunner().invoke(app, ["extract", str(folder / "a.html"), "--format", form])
    assert (result.exit_code, result.stdout) == (0, BODIES[form])
    assert CliRunner().invoke(app, ["extract", str(folder / "a.html"), "-f", form, "-o", str(tmp_path / "out")]).stdout == ""
    assert (tmp_path / "out").read_text("utf-8") == BODIES[form]


@pytest.mark.parametrize("form", BODIES)
def test_folder_gives_one_file_per_page_with_a_body(folder: Path, tmp_path: Path, form: str) -> None:
    result = CliRunner().invoke(app, ["extract", str(folder), "--format", form, "--out", str(tmp_path / "new" / "bodies")])
    assert result.exit_code == 0
    assert "b: soft-404" in result.stderr
    (written,) = (tmp_path / "new" / "bodies").iterdir()
    assert (written.name, written.read_text("utf-8")) == (f"a.{ENDINGS[form]}", BODIES[form])


def test_invalid_usage_is_reported(folder: Path) -> None:
    unknown = CliRunner().invoke(app, ["extract", str(folder), "--format", "docx"], env={"COLUMNS": "200"})
    assert unknown.exit_code == 2
    assert "json, markdown, text, html" in unknown.output
    unnamed = CliRunner().invoke(app, ["extract", str(folder), "--format", "markdown"], env={"COLUMNS": "200"})
    assert unnamed.exit_code == 2
    assert "name a folder with --out" in unnamed.output
