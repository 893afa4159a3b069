"""The log of changes has a word for everything that is written into it."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from newsportal.portal.action_words import ACTIONS, done
from newsportal.portal.language import translations

WRITTEN = re.compile(r'(?:log\(request, |trail\.add\([^"\n]*|write\([^"\n]*, |action = |_changed\([^"\n]*, )"([a-z]+\.[a-z-]+)"')
"""Where the pages and the API name an action."""


def logged() -> set[str]:
    with resources.as_file(resources.files("newsportal.portal")) as folder:
        return {name for path in Path(folder).rglob("*.py") for name in WRITTEN.findall(path.read_text("utf-8"))}


def test_every_action_that_is_logged_has_a_name() -> None:
    assert len(logged()) > 30, "the pattern still finds them"
    assert logged() <= ACTIONS.keys()


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_it_is_chinese(action: str) -> None:
    said = done(action, translations("zh"))
    assert re.search("[\u4e00-\u9fff]", said)


def test_one_that_nobody_foresaw_stays_as_it_is() -> None:
    assert done("thing.other", translations("zh")) == "thing.other"
