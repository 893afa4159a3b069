"""``train``, ``classify`` and ``model``: scores on held-out texts, comparison of versions, and one line per document."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from forked import run
from portal_folder import DIES, Portal

from newsportal.classify.base import CLASSIFIERS, Answer
from newsportal.cli.output import writable
from newsportal.errors import ModelError, NewsportalError
from newsportal.services.learning import training
from newsportal.services.learning.training import TrainingDocument, group_documents, is_clearly_worse, train, train_corpus

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
QUICK = ("-a", "chi_cosine")
"""The algorithm of tests that do not depend on it."""

Rows = Callable[[int], list[dict[str, Any]]]


@pytest.fixture
def model(portal: Portal, rows: Rows) -> str:
    """A model file for sport and business."""
    result = portal("train", portal.write("train.jsonl", rows(30)), "--model", "m.model", *QUICK)
    assert result.code == 0, result.text
    return "m.model"


def classify(portal: Portal, stdin: bytes, *words: str) -> list[dict[str, Any]]:
    result = portal("classify", "-", *words, stdin=stdin)
    assert result.code == 0, result.text
    return result.rows


@pytest.mark.parametrize("algorithm", [name for name in CLASSIFIERS if name != "lexicon"])
def test_every_algorithm_can_be_trained(portal: Portal, rows: Rows, algorithm: str) -> None:
    file = portal.write("train.jsonl", rows(60))
    (row,) = portal("train", file, "--model", "new/m.model", "-a", algorithm, "--json").rows
    assert (row["documents"], row["held_out"], row["labels"]) == (120, 12, {"体育": 60, "财经": 60})
    assert row["report"]["macro_f1"] > 0.9
    out = portal.folder / "out.jsonl"
    assert portal("classify", file, "--model", "new/m.model", "--out", str(out), "--always").code == 0
    results = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [result["id"] for result in results] == [row["id"] for row in rows(60)]
    correct = sum(result["label"] == row["label"] for result, row in zip(results, rows(60), strict=True))
    assert correct > 110
    assert set(results[0]) == {"id", "label", "scores"}
    assert set(results[0]["scores"]) == {"体育", "财经"}


class ResourceCollector(HTMLParser):
    """Collects the resources that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag for name, _ in attrs if name in ("src", "href")] + [tag for _ in (1,) if tag in ("script", "img", "link")]


def test_report_is_printed_and_written(portal: Portal, rows: Rows) -> None:
    hostile = [row | {"label": "<script>alert(1)</script>" if row["label"] == "体育" else "a/中 [b]文"} for row in rows(30)]
    result = portal("train", portal.write("t.jsonl", hostile), "--model", "m", "--report", "r.html", *QUICK)
    assert result.code == 0
    for text in ("macro-F1", "precision", "a/中 [b]文", "trained on 60 documents of 2 labels"):
        assert text in result.text
    html = (portal.folder / "r.html").read_text("utf-8")
    page = ResourceCollector()
    page.feed(html)
    assert page.found == []
    assert "&lt;script&gt;alert" in html
    assert "<circle" in html


def test_every_line_is_classified_or_has_an_error(portal: Portal, model: str) -> None:
    lines = {
        '{"id": "a", "text": "教练说球员赢得决赛冠军，球迷庆祝进球"}': None,
        '{"text": "股市上涨，基金和债券的收益好，银行利率不变", "title": "股票"}': None,
        '{"id": 7, "text": ""}': None,
        '{"id": "t", "title": "冠军球队"}': None,
        "{": "line 5",
        "[1]": "no object",
        '{"id": "x"}': "neither text nor title",
        '{"id": "y", "text": 5}': "must be texts",
        "[" * 100_000: "line 9",
    }
    found = classify(portal, "\n".join(["", *lines][1:]).encode() + b"\n\xff\xfe\n", "--model", model)
    assert [row["id"] for row in found] == ["a", 2, 7, "t", 5, 6, "x", "y", 9, 10]
    assert [row["label"] for row in found[:2]] == ["体育", "财经"]
    for row, error in zip(found, [*lines.values(), "decode"], strict=True):
        assert (error is None) == ("error" not in row)
        assert error is None or error in row["error"]
        assert error is None or (row["label"], row["scores"]) == (None, {})


