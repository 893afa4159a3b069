"""The example program in docs/api.md works over a real connection with a token."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from newsportal.services.accounts import Right
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

GUIDE = Path(__file__).parents[2] / "docs" / "api.md"


@pytest.mark.slow
def test_example_hides_matching_articles(serve: Any, own_store: Store, newsroom: ModuleType) -> None:
    editor = serve(own_store, role="editor")
    person = next(person for person in editor.accounts.people.all() if person.role == "editor")
    _, secret = editor.accounts.tokens.add(person, "example", [Right.EDIT, Right.READ], now=newsroom.NOW)
    story = next(iter(own_store.stories(StoryFilter(topic="旅游")).stories))
    own_store.correct(story.head.id, {"title": "转发抽奖"}, by="editor", now=story.last_seen)
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    adapted = program.replace("http://127.0.0.1:8000/", str(editor.base_url).rstrip("/") + "/")
    result = subprocess.run(
        [sys.executable, "-c", adapted],
        env={**os.environ, "NEWSPORTAL_TOKEN": secret},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "no corpus 'categories'" in result.stdout
    hidden = own_store.article(story.head.id)
    assert hidden is not None
    assert hidden.hidden_reason == "抽奖"
