"""Reading of jieba's data files without importing jieba."""

from __future__ import annotations

import subprocess
import sys

from newsportal.text.words import dictionary, parts_of_speech, word_idf


def test_dictionary_rarity_and_kinds() -> None:
    assert {"北京", "气象局", "中华人民共和国"} <= dictionary()
    rare = word_idf()
    assert rare["我们"] < rare["经济"] < rare["气象局"]
    assert {"北京": "ns", "经济": "n", "提高": "v"}.items() <= dict(parts_of_speech()).items()


def test_jieba_is_not_imported() -> None:
    code = "import sys; from newsportal.text.words import word_idf; word_idf(); print('jieba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
