"""The JSON Schema of ``sources.yaml``, by which editors complete keys and underline mistakes while one types."""

from __future__ import annotations

import json
from typing import Any

from newsportal import engines
from newsportal.sources.models import Sources

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema as plain values. The names of built-in engines are offered, others allowed."""
    made = Sources.model_json_schema(by_alias=True)
    topic = made["$defs"]["Topic"]["properties"]["engines"]
    offered = {"anyOf": [{"enum": list(engines.ENGINES)}, {"type": "string", "minLength": 1, "maxLength": 100}]}
    topic["anyOf"] = [offered, {"type": "array", "items": offered}]
    return {"$schema": DIALECT, "title": "sources.yaml of newsportal", **{key: value for key, value in made.items() if key != "title"}}


def schema_text() -> str:
    """The schema as it is kept in ``docs/sources.schema.json``."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
