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


def test_own_algorithm_and_peer_share_one_table(corpus):
    found = run(corpus, "-a", "linear", "--peer", "words-svm", "--json")
    assert found.exit_code == 0, found.output
    own, peer = map(json.loads, found.stdout.splitlines())
    assert (own["algorithm"], peer["algorithm"]) == ("linear", "words-svm")
    assert own["macro_f1"] == 1.0
    assert own["ece"] is not None
    assert peer["ece"] is None


def test_table_has_headings(corpus):
    found = run(corpus)
    assert found.exit_code == 0
    assert "macro-F1" in found.stdout
    assert "100.0" in found.stdout


def test_cross_corpus_labels_are_mapped(corpus, tmp_path):
    names = tmp_path / "names.json"
    names.write_text(
        json.dumps({"sport": {"A": ["体育/足球"], "B": ["体育/足球"]}, "money": {"A": ["财经"], "B": ["财经"]}}), encoding="utf-8"
    )
    found = run(corpus, corpus, "--cross", names, "--json")
    assert found.exit_code == 0, found.output
    assert {row["label"] for row in json.loads(found.stdout)["labels"]} == {"sport", "money"}


def test_html_report_shows_confusion_matrix(corpus, tmp_path):
    out = tmp_path / "report.html"
    assert run(corpus, "--html", out).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "体育/足球" in text
    assert "<svg" in text


def test_leave_out_scores_rejection_of_unknown_labels(tmp_path):
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


def test_leave_out_needs_more_than_three_labels(corpus):
    found = run(corpus, "--leave-out")
    assert found.exit_code == 1
    assert "more than 3" in found.output


@pytest.mark.parametrize("line", ["{", "[]", '{"text": "甲"}', '{"text": 1, "label": "甲"}', '{"text": "甲", "label": " "}'])
def test_invalid_line_is_reported_with_its_number(corpus, line):
    (corpus / "train.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    found = run(corpus)
    assert found.exit_code == 1
    assert "train.jsonl:2" in found.output


@pytest.mark.parametrize("words", [["-a", "magic"], ["--peer", "magic"], ["--cross", "file"], ["--leave-out", "--peer", "all"]])
def test_invalid_options_are_usage_errors(corpus, words):
    assert run(corpus, *words).exit_code == 2


def test_missing_folder_is_reported(tmp_path):
    found = run(tmp_path / "none")
    assert found.exit_code == 1
    assert "none" in found.output


def test_missing_and_truncated_files_are_reported(tmp_path):
    found = run(tmp_path)
    assert found.exit_code == 1
    assert f"{tmp_path}: there is neither train.jsonl nor train.jsonl.gz in it" in found.output
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a", "label": "b"}\n' * 99)[:-9])
    assert "the file is cut off" in run(tmp_path).output
    (tmp_path / "train.jsonl").write_bytes(b"{}\n")
    assert 'train.jsonl:1: a line must be {"text"' in run(tmp_path).output
