"""``newsportal dedup`` writes a line per input line; ``evaluate dedup`` scores its answers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal_lab.documents import answer_file

TEXT = "青河市图书馆新馆昨天上午向读者开放。新馆建在老城北门外的旧粮仓里，一共三层，藏书四十万册，晚上开到九点。"
OTHER = "沿海三县今年的海带丰收了。渔民们天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场，外地客商早早来订了货。"


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, list[dict[str, Any]], str]:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return result.exit_code, lines, result.output


def row(name: str, text: str, hour: int, **more: object) -> dict[str, Any]:
    title, published = text[:10], f"2024-03-01T{hour:02}:00:00+08:00"
    return {"id": name, "url": f"http://example.com/{name}", "title": title, "text": text, "published": published, **more}


ROWS = [row("1", TEXT, 8), row("2", OTHER, 9), row("3", "本报讯：" + TEXT, 10)]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in rows)


@pytest.mark.parametrize("way", ["file", "standard input", "out"])
def test_every_document_has_output_line(way: str, tmp_path: Path) -> None:
    file, out = tmp_path / "docs.jsonl", tmp_path / "out.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + jsonl(ROWS))
    arguments = {"file": [str(file)], "standard input": ["-"], "out": [str(file), "--out", str(out)]}[way]
    code, lines, _ = run("dedup", *arguments, stdin=file.read_bytes())
    if way == "out":
        assert lines == []
        lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert code == 0
    assert lines[:2] == [{"id": name, "duplicate_of": None, "reason": None, "score": 0.0} for name in "12"]
    assert (lines[2]["duplicate_of"], lines[2]["relation"]) == ("1", "same")
    assert 0.9 < lines[2]["score"] <= 1


BAD = {
    b"{": "line 1",
    b"[1]": "no object",
    b"\xff\xfe{}": "decode",
    b'{"id": [3]}': "id must be",
    b"id,title": "line 1: not JSON: Expecting value, column 1",
    b'{"id": "a", "text": 5}': "must be texts",
    b'{"id": "a", "published": "yesterday"}': "isoformat",
    b'{"id": "a", "published": 5}': "ISO 8601",
    b"[" * 100_000: "line 1",
}


@pytest.mark.parametrize("line", BAD)
def test_invalid_line_yields_error_and_run_continues(line: bytes) -> None:
    code, lines, _ = run("dedup", "-", stdin=line + b"\n\n" + jsonl(ROWS))
    assert code == 0
    assert BAD[line] in lines[0]["error"]
    assert [answer["duplicate_of"] for answer in lines] == [None, None, None, "1"]


def test_numbers_and_missing_ids_are_answered_as_given() -> None:
    """A document without an id gets the number of its line."""
    rows = [{"id": 7, "text": TEXT}, {"text": OTHER}, {"id": "7a", "text": "本报讯：" + TEXT}]
    answers = run("dedup", "-", stdin=jsonl(rows))[1]
    assert [(answer["id"], answer["duplicate_of"]) for answer in answers] == [(7, None), (2, None), ("7a", 7)]
    assert [(answer["id"], answer["event"]) for answer in run("events", "-", stdin=jsonl(rows))[1]] == [(7, 7), (2, 2), ("7a", 7)]


def test_closed_pipe_is_not_reported_as_error_of_the_file(tmp_path: Path) -> None:
    """``newsportal dedup FILE | head -1``: ``head`` has exited."""
    file = tmp_path / "docs.jsonl"
    file.write_bytes(jsonl(ROWS))

    def answers(lines: object) -> Iterator[dict[str, Any]]:
        raise BrokenPipeError
        yield {}

    with pytest.raises(BrokenPipeError):
        answer_file(str(file), answers, tmp_path / "out", "comparing")


def test_texts_are_optional() -> None:
    code, lines, _ = run("dedup", "-", stdin=b'{"id": "a"}\n{"id": "b", "title": null, "published": "2024-03-01"}\n')
    assert code == 0
    assert [answer["duplicate_of"] for answer in lines] == [None, None]


def test_missing_file_and_unknown_algorithm_are_reported(tmp_path: Path) -> None:
    assert run("dedup", str(tmp_path / "none.jsonl"))[0] == 1
    code, _, output = run("dedup", "-", "--algorithm", "nonsense")
    assert code == 2
    assert "judge" in output


@pytest.mark.parametrize("name", ["judge", "store"])
def test_clusters_are_scored_per_document(tmp_path: Path, name: str) -> None:
    rows = [row("1", TEXT, 8, cluster=1), row("2", OTHER, 9, cluster=2), row("3", TEXT, 10, cluster=1), row("4", OTHER[:9], 11, cluster=2)]
    with gzip.open(tmp_path / "docs.jsonl.gz", "wb") as stream:
        stream.write(jsonl(rows))
    code, (line,), _ = run("evaluate", "dedup", str(tmp_path), "--algorithm", name, "--json")
    assert code == 0
    assert (line["precision"], line["recall"], line["documents"], line["subsets"]) == (1.0, 0.5, 4, None)


def test_partial_pairs_are_not_scored(tmp_path: Path) -> None:
    rows = [row("1", TEXT, 8), row("2", OTHER, 9), row("3", TEXT, 10), row("4", TEXT + OTHER, 11)]
    (tmp_path / "docs.jsonl").write_bytes(jsonl(rows))
    pairs = [{"a": "3", "b": "1", "label": "dup"}, {"a": "1", "b": "4", "label": "subset"}, {"a": "4", "b": "3", "label": "partial"}]
    (tmp_path / "pairs.jsonl").write_bytes(jsonl(pairs))
    code, (line,), _ = run("evaluate", "dedup", str(tmp_path), "-a", "judge", "--json")
    assert code == 0
    assert (line["precision"], line["recall"], line["subsets"]) == (0.6667, 1.0, 1.0), "2 is in 4 too, but no pair is labelled so"
    assert "judge" in run("evaluate", "dedup", str(tmp_path))[2]


def test_missing_and_invalid_gold_is_reported(tmp_path: Path) -> None:
    code, _, output = run("evaluate", "dedup", str(tmp_path))
    assert code == 1
    assert f"{tmp_path}: there is neither docs.jsonl nor docs.jsonl.gz in it" in output
    for content, message in (
        (b"{}\n", "docs.jsonl:1: a line must be an object with id, title"),
        (b"\n[1\n", ":2: it is not JSON"),
        (b"\xd6\xd0", "UTF-8"),
    ):
        (tmp_path / "docs.jsonl").write_bytes(content)
        code, _, output = run("evaluate", "dedup", str(tmp_path))
        assert (code, message in output) == (1, True), output
    assert run("evaluate", "dedup", str(tmp_path), "-a", "nonsense")[0] == 2
