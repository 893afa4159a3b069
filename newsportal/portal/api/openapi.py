"""The description of the API: ``/api/openapi.json`` for programs, ``/api`` for people."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts

from newsportal.messages import Message
from newsportal.portal.access import READ, Needs
from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.services.accounts import Right

router = APIRouter(dependencies=READ)

SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of /account or `newsportal token add`; it begins with np_."},
    "session": {"type": "apiKey", "in": "cookie", "name": "session", "description": "The session of a browser."},
}


@router.get("/api/openapi.json")
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(schema(request.app), headers={"cache-control": "private, no-cache"})


def schema(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of the API, with the right each operation needs: ``x-right``, and a token unless it is reading."""
    spec = app.openapi()
    spec.setdefault("components", {})["securitySchemes"] = SCHEMES
    for route in iter_route_contexts(app.routes):
        operations = spec["paths"].get(route.path_format, {}) if getattr(route, "include_in_schema", False) else {}
        right = right_of(route)
        for method in route.methods or ():
            if right is not None and (operation := operations.get(method.lower())) is not None:
                operation["x-right"] = str(right)
                operation["security"] = [{name: []} for name in SCHEMES] + ([{}] if right is Right.READ else [])
    return spec


def required_rights(route: Any) -> frozenset[Right]:
    """Return all rights that a route and its router require; none for a public one."""
    needed = getattr(getattr(route, "dependant", None), "dependencies", ())
    return frozenset(dependency.call.right for dependency in needed if isinstance(dependency.call, Needs))


def right_of(route: Any) -> Right | None:
    """Return the highest right that a route requires; None for a public one."""
    return max(required_rights(route), key=list(Right).index, default=None)


@router.get("/api")
def page(request: Request) -> Response:
    """The API for people, in the portal's own design, without resources of other sites."""
    spec, visit = schema(request.app), Visit(request)
    names, groups = {right: visit.clock.says(Message(f"right.{right}")) for right in Right}, dict[str, list[dict[str, Any]]]()
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            entry = _operation(path, method, operation, names)
            groups.setdefault((operation.get("tags") or ["…"])[0], []).append(entry)
    return render(request, "api.html", groups=groups, base_url=visit.portal.site.url or str(request.base_url).rstrip("/"))


def _operation(path: str, method: str, spec: Mapping[str, Any], names: Mapping[Right, str]) -> dict[str, Any]:
    """Return an operation for the template of ``/api``: ``parameters`` maps names to descriptions."""
    parameters = {item["name"]: item.get("description") or _kind(item.get("schema", {})) for item in spec.get("parameters", ())}
    for kind in spec.get("requestBody", {}).get("content", {}):
        parameters["body"] = kind
    right, statuses = names[Right(spec.get("x-right", Right.READ))], tuple(spec.get("responses", ()))
    return {
        "id": spec["operationId"], "method": method.upper(), "path": path, "summary": spec.get("summary", ""),
        "description": spec.get("description", ""), "right": right, "statuses": statuses, "parameters": parameters,
    }  # fmt: skip


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    kinds = [option.get("format") or option.get("type", "") for option in schema.get("anyOf", (schema,))]
    return ", ".join(kind for kind in kinds if kind and kind != "null")
