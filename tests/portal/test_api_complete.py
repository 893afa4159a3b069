"""Programs can do what pages can, with the same right: each page that requires a right is listed here with its operation of the API, or
with the reason why it has none. Add new pages to one of the two tables."""

from __future__ import annotations

from typing import Final

import pytest
from fastapi.routing import iter_route_contexts

from newsportal.portal.api.openapi import right_of
from newsportal.portal.app import create_app
from newsportal.services.accounts import Right, open_accounts
from newsportal.sources import Sources
from newsportal.store import open_store

API: Final = "/api/v1"

OPERATIONS: Final = {
    "GET /alerts": "GET /alerts",
    "GET /alerts/{id}": "GET /alerts/{id}/messages",
    "POST /alerts/new": "POST /alerts",
    "POST /alerts/{id}": "PUT /alerts/{id}",
    "POST /alerts/{id}/again": "POST /alerts/{id}/again",
    "POST /alerts/{id}/delete": "DELETE /alerts/{id}",
    "POST /alerts/{id}/on": "POST /alerts/{id}/resume",
    "POST /alerts/{id}/test": "POST /alerts/{id}/test",
    "GET /articles": "GET /editing/articles",
    "POST /articles": "POST /articles/hide",
    "GET /audit": "GET /audit",
    "GET /categories": "GET /categories/settings",
    "POST /categories/new": "PUT /categories/settings/{name}",
    "POST /categories/{name}/edit": "PUT /categories/settings/{name}",
    "POST /categories/{name}/drop": "DELETE /categories/settings/{name}",
    "GET /corpora": "GET /corpora",
    "POST /corpora/gather": "POST /corpora/gather",
    "POST /corpora/upload": "POST /corpora/{name}/documents",
    "GET /corpora/{name}": "GET /corpora/{name}/labels",
    "GET /corpora/{name}/export.jsonl": "GET /corpora/{name}/documents",
    "POST /corpora/{name}/delete": "DELETE /corpora/{name}",
    "POST /corpora/{name}/label": "PUT /corpora/{name}/documents/{id}/label",
    "GET /corrections": "GET /editing/articles",
    "POST /event/{event_id}": "PATCH /events/{id}",
    "POST /event/{event_id}/assistant": "POST /events/{id}/assistant",
    "POST /event/{event_id}/undo/{number}": "POST /events/edits/{number}/undo",
    "GET /jobs": "GET /jobs",
    "GET /jobs/{id}": "GET /jobs/{id}",
    "POST /jobs/{id}/cancel": "DELETE /jobs/{id}",
    "POST /marks": "PUT /marks/{story_id}",
    "POST /marks/all": "POST /marks/all-read",
    "POST /marks/all/undo": "POST /marks/all-read/undo",
    "GET /models": "GET /corpora",
    "POST /models/retrain": "POST /models/retrain",
    "GET /models/{corpus}": "GET /models/{corpus}",
    "GET /models/{corpus}/{version}": "GET /models/{corpus}",
    "POST /models/{corpus}/back": "POST /models/{corpus}/back",
    "POST /models/{corpus}/train": "POST /models/{corpus}/train",
    "POST /models/{corpus}/{version}/delete": "DELETE /models/{corpus}/{version}",
    "GET /models/{corpus}/{version}/mistakes": "GET /models/{corpus}/{version}/mistakes",
    "POST /models/{corpus}/{version}/use": "POST /models/{corpus}/{version}/use",
    "GET /models/{corpus}/{version}/words": "GET /models/{corpus}/{version}/words",
    "GET /monitor": "GET /monitor/days",
    "GET /monitor/crawls": "GET /monitor/crawled",
    "GET /monitor/failures": "GET /monitor/failures",
    "GET /monitor/queues": "GET /monitor/queues",
    "POST /monitor/aside": "POST /monitor/aside",
    "GET /monitor/system": "GET /monitor/machine",
    "GET /people": "GET /people",
    "POST /people": "POST /people",
    "POST /people/{person_id}/disable": "PATCH /people/{name}",
    "POST /people/{person_id}/enable": "PATCH /people/{name}",
    "POST /people/{person_id}/role": "PATCH /people/{name}",
    "POST /people/{person_id}/password": "POST /people/{name}/password",
    "POST /people/{person_id}/remove": "DELETE /people/{name}",
    "GET /publishing": "GET /publishing/entries",
    "POST /publishing/again": "POST /publishing/again",
    "POST /publishing/ask": "POST /publishing/ask",
    "GET /publishing/trial": "GET /publishing/trial",
    "GET /runs": "GET /runs",
    "GET /runs/{run_id}": "GET /runs/{id}",
    "GET /schedule": "GET /schedule",
    "POST /schedule/{key}": "PATCH /sources/{key}",
    "GET /searches": "GET /searches",
    "POST /searches": "POST /searches",
    "POST /searches/remove": "DELETE /searches/{id}",
    "POST /searches/rename": "PATCH /searches/{id}",
    "GET /sources": "GET /sources",
    "POST /sources/many": "POST /sources/many",
    "POST /sources/new": "POST /sources/propose",
    "POST /sources/opml": "POST /sources/opml",
    "GET /sources/checks/{id}": "GET /checks/{id}",
    "POST /sources/checks/{id}": "POST /sources",
    "POST /sources/checks/{id}/end": "DELETE /checks/{id}",
    "POST /sources/write": "POST /sources",
    "POST /sources/undo/{version}/{digest}": "POST /sources/undo",
    "POST /sources/versions/{id}": "POST /sources/undo",
    "GET /sources/{key}": "GET /sources/{key}",
    "POST /sources/{key}": "PATCH /sources/{key}",
    "POST /sources/{key}/delete": "DELETE /sources/{key}",
    "POST /sources/{key}/enable": "PUT /sources/{key}/enabled",
    "POST /sources/{key}/run": "POST /sources/{key}/visit",
    "POST /sources/{key}/test": "POST /sources/{key}/test",
    "GET /starred": "GET /starred",
    "GET /story/{story_id}/{article_id}/captions": "GET /articles/{id}/captions",
    "POST /story/{story_id}/{article_id}/captions": "PATCH /articles/{id}/captions",
    "POST /story/{story_id}/{article_id}/assistant": "POST /articles/{id}/assistant",
    "POST /story/{story_id}/{article_id}/category": "PUT /articles/{id}/category",
    "GET /story/{story_id}/{article_id}/edit": "GET /articles/{id}/states",
    "POST /story/{story_id}/{article_id}/edit": "PATCH /articles/{id}",
    "GET /story/{story_id}/{article_id}/fold": "GET /articles/{id}/candidates",
    "POST /story/{story_id}/{article_id}/fold": "POST /articles/{id}/fold",
    "POST /story/{story_id}/{article_id}/unfold": "POST /articles/{id}/unfold",
    "POST /story/{story_id}/{article_id}/hide": "POST /articles/hide",
    "POST /story/{story_id}/{article_id}/show": "POST /articles/show",
    "POST /story/{story_id}/{article_id}/withdraw": "DELETE /articles/{id}/correction",
    "GET /suggestions": "GET /suggestions",
    "GET /templates": "GET /templates",
    "POST /templates/forget": "POST /templates/forget",
    "POST /templates/learn": "POST /templates/learn",
    "POST /templates/try": "POST /templates/try",
    "GET /topics": "GET /topics/settings",
    "POST /topics/assign": "POST /topics/assign",
    "POST /topics/preview": "POST /topics/preview",
    "POST /topics/save": "PUT /topics/settings/{name}",
    "POST /topics/{name}/delete": "DELETE /topics/settings/{name}",
    "POST /topics/{name}/up": "POST /topics/settings/{name}/move",
    "POST /topics/{name}/down": "POST /topics/settings/{name}/move",
    "GET /wrappers": "GET /wrappers",
    "POST /wrappers/{key}/try": "POST /wrappers/{key}/try",
    "POST /wrappers/{key}/save": "PATCH /sources/{key}",
}
"""Operations by page; paths below ``/api/v1``."""