def test_explain_names_deciding_words(portal: Portal, model: str) -> None:
    text = "教练说球员赢得决赛冠军"
    (row,) = classify(portal, json.dumps({"text": text}).encode(), "--model", model, "--explain")
    assert row["reasons"]
    assert all(reason["word"] in text for reason in row["reasons"] if reason["weight"] > 0)


def test_lexicon_needs_no_model(portal: Portal) -> None:
    with (portal.folder / "sources.yaml").open("a", encoding="utf-8") as file:
        file.write("categories: [{name: 桥梁, words: [斜拉索, 桥墩]}]\n")
    texts = ["股市上涨，央行下调利率，基金净值回升，股民增持银行股", "桥墩立好了，斜拉索也挂上了，斜拉索一共二十根"]
    rows = classify(portal, "\n".join(json.dumps({"text": text}) for text in texts).encode(), "--lexicon", "--explain")
    assert [row["label"] for row in rows] == ["财经", "桥梁"]
    assert "斜拉索" in [reason["word"] for reason in rows[1]["reasons"]]


@pytest.mark.slow
def test_large_and_unusual_texts(portal: Portal, model: str) -> None:
    texts = ["长" * 5_000_000, "a" * 1_000_000, "\x00\ud800", "体", "。" * 50]
    stdin = "\n".join(json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)).encode()
    assert [row["id"] for row in classify(portal, stdin, "--model", model)] == list("01234")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train"], "give either FILE --model MODEL or --corpus NAME"),
        (["train", "t.jsonl"], "give either FILE"),
        (["train", "t.jsonl", "--corpus", "x"], "give either FILE"),
        (["train", "t.jsonl", "--model", "m", "-a", "magic"], "no classifier is called 'magic'"),
        (["train", "none.jsonl", "--model", "m"], "none.jsonl: No such file"),
        (["train", "one.jsonl", "--model", "m"], "one.jsonl: at least two labels are needed"),
        (["train", "bad.jsonl", "--model", "m"], "bad.jsonl:1: "),
        (["train", "t.jsonl", "--model", "."], "cannot be written"),
        (["train", "t.jsonl", "--model", "t.jsonl/m"], "cannot be written"),
        (["train", "--corpus", "none"], "no store yet"),
        (["classify", "t.jsonl"], "give one of --model FILE, --corpus NAME and --lexicon"),
        (["classify", "t.jsonl", "--model", "m", "--lexicon"], "give one of --model FILE"),
        (["classify", "t.jsonl", "--model", "none"], "none: No such file"),
        (["classify", "t.jsonl", "--model", "t.jsonl"], "t.jsonl: this is no model file"),
        (["classify", "t.jsonl", "--corpus", "x"], "no store yet"),
    ],
)
def test_invalid_usage_is_reported(portal: Portal, rows: Rows, words: list[str], message: str) -> None:
    portal.write("t.jsonl", rows(10))
    portal.write("one.jsonl", rows(10)[:10])
    portal.write("bad.jsonl", [{"text": "x"}])
    result = portal(*words)
    assert result.code in (1, 2)
    assert message in " ".join(result.text.split())
    assert sorted(path.name for path in portal.folder.iterdir()) == ["bad.jsonl", "one.jsonl", "sources.yaml", "t.jsonl"]


def test_classify_missing_file(portal: Portal, model: str) -> None:
    result = portal("classify", "none.jsonl", "--model", model)
    assert (result.code, "none.jsonl: No such file" in result.text) == (1, True)


