"""``newsportal corpus``: documents from files, the store and editors, each counted once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forked import run
from portal_folder import DIES, Portal

from newsportal.items import Article, FoldKey, Link
from newsportal.store import open_store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
Rows = Callable[[int], list[dict[str, Any]]]


def counts(portal: Portal, name: str = "甲") -> dict[str, int]:
    return {row["label"]: row["documents"] for row in portal("corpus", "show", name, "--json").rows}


def test_import_show_export_delete(portal: Portal, rows: Rows) -> None:
    file = portal.write("a.jsonl", [*rows(3), {"text": " ", "label": "空"}, rows(1)[0], rows(1)[0] | {"label": "社会/民生"}])
    (row,) = portal("corpus", "import", "甲", file, "--json").rows
    assert {key: value for key, value in row.items() if value} == {
        "corpus": "甲", "file": file, "added": 6, "repeated": 1, "contradicted": 1, "empty": 1
    }  # fmt: skip
    assert "6 there already" in portal("corpus", "import", "甲", file).text
    assert counts(portal) == {"体育": 3, "财经": 3}
    (corpus,) = portal("corpus", "list", "--json").rows
    assert (corpus["corpus"], corpus["documents"], corpus["labels"], corpus["active_version"]) == ("甲", 6, 2, None)
    documents = portal("corpus", "show", "甲", "--label", "财经", "--limit", "2", "--json").rows
    assert [document["label"] for document in documents] == ["财经", "财经"]
    assert (documents[0]["source"], documents[0]["by"]) == ("imported", "a.jsonl")
    out = portal.folder / "out.jsonl"
    assert portal("corpus", "export", "甲", "--out", str(out)).code == 0
    assert portal("corpus", "import", "乙", str(out), "--json").rows[0]["added"] == 6
    assert portal("corpus", "delete", "甲").code == 2, "no confirmation without a terminal"
    assert portal("corpus", "delete", "甲", "--yes").code == 0
    assert [row["corpus"] for row in portal("corpus", "list", "--json").rows] == ["乙"]


def test_invalid_file_is_refused_and_others_imported(portal: Portal, rows: Rows) -> None:
    good, bad = portal.write("good.jsonl", rows(2)), portal.write("bad.jsonl", [*rows(900), {"text": "x"}])
    result = portal("corpus", "import", "甲", bad, good)
    assert result.code == 1
    assert "bad.jsonl:1801: label must be" in result.text
    assert counts(portal) == {"体育": 2, "财经": 2}


def test_import_from_standard_input_with_encoding(portal: Portal) -> None:
    data = '{"text": "青河队赢了", "label": "体育"}'.encode("gb18030")
    result = portal("corpus", "import", "甲", "-", stdin=data)
    assert (result.code, "standard input:1: not utf-8" in result.text) == (1, True)
    assert portal("corpus", "list", "--json").rows == []
    assert portal("corpus", "import", "甲", "-", "--encoding", "gb18030", stdin=data).code == 0
    assert counts(portal) == {"体育": 1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "甲", "x", "--format", "xml"], "is none of"),
        (["import", "甲", "x", "--encoding", "klingon"], "is not a known encoding"),
        (["show", "乙"], "no corpus '乙'"),
        (["show", "甲", "--label", "乙"], "has the label '乙'"),
        (["delete", "乙"], "no corpus '乙'"),
        (["label", "x", "乙"], "neither a stored article"),
        (["label", "x"], "either a label or --leave-out"),
        (["label", "x", "y", "--leave-out"], "either a label or --leave-out"),
        (["from-store", "--since", "gestern"], "is not a date"),
    ],
)
def test_invalid_usage_is_reported(portal: Portal, rows: Rows, words: list[str], message: str) -> None:
    portal("corpus", "import", "甲", portal.write("a.jsonl", rows(1)))
    result = portal("corpus", *words)
    assert result.code in (1, 2)
    assert message in result.text


def stored(portal: Portal, name: str, source: str, *keys: FoldKey, host: str = "a.example", **more: Any) -> str:
    url = f"https://{host}/{name}"
    text = more.pop("text", f"{name} " * 60)
    article = Article(url=url, link=Link(url, source), fetched=NOW, identity=f"{host}/{name}", title=f"题 {name}", text=text, **more)
    store = portal.store()
    id = store.add(article, keys, now=NOW).id
    store.close()
    return id


def test_stored_articles_become_documents(portal: Portal) -> None:
    assert portal("corpus", "from-store").code == 1, "the store does not exist yet"
    story = FoldKey("k", "same-text")
    stored(portal, "1", "feed:体育甲", story)
    stored(portal, "2", "feed:体育甲", story, host="b.example")
    stored(portal, "3", "feed:财经乙")
    stored(portal, "4", "feed:综合", category="体育")
    stored(portal, "5", "region:自动", category="社会")
    stored(portal, "6", "feed:财经乙", text="短")
    (row,) = portal("corpus", "from-store", "--json").rows
    assert (row["corpus"], row["added"], row["left"]["repost"], row["left"]["short"]) == ("categories", 2, 1, 1)
    assert row["from_one_site"] == ["体育", "财经"]
    assert counts(portal, "categories") == {"体育": 1, "财经": 1}
    assert "categories: 0 articles added" in portal("corpus", "from-store").text
    stored(portal, "7", "feed:财经乙")
    assert "1 articles added" in portal("corpus", "from-store").text
    assert counts(portal, "categories") == {"体育": 1, "财经": 2}


def test_editor_relabels_and_excludes(portal: Portal) -> None:
    id = stored(portal, "1", "feed:体育甲")
    portal("corpus", "from-store")
    assert "题 1: 社会 (before: 体育)" in portal("corpus", "label", id, "社会", "--by", "王编辑").text
    portal("corpus", "from-store")
    assert counts(portal, "categories") == {"社会": 1}
    (row,) = portal("corpus", "label", id, "--leave-out", "--by", "李编辑", "--json").rows
    assert [(label["label"], label["source"], label["by"]) for label in row["labels"]] == [
        ("体育", "from-store", None), ("社会", "editor", "王编辑"), (None, "editor", "李编辑")
    ]  # fmt: skip
    assert counts(portal, "categories") == {}
    assert "0 articles added" in portal("corpus", "from-store").text


def test_editors_category_and_label_are_equivalent(portal: Portal) -> None:
    first, second = stored(portal, "1", "feed:体育甲"), stored(portal, "2", "feed:综合", category="财经", category_by="lexicon")
    portal("corpus", "label", first, "社会")
    store = portal.store()
    article = store.article(first)
    assert article is not None
    assert (article.category, article.category_by) == ("社会", "editor")
    store.set_category(second, "娱乐", by="editor", now=NOW)
    store.close()
    (row,) = portal("corpus", "from-store", "--json").rows
    assert (row["added"], row["by_editors"]) == (0, 1)
    assert counts(portal, "categories") == {"娱乐": 1, "社会": 1}
    portal("corpus", "label", second, "--leave-out")
    assert portal("corpus", "from-store", "--json").rows[0]["by_editors"] == 0
    assert counts(portal, "categories") == {"社会": 1}
    portal("corpus", "label", second, "体育", "--corpus", "别的")
    assert counts(portal, "别的") == {"体育": 1}
    other = portal.store().article(second)
    assert other is not None
    assert other.category == "娱乐", "labels of other corpora are not categories"


def test_killed_import_leaves_nothing(portal: Portal, rows: Rows) -> None:
    """It is killed during its second INSERT."""
    file = portal.write("a.jsonl", rows(1000))
    script = DIES.format(moment="die_after('INSERT INTO labelled_texts ', 2)")
    assert run("corpus", "import", "甲", file, cwd=portal.folder, script=script).returncode == -signal.SIGKILL
    store = open_store(f"sqlite:///{portal.folder}/news.db")
    assert store.corpora.all() == []
    store.close()
    assert portal("corpus", "import", "甲", "-", stdin=b'{"text": "a", "label": "x"}').code == 0


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "least", "labels"),
    [("sogou10", 4250, 10), ("thucnews_titles", 9900, 10), ("toutiao_titles15", 27_500, 15)],
)
def test_public_corpora_are_imported_completely(portal: Portal, data: Path, name: str, least: int, labels: int) -> None:
    file = data / "text" / "classify" / name / "train.jsonl.gz"
    (row,) = portal("corpus", "import", name, str(file), "--json").rows
    assert row["added"] >= least
    assert (row["empty"], len(counts(portal, name))) == (0, labels)
