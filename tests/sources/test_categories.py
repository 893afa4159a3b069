"""User-defined categories: added, renamed everywhere in the file, and removed; comments are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.sources import Sources
from newsportal.sources.categories import NameTaken, drop_category, list_categories, names, put_category, values_of
from newsportal.sources.changing import EntryChanged, NoEntry, combine
from newsportal.sources.editing import with_change
from newsportal.sources.parts import CategoryWords

TEXT = """\
# ours
feeds:
  - {name: 甲, url: "https://a.example/f", category: 航运}   # a paper
  - {name: 乙, url: "https://b.example/f", category: 航运史}
publish:
  - name: 报
    only: {categories: [航运, 旅游]}   # narrow
categories:
  - name: 航运   # ships
    words: [港口]
  - {name: 彩票, enabled: false}
"""


def apply_change(change: object, text: str = TEXT) -> str:
    return with_change(text.encode(), change, Path("sources.yaml")).decode()  # type: ignore[arg-type]


def test_packaged_categories_come_before_user_defined() -> None:
    found = {row.name: row for row in list_categories((CategoryWords(name="航运"), CategoryWords(name="彩票", enabled=False)))}
    assert len(found) == 23
    assert list(found)[-1] == "航运"
    assert (found["航运"].packaged, found["航运"].enabled) == (None, True)
    assert found["彩票"].packaged
    assert not found["彩票"].enabled
    assert found["旅游"].configured is None


def test_rename_updates_every_reference() -> None:
    after = apply_change(put_category(values_of("海运", ("港口", "渡轮"), (), enabled=True), "航运"))
    assert after == TEXT.replace("category: 航运}", "category: 海运}").replace("[航运,", "[海运,").replace(
        "name: 航运 ", "name: 海运 "
    ).replace("[港口]", "[港口, 渡轮]")


def test_add_and_drop() -> None:
    added = apply_change(put_category(values_of("体育", ("马拉松",), (), enabled=True)))
    assert added.startswith(TEXT)
    assert "马拉松" in added[len(TEXT) :]
    assert "enabled" not in added[len(TEXT) :]
    assert apply_change(drop_category("航运")) == TEXT.replace("  - name: 航运   # ships\n    words: [港口]\n", "")
    with pytest.raises(NoEntry):
        apply_change(drop_category("没有"))
    with pytest.raises(NameTaken):
        apply_change(put_category(values_of("航运", (), (), enabled=True)))
    with pytest.raises(EntryChanged):
        apply_change(put_category(values_of("航运", (), (), enabled=True), "航运", digest="another"))


def test_several_changes_are_atomic() -> None:
    after = apply_change(combine([drop_category("航运"), drop_category("彩票")]))
    assert "航运   #" not in after
    assert "彩票" not in after
    assert "# ours" in after
    with pytest.raises(NoEntry):
        apply_change(combine([drop_category("航运"), drop_category("没有")]))


def test_suggested_names_are_sorted_by_frequency() -> None:
    settings = Sources(categories=(CategoryWords(name="港口"), CategoryWords(name="彩票", enabled=False)))
    offered = names(settings, {"地方": 3, "体育": 9})
    assert offered[:2] == ["体育", "地方"]
    assert offered.count("体育") == 1
    assert "港口" in offered
    assert "彩票" not in offered
