"""The manifest and the service worker of an installed portal."""

from __future__ import annotations

import io
import re

import httpx
from lxml import html as lxml_html
from PIL import Image

from newsportal.store.store import Store


def test_manifest_has_required_fields_and_icons(client: httpx.Client) -> None:
    page = lxml_html.document_fromstring(client.get("/").content.decode())
    [link] = page.xpath("//link[@rel='manifest']")
    assert link.get("crossorigin") == "use-credentials"
    answer = client.get(link.get("href"))
    assert answer.headers["content-type"] == "application/manifest+json"
    data = answer.json()
    assert (data["start_url"], data["scope"], data["display"], data["lang"]) == ("/", "/", "standalone", "zh-CN")
    for icon in data["icons"]:
        image = Image.open(io.BytesIO(client.get(icon["src"]).content))
        assert icon["sizes"] == f"{image.width}x{image.height}"
        assert image.convert("RGBA").getpixel((0, 0))[3] == (255 if icon["purpose"] == "maskable" else 0)
    assert "share_target" not in data


def test_share_target_is_for_editors(serve, fresh: Store) -> None:
    target = serve(fresh, role="editor").get("/manifest.webmanifest").json()["share_target"]
    assert target["action"] == "/sources/new"
    assert set(target["params"].values()) == {"title", "text", "url"}
    assert "share_target" not in serve(fresh, role="reader").get("/manifest.webmanifest").json()


def test_service_worker_caches_only_reading_pages(client: httpx.Client) -> None:
    answer = client.get("/service-worker.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    [pattern] = re.findall(r"^const READING = /(.*)/;$", answer.text, re.MULTILINE)
    reading = re.compile(pattern.replace("\\/", "/"))
    assert all(map(reading.search, ("/", "/latest", "/topic/%E6%97%85", "/story/ab12", "/event/ab12", "/starred", "/briefing/2026-05-20")))
    others = (
        "/account",
        "/alerts",
        "/desk",
        "/people",
        "/settings",
        "/story/a/b/edit",
        "/topic/a/feed.rss",
        "/sources/a",
        "/api/v1/me",
        "/searches",
    )
    assert not any(map(reading.search, others))


def test_push_form_has_a_constant_public_key(serve, fresh: Store) -> None:
    reader = serve(fresh, role="reader")
    pages = [lxml_html.document_fromstring(reader.get("/alerts/new?channel=push").content.decode()) for _ in range(2)]
    first, second = (page.xpath("//button[@data-push]/@data-push") for page in pages)
    assert first == second
    assert len(first[0]) == 87  # a point on P-256 in base64url
    assert not lxml_html.document_fromstring(reader.get("/alerts/new?channel=ntfy").content.decode()).xpath("//button[@data-push]")
