"""Fingerprints do not depend on the position of a passage, and the index finds them until they are forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from newsportal.dedup.fingerprints import ALL, KEPT, RUN, fingerprint, limit_for, plain_letters
from newsportal.dedup.judge import is_subject, overlap, verdict
from newsportal.dedup.shingle_index import LATEST, Postings
from newsportal.text import letters

TEXT = "青河市圖書館新館，昨天上午向讀者開放！Ａ座共 ３ 层，藏书40万册；瞭解更多：ＡＢＣ。"


def made_text(number: int, length: int = 3000) -> str:
    return "".join(chr(0x4E00 + (number * 7919 + place * place * 31 + place * 17) % 20_000) for place in range(length))


def test_plain_letters_equal_letters() -> None:
    assert plain_letters(TEXT).tobytes().decode("utf-32-le") == letters(TEXT)
    assert len(plain_letters("\U0010ffff\ud800 。")) == 0


def test_short_text_keeps_all_runs_and_marks_digits() -> None:
    found = fingerprint("新馆藏书40万册开放了")
    assert (found.length, found.limit, len(found.runs)) == (6, ALL, 6)
    assert (found.in_order() & 1).tolist() == [1, 1, 1, 1, 1, 1]
    assert not (fingerprint("新馆昨天上午开放了").runs & 1).any()
    assert fingerprint("五个字而已").length == 0


def test_long_text_keeps_a_sample_shared_with_its_parts() -> None:
    full, part = fingerprint(made_text(1)), fingerprint(made_text(1)[1000:1400])
    assert KEPT / 4 < len(full.runs) <= 2 * KEPT
    below = part.runs[part.runs < full.limit]
    assert len(below) > 5
    assert np.isin(below, full.runs).all()


@pytest.mark.parametrize(("length", "halvings"), [(0, 0), (256, 0), (257, 1), (513, 1), (1028, 3)])
def test_limits_are_nested(length: int, halvings: int) -> None:
    assert limit_for(length, 256) == ALL >> halvings


def test_covered_text_joins_neighbours() -> None:
    found = fingerprint("青河市图书馆新馆昨天上午向读者开放")
    ordered = found.in_order()
    assert found.covered(ordered[:3]) == "青河市图书馆新馆"
    assert found.covered(np.concatenate((ordered[:1], ordered[-1:]))) == "青河市图书馆"[:RUN] + " " + "上午向读者开放"[-RUN:]
    assert found.covered(ordered[:0]) == ""


def test_postings_return_latest_and_forget() -> None:
    index = Postings()
    for number in range(400):
        index.add(number, np.array([7, 1000 + number], dtype=np.uint32))
        if number % 50 == 49:
            index.forget(0)  # moves recent entries into an array
    places, numbers = index.find(np.array([7, 1005, 99_999], dtype=np.uint32))
    assert numbers[places == 1].tolist() == [5]
    assert 399 in numbers[places == 0]
    assert LATEST <= np.count_nonzero(places == 0) <= 4 * LATEST
    assert not (places == 2).any()
    index.forget(390)
    _, numbers = index.find(np.array([7, 1005], dtype=np.uint32))
    assert sorted(numbers.tolist()) == list(range(390, 400))
    assert index.bytes == 20 * 8 + 16  # entries and filter


def test_highest_hash_is_found() -> None:
    index = Postings()
    index.add(3, np.array([0, ALL - 1], dtype=np.uint32))
    index.forget(0)
    assert index.find(np.array([0, ALL - 1], dtype=np.uint32))[1].tolist() == [3, 3]


def test_common_runs_are_not_counted() -> None:
    new, old = np.arange(0, 100, 2, dtype=np.uint32), np.arange(40, 140, 2, dtype=np.uint32)
    found = overlap(new, old, np.arange(60, 100, 2, dtype=np.uint32), ALL)
    assert (found.new, found.old, found.shared) == (30, 30, 10)
    assert overlap(new, old, new[:0], 50).shared == 5


def test_numbers_of_an_added_lead_are_ignored() -> None:
    lead, body = np.arange(101, 161, 2, dtype=np.uint32), np.arange(200, 300, 2, dtype=np.uint32)
    found = overlap(np.concatenate((lead, body)), np.concatenate((body, np.arange(302, 340, 2, dtype=np.uint32))), body[:0], ALL)
    assert (found.numbers, found.words, found.shared_words) == (0, 50, 50)
    assert verdict(found, "a", same_title=False).relation == "same"


def test_title_is_evidence_of_the_subject() -> None:
    assert is_subject("图书馆新馆开放", "青河图书馆新馆", "")
    assert is_subject("图书馆新馆开放", "海带丰收价钱好", "昨天图书馆新馆向读者开放")
    assert not is_subject("图书馆新馆开放", "海带丰收价钱好", "本网站不作任何保证或承诺")
    assert is_subject("", "海带丰收价钱好", "本网站不作任何保证或承诺")
