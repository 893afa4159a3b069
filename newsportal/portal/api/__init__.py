"""The API: ``/api/v1/…`` in JSON, with the same rights as the pages. To add a part, add a file here and a name in ``ROUTERS``.

A router declares its right as pages do (``APIRouter(tags=["Sources"], dependencies=EDIT)``); its endpoints take pydantic models, return the
services' dataclasses, and have a summary. A dataclass with the fields of the response is its schema (descriptions are in a field's
``metadata``); otherwise ``response_model`` names a model that reads the dataclass, with ``validation_alias`` for renamed fields. ``access``
defines the form of errors, ``paging`` that of lists.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from fastapi import APIRouter

from newsportal.portal.access import READ, describe
from newsportal.portal.api import (
    alerts,
    articles,
    assistant,
    categories,
    events,
    extraction_rules,
    marks,
    models,
    monitor,
    openapi,
    people,
    publishing,
    sources,
    stories,
    topics,
)

PREFIX: Final = "/api/v1"

ROUTERS: Final[tuple[APIRouter, ...]] = (
    *(stories.router, stories.search_router, events.router, events.editing_router),
    *(part.router for part in (assistant, monitor, alerts, people, marks, topics, categories, models, extraction_rules, sources, articles)),
    publishing.router,
)  # in the order of the documentation


def add_to(root: APIRouter) -> None:
    for router in ROUTERS:
        responses = describe(401, 403, 422, 503)
        root.include_router(router, prefix=PREFIX, responses=responses, dependencies=READ, generate_unique_id_function=attrgetter("name"))
    root.include_router(openapi.router, include_in_schema=False)
