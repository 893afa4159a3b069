"""Labelled texts from files of every format; an invalid line is named and nothing of its file is imported."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from newsportal.errors import CorpusError
from newsportal.services.learning.files import document, is_empty, read_file
from newsportal.store.labels import NewDocument

SPORT = NewDocument("体育", "青河队赢了。\n三比一。", "比赛", "7")
SOCIAL = NewDocument("社会/民生", "新桥通车。")
LINES = [
    json.dumps({"text": SPORT.text, "label": "体育", "title": "比赛", "id": 7}, ensure_ascii=False),
    "",
    json.dumps({"text": SOCIAL.text, "label": " 社会/民生 ", "title": None}),
]
CSV = 'Label,text,title,id,more\n体育,"青河队赢了。\n三比一。",比赛,7,x\n社会/民生,新桥通车。,,,\n'


def read(path: Path, form: str = "auto", encoding: str = "utf-8") -> list[NewDocument]:
    return list(read_file(path, form, encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("packed", [False, True])
def test_json_lines(tmp_path: Path, encoding: str, packed: bool) -> None:
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    data = "\n".join(LINES).encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read(path, encoding=encoding.removesuffix("-sig")) == [SPORT, SOCIAL]


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.csv.gz"])
def test_csv(tmp_path: Path, name: str) -> None:
    data = CSV.replace("\n", "\r\n").replace("。\r\n", "。\n", 1).encode("utf-8-sig")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert read(tmp_path / name) == [SPORT, SOCIAL]


def test_folder_of_labels(tmp_path: Path) -> None:
    for label, text in (("体育", "青河队赢了。"), ("社会/民生", "新桥通车。")):
        (tmp_path / label).mkdir(parents=True)
        (tmp_path / label / "1.txt").write_bytes(text.encode("gb18030"))
    (tmp_path / "体育" / "note.md").write_text("no document")
    assert read(tmp_path, encoding="gb18030") == [
        NewDocument("体育", "青河队赢了。", name="体育/1.txt"),
        NewDocument("社会/民生", "新桥通车。", name="社会/民生/1.txt"),
    ]
    (tmp_path / "stray.txt").write_text("x")
    with pytest.raises(CorpusError, match=r"stray\.txt: not in a folder"):
        read(tmp_path, encoding="gb18030")


def test_numeric_labels_and_long_texts(tmp_path: Path) -> None:
    long = "长" * 1_700_000
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": long, "label": 3}, ensure_ascii=False))
    (tmp_path / "a.csv").write_text(f"text,label\n{long},3\n")
    assert read(tmp_path / "a.jsonl") == read(tmp_path / "a.csv") == [NewDocument("3", long)]


GOOD = LINES[0].encode() + b"\n"
WRONG = {
    "not utf-8": (GOOD + '{"text":"中","label":"体"}'.encode("gb18030"), r"a\.jsonl:2: not utf-8 \(byte 10 .*--encoding gb18030"),
    "truncated": (GOOD + b'{"text": "', r"a\.jsonl:2: "),
    "not an object": (b"[1]", r"a\.jsonl:1: not a JSON object"),
    "no label": (GOOD + b"\n" + b'{"text": "x"}', r"a\.jsonl:3: label must be"),
    "empty label": (b'{"text": "x", "label": " "}', "label must be"),
    "list of labels": (b'{"text": "x", "label": ["a"]}', "label must be"),
    "long label": (b'{"text": "x", "label": "%s"}' % (b"a" * 256), "256 characters"),
    "no text": (b'{"label": "x"}', "text must be"),
    "numeric text": (b'{"label": "x", "text": 5}', "text must be"),
    "deeply nested": (b"[" * 100_000, r"a\.jsonl:1: "),
}


@pytest.mark.parametrize("what", WRONG)
def test_invalid_line_is_named(tmp_path: Path, what: str) -> None:
    data, message = WRONG[what]
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(CorpusError, match=message):
        read(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", r"a\.csv:1: the first line must name .*a, b"),
        ("text,label\nx,y\nx\n", r"a\.csv:3: 1 cells under 2"),
        ('text,label\nx,"y\n', r"a\.csv:2: "),
        ("text,label\nx,\n", r"a\.csv:2: label"),
    ],
)
def test_invalid_row_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(CorpusError, match=message):
        read(tmp_path / "a.csv")


def test_unreadable_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"not packed")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(GOOD * 1000)[:-20])
    for name in ("a", "b"):
        with pytest.raises(CorpusError, match=f"{name}.jsonl.gz: not a gzip file, or cut off"):
            read(tmp_path / f"{name}.jsonl.gz")
    with pytest.raises(CorpusError, match="No such file"):
        read(tmp_path / "none.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"no LABEL/\*\.txt"):
        read(tmp_path / "empty")
    for encoding in ("nonsense", "hex"):
        with pytest.raises(CorpusError, match="not a known encoding"):
            read(tmp_path / "none.jsonl", encoding=encoding)
    monkeypatch.setattr("newsportal.services.learning.files.LONGEST_LINE", 100)
    (tmp_path / "c.jsonl").write_bytes(b" " * 200)
    with pytest.raises(CorpusError, match=r"c\.jsonl:1: a line longer than"):
        read(tmp_path / "c.jsonl")


def test_is_empty() -> None:
    assert is_empty(document({"text": " \n", "label": "x"}))
    assert not is_empty(document({"text": "", "title": "题", "label": "x"}))
