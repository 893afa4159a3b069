"""The HTML report of an evaluation in a browser: it loads nothing else and fits a phone, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from newsportal_lab.evaluate.report import report
from newsportal_lab.evaluate.running import Found, PageComparison, PageResult, differences, rows
from newsportal_lab.evaluate.scoring import Answer, score_page

NAMES = ["best", "another-extractor"]
GOLD = Answer(text="今天早上六点，首班列车从东站出发。\n<b>市民</b>说很方便。", title="新线<通车>", date="2024-03-05", author="王小明")
FOUND = Answer(text="今天早上六点，首班列车从东站出发。\n" + "相关阅读：" * 200, title="新线", date="2024-03-05", author="a" * 300)


def sample_report() -> str:
    scores = tuple(score_page(GOLD, found) for found in (FOUND, GOLD))
    result = PageResult("第一组", "p" * 120, Path("p.html"), None, scores, (0.1, 0.2), (None, None))
    answers = {0: Found(FOUND), 1: Found(GOLD)}
    pieces = {at: differences(GOLD.text or "", found.answer.text or "") for at, found in answers.items()}
    return report(rows([result] * 30, NAMES), [result] * 30, NAMES, [PageComparison(0, result, GOLD, tuple(NAMES), answers, pieces)] * 2)


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_report_fits_and_loads_nothing_else(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(sample_report(), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, requested, faults = context.new_page(), [], []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.goto(file.as_uri())
    assert requested == [file.as_uri()]
    assert faults == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
    assert "−]" in page.evaluate("getComputedStyle(document.querySelector('ins'), '::after').content")
    assert page.locator("details[open] ins").first.is_visible()
    context.close()