FORM: Final = "a form or a confirmation before a change"
PERSON: Final = "personal: a token must not extend its own rights"
KEYS: Final = "keys of the file, which administrators edit directly"
BROWSER: Final = "only for browsers"

WITHOUT_OPERATION: Final = {
    "GET /account": PERSON,
    "POST /account/password": PERSON,
    "POST /account/sessions/end": PERSON,
    "POST /account/tokens": PERSON,
    "POST /account/tokens/revoke": PERSON,
    "GET /alerts/new": FORM,
    "GET /alerts/{id}/delete": FORM,
    "POST /articles/undo/{key}": "a button after a change; programs send the reverse change",
    "GET /categories/new": FORM,
    "GET /categories/{name}/edit": FORM,
    "GET /corpora/{name}/delete": FORM,
    "GET /desk": "composed of other lists",
    "GET /models/{corpus}/{version}/delete": FORM,
    "GET /methods": KEYS,
    "GET /monitor/reading": "months of reading as a table and curves",
    "GET /monitor/log": "the server's log; logs of crawls are at /runs/{id}/log",
    "GET /people/{person_id}/remove": FORM,
    "POST /methods": KEYS,
    "GET /publishing/new": FORM,
    "POST /publishing/new": KEYS,
    "GET /publishing/targets/{name}": FORM,
    "POST /publishing/targets/{name}": KEYS,
    "POST /publishing/targets/{name}/drop": KEYS,
    "POST /searches/back": "an undo button",
    "GET /sources/file": "the file, which administrators edit directly",
    "POST /sources/file": "the file, which administrators edit directly",
    "GET /sources/new": FORM,
    "GET /sources/versions": "POST /sources/undo restores step by step",
    "GET /sources/versions/{id}": "POST /sources/undo restores step by step",
    "GET /sources/write": FORM,
    "GET /sources/{key}/run": BROWSER,
    "POST /starred/key": PERSON,
    "GET /templates/site": "a drawing of templates",
    "GET /topics/new": FORM,
    "GET /topics/{name}/delete": FORM,
    "GET /topics/{name}/edit": FORM,
    "GET /wrappers/{key}": FORM,
}
"""Reasons why pages have no operation."""


