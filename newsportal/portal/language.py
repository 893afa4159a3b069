"""The interface in the reader's language: gettext catalogs read from ``locale/<language>/*.po``, English in the source.

Catalogs are compiled in memory when the first page is asked for (some 10 ms), so there is no compiled file to fall out of step.
A language's catalog may be in several files, a part of the portal each; no message stands in two. A further language is one folder,
``locale/xx``, and one line in ``LANGUAGES``; ``tests/portal/test_language.py`` says what is missing.
"""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from io import BytesIO

from babel.core import negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LANGUAGES = {"zh": "中文", "en": "English"}
"""Languages of the interface, by the name their speakers give them."""

TAGS = {"zh": "zh-CN", "en": "en"}
"""What stands in ``<html lang>``: ``zh`` alone leaves the choice between Chinese and Japanese letter forms to the browser."""

SOURCE_LANGUAGE = "en"


def _(message: str) -> str:
    """Marks a message for the catalog; it is translated when it is shown."""
    return message


def catalog(language: str) -> Catalog:
    """All messages of ``language`` (not the source language). Raises ``ValueError`` for one that stands in two files."""
    whole = Catalog(locale=language)
    folder = resources.files("newsportal.portal").joinpath("locale", language)
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        part = read_po(BytesIO(file.read_bytes()), locale=language)
        for message in part:
            if message.id and message.id in whole:
                raise ValueError(f"{file.name}: {message.id!r} stands in another file already")
            if message.id:
                whole[message.id] = message
    return whole


@cache
def translations(language: str) -> NullTranslations:
    """The catalog of ``language`` (a key of ``LANGUAGES``); the source language needs none."""
    if language == SOURCE_LANGUAGE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalog(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def choose(wanted: str | None, accept: str, default: str) -> str:
    """The reader's own choice if we have it, else the best of the ``Accept-Language`` header, else ``default``, else Chinese."""
    if wanted in LANGUAGES:
        return str(wanted)
    found = negotiate_locale(_accepted(accept), list(LANGUAGES), sep="-")
    if found:
        return found
    return default if default in LANGUAGES else next(iter(LANGUAGES))


def _accepted(header: str) -> list[str]:
    """The tags of an ``Accept-Language`` header by weight; malformed parts are left out. Regions fall back to the plain language."""
    weighted: list[tuple[float, int, str]] = []
    for place, part in enumerate(header[:1000].split(",")):
        tag, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if tag.strip() and weight > 0:
            weighted.append((-weight, place, tag.strip()))
    return [form for _, _, tag in sorted(weighted) for form in (tag, tag.split("-")[0])]
