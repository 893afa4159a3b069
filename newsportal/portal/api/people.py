"""Who asks."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from newsportal.accounts import Right, Role
from newsportal.portal.access import needs, signed

router = APIRouter(tags=["People"])


class Me(BaseModel):
    name: str
    role: Role
    way: Literal["session", "token"]
    rights: list[Right]


@router.get("/me", summary="Who asks, and what he may", dependencies=[needs(Right.READ)])
def me(request: Request) -> Me | None:
    """Null for nobody."""
    who = signed(request)
    return Me(name=who.person.name, role=who.person.role, way=who.way, rights=sorted(who.rights)) if who else None
