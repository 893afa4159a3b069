"""The API: ``/api/v1/…`` in JSON, with the same rights as the pages. A new part: a file here and its name in ``ROUTERS``.

A router declares its right as pages do (``APIRouter(tags=["Sources"], dependencies=EDIT)``); its endpoints take pydantic models, return the
services' dataclasses, have a summary, and their names are the operation ids. A dataclass is the schema of its response (descriptions:
``metadata`` of its fields); else ``response_model`` names a model that reads it. Errors: ``access``; lists: ``paging``.
"""

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
    *(stories.router, stories.search_router, events.router, events.editing_router, assistant.router, monitor.router),
    *(part.router for part in (alerts, people, marks, topics, categories, models, extraction_rules, sources, articles, publishing)),
)  # in the order of the documentation


def add_to(root: APIRouter) -> None:
    errors = describe(401, 403, 422, 503)
    for part in ROUTERS:
        root.include_router(part, prefix=PREFIX, responses=errors, dependencies=READ, generate_unique_id_function=lambda route: route.name)
    root.include_router(openapi.router, include_in_schema=False)
