"""Fitting of the block model: blocks labelled by gold, folds of whole sites, a table whose answers match those of the library's model."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("catboost", reason="needs catboost: pip install newsportal[training]")

from newsportal.extractors.article.block_features import block_features
from newsportal.extractors.article.body import from_dict
from newsportal.text import dom
from newsportal.text.dom import MAX_ALL_ATTRIBUTES
from training import fit as fitting
from training import made_up_pages
from training.fit import FOLDS, MADE_UP_SEED, Agreement, Example, agreement, as_dict, example_of, fit, folds, label, read_folder, summary

SEED = 79
"""Other made-up pages than those that the model is fitted on."""

assert SEED != MADE_UP_SEED

ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站。"


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["首页", ONE, "分享到", TWO, "版权所有"], [False, True, False, True, False]),
        ([ONE + "（编辑）", TWO], [True, True]),
        ([ONE[:4] + "完全是另外一些话，写得也不短", TWO], [False, True]),
        ([TWO, ONE], [False, True]),
        ([ONE, TWO, ONE], [True, True, False]),
        (["今 天 早 上 六 点，滨海新线的首班列车从东站出发，"], [True]),
        (["的", "是"], [False, False]),
    ],
    ids=["boilerplate", "mostly in gold", "hardly in gold", "out of order", "repeated", "whitespace", "short common run"],
)
def test_blocks_found_in_gold_in_order_are_text(texts: list[str], right: list[bool]) -> None:
    assert label(texts, f"{ONE}\n{TWO}").tolist() == right


def test_made_up_pages_are_labelled_by_their_gold() -> None:
    for page in made_up_pages(20, SEED):
        example = example_of(dom.from_text(page.html, page.url), page.text, 1.0, "made-up")
        assert example is not None
        lines = [text for text, right in zip(example.page.texts, example.right, strict=True) if right]
        gold, found = ("".join(text.split()) for text in (page.text, "".join(lines)))
        assert abs(len(gold) - len(found)) < 0.1 * len(gold), page.id


def example(url: str, html: str = f"<p>{ONE}</p><p>{TWO}</p>", gold: str = ONE, weight: float = 1.0) -> Example | None:
    return example_of(dom.from_text(f"<body>{html}", url), gold, weight, "set")


def test_example_has_features_of_each_block() -> None:
    first = example("https://news.a.example/1")
    assert first is not None
    assert (first.folder, first.site, first.right.tolist()) == ("set", "a.example", [True, False])
    names = block_features(first.page, None, None).names
    assert first.table.values.shape == (len(names), 2)
    heavy, light = example("x:", weight=2.0), example("x:", weight=1.0)
    assert heavy is not None
    assert light is not None
    assert np.allclose(heavy.weight, 2 * light.weight)


def test_page_without_text_or_gold_is_no_example() -> None:
    assert example("x:", html="") is None
    assert example("x:", gold="") is None


def test_folds_hold_whole_sites_and_each_page_once() -> None:
    examples = [sample for site in range(10) for page in range(3) if (sample := example(f"https://www.site{site}.example/{page}"))]
    parts = list(folds(examples))
    assert len(parts) == FOLDS
    for train, test in parts:
        assert not {sample.site for sample in train} & {sample.site for sample in test}
        assert len(train) + len(test) == len(examples)
    assert sorted(id(sample) for _, test in parts for sample in test) == sorted(map(id, examples))


def test_folder_is_read_compressed_or_plain(tmp_path: Path) -> None:
    html = f"<body><p>{ONE}</p><p>{TWO}</p>".encode()
    (tmp_path / "a.html").write_bytes(html)
    (tmp_path / "b.html.gz").write_bytes(gzip.compress(html))
    (tmp_path / "c.html").write_bytes(html)
    for name, gold in (("a", ONE), ("b", TWO), ("c", "")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"text": gold, "url": f"https://{name}.example/"}), encoding="utf-8")
    assert [(item.site, item.right.tolist()) for item in read_folder(tmp_path)] == [
        ("a.example", [True, False]),
        ("b.example", [False, True]),
    ]


def test_refused_page_is_skipped_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, html in (("a", '<p a="1" b="2" c="3">' * (MAX_ALL_ATTRIBUTES // 3 + 1)), ("b", f"<p>{ONE}")):
        (tmp_path / f"{name}.html").write_text(f"<body>{html}", encoding="utf-8")
        (tmp_path / f"{name}.json").write_text(json.dumps({"text": ONE, "url": f"https://{name}.example/"}), encoding="utf-8")
    assert [item.site for item in read_folder(tmp_path)] == ["b.example"]
    assert f"{tmp_path.name}/a is left out: " in capsys.readouterr().out


@pytest.fixture(scope="module")
def made_up() -> list[Example]:
    found = (example_of(dom.from_text(page.html, page.url), page.text, 1.0, "made-up") for page in made_up_pages(30, SEED))
    return [item for item in found if item is not None]


def test_table_matches_library_model(made_up: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "SETTINGS", {**fitting.SETTINGS, "iterations": 30})
    names = block_features(made_up[0].page, None, None).names
    fitted = fit(made_up[:20])
    table = as_dict(fitted, names, "a note")
    model = from_dict(json.loads(json.dumps(table)))
    assert table["note"] == "a note"
    assert set(model.columns) < set(names)
    for example in made_up[20:]:
        probs = model.predict(example.table.select(model.columns))
        assert np.allclose(probs, fitted.predict_proba(example.table.values.T)[:, 1], atol=2e-3)
    correct, found, expected = (sum(column) for column in zip(*(agreement(model, example) for example in made_up[20:]), strict=True))
    assert 2 * correct / (found + expected) > 0.8, "thirty trees from twenty pages suffice for new ones"


def test_summary_averages_characters_and_pages() -> None:
    assert summary([Agreement(900, 1000, 1000), Agreement(5, 10, 10)]) == "89.6 · 70.0 · 50"
    assert summary([Agreement(0, 0, 0)]) == "0.0 · 0.0 · 0"