def test_failed_training_keeps_the_previous_model(portal: Portal, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Path(model).read_bytes()

    def broken(*_: object, **__: object) -> None:
        raise ModelError("in the middle")

    monkeypatch.setattr("newsportal.cli.model.trained_on", broken)
    assert "in the middle" in portal("train", "train.jsonl", "--model", model).text
    assert Path(model).read_bytes() == before
    assert list(portal.folder.glob(".*part")) == []


def test_model_versions(portal: Portal, rows: Rows) -> None:
    portal("corpus", "import", "甲", portal.write("a.jsonl", rows(40)))
    assert "甲: no model yet" in portal("model", "list", "甲").text
    first = portal("train", "--corpus", "甲", *QUICK, "--json").rows[0]
    assert (first["version"], first["active"], first["reason"]["code"]) == (1, True, "train.first-version")
    second = portal("train", "--corpus", "甲", *QUICK, "--json").rows[0]
    assert (second["version"], second["active"]) == (2, True)
    assert "on 8 documents held out of both" in second["reason"]["text"]
    assert portal("train", "--corpus", "甲", *QUICK, "--no-activate", "--json").rows[0]["active"] is False
    assert [(row["version"], row["state"]) for row in portal("model", "list", "甲", "--json").rows] == [
        (3, "kept"),
        (2, "in use"),
        (1, "kept"),
    ]
    compared = portal("model", "compare", "甲", "1", "3", "--json").rows
    assert [(row["version"], row["documents"]) for row in compared] == [(1, 8), (3, 8)]
    assert portal("model", "show", "甲", "--json").rows[0]["version"] == 2
    assert "version 1 is in use again" in portal("model", "rollback", "甲").text
    assert "no earlier version" in portal("model", "rollback", "甲").text
    assert portal("model", "activate", "甲", "3").code == 0
    assert "no version 9; it has 1, 2, 3" in portal("model", "activate", "甲", "9").text
    assert classify(portal, '{"text": "教练和球员在决赛进球"}'.encode(), "--corpus", "甲")[0]["label"] == "体育"
    for words in (["list", "甲"], ["show", "甲", "--report", "s.html"], ["compare", "甲", "--report", "c.html"]):
        result = portal("model", *words)
        assert (result.code, "macro-F1" in result.text) == (0, True)
    assert (portal.folder / "s.html").exists()
    assert "Say --yes if so" in portal("model", "delete", "甲", "1").text
    assert "version 3 of '甲' is active and cannot be deleted" in portal("model", "delete", "甲", "3", "--yes").text
    assert portal("model", "delete", "甲", "1", "2", "--yes").code == 0
    assert [row["version"] for row in portal("model", "list", "甲", "--json").rows] == [3]
    assert "version 3" in (portal.folder / "c.html").read_text("utf-8")


def test_worse_version_is_not_activated(portal: Portal, rows: Rows) -> None:
    portal("corpus", "import", "甲", portal.write("a.jsonl", rows(60)))
    portal("train", "--corpus", "甲", *QUICK)
    held_out = portal.store().corpora.model("甲", 1).held_out
    swapped = [row | {"label": "财经" if row["label"] == "体育" else "体育"} for row in rows(60)]
    store = portal.store()
    for document in list(store.corpora.documents("甲")):
        if document.id not in held_out:
            label = next(row["label"] for row in swapped if row["text"] == document.text)
            store.corpora.label("甲", document.id, label, now=NOW)
    store.close()
    row = portal("train", "--corpus", "甲", *QUICK, "--json").rows[0]
    assert (row["version"], row["active"]) == (2, False), row["reason"]
    assert "version 1 100.0" in row["reason"]["text"]
    assert portal.store().corpora.active("甲") == 1


def test_surely_worse_needs_enough_documents() -> None:
    right, wrong = Answer("甲"), Answer("乙")
    assert not is_clearly_worse(["甲"] * 9, [wrong, *[right] * 8], [right] * 9)
    assert not is_clearly_worse(["甲"] * 9, [wrong] * 4 + [right] * 5, [right] * 4 + [wrong] * 3 + [right] * 2)
    assert is_clearly_worse(["甲"] * 9, [wrong, wrong, *[right] * 7], [right] * 9)


def test_concurrent_trainings_make_two_versions(portal: Portal, rows: Rows) -> None:
    portal("corpus", "import", "甲", portal.write("a.jsonl", rows(20)))
    store = portal.store()
    threads = [threading.Thread(target=train_corpus, args=(store, "甲", "chi_cosine"), kwargs={"now": lambda: NOW}) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [model.version for model in store.corpora.models("甲")] == [2, 1]
    assert store.corpora.active("甲") in (1, 2)
    store.close()


def test_few_documents_give_warnings(portal: Portal, rows: Rows) -> None:
    file = portal.write("a.jsonl", [*rows(10), {"text": "孤零零的一篇文章", "label": "孤"}])
    (row,) = portal("train", file, "--model", "m", *QUICK, "--json").rows
    assert any("孤 (1)" in warning["text"] for warning in row["warnings"])
    assert any("too few documents for evaluation: 孤" in warning["text"] for warning in row["warnings"])
    (row,) = portal("train", file, "--model", "m", "--held-out", "0", *QUICK, "--json").rows
    assert (row["held_out"], row["report"]) == (0, None)


def test_reposts_are_one_group(rows: Rows) -> None:
    texts = [row["text"] * 5 for row in rows(3)]
    documents = [TrainingDocument(str(n), "x", "", text) for n, text in enumerate(texts)]
    documents += [
        TrainingDocument("copy", "x", "", "本报讯 " + texts[1]),
        TrainingDocument("a", "x", "", "甲", "s"),
        TrainingDocument("b", "x", "", "完全是另一篇", "s"),
    ]
    groups = group_documents(documents, lambda _share, _what: None)
    assert groups["copy"] == groups["1"]
    assert groups["a"] == groups["b"]
    assert len(set(groups.values())) == 6 + 1


def test_held_out_documents_are_not_trained_on(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = training.base.train
    monkeypatch.setattr(training.base, "train", lambda name, examples, **how: (sizes.append(len(examples)), real(name, examples, **how))[1])
    documents = [TrainingDocument(str(n), row["label"], "", row["text"]) for n, row in enumerate(rows(20))]
    assert train(documents, "chi_cosine", now=NOW).report is not None
    assert train(documents, "chi_cosine", now=NOW, refit=True).report is not None
    assert sizes == [36, 36, 40]


def test_full_disk_keeps_the_previous_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"former")
    with pytest.raises(NewsportalError, match="m: cannot be written: No space left on device"), writable(tmp_path / "m"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("m", b"former")]


def test_links_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"former")
    (tmp_path / "link").symlink_to("m")
    (tmp_path / "device").symlink_to(os.devnull)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "device"):
        with writable(tmp_path / name) as part:
            part.write_bytes(b"new")
    with writable(tmp_path / "pipe") as part:
        assert part == tmp_path / "pipe"
    assert (tmp_path / "m").read_bytes() == b"new"
    assert [(tmp_path / name).is_symlink() for name in ("link", "device")] == [True, True]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("base.train = die", ("--corpus", "甲")),
        ("base.train = die", ("a.jsonl", "--model", "m")),
        ("die_after('INSERT INTO models')", ("--corpus", "甲")),
        ("Path.replace = die", ("a.jsonl", "--model", "m")),
    ],
)
def test_killed_training_leaves_nothing(portal: Portal, rows: Rows, moment: str, words: tuple[str, ...]) -> None:
    portal("corpus", "import", "甲", portal.write("a.jsonl", rows(40)))
    portal("train", "--corpus", "甲", *QUICK)
    portal("train", "a.jsonl", "--model", "m", *QUICK)
    before = files(portal)
    result = run("train", *words, *QUICK, cwd=portal.folder, script=DIES.format(moment=moment))
    assert result.returncode == -signal.SIGKILL, result.stderr
    with closing(portal.store()) as store:
        assert [model.version for model in store.corpora.models("甲")] == [1]
        assert store.corpora.active("甲") == 1
    assert {name: data for name, data in files(portal).items() if not name.endswith(".part")} == before
    assert any(name.endswith(".part") for name in files(portal)) is ("replace" in moment)
    portal("train", "a.jsonl", "--model", "m", *QUICK)
    assert files(portal).keys() == before.keys(), "the next training deletes leftovers of a killed one"


def files(portal: Portal) -> dict[str, bytes]:
    """Return every file except the store's."""
    return {path.name: path.read_bytes() for path in portal.folder.iterdir() if not path.name.startswith("news.db")}
