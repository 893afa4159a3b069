"""Installed peers read a page; missing ones raise an error that says how to install them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from newsportal.errors import DependencyMissing
from newsportal_lab.evaluate.peers import PEERS, installed, peer

ROOT = Path(__file__).resolve().parents[3]
TEXT = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民，站台上的人们拿出手机拍照留念。"
PAGE = (
    "<html><head><meta charset='gb18030'><title>滨海新线今晨通车</title></head><body><h1>滨海新线今晨通车</h1><div>2024-03-05 08:30</div>"
    f"<article>{''.join(f'<p>{TEXT}</p>' * 8)}</article></body></html>"
).encode("gb18030")
FIELDS = {"text", "title", "date", "author", "source"}


@pytest.mark.parametrize("name", PEERS)
def test_peer_reads_chinese_page(name: str) -> None:
    if find_spec(PEERS[name][0]) is None:
        with pytest.raises(DependencyMissing, match=r"\[peers\]"):
            peer(name)
        assert name not in installed()
        pytest.skip(f"needs {name}: pip install 'newsportal[peers]'")
    found = peer(name)(PAGE, "https://a.example/2024/1.html")
    assert set(found) <= FIELDS
    assert "滨海新线" in (found.get("text") or found.get("title") or "") or found.get("date") == "2024-03-05"


def test_unknown_peer_error_lists_names() -> None:
    with pytest.raises(ValueError, match="trafilatura, "):
        peer("nobody")


def test_peers_are_in_extra_and_documented() -> None:
    extra = (ROOT / "pyproject.toml").read_text("utf-8").partition("peers = [")[2].partition("]")[0]
    document = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for name in PEERS:
        assert f'"{name.removesuffix("-precision")}>=' in extra
        assert f"`{name}`" in document
