"""The models of pages: what they are fitted on, and that the library reads the table they become."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("catboost", reason="needs catboost: pip install newsportal[training]")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # training is no part of the installed package

from newsportal.extractors.article.page_kind import KINDS, from_plain
from newsportal.text import dom
from training import made_up_pages
from training import page as fitting
from training.page import PageExample, fit_all, folds_of, made_up_example, page_example

SEED = 83
LIST = "".join(f"<li><a href='/p/{number}'>台灯 {number} 号</a> ¥{number}9</li>" for number in range(40))
SHOP = f"<title>台灯</title><h1>台灯</h1><p>本店的台灯，三年保修，七日内可退换，全国包邮，下单后次日发货。</p><ul>{LIST}</ul>"


def shop(number: int) -> PageExample | None:
    gold = {"kind": "collection", "text": "本店的台灯，三年保修，七日内可退换，全国包邮，下单后次日发货。"}
    return page_example(dom.from_text(SHOP, f"https://shop{number}.example/c/{number}"), gold, False, 1.0, "wcxb")


def test_the_table_is_the_librarys_models(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("PAGE_SETTINGS", "BLOCK_SETTINGS"):
        monkeypatch.setattr(fitting, name, {**getattr(fitting, name), "iterations": 20})
    made_up = [one for page in made_up_pages(12, SEED) if (one := made_up_example(page))]
    shops = [one for number in range(8) if (one := shop(number))]
    articles = [one for page in made_up[:8] if (one := page)]
    plain = json.loads(json.dumps(fit_all([*shops, *articles], made_up[8:], "a note")))
    model = from_plain(plain)
    assert plain["note"] == "a note"
    assert model.kind(shops[0].figures).name == "collection"
    assert model.kind(articles[0].figures).name == "article"
    assert len(model.kinds) == len(KINDS)
    assert "collection: 8 pages, sites held out" in capsys.readouterr().out


def test_a_site_stands_in_one_fold() -> None:
    shops = [one for number in range(8) if (one := shop(number % 4))]
    assert len(folds_of(shops)) == 4
