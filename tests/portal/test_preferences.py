"""Preferences of readers: chosen topics and their order, dismissed stories, and settings that follow the account between browsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from factories import CHEAP
from lxml import html as lxml_html

from newsportal.portal.preferences import Preferences, preferences
from newsportal.portal.reading.front_page import move_topic
from newsportal.services.accounts import open_accounts

PASSWORD = "correct horse battery staple"


def page(answer: httpx.Response) -> Any:
    return lxml_html.document_fromstring(answer.text)


def topics(answer: httpx.Response) -> list[str]:
    return [link.text_content().strip() for link in page(answer).xpath("//nav[@class='topics']//a[contains(@href, '/topic/')]")]


def test_topics_are_chosen_and_ordered(client: httpx.Client) -> None:
    every = topics(client.get("/"))
    assert len(every) == 3
    answer = client.get("/settings", params={"topics": "", "topic": [every[2], every[0]], "next": "/settings"})
    assert answer.status_code == 303
    client.cookies.update(answer.cookies)
    front = client.get("/")
    assert topics(front) == [every[2], every[0]]
    boards = [name.text_content().split()[0] for name in page(front).xpath("//section[@class='board']/h2")]
    assert boards == [every[2], every[0]]
    assert client.get(f"/topic/{every[1]}").status_code == 200, "topics not chosen are still readable"
    settings = page(client.get("/settings"))
    assert settings.xpath("//input[@name='topic']/@value") == [every[2], every[0], every[1]]
    assert settings.xpath("//input[@name='topic' and @checked]/@value") == [every[2], every[0]]
    client.cookies.update(client.get("/settings", params={"topics": ""}).cookies)
    assert topics(client.get("/")) == every, "without a choice all topics are shown"
    client.cookies.clear()


@pytest.mark.parametrize(
    ("up", "down", "outcome"), [("b", None, "bac"), (None, "b", "acb"), ("a", None, "abc"), (None, "c", "abc"), ("x", None, "abc")]
)
def test_topic_moves_by_one_position(up: str | None, down: str | None, outcome: str) -> None:
    assert "".join(move_topic(list("abc"), up, down)) == outcome


@pytest.mark.parametrize("cookie", ["", "|", "%", "没有", "a" * 9000, "<script>"])
def test_invalid_cookie_keeps_default_topics(cookie: str) -> None:
    assert preferences({"topics": cookie}).own(["旅游"]) == ["旅游"]
    assert Preferences().topics == ()


def test_preferences_follow_the_account(serve: Callable[..., httpx.Client], fresh: Any) -> None:
    client = serve(fresh, role="admin")
    origin = str(client.base_url)
    client.post("/people", data={"name": "乙", "role": "reader"})
    person = client.accounts.people.by_name("乙")  # type: ignore[attr-defined]
    client.accounts.people.set_password(person.id, PASSWORD)  # type: ignore[attr-defined]

    def sign_in(browser: httpx.Client) -> None:
        assert browser.post("/login", data={"name": "乙", "password": PASSWORD}).status_code == 303

    name, headers = "ab" * 16, {"origin": origin}
    with httpx.Client(base_url=origin, cookies={"reader": name}, headers=headers, timeout=600) as first:
        sign_in(first)
        first.get("/settings", params={"theme": "dark", "lang": "en"})
    with httpx.Client(base_url=origin, headers=headers, timeout=600) as third:
        sign_in(third)
        assert third.cookies["reader"] == name, "the reading history moves to the new browser"
        assert (third.cookies["theme"], third.cookies["lang"]) == ("dark", "en")
        assert 'data-theme="dark"' in third.get("/").text
    client.accounts.people.remove(person.id)  # type: ignore[attr-defined]
    assert client.accounts.preferences.of(person.id) == {}  # type: ignore[attr-defined]


def test_dismissed_story_is_not_recommended(client: httpx.Client) -> None:
    def recommended() -> list[str]:
        return [str(link) for link in page(client.get("/for-you")).xpath("//button[@name='story']/@value")]

    before = recommended()
    assert before
    assert client.post("/for-you/dismiss", data={"story": before[0]}, headers={"origin": str(client.base_url)}).status_code == 303
    assert before[0] not in recommended()
    assert len(recommended()) >= len(before) - 1
    assert client.post("/for-you/dismiss", data={"story": "../x"}, headers={"origin": str(client.base_url)}).status_code == 400


def test_preferences_are_stored_separately() -> None:
    accounts = open_accounts("sqlite://", hasher=CHEAP)
    accounts.preferences.save("p", {"theme": "dark"})
    accounts.preferences.save("p", {"lang": "en"})
    accounts.preferences.save("p", {"theme": "light"})
    assert accounts.preferences.of("p") == {"theme": "light", "lang": "en"}
    assert accounts.preferences.of("q") == {}
    accounts.close()
