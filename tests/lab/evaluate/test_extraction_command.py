"""``newsportal evaluate extraction``: folders, algorithms and peers compared in a table, as JSON and as an HTML report."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from factories import run_command

from newsportal.errors import DependencyMissing
from newsportal.extractors import extractor
from newsportal_lab.evaluate import peers, report
from newsportal_lab.evaluate.extraction import numeric_parameters
from newsportal_lab.evaluate.gold import GoldPage, gold_pages
from newsportal_lab.evaluate.running import VARIANTS, has_jieba_characters, has_jieba_words, readers

FIGURES = ["pages", "precision", "recall", "f1", "page_f1", "good", "score", "valid", "has_body", "only_body"]
FIGURES += ["title", "date", "author", "source", "unanswered", "ms"]
Save = Callable[..., dict[str, Any]]


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a peer that returns a fixed text or raises."""

    def run(body: bytes, url: str | None) -> dict[str, str | None]:
        if b"404" in body:
            raise LookupError("<b>no page</b>")
        return {"text": "<script>alert(1)</script>今天早上六点", "title": "<i>题</i>", "date": "2024-03-05"}

    monkeypatch.setitem(peers.PEERS, "echo", ("json", run))


run = partial(run_command, "evaluate", "extraction")


def rows(*arguments: object) -> list[dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def save_page(folder: Path, html: str) -> GoldPage:
    folder.mkdir()
    (folder / "1.html").write_text(f"<html><head><title>题</title></head><body>{html}</body></html>", "utf-8")
    (folder / "1.json").write_text('{"text": "正文"}', "utf-8")
    return next(iter(gold_pages(folder)))


def test_each_folder_and_the_total_have_a_row(folders: list[Path]) -> None:
    found = rows(*folders, "-a", "best", "-a", "cevc")
    sets = [("第一 组", 3), ("second", 2), ("all", 5)]
    expected = [(name, algorithm, pages) for name, pages in sets for algorithm in ("best", "cevc")]
    assert [(row["set"], row["algorithm"], row["pages"]) for row in found] == expected
    assert list(found[0]) == ["set", "algorithm", *FIGURES]
    best = found[0]
    assert (best["precision"], best["title"], best["date"]) == (1.0, 0.6667, 0.6667)
    assert best["recall"] < 1
    assert best["ms"] > 0
    assert found[2]["unanswered"] == 1
    assert found[4]["f1"] == pytest.approx(
        2 * found[4]["precision"] * found[4]["recall"] / (found[4]["precision"] + found[4]["recall"]), abs=1e-3
    )


def test_folders_with_same_name_are_listed_by_path(folders: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "second"
    other.parent.mkdir()
    shutil.copytree(folders[1], other)
    found = rows(folders[1], other, folders[1], "-a", "cevc")
    assert [(row["set"], row["pages"]) for row in found] == [(str(folders[1]), 2), (str(other), 2), ("all", 4)]


def test_by_site_adds_rows_per_site(folders: list[Path]) -> None:
    sites = [row["set"] for row in rows(*folders, "-a", "cevc", "--by-site", 2)][3:]
    assert sites == ["a.example", "b.example"]


def test_page_kinds_have_rows_if_gold_has_several(folders: list[Path]) -> None:
    for folder, kind in zip(folders, ("article", "product"), strict=True):
        for file in folder.glob("*.json"):
            file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"kind": kind}), "utf-8")
    found = rows(*folders, "-a", "best")
    assert [(row["set"], row["pages"]) for row in found][3:] == [("article", found[0]["pages"]), ("product", found[1]["pages"])]
    assert len(rows(folders[0], "-a", "best")) == 1


def test_peer_is_compared_and_its_errors_reported(folders: list[Path], echo: None) -> None:
    best, other, worst, *_ = rows(folders[1], "-p", "echo", "-w", 1)
    assert (best["algorithm"], other["algorithm"], other["unanswered"]) == ("best", "echo", 1)
    assert (worst["worst_of"], worst["id"], worst["f1"], list(worst["others"])) == ("best", "none", 0.0, ["echo"])
    assert worst["error"].startswith("soft-404")
    *_, broken = rows(folders[1], "-p", "echo", "-w", 1)
    assert (broken["id"], broken["error"]) == ("none", "LookupError: <b>no page</b>")


