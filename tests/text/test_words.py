"""Word segmentation: properties of every engine."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from newsportal.text import search_words, segment, set_user_words, words

SENTENCE = "记者从北京市气象局获悉，今天下午 3 时起将有大雨。"
NEW_WORD = "九树之声"


@cache
def cutter_of(engine: str) -> words.Cutter:
    """Return a cutter, made only once: jieba reads its dictionary for half a second."""
    return words.open_cutter(engine=engine)


@pytest.fixture(params=["rjieba", "jieba"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "rjieba":
        pytest.importorskip("rjieba", reason="no wheel for this platform")
    monkeypatch.setattr(words, "ENGINES", (request.param,))
    monkeypatch.setattr(words, "_cutter", cutter_of(request.param))
    monkeypatch.setattr(words, "_user_words", frozenset())
    return request.param


def test_words_are_in_order_without_white_space(engine: str) -> None:
    found = segment(SENTENCE)
    assert "".join(found) == "".join(SENTENCE.split())
    assert {"记者", "北京市", "气象局", "，", "大雨"} <= set(found)


def test_search_words_include_shorter_words(engine: str) -> None:
    assert {"南京", "长江", "大桥", "长江大桥"} <= set(search_words("南京市长江大桥"))
    assert not [word for word in search_words("，。！") if word]


def test_own_words_are_added_and_removed(engine: str) -> None:
    assert NEW_WORD not in segment(f"游客来到{NEW_WORD}参观")
    before = words.signature()
    set_user_words([f" {NEW_WORD} ", "", "云", "x" * 99])
    assert NEW_WORD in segment(f"游客来到{NEW_WORD}参观")
    assert NEW_WORD in list(search_words(f"游客来到{NEW_WORD}参观"))
    assert words.signature() != before
    set_user_words([])
    assert NEW_WORD not in segment(f"游客来到{NEW_WORD}参观")
    assert words.signature() == before


def test_signature_ignores_order_of_own_words(engine: str) -> None:
    set_user_words(["云栖竹径", "九溪烟树"])
    first = words.signature()
    set_user_words(["九溪烟树", "云栖竹径", "九溪烟树"])
    assert words.signature() == first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u3000", []),
        ("\0中国\0", ["\0", "中国", "\0"]),
        ("北京\ud83d新闻", ["北京", "?", "新闻"]),  # a lone surrogate
        ("🚀发射", ["🚀", "发射"]),
        ("a" * 100_000, ["a" * 100_000]),
    ],
    ids=["empty", "blank", "null", "surrogate", "emoji", "one giant word"],
)
def test_odd_texts(engine: str, text: str, expected: list[str]) -> None:
    assert segment(text) == expected


@pytest.mark.parametrize("text", ["新闻" * 50_000, "新闻，" * 30_000, "的" * 100_000], ids=["no stops", "many stops", "one character"])
def test_long_texts_are_segmented_completely(engine: str, text: str) -> None:
    assert "".join(segment(text)) == text


def test_threads_segment_alike(engine: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        cuts = list(threads.map(lambda _: tuple(segment(SENTENCE)), range(64)))
    assert set(cuts) == {tuple(segment(SENTENCE))}


@pytest.mark.parametrize("engine_name", ["rjieba", "jieba"])
def test_start_prints_nothing_and_uses_no_shared_file(engine_name: str, tmp_path: Path) -> None:
    """jieba itself prints, and caches in the shared temporary folder, where any user may plant a file."""
    if engine_name == "rjieba":
        pytest.importorskip("rjieba", reason="no wheel for this platform")
    trap = tmp_path / "jieba.cache"
    trap.write_bytes(b"planted by another user")
    os.utime(trap, (2**31, 2**31))
    code = f"from newsportal.text import words; words.ENGINES = ({engine_name!r},); print(words.segment('北京旅游'))"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "['北京', '旅游']\n"
    assert ran.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert trap.read_bytes() == b"planted by another user"


def test_jieba_is_the_fallback_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)  # as if it could not be imported
    assert words.open_cutter().signature.startswith("jieba ")
    with pytest.raises(ImportError):
        words.open_cutter(engine="rjieba")


def test_engines_segment_nearly_alike() -> None:
    """Indexes are portable between machines: 99.9 % of the boundaries on news texts agree (docs/algorithms/words.md)."""
    pytest.importorskip("rjieba", reason="no wheel for this platform")
    text = SENTENCE * 3 + "欧盟委员会主席冯德莱恩表示，双方将继续就电动汽车关税展开磋商；中国队以3比1战胜对手，晋级半决赛。"
    cuts = [list(cutter_of(name).cut(text)) for name in ("rjieba", "jieba")]
    places = [{sum(map(len, cut[:index])) for index in range(len(cut))} for cut in cuts]
    assert len(places[0] & places[1]) / len(places[0] | places[1]) > 0.95
