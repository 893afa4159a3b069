"""Topics with preview, model training and stored articles in a browser, with and without scripts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from newsportal.sources import load

SCRIPTS = pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["scripts", "no-script"])

WORDS = {"体育": "主场 前锋 后卫 球迷 进球 射门 联赛", "财经": "股市 央行 基金 利率 债券 汇率 财报"}


@pytest.fixture
def site(steered_site: Any) -> Iterator[Any]:
    newsroom = steered_site.newsroom
    newsroom.write(steered_site.store, newsroom.article("新渡轮下水", "海港的新渡轮今天下水，码头上站满了人。" * 5, ago=90))
    newsroom.write(steered_site.store, newsroom.article("灯塔修缮完工", "灯塔的灯光重新照亮海湾。" * 8, ago=120))
    return steered_site


def finished(page: Any, *, scripts: bool) -> None:
    """Wait until the job on this page is done; without scripts the page must be reloaded."""
    page.locator(".job").wait_for()
    deadline = monotonic() + 600
    while not scripts and page.locator('.job[data-state="running"]').count():
        assert monotonic() < deadline, "the job did not finish"
        page.wait_for_timeout(500)
        page.reload()
    page.locator('.job[data-state="done"]').wait_for(timeout=600_000)


@SCRIPTS
def test_topic_is_previewed_and_saved(visit: Any, site: Any, options: dict[str, Any]) -> None:
    page = visit("editor", **options).go("/topics")
    page.get_by_role("link", name="新建话题").click()
    page.get_by_label("话题名称").fill("渡船")
    page.get_by_label("出现其中任意一个词").fill("渡轮")
    if options:
        page.get_by_role("button", name="试查关键词").click()
    page.locator("#preview mark", has_text="渡轮").first.wait_for()
    assert page.locator("#preview .matches li").count() == 1
    page.get_by_label("不得出现的词").fill("码头")
    if options:
        page.get_by_role("button", name="试查关键词").click()
    page.get_by_text("没有符合这些词的报道").wait_for()
    page.get_by_label("不得出现的词").fill("")
    page.get_by_role("button", name="保存话题").click()
    page.get_by_text("话题“渡船”已保存").wait_for()
    assert page.locator('tr[data-topic="渡船"]').count() == 1
    assert page.get_by_role("navigation", name="话题").get_by_role("link", name="渡船").count() == 1, "readers see it immediately"
    assert load(site.file).topics[-1].keywords.any == ("渡轮",)


@SCRIPTS
def test_topic_is_applied_to_stored_articles_by_a_job(visit: Any, site: Any, options: dict[str, Any]) -> None:
    page = visit("editor", **options).go("/topics/new")
    page.get_by_label("话题名称").fill("灯塔")
    page.locator("input[name=follow]").uncheck()  # started by hand below; tests/e2e/test_first_steps.py leaves it checked
    page.get_by_role("button", name="保存话题").click()
    page.get_by_label("最近多少天的文章").select_option("365")
    page.get_by_role("button", name="开始").click()
    finished(page, scripts=not options)
    assert page.locator(".job .added", has_text="灯塔").count() == 1
    assert page.locator('tr[data-topic="灯塔"] td.n a').inner_text() == "1"


@SCRIPTS
def test_corpus_is_uploaded_and_model_trained(visit: Any, violations: Any, site: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    rows = []
    for label, words in WORDS.items():
        for number in range(40):
            chance = random.Random(f"{label} {number}")
            rows.append({"text": "。".join("，".join(chance.sample(words.split(), 4)) for _ in range(5)) + str(number), "label": label})
    file = tmp_path / "demo.jsonl"
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    page = visit("editor", **options).go("/corpora")
    page.get_by_label("语料库", exact=True).fill("新闻")
    page.get_by_label("文件").set_input_files(file)
    page.get_by_role("button", name="上传").click()
    page.get_by_text("新增 80 篇文档").wait_for()
    page.get_by_role("link", name="模型与训练").click()
    page.get_by_role("button", name="训练", exact=True).click()
    finished(page, scripts=not options)
    page.locator('tr[data-version="1"]').get_by_role("link", name="1", exact=True).click()
    assert page.locator("table.confusion tbody tr").count() == 2
    if not options:
        assert violations(page) == []