def test_terminal_output_is_tables(folders: list[Path], echo: None) -> None:
    output = run(*folders, "-p", "echo", "--worst", 2).stdout
    assert "第一 组, 3 pages" in output
    assert "all, 5 pages" in output
    assert "worst of best" in output
    assert "second/none" in output
    assert "soft-404" in output
    assert re.search(r"echo +\d", output)


def test_narrow_terminal_shows_all_figures(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_width", lambda: 60)
    output = run(folders[1], "--worst", 1).stdout
    assert re.search(r"^best +((\d+\.\d|–) +){13}\d +\d+\.\d", output, re.MULTILINE)
    heading, line = output.partition("worst of cevc")[2].splitlines()[1:3]
    assert heading.split() == ["page", "F1", "best", "other", "missing", "too", "much"]
    assert re.match(r"second/none +0\.000 \d\.\d{3} \w+ +\S", line)
    assert max(len(line) for line in output.partition("worst of")[2].splitlines()) <= 60


class ExternalReferences(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [
            f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "srcset", "action", "data") or name.startswith("on")
        ]


def test_report_is_self_contained_and_escaped(folders: list[Path], tmp_path: Path, echo: None) -> None:
    file = tmp_path / "report.html"
    assert run(*folders, "-p", "echo", "--html", file).exit_code == 0
    html = file.read_text("utf-8")
    page = ExternalReferences()
    page.feed(html)
    assert page.outside == []
    assert not {"script", "link", "img", "iframe", "i"} & set(page.tags)
    assert {"polyline", "ins", "del", "details"} <= set(page.tags)
    assert "url(" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&lt;b&gt;no page&lt;/b&gt;" in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert page.tags.count("polyline") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-a", "nonsense"], "best"),
        (["-p", "nonsense"], "trafilatura"),
        (["--html", "."], "is a folder"),
        (["--html", "no such folder/report.html"], "create it first"),
        (["--sweep", "cevk.alpha=0:1:0.5"], "did you mean 'cevc'?"),
        (["--sweep", "cevc.alfa=0:1:0.5"], "did you mean 'alpha'?"),
        (["--sweep", "best.alpha=0:1:0.5"], "there are: none"),
        (["--sweep", "cevc.alpha"], "METHOD.PARAMETER=FIRST:LAST:STEP"),
        (["--sweep", "cevc.alpha=1:0:0.5"], "steps above 0"),
        (["--sweep", "cevc.alpha=0:1:0.0001"], "at most 200"),
        (["--sweep", "cetr.clusters=2:3:0.5"], "whole number"),
        (["--sweep", "cevc.alpha=0:1:0.5", "-a", "cevc"], "leave --algorithm"),
        (["--sweep", "cevc.alpha=0:1:0.5", "--picture", "."], "is a folder"),
    ],
)
def test_usage_errors_suggest_remedy(folders: list[Path], arguments: list[str], message: str) -> None:
    result = run(folders[0], *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


def test_folder_without_gold_explains_gold_format(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>a</p>")
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "<id>.json with text, title, date, author or source" in str(result.exception)
    assert "no folder" in str(run(tmp_path / "a.html").exception)
    assert "no folder" in str(run(tmp_path / "nowhere").exception)


def test_unused_gold_is_reported(folders: list[Path], save: Save) -> None:
    first, second = folders
    (first / "half.json").write_text('{"text": ', "utf-8")
    save(first, "when", date="yesterday")
    result = run(first, second, "-a", "cevc", "--json")
    message = result.stderr
    assert [json.loads(line)["pages"] for line in result.stdout.splitlines()] == [3, 2, 5]
    assert f"{first}: 1 of 4 pages without gold left out: half" in message
    assert f"{second}: 2 of 4 pages without gold left out: without gold, without json" in message
    assert "half.json: no JSON" in message
    assert "when.json: the date 'yesterday' is not scored" in message


def test_perfect_page_is_not_listed_as_worst(tmp_path: Path, save: Save) -> None:
    save(tmp_path, "good")
    output = run(tmp_path, "-a", "best", "--worst", 3, "--html", tmp_path / "report.html").stdout
    assert f"{tmp_path.name}, 1 page\n" in re.sub(" +\n", "\n", output)
    assert "worst of" not in output
    html = (tmp_path / "report.html").read_text("utf-8")
    assert "Extraction on 1 page with" in html
    assert "reads worst" not in html


def test_lazy_loading_is_not_timed(tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []

    def slow_at_first(body: bytes, url: str | None) -> dict[str, str | None]:
        calls.append(body)
        deadline = time.process_time() + (0 if len(calls) > 1 else 0.2)
        while time.process_time() < deadline:
            pass
        return {"text": "今天"}

    monkeypatch.setitem(peers.PEERS, "slow", ("json", slow_at_first))
    save(tmp_path, "good")
    *_, row = rows(tmp_path, "-p", "slow")
    assert len(calls) == 2
    assert row["ms"] < 100


def test_gold_text_may_be_list_of_paragraphs(tmp_path: Path, save: Save) -> None:
    text = save(tmp_path, "good")["text"]
    save(tmp_path, "good", text=text.split("\n"))
    (row,) = rows(tmp_path, "-a", "best")
    assert (row["precision"], row["recall"]) == (1.0, 1.0)


def test_missing_peer_error_names_extra(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "absent", ("no_such_module_at_all", lambda body, url: {}))
    result = run(folders[0], "-p", "absent")
    assert isinstance(result.exception, DependencyMissing)
    assert "[peers]" in str(result.exception)


def test_variants_of_method_have_own_rows(folders: list[Path]) -> None:
    found = {row["algorithm"] for row in rows(folders[0])}
    assert {"cevc", *VARIANTS} <= found
    page = save_page(folders[0].parent / "one", "<div><div><p>这是唯一的一段，它就是整篇文章。</p></div><p>版权所有，请勿转载</p></div>")
    texts = {name: reader.read(page).answer.text for name, reader in zip(VARIANTS, readers([*VARIANTS], []), strict=True)}
    assert "版权" not in (texts["cevc:text-leaves"] or "")
    assert has_jieba_characters("目的地")
    assert not has_jieba_words("目的地"), "的 is no word there"
    assert has_jieba_words("我们的目的地")
    assert not has_jieba_characters("他在这里说"), "在, 这 and 说 are stop words of ours alone"


def test_sweep_scores_and_plots_parameter(folders: list[Path], tmp_path: Path) -> None:
    picture = tmp_path / "alpha.svg"
    found = rows(folders[0], "--sweep", "cevc.alpha=0.3:0.7:0.2", "--picture", picture)
    assert [(row["algorithm"], row["parameter"], row["value"]) for row in found] == [("cevc", "alpha", value) for value in (0.3, 0.5, 0.7)]
    usual = rows(folders[0], "-a", "cevc")[0]
    assert {name: found[1][name] for name in FIGURES[:-1]} == {name: usual[name] for name in FIGURES[:-1]}
    drawing = ElementTree.fromstring(picture.read_text("utf-8"))
    lines = drawing.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3, 3], "precision, recall and F1"
    output = run(*folders, "--sweep", "table_stats.T=0.5:0.9:0.2", "--picture", picture).stdout
    assert "by default 0.65" in output
    assert [line.split()[0] for line in output.splitlines() if line.startswith("T=")] == ["T=0.5", "T=0.7", "T=0.9"] * 3
    second = ElementTree.fromstring(picture.read_text("utf-8"))
    assert len(second.findall("{http://www.w3.org/2000/svg}polyline")) == 3, "a curve per folder and one for the total"


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("cevc", {"alpha"}),
        ("table_stats", {"least", "share"}),
        ("cetr", {"sigma", "alpha", "clusters"}),
        ("cepr", {"share", "alpha", "radius"}),
        ("summary_anchor", {"sites", "length"}),
        ("url_tree", {"reach"}),
        ("best", set()),
    ],
)
def test_numeric_parameters_per_method(method: str, names: set[str]) -> None:
    assert set(numeric_parameters(method)) == names
    assert all(extractor(method, **{name: parameter.default}) for name, parameter in numeric_parameters(method).items())
