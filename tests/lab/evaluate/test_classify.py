import gzip
import json
import random
from functools import partial

import pytest
from factories import run_command

WORDS = {"体育/足球": "球队 进球 主场 联赛 教练", "财经": "股价 基金 利率 银行 上市"}


@pytest.fixture
def corpus(tmp_path):
    chance = random.Random(0)
    folder = tmp_path / "corpus"
    folder.mkdir()
    for part, number in (("train", 60), ("test", 20)):
        rows = [
            {"label": label, "text": "".join(chance.choices(WORDS[label].split(), k=5))} for label in chance.choices(list(WORDS), k=number)
        ]
        with gzip.open(folder / f"{part}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return folder


run = partial(run_command, "evaluate", "classify")


def test_ours_and_a_peer_in_one_table(corpus):
    found = run(corpus, "-a", "linear", "--peer", "words-svm", "--json")
    assert found.exit_code == 0, found.output
    ours, peer = map(json.loads, found.stdout.splitlines())
    assert (ours["algorithm"], peer["algorithm"]) == ("linear", "words-svm")
    assert ours["macro_f1"] == 1.0
    assert ours["ece"] is not None
    assert peer["ece"] is None


def test_the_table_has_its_headings(corpus):
    found = run(corpus)
    assert found.exit_code == 0
    assert "macro-F1" in found.stdout
    assert "100.0" in found.stdout


def test_across_corpora_labels_meet_by_a_mapping(corpus, tmp_path):
    names = tmp_path / "names.json"
    names.write_text(
        json.dumps({"sport": {"A": ["体育/足球"], "B": ["体育/足球"]}, "money": {"A": ["财经"], "B": ["财经"]}}), encoding="utf-8"
    )
    found = run(corpus, corpus, "--cross", names, "--json")
    assert found.exit_code == 0, found.output
    assert {one["label"] for one in json.loads(found.stdout)["labels"]} == {"sport", "money"}


def test_the_report_shows_the_confusion(corpus, tmp_path):
    out = tmp_path / "report.html"
    assert run(corpus, "--html", out).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "体育/足球" in text
    assert "<svg" in text


def test_labels_left_out_are_asked_about(tmp_path):
    folder, chance = tmp_path / "four", random.Random(0)
    folder.mkdir()
    of_label = {**WORDS, "旅游": "景区 酒店 航班 古镇 海滩", "健康": "医生 疫苗 血压 睡眠 心脏"}
    for part, number in (("train", 400), ("test", 80)):
        rows = [
            {"label": label, "text": "，".join(chance.choices(of_label[label].split(), k=5))} for label in list(of_label) * (number // 4)
        ]
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    found = run(folder, "--leave-out", "--json")
    assert found.exit_code == 0, found.output
    row = json.loads(found.stdout)
    assert row["foreign_refused"] > 0.9 > 0.1 > row["right_refused"]
    assert row["auroc"] > 0.9
    assert "foreign no" in run(folder, "--leave-out").stdout


def test_too_few_labels_to_leave_any_out(corpus):
    found = run(corpus, "--leave-out")
    assert found.exit_code == 1
    assert "more than 3" in found.output


@pytest.mark.parametrize("line", ["{", "[]", '{"text": "甲"}', '{"text": 1, "label": "甲"}', '{"text": "甲", "label": " "}'])
def test_a_wrong_line_is_named(corpus, line):
    (corpus / "train.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    found = run(corpus)
    assert found.exit_code == 1
    assert "train.jsonl:2" in found.output


@pytest.mark.parametrize("words", [["-a", "magic"], ["--peer", "magic"], ["--cross", "file"], ["--leave-out", "--peer", "all"]])
def test_wrong_words_are_usage_errors(corpus, words):
    assert run(corpus, *words).exit_code == 2


def test_a_missing_folder_is_said(tmp_path):
    found = run(tmp_path / "none")
    assert found.exit_code == 1
    assert "none" in found.output


def test_a_folder_without_its_files_is_told(tmp_path):
    found = run(tmp_path)
    assert found.exit_code == 1
    assert f"{tmp_path}: there is neither train.jsonl nor train.jsonl.gz in it" in found.output
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a", "label": "b"}\n' * 99)[:-9])
    assert "the file is cut off" in run(tmp_path).output
    (tmp_path / "train.jsonl").write_bytes(b"{}\n")
    assert 'train.jsonl:1: a line must be {"text"' in run(tmp_path).output
