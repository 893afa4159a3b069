"""A reader's choices, set by a plain form: ``/settings?theme=dark&next=/`` sets a cookie and goes back."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.context import Visit
from newsportal.portal.language import LANGUAGES
from newsportal.portal.preferences import CHOICES, remember, safe_next
from newsportal.portal.render import render

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    key: str
    label: str
    choices: list[Option]


@router.get("/settings")
def settings(request: Request) -> Response:
    visit = Visit(request)
    back = safe_next(visit.asked.get("next"))
    if any(visit.asked.get(key) in allowed for key, allowed in CHOICES.items()):
        answer = RedirectResponse(back if "next" in visit.asked else "/settings", 303, headers={"cache-control": "no-store"})
        remember(answer, dict(visit.asked))
        return answer
    return render(request, "settings.html", groups=groups(visit), back="/settings")


def groups(visit: Visit) -> list[Group]:
    """Every choice with what it offers, in the reader's language."""
    said = visit.clock.words.gettext
    labels = {
        "auto": said("As the system"),
        "light": said("Light"),
        "dark": said("Dark"),
        "serif": said("Serif"),
        "sans": said("Sans serif"),
        "small": said("Small"),
        "medium": said("Medium"),
        "large": said("Large"),
        "original": said("As published"),
        "simplified": said("Simplified"),
        "traditional": said("Traditional"),
        "newest": said("Time line"),
        "ranked": said("Ranking"),
        **LANGUAGES,
    }
    headings = {
        "theme": said("Theme"),
        "font": said("Reading font"),
        "size": said("Text size"),
        "lang": said("Language"),
        "script": said("Chinese script of articles"),
        "boards": said("Boards of the front page"),
    }
    now = {**asdict(visit.chosen), "lang": visit.language}
    shown = {**CHOICES, "size": ("small", "medium", "large")}
    return [Group(key, headings[key], [Option(value, labels[value], value == now[key]) for value in shown[key]]) for key in headings]
