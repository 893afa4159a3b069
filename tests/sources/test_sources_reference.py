"""The documentation and JSON schema of ``sources.yaml`` agree with its models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import jsonschema
import pytest
from ruamel.yaml import YAML

from newsportal.extractors.lists import engines
from newsportal.search import INDEXES
from newsportal.sources import Breadth, Sources, json_schema, load, parse, schema_text
from newsportal.sources.models import KINDS
from newsportal.sources.parts import Part
from newsportal.sources.values import DAY, INDEX_SCHEMES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "sources.md").read_text("utf-8")
SHIPPED = ROOT / "sources.yaml"
ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
BRACES = re.compile(r"\{([a-z_,]+)\}")
REQUIRED = "**required**"
schema = cache(json_schema)


def expanded(written: str) -> Iterator[str]:
    """Yield the keys of a row: ``{feeds,forums}[].url`` is two keys."""
    braces = BRACES.search(written)
    if braces is None:
        yield written
        return
    for name in braces[1].split(","):
        yield from expanded(written[: braces.start()] + name + written[braces.end() :])


DOCUMENTED = [(key, default) for written, _, default, _ in ROW.findall(DOCUMENT) for key in expanded(written)]


def part_of(annotation: Any) -> type[Part] | None:
    """Return the mapping type of a field, also inside ``tuple[Part, ...]``, ``dict[str, Part]`` and ``Part | None``."""
    if get_origin(annotation) in (Union, UnionType, tuple, dict):
        return next(filter(None, map(part_of, get_args(annotation))), None)
    is_part = isinstance(annotation, type) and issubclass(annotation, Part) and annotation is not Breadth
    return annotation if is_part else None


def keys(model: type[Part], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key that the file may have, as ``feeds[].url``, with its field."""
    for name, field in model.model_fields.items():
        key = prefix + (field.alias or name)
        yield key, field
        inner = part_of(field.annotation)
        if inner is not None:
            yield from keys(inner, key + {tuple: "[].", dict: ".*."}.get(get_origin(field.annotation), "."))


FIELDS = dict(keys(Sources))


def default_of(field: Any) -> str:
    """Return the default of a field as the document writes it."""
    if field.is_required():
        return REQUIRED
    value = field.default
    if value == {}:
        return "empty"
    if value in (None, (), DAY):
        return {None: "none", (): "empty", DAY: "every hour"}[value]
    if isinstance(value, tuple):
        return f"`{', '.join(value)}`"
    if isinstance(value, Breadth):
        return f"`{value.pages(0)}`"
    if isinstance(value, Part):
        return "see below"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int) and value and value % 1024**2 == 0:
        return f"`{value // 1024**2} MiB`"
    return f"`{value:g}`" if isinstance(value, int | float) else f"`{value}`"


def test_documented_keys_match_models() -> None:
    found = [key for key, _ in DOCUMENTED]
    assert sorted(found) == sorted(FIELDS)


def test_documented_defaults_match_models() -> None:
    exceptions = {"topics[].keywords": "the topic's name", "forums[].name": "the host of its URL"}
    wrong = {key: default for key, default in DOCUMENTED if default != exceptions.get(key, default_of(FIELDS[key]))}
    assert wrong == {}


def test_every_key_has_description_for_editors() -> None:
    models: set[type[Part]] = {Sources, *filter(None, (part_of(field.annotation) for field in FIELDS.values()))}
    assert len(models) > 20
    docstrings = {model: model.field_docstrings() for model in models}
    assert [(model, name) for model in models for name in model.model_fields if not docstrings[model].get(name)] == []


def test_every_built_in_engine_is_documented() -> None:
    assert [name for name in engines.engine_names() if f"`{name}`" not in DOCUMENT] == []


@pytest.mark.parametrize("file", ["docs/sources.md", "README.md", "README.zh.md", "sources.yaml"])
def test_documented_engines_exist(file: str) -> None:
    engine_names = set(re.findall(r"\b[a-z0-9]+_(?:news_rss|news|web)\b", (ROOT / file).read_text("utf-8")))
    assert engine_names
    assert engine_names <= set(engines.engine_names())


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.+?)```", DOCUMENT, re.DOTALL))
def test_examples_of_document_load(example: str) -> None:
    declared = "engines:\n- {name: 站内搜索, url: 'https://a.example/?q=##QUERY##'}\n" if "站内搜索]" in example else ""
    environ = dict.fromkeys(re.findall(r'"(?:Bearer )?\$\{(\w+)\}"', example), "a secret")  # of sign-ins, which have no default
    assert parse((example + declared).encode(), Path("/srv/sources.yaml"), environ).version == 1


def test_published_schema_is_current() -> None:
    published = (ROOT / "docs" / "sources.schema.json").read_text("utf-8")
    assert published == schema_text(), "write it anew: newsportal source schema > docs/sources.schema.json"


def test_schema_is_valid_and_accepts_shipped_file() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    document = YAML(typ="safe", pure=True).load(SHIPPED.read_text("utf-8"))
    assert [error.message for error in jsonschema.Draft202012Validator(schema()).iter_errors(document)] == []


@pytest.mark.parametrize(
    "text",
    [
        "topics:\n- {name: a, keywords: {must: b, nto: c}}",
        "topics:\n- {name: a, breadth: {x: 1}}",
        "topics:\n- {nam: a}",
        "feeds:\n- {name: a}",
        "portal: {language: cn}",
        "politeness: {per_domain: 65}",
    ],
)
def test_schema_rejects_mistakes(text: str) -> None:
    document = YAML(typ="safe", pure=True).load(text)
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(document))


def test_shipped_file_loads_and_shows_every_kind() -> None:
    sources = load(SHIPPED, environ={})
    assert [kind for kind in KINDS if not getattr(sources, kind)] == []
    first = SHIPPED.read_text("utf-8").partition("\n")[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert match is not None
    assert json.loads((ROOT / match[1]).read_text("utf-8"))
    assert len(sources.feeds) >= 12
    assert any(engine.wrapper for engine in sources.engines)


def test_package_contains_shipped_file() -> None:
    assert (ROOT / "newsportal" / "sources.yaml").read_bytes() == SHIPPED.read_bytes()


def test_index_schemes_match_registry() -> None:
    assert set(INDEXES) == set(INDEX_SCHEMES)
