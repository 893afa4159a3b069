"""The catalogues match the messages; the language is chosen by the reader's preferences."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

import newsportal.portal
from newsportal.messages import SENTENCES
from newsportal.portal.language import LANGUAGES, SOURCE_LANGUAGE, TAGS, catalog, choose
from newsportal.services.alerts.services import SERVICES

PARAM = re.compile(r"%\(\w+\)s")
WORDS = re.compile(r"[a-z;]")
PORTAL = Path(newsportal.portal.__file__).parent


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {SOURCE_LANGUAGE}))
def test_catalogue_has_exactly_the_used_messages(language: str, messages: ModuleType) -> None:
    catalogue = catalog(language)
    titles = {service.title for service in SERVICES.values()}
    used = {*messages.messages(PORTAL), *titles, *(sentence for sentence in SENTENCES.values() if WORDS.search(PARAM.sub("", sentence)))}
    translated = {message.id: message for message in catalogue if message.id}
    assert not used - set(translated), "messages without a translation: add them to the .po file"
    assert not set(translated) - used, "unused translations: remove them from the .po file"
    for message in translated.values():
        assert message.string, f"not translated: {message.id}"
        assert not list(message.check(catalogue)), f"placeholders differ: {message.id}"
        assert not message.fuzzy
        assert not set('"<>') & set(message.string), f"would break an attribute or a tag: {message.id}"


def test_every_language_has_a_tag() -> None:
    assert set(TAGS) == set(LANGUAGES)


@pytest.mark.parametrize(
    ("cookie", "accept", "default", "expected"),
    [
        ("en", "zh", "zh", "en"),
        (None, "en-GB,en;q=0.9", "zh", "en"),
        (None, "EN-us", "zh", "en"),
        (None, "fr, zh-TW;q=0.8, en;q=0.5", "en", "zh"),
        (None, "en;q=0.1, zh;q=0.9", "en", "zh"),
        (None, "zh;q=0, en", "zh", "en"),
        (None, "", "en", "en"),
        (None, "fr", "xx", "zh"),
        ("xx", ";;;q=,,\x00", "en", "en"),
        (None, "a" * 100_000, "zh", "zh"),
    ],
)
def test_language_choice(cookie: str | None, accept: str, default: str, expected: str) -> None:
    assert choose(cookie, accept, default) == expected
