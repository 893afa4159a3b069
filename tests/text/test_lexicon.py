"""What comes with jieba is read without starting it."""

from __future__ import annotations

import subprocess
import sys

from newsportal.text.lexicon import dictionary, rarity, usual_rarity


def test_words_and_rarity() -> None:
    assert {"北京", "气象局", "中华人民共和国"} <= dictionary()
    assert rarity()["我们"] < rarity()["经济"] < rarity()["气象局"]
    assert rarity()["经济"] < usual_rarity() < 14


def test_jieba_stays_asleep() -> None:
    code = "import sys; from newsportal.text.lexicon import rarity; rarity(); print('jieba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
