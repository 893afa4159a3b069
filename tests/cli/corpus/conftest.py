"""Fixtures for the tests of corpora, training and models."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import portal_folder

from portal_folder import SOURCES, Portal


@pytest.fixture
def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Portal:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    monkeypatch.chdir(tmp_path)
    return Portal(tmp_path)


WORDS = {"体育": "比赛 进球 教练 冠军 球队 联赛 决赛 射门 球员 球迷", "财经": "股市 基金 银行 利率 上涨 债券 投资 股票 收益 汇率"}


@pytest.fixture
def rows() -> Callable[[int], list[dict[str, Any]]]:
    """Function that returns ``count`` labelled texts of each of two labels; none repeats another."""

    def labelled(count: int) -> list[dict[str, Any]]:
        found = []
        for label, words in WORDS.items():
            vocabulary = words.split()
            for n in range(count):
                picked = [vocabulary[(n * step + step) % len(vocabulary)] for step in (1, 3, 7)]
                found.append({"id": f"{label}{n}", "text": f"第{n}号{n * 7919}：{'，'.join(picked)}，共{n * 104729}次。", "label": label})
        return found

    return labelled
