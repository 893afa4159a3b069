"""Fitting of the page models, whose tables the library can read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("catboost", reason="needs catboost: pip install newsportal[training]")
pytest.importorskip("jax", reason="needs jax: pip install newsportal[training]")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # training is not installed with the package

from newsportal.extractors.article.block_features import Table
from newsportal.extractors.article.page_kind import (
    COLUMNS,
    KINDS,
    PRODUCT_COLUMNS,
    STEPS,
    PageKind,
    full_table,
    load_page_model,
    network_from,
)
from newsportal.text import dom
from training import made_up_pages, network
from training import page as fitting
from training.page import PageExample, fit_all, folds_of, made_up_example, page_example

SEED = 83
TEXT = "本店的台灯，三年保修，七日内可退换，全国包邮，下单后次日发货。"
MARKUP = {
    "collection": "".join(f"<li><a href='/p/{number}'>台灯 {number} 号</a> ¥{number}9</li>" for number in range(40)),
    "documentation": "<pre>lamp --on</pre>" * 20,
    "forum": "".join(f"<section>{number} 楼 发表于 2026-3-{number}：回复 楼主，灯泡坏了怎么换？</section>" for number in range(1, 20)),
    "product": "<select><option>白</option></select><button>加入购物车</button><p>库存 9 件，99 元</p>",
    "listing": "<article><h2><a href='/1'>台灯怎么选</a></h2><p>阅读全文</p></article>" * 20,
    "service": "<form><input><input><input></form><p>联系我们，咨询安装。</p>" * 4,
}  # by the benchmark's names of kinds


def page_of(kind: str, number: int) -> PageExample | None:
    html = f"<title>台灯</title><h1>台灯</h1><p>{TEXT}</p>{MARKUP[kind]}"
    gold = {"kind": kind, "text": TEXT}
    return page_example(dom.from_text(html, f"https://{kind}{number}.example/x/{number}"), gold, False, 1.0, "wcxb")


def test_fitted_table_is_readable_by_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("PAGE_SETTINGS", "BLOCK_SETTINGS", "PRODUCT_SETTINGS"):
        monkeypatch.setattr(fitting, name, {**getattr(fitting, name), "iterations": 20})
    monkeypatch.setattr(network, "EPOCHS", 1)
    made_up = [example for page in made_up_pages(12, SEED) if (example := made_up_example(page))]
    pages = [example for kind in MARKUP for number in range(8) if (example := page_of(kind, number))]
    articles = made_up[:8]
    table = json.loads(json.dumps(fit_all([*pages, *articles], made_up[8:], "a note")))
    model = load_page_model(table)
    assert table["note"] == "a note"
    assert {model.classify(page.figures).name for page in pages if page.kind == "collection"} == {"collection"}
    assert model.classify(articles[0].figures).name == "article"
    assert len(model.kinds) == len(KINDS)
    assert {*model.product.columns} <= {*articles[0].blocks.table.names, *COLUMNS, *PRODUCT_COLUMNS}
    assert model.network is not None
    assert [len(fit) for fit in model.network.fits] == [2 + 2 * len(STEPS)] * len(network.SEEDS)
    assert "collection: 8 pages, sites held out" in capsys.readouterr().out


def test_site_is_in_one_fold() -> None:
    pages = [example for number in range(8) if (example := page_of("collection", number % 4))]
    assert len(folds_of(pages)) == 4


def test_library_computes_network_as_fitting_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "EPOCHS", 1)
    monkeypatch.setattr(network, "DROPPED", 0.0)
    monkeypatch.setattr(network, "DROPPED_FEATURES", 0.0)
    pages = [example for number in range(3) for kind in MARKUP if (example := page_of(kind, number))]
    kinds = {id(page): PageKind(np.full(len(KINDS), 1 / len(KINDS), np.float32), 0.0) for page in pages}
    fitted = network_from(network.fit_networks(pages, kinds, [SEED]))
    samples = [network.sample_of(page, table_of(page, kinds).values, fitted.centre[:, 0], fitted.scale[:, 0]) for page in pages]
    batch = network.joined([(sample, slice(0, len(sample.right))) for sample in samples])
    scores = np.asarray(network.logits(fitted.fits[0], batch, network.jax.random.key(SEED)))
    probs = np.concatenate([fitted.predict(table_of(page, kinds), page.blocks.page) for page in pages])
    assert 1 / (1 + np.exp(-scores[: len(probs)])) == pytest.approx(probs, abs=1e-3)


def table_of(page: PageExample, kinds: dict[int, PageKind]) -> Table:
    return full_table(page.blocks.page, page.blocks.table, page.probs, kinds[id(page)])
