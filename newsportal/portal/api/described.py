"""``/api/openapi.json``: the API for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts

from newsportal.accounts import Right
from newsportal.portal.access import Needs, needs

router = APIRouter(dependencies=[needs(Right.READ)])

SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of /account or `newsportal token add`; it begins with np_."},
    "session": {"type": "apiKey", "in": "cookie", "name": "session", "description": "Somebody signed in through a browser."},
}


@router.get("/api/openapi.json")
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(schema(request.app), headers={"cache-control": "private, no-cache"})


def schema(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1 of the API, with what each operation asks for: ``x-right``, and a token where reading is not enough."""
    told = app.openapi()
    told.setdefault("components", {})["securitySchemes"] = SCHEMES
    for route in iter_route_contexts(app.routes):
        place = told["paths"].get(route.path_format, {}) if getattr(route, "include_in_schema", False) else {}
        right = right_of(route)
        for method in route.methods or ():
            if right is not None and (operation := place.get(method.lower())) is not None:
                operation["x-right"] = str(right)
                operation["security"] = [{name: []} for name in SCHEMES] + ([{}] if right is Right.READ else [])
    return told


def right_of(route: Any) -> Right | None:
    """The most that a route asks for; None for one that asks for nothing."""
    asked = [
        needed.call.right for needed in getattr(getattr(route, "dependant", None), "dependencies", ()) if isinstance(needed.call, Needs)
    ]
    return max(asked, key=list(Right).index, default=None)
