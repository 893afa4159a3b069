"""Properties of styles and scripts: contrast, size, nothing inline, nothing from other sites."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import newsportal.portal
from newsportal.portal.preferences import CHOICES

PORTAL = Path(newsportal.portal.__file__).parent
CSS = (PORTAL / "static" / "portal.css").read_text("utf-8")
SCRIPT = (PORTAL / "static" / "portal.js").read_text("utf-8")
OWN_SCRIPTS = sorted((PORTAL / "static").glob("*.js"))
PHOTO_STORY = (
    "portal.css",
    "portal.js",
    "seen.js",
    "photos.css",
    "viewer.js",
    "vendor/photoswipe/photoswipe.css",
    "vendor/photoswipe/photoswipe.esm.min.js",
)
MONITOR = ("portal.css", "portal.js", "curves.js", "vendor/uplot/uPlot.min.css", "vendor/uplot/uPlot.iife.min.js")
BUDGET = 50_000  # bytes of style and script, packed
AA = 4.5  # WCAG 2.2, 1.4.3: contrast of normal text

PALETTES = re.findall(r'(?::root|:root\[data-theme="(?:dark|auto)"\]) \{\s*color-scheme: (light|dark);(.*?)\}', CSS, re.DOTALL)
INKS = [
    *((ink, "paper") for ink in ("ink", "soft", "faint", "accent", "bad")),
    *((ink, "raised") for ink in ("ink", "soft", "accent")),
    *((ink, "tint") for ink in ("soft", "faint", "accent")),
    ("on-accent", "accent"),
    ("mark-ink", "mark"),
]


def luminance(colour: str) -> float:
    """Return the relative luminance as defined by WCAG."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_dark_palettes_are_equal() -> None:
    assert [scheme for scheme, _ in PALETTES] == ["light", "dark", "dark"]
    assert PALETTES[1][1].split() == PALETTES[2][1].split()


@pytest.mark.parametrize("palette", PALETTES, ids=["light", "dark", "auto"])
def test_text_contrast_meets_wcag_aa(palette: tuple[str, str]) -> None:
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", palette[1]))
    for ink, paper in INKS:
        light, dark = sorted((luminance(colours[ink]), luminance(colours[paper])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= AA, (ink, paper)


@pytest.mark.parametrize(
    "files", [("portal.css", "portal.js", "seen.js"), PHOTO_STORY, MONITOR], ids=["ordinary", "photo story", "monitor"]
)
def test_styles_and_scripts_of_a_page_are_small(files: tuple[str, ...]) -> None:
    assert sum(len(gzip.compress((PORTAL / "static" / name).read_bytes())) for name in files) <= BUDGET


@pytest.mark.parametrize("style", sorted((PORTAL / "static").rglob("*.css")), ids=lambda path: path.name)
def test_styles_load_no_resources(style: Path) -> None:
    assert "@import" not in style.read_text("utf-8")
    assert "url(" not in style.read_text("utf-8")


@pytest.mark.parametrize("script", OWN_SCRIPTS, ids=lambda path: path.name)
def test_scripts_write_no_markup_and_name_no_other_site(script: Path) -> None:
    text = script.read_text("utf-8")
    assert "http" not in text
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text)


def test_vendored_code_has_a_licence() -> None:
    for folder in (PORTAL / "static" / "vendor").iterdir():
        licence = (folder / "LICENSE").read_text("utf-8")
        assert "MIT" in licence or "BSD" in licence


def test_templates_have_nothing_inline_or_unescaped() -> None:
    templates = sorted((PORTAL / "templates").rglob("*.*"))
    assert len(templates) > 100
    for template in templates:
        text = template.read_text("utf-8")
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?! src=)|javascript:", text), template
        assert not re.search(r"\|\s*safe\b|autoescape", text), template


def test_every_appearance_choice_has_a_style() -> None:
    for key in ("theme", "font", "size"):
        for value in CHOICES[key][1:]:
            if value != "light":  # the light palette is the default
                assert f'[data-{key}="{value}"]' in CSS, (key, value)


def test_print_and_reduced_motion_are_supported() -> None:
    assert "@media print" in CSS
    assert "prefers-reduced-motion" in CSS
