"""An entry is edited in its own lines and other bytes are kept; if that is impossible, the file is rewritten with the same meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from newsportal.sources.building import read
from newsportal.sources.changing import NoEntry, drop_entry, set_entry
from newsportal.sources.editing import append_entry, with_change

PATH = Path("sources.yaml")
HEAD = "portal:   {title: 甲}\ntopics: [{name: 旅游}, {name: 财经}]   # eng\n\n\n"
ENTRIES = [
    "  # eins\n  - name: a   # A\n    url: https://a.example/\n",
    '  - {name: b, url: "https://b.example/"}\n',
    "  - name:   c\n    url: 'https://c.example/'\n    topics: [旅游]\n  # hinter c\n",
    "  - name: d\n    url: https://d.example/\n    article:\n      remove:\n        - .ad\n        - '#foot'\n\n",
]
TAIL = "# Karten\nsitemaps:\n- {name: s,   url: https://s.example/map.xml}\n"
FILE = HEAD + "feeds:\n" + "".join(ENTRIES) + TAIL
NAMES = ("a", "b", "c", "d")

CHANGES: dict[str, Any] = {
    "set": lambda name: set_entry("feeds", name, {"interval": 30, "url": "https://new.example/", "topics": ["财经"]}),
    "unset": lambda name: set_entry("feeds", name, {"topics": None, "article": {"remove": None}, "enabled": False}),
    "drop": lambda name: drop_entry("feeds", name),
    "append": lambda name: append_entry("feeds", {"name": f"{name}{name}", "url": "https://e.example/"}),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "dos"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", CHANGES)
def test_only_lines_of_entry_change(way: str, name: str, end: str) -> None:
    change = CHANGES[way](name)
    before = FILE.replace("\n", end).encode()
    after = with_change(before, change, PATH)
    unchanged = [
        HEAD,
        *(text for other, text in zip(NAMES, ENTRIES, strict=True) if other != name and (way != "append" or other != "d")),
        "sitemaps:\n",
    ]
    for text in unchanged:
        assert text.replace("\n", end).strip().encode() in after
    assert after.endswith(b"- {name: s,   url: https://s.example/map.xml}" + end.encode())
    assert b"# Karten" in after
    assert b"# eins" in after
    assert read(after).value == read(with_change(before, change.whole, PATH)).value, "same as rewriting the whole file"


@pytest.mark.parametrize(
    "text",
    [
        "feeds: [{name: a, url: u}, {name: b, url: v}]\nx: 1\n",
        "base: &base {topics: [x]}\nfeeds:\n  - {<<: *base, name: a, url: u}\n  - {name: b, url: v}\n",
        "feeds:\n  - name: a\n    url: u\n  - name: b\n    url: |-\n      v\n      # kein Kommentar\nx: 1\n",
        "feeds:\n- name: a\n  url: u\n- name: b\n  url: v",
        "feeds:\n  - name: b\n    url: v\n",
        "feeds:\n  -\n    name: a\n    url: u\n  -\n    name: b\n    url: v\n",
    ],
    ids=["flow style", "anchors", "block text", "no final newline", "single entry", "dash on its own line"],
)
@pytest.mark.parametrize("way", CHANGES)
def test_fallback_to_whole_file_keeps_meaning(text: str, way: str) -> None:
    change = CHANGES[way]("b")
    after = read(with_change(text.encode(), change, PATH)).value
    assert after == read(with_change(text.encode(), change.whole, PATH)).value
    assert after["feeds"] != read(text.encode()).value["feeds"]


def test_missing_entry_is_reported() -> None:
    for change in (set_entry("feeds", "x", {"interval": 3}), drop_entry("feeds", "x"), drop_entry("feeds", "a", digest="0" * 32)):
        with pytest.raises(Exception, match=r"someone else|any more") as error:
            with_change(FILE.encode(), change, PATH)
        assert "a" in str(error.value) or error.type is NoEntry
