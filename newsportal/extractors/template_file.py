"""The template library as JSON: written with a version, checked word by word when it is read (anybody may have written the file)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Final

from newsportal.errors import LibraryError
from newsportal.extractors.layout import MAX_TEXTS, Layout, read_structure
from newsportal.extractors.template import Template, path_to
from newsportal.extractors.url_library import MAX_DEPTH, MAX_DIRECTORIES, MAX_SITES, MAX_TEMPLATES, MAX_WAITING, Branch, Directory, Library

VERSION: Final = 1
FORMAT: Final = "newsportal-templates"

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of a library's text, written and read. One of a thousand usual sites has a few megabytes, the largest that memory may hold thousands."""


def write_library(library: Library, most: int = MAX_BYTES) -> str:
    """The library as JSON, the site used last at the end.

    What ``most`` bytes do not hold is left out: first pages that wait, of the site used longest ago before others, then such sites.
    """
    top, end = f'{{"format":{_json(FORMAT)},"version":{VERSION},"sites":[', "]}"
    left = most - len(top) - len(end)
    heads: dict[str, str] = {}
    for site, branch in reversed(library.sites.items()):
        templates = [plain(directory, template) for directory, here in branch.templates.items() for template in here]
        head = f'{{"site":{_json(site)},"templates":{_json(templates)},"waiting":['
        if (size := _size(head) + len("]},")) > left:
            left = 0
            break
        heads[site], left = head, left - size
    waiting: dict[str, list[str]] = {site: [] for site in heads}
    for site, row in _waiting(library, heads):
        if (size := _size(row) + len(",")) > left:
            break
        waiting[site].append(row)
        left -= size
    sites = [f"{head}{','.join(reversed(waiting[site]))}]}}" for site, head in reversed(heads.items())]
    return f"{top}{','.join(sites)}{end}"


def _waiting(library: Library, sites: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pages that wait as JSON, the last of each site first."""
    for site in sites:
        for (directory, leaf), layout in reversed(library.sites[site].waiting.items()):
            texts = [list(block) for block in layout.texts]
            yield site, _json({"directory": directory, "leaf": leaf, "structure": layout.structure, "texts": texts})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def plain(directory: Directory, template: Template) -> dict[str, Any]:
    """A template as plain values, as the file has it."""
    return {
        "directory": list(directory),
        "pages": template.pages,
        "content": list(template.content),
        "shared": [f"{number:016x}" for number in sorted(template.shared)],
        "structure": template.structure,
    }


def read_library(text: str) -> Library:
    """The library behind ``text``. Raises ``LibraryError`` that says what is wrong."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LibraryError(f"no template library: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise LibraryError("no template library: it is some other JSON")
    if found.get("version") != VERSION:
        raise LibraryError(f"a template library of version {found.get('version')!r}; this newsportal reads version {VERSION}")
    library = Library()
    try:
        for site in _list(found, "sites", MAX_SITES):
            branch = Branch()
            _read_templates(site, branch)
            _read_waiting(site, branch)
            library.sites[_text(site, "site")] = branch
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LibraryError(f"a broken template library: site {len(library.sites) + 1}: {error}") from error
    return library


def _read_templates(site: dict[str, Any], branch: Branch) -> None:
    for row in _list(site, "templates", MAX_DIRECTORIES * MAX_TEMPLATES):
        tags, parents = read_structure(_text(row, "structure"))
        content = tuple(_number(place, len(tags)) for place in _list(row, "content", len(tags)))
        if not content:
            raise ValueError("a template without content")
        shared = frozenset(_number(int(written, 16), 1 << 64) for written in _list(row, "shared", MAX_TEXTS))
        template = Template(row["structure"], path_to(content[0], tags, parents), content, shared, _number(row["pages"], 1 << 40))
        branch.templates.setdefault(_directory(row), []).append(template)


def _read_waiting(site: dict[str, Any], branch: Branch) -> None:
    for row in _list(site, "waiting", MAX_WAITING):
        tags, parents = read_structure(_text(row, "structure"))
        texts = tuple(array("Q", (_number(mark, 1 << 64) for mark in block)) for block in _list(row, "texts", len(tags)))
        if len(texts) != len(tags):
            raise ValueError("texts do not fit their structure")
        branch.waiting[_directory(row), _text(row, "leaf")] = Layout(tags, parents, texts)


def _directory(row: dict[str, Any]) -> Directory:
    segments = _list(row, "directory", MAX_DEPTH)
    if not all(isinstance(segment, str) for segment in segments):
        raise ValueError("a directory is a list of names")
    return tuple(segments)


def _list(row: dict[str, Any], key: str, most: int) -> list[Any]:
    found = row[key]
    if not isinstance(found, list) or len(found) > most:
        raise ValueError(f"{key!r} is no list of at most {most}")
    return found


def _text(row: dict[str, Any], key: str) -> str:
    found = row[key]
    if not isinstance(found, str):
        raise TypeError(f"{key!r} is no text")
    return found


def _number(found: object, below: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < below:
        raise ValueError(f"{found!r} is no number from 0 to {below - 1}")
    return found