@pytest.fixture(scope="module")
def rights() -> dict[str, Right | None]:
    """Rights by ``METHOD /path``."""
    app = create_app(open_store("sqlite://"), None, Sources(), open_accounts("sqlite://"), follow_every=0)
    return {
        f"{method} {route.path or ''}": right_of(route)
        for route in iter_route_contexts(app.routes)
        for method in (getattr(route, "methods", None) or {"GET"}) - {"HEAD"}
    }


@pytest.fixture(scope="module")
def pages(rights: dict[str, Right | None]) -> dict[str, Right | None]:
    return {name: right for name, right in rights.items() if " /api" not in name and right not in (None, Right.READ)}


def test_every_page_has_an_operation_or_a_reason(pages: dict[str, Right | None]) -> None:
    assert set(pages) - set(OPERATIONS) - set(WITHOUT_OPERATION) == set()
    assert (set(OPERATIONS) | set(WITHOUT_OPERATION)) - set(pages) == set(), "listed pages that do not exist"


def test_operations_exist_with_the_rights_of_their_pages(rights: dict[str, Right | None], pages: dict[str, Right | None]) -> None:
    found = {page: rights.get(operation.replace(" ", f" {API}", 1)) for page, operation in OPERATIONS.items()}
    assert {page: right for page, right in found.items() if right is not pages[page]} == {}
