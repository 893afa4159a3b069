"""``newsportal evaluate forum``: matched, surplus, missing and ignored posts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.items import Post
from newsportal_lab.evaluate import forum
from newsportal_lab.evaluate.posts_scoring import Counts, GoldPost, GoldThread, is_same_day, match_posts, score_posts

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LONG = "滨海新线今天通车了，有人坐过首班车吗？听说六点就排起了队。"


def make_post(text: str, block: str | None = None, **fields: Any) -> Post:
    return Post(fields.pop("author", None), fields.pop("published", None), text, block_text=block or text, **fields)


def test_posts_are_correct_surplus_or_missing() -> None:
    gold = GoldThread((GoldPost(LONG), GoldPost("坐了。"), GoldPost("票价多少？")))
    score = score_posts(gold, [make_post(LONG), make_post("坐了。"), make_post("登录后可以回复")], NOW)
    assert (score.counts.body, score.counts.body_extra, score.counts.body_missing) == (2, 1, 1)
    assert (score.missing, score.surplus) == ((2,), (2,))
    assert score.counts.body_f1 == pytest.approx(2 / 3)


def test_block_may_contain_extra_text_but_not_body() -> None:
    score = score_posts(GoldThread((GoldPost(LONG),)), [make_post(f"签名档 {LONG * 2}")], NOW)
    assert (score.counts.block, score.counts.body) == (1, 0)


def test_pictures_and_optional_posts_are_ignored() -> None:
    gold = GoldThread((GoldPost(LONG),), pictures=1, optional=("同问，等车的时候看到很多人。",))
    score = score_posts(gold, [make_post(LONG), make_post("图1"), make_post("同问，等车的时候看到很多人。")], NOW)
    assert (score.counts.body_extra, score.counts.block_extra) == (0, 0)


def test_posts_are_matched_one_to_one() -> None:
    assert match_posts(["顶", "顶"], ["顶"], block=False) == [(0, 0)]
    assert match_posts([LONG, LONG + "!"], [LONG + "!", LONG], block=False) == [(1, 0), (0, 1)]


def test_author_and_date_are_scored_only_for_matched_posts_with_gold() -> None:
    gold = GoldThread((GoldPost(LONG, "芦苇", "2024-3-5 08:30"), GoldPost("坐了。", "司机", "2024-3-5"), GoldPost("顶")))
    found = [
        make_post(LONG, author="芦苇", date_text="发表于 2024-3-5 08:30"),
        make_post("坐了。", author="乘客", date_text="2024-3-6"),
        make_post("顶"),
    ]
    counts = score_posts(gold, found, NOW).counts
    assert (counts.author, counts.date) == (0.5, 0.5)
    assert Counts().author is None


@pytest.mark.parametrize(
    ("gold", "written", "right"),
    [
        ("2024-03-05T08:30:00Z", "Mar 5, 2024", True),
        ("05/03/2024", "5 March 2024", True),
        ("05/03/2024", "3 May 2024", False),
        ("3 weeks ago", "3 weeks ago", True),
        ("2024-03-05", None, False),
    ],
)
def test_ambiguous_dates_are_compared_in_both_orders(gold: str, written: str | None, right: bool) -> None:
    assert is_same_day(gold, make_post("x", date_text=written), NOW) is (right or (gold == "05/03/2024" and written == "3 May 2024"))


def folder(tmp_path: Path) -> Path:
    posts = [("河边的芦苇", LONG), ("早班司机", "坐了，人不多，比地图上说的快七分钟。"), ("Li_Wei", "票价多少？")]
    html = "".join(
        f"<div class='post' id='p{n}'><a class='username' href='/user/{n}'>{author}</a><span class='date'>2024-3-{n + 1} 08:30</span>"
        f"<div class='content'>{text}</div></div>"
        for n, (author, text) in enumerate(posts)
    )
    gold = [{"text": text, "author": author, "date": f"2024-3-{n + 1}"} for n, (author, text) in enumerate(posts)]
    (tmp_path / "a.html").write_text(html, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps({"posts": gold, "engine": "made"}), "utf-8")
    (tmp_path / "b.html").write_text("<p>x</p>")
    (tmp_path / "b.json").write_text(json.dumps({"posts": gold[:1], "engine": "empty"}), "utf-8")
    (tmp_path / "c.html").write_text("<p>no gold</p>")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["evaluate", "forum", *arguments])
    return result.exit_code, result.stdout


def test_command_scores_algorithms_and_lists_worst_pages(tmp_path: Path) -> None:
    code, out = run(str(folder(tmp_path)), "--json", "--by-engine", "--worst", "1", "-a", "best")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    total, empty, first, worst = rows
    assert (total["pages"], total["unanswered"], total["block_f1"]) == (2, 1, pytest.approx(6 / 7, abs=1e-4))
    assert (first["set"], first["body_f1"], first["author"], first["date"]) == ("made", 1.0, 1.0, 1.0)
    assert (empty["set"], empty["body_f1"], empty["author"]) == ("empty", 0.0, None)
    assert (worst["page"], worst["missing"]) == ("b", 1)
    assert "no-posts" in worst["error"]


def test_report_is_one_file_and_escapes_html(tmp_path: Path) -> None:
    pages = folder(tmp_path)
    (pages / "b.json").write_text(json.dumps({"posts": [{"text": "<script>alert(1)</script>"}]}))
    report = tmp_path / "report.html"
    assert run(str(pages), "-a", "best", "--html", str(report))[0] == 0
    html = report.read_text("utf-8")
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_missing_gold_and_unknown_algorithm_are_reported(tmp_path: Path) -> None:
    with pytest.raises(forum.NoGold, match="posts"):
        forum.gold_threads(tmp_path)
    assert run(str(folder(tmp_path)), "-a", "none")[0] == 2


def test_published_figures_and_chinese_engines_are_listed(tmp_path: Path) -> None:
    pages = folder(tmp_path)
    code, out = run(str(pages), "--json")
    assert code == 0
    by_algorithm = {row["algorithm"]: row for row in map(json.loads, out.splitlines())}
    assert list(by_algorithm) == ["best", "pean", "mibat"]
    assert (by_algorithm["best"]["precision"], by_algorithm["best"]["recall"], by_algorithm["best"]["published"]) == (1.0, 0.75, None)
    assert by_algorithm["pean"]["published"] == {"precision": 0.983, "recall": 0.913, "f1": 0.947}
    assert by_algorithm["mibat"]["published"] == {"precision": 0.996, "recall": 0.735, "f1": 0.846}
    gold = json.loads((pages / "b.json").read_text("utf-8")) | {"engine": "discuz"}
    (pages / "b.json").write_text(json.dumps(gold), "utf-8")
    rows = [json.loads(line) for line in run(str(pages), "--json", "-a", "best")[1].splitlines()]
    assert [(row["set"], row["pages"], row["recall"]) for row in rows[1:]] == [("Chinese engines", 1, 0.0), ("other engines", 1, 1.0)]
    text = run(str(pages))[1]
    assert "98.3, 91.3, 94.7" in text
    assert "99.6, 73.5, 84.6" in text
