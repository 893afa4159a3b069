"""``words`` and ``dictionary``: user-defined words for the segmenter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from newsportal import text
from newsportal.errors import SourcesError
from newsportal.sources import load, use_custom_words

START = "feeds: [{name: a, url: 'https://a.example/rss'}]\n"


@pytest.fixture(autouse=True)
def _reset_own_words() -> Iterator[None]:
    yield
    text.set_user_words([])


def write_sources(folder: Path, words: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(START + words, "utf-8")
    return path


def test_words_and_dictionary_are_segmented(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes("\ufeff# 自己的词\n九树之声 10 n\n\n雲棲竹徑\n".encode())
    use_custom_words(load(write_sources(tmp_path, "words: 奥里给队\ndictionary: mine.txt\n")))
    assert text.segment("九树之声和奥里给队") == ["九树之声", "和", "奥里给队"]
    assert "云栖竹径" in text.segment("他们在云栖竹径演出")  # the segmenter gets normalized (simplified) text
    use_custom_words(load(write_sources(tmp_path, "")))
    assert "九树之声" not in text.segment("九树之声和奥里给队")


@pytest.mark.parametrize(("content", "message"), [(None, "No such file"), (b"\xd6\xd0\xb9\xfa", "not UTF-8"), (b"x" * 20_000_001, "20 MB")])
def test_unreadable_dictionary_is_reported(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "mine.txt").write_bytes(content)
    with pytest.raises(SourcesError, match=message):
        use_custom_words(load(write_sources(tmp_path, "dictionary: mine.txt\n")))
