"""Every message code is used, translated with the same parameters, and never parsed."""

from __future__ import annotations

import ast
import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

import newsportal
import newsportal_lab
from newsportal.messages import (
    FORMER_CODES,
    FORMS,
    NAME,
    SENTENCES,
    Message,
    as_text,
    choose_forms,
    explain,
    from_dict,
    join_messages,
    label,
    render,
    to_dict,
)
from newsportal.messages.reasons import CAUSES, cause_of
from newsportal.portal.language import catalog, translations
from newsportal.schedule.health import STATES
from newsportal.services.accounts import Right, Role

HOUSE = Path(newsportal.__file__).parent
LAB = Path(newsportal_lab.__file__).parent
ZH, CATALOG = translations("zh").gettext, catalog("zh")
PARAM = re.compile(r"%\((\w+)\)s")
WORDS = re.compile(r"[a-z;]")
"""A template without letters or a semicolon besides its parameters is the same in every language."""

PATTERN = re.compile(r"\(\?[P:<=!]|\\[dSswb]|[.)\]][*+]")
"""Characters that occur only in regular expressions."""

WRITTEN = re.compile(
    r'(?:log_change\(request, |trail\.add\([^"\n]*|(?:write|_sources)\([^"\n]*, |action = |_change\([^"\n]*, )"([a-z]+\.[a-z-]+)"'
)
"""Where pages and API name an action."""


@cache
def sources() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for folder in (HOUSE, LAB) for path in sorted(folder.rglob("*.py"))}


@cache
def texts() -> frozenset[str]:
    """Return all string constants outside the message tables; of an f-string the part before the first value, with ``{``."""
    found = set()
    for path, source in sources().items():
        if path.parent.name == "messages" and path.name not in ("__init__.py", "reasons.py"):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                found.add(f"{node.values[0].value}{{")
    return frozenset(found)


@cache
def labelled() -> frozenset[str]:
    """Return the kinds of labels used in code and templates: ``label("kind", …)``."""
    templates = [path.read_text("utf-8") for path in HOUSE.rglob("*.html")]
    return frozenset(kind for text in (*sources().values(), *templates) for kind in re.findall(r'\blabel\("([\w-]+)"', text))


def test_every_message_is_used_and_translated_with_parameters() -> None:
    for code, english in SENTENCES.items():
        kind = code.partition(".")[0]
        started = (code[: place + 1] for place, sign in enumerate(code) if sign in ".-")
        assert code in texts() or any(f"{start}{{" in texts() for start in started) or kind in labelled(), code
        if WORDS.search(PARAM.sub("", english)):
            assert english in CATALOG, code
            assert set(PARAM.findall(ZH(english))) == set(PARAM.findall(english)), code


@cache
def created() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Return where each message code is created, with the names of its parameters; calls with ``**`` are skipped."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for path, source in sources().items():
        for node in ast.walk(ast.parse(source)) if "Message" in source else ():
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message" and node.args):
                continue
            names = [keyword.arg for keyword in node.keywords]
            first = node.args[0]
            for code in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                if isinstance(code, ast.Constant) and None not in names:
                    place = f"{path.relative_to(HOUSE.parent)}:{node.lineno}"
                    found.setdefault(str(code.value), []).append((place, frozenset(name for name in names if name)))
    return found


def test_created_messages_have_template_and_parameters() -> None:
    assert len(created()) > 15
    for code, places in created().items():
        for place, names in places:
            assert code in SENTENCES, place
            assert set(PARAM.findall(SENTENCES[code])) <= names, place


def test_no_pattern_parses_messages() -> None:
    """No regular expression contains a piece of our messages."""
    assert not [path for path in sources() if path.parent.name == "portal" and path.stem.endswith(("_words", "reasons"))]
    prose = [re.sub(r"%\(\w+\)s", "\x00", sentence).split("\x00") for sentence in SENTENCES.values()]
    pieces = {part.strip() for parts in prose for part in parts if len(part.split()) >= 4}
    patterns = [text for text in texts() if PATTERN.search(text)]
    assert len(patterns) > 100
    assert not [text for text in patterns if any(part in text for part in pieces)]


def test_messages_round_trip_as_json() -> None:
    moment = datetime(2026, 3, 1, 8, tzinfo=UTC)
    for message in (
        Message("note.state", before=Message("state.new"), after=Message("state.failing"), why=Message("health.resting", until=moment)),
        join_messages(Message("schedule.never-visited"), Message("schedule.visiting-hours")),
        as_text("verbatim %s"),
        Message("of-a-later-version", number=3),
    ):
        assert from_dict(json.loads(json.dumps(to_dict(message)))) == message
        assert str(from_dict(to_dict(message))) == str(message)
    assert str(from_dict("a plain text")) == "a plain text"
    assert from_dict({"code": "left.old", "params": {"number": 2}}) == Message("skipped.old", number=2), "stored by an earlier version"
    assert from_dict({"code": "lost.never", "params": {}}).code == "engine.never-worked"
    assert set(FORMER_CODES.values()) <= set(SENTENCES)


def test_number_before_it_chooses_singular_or_plural() -> None:
    sentences = {
        "1 link is waiting for a retry (timeout), the first at noon": Message("note.links-waiting", number=1, reason="timeout", at="noon"),
        "0 links are waiting for a retry (timeout), the first at noon": Message(
            "note.links-waiting", number=0, reason="timeout", at="noon"
        ),
        "2 pages rendered in 1 s, with 1 further request": Message("note.rendered", pages=2, seconds=1, requests=1),
    }
    assert {str(message) for message in sentences.values()} == set(sentences)
    assert [choose_forms("{link|links} of %(x)s", {"num": num, "x": 7}) for num in (1, 2)] == ["link of %(x)s", "links of %(x)s"]


def test_forms_of_a_sentence_follow_a_number() -> None:
    for code, sentence in SENTENCES.items():
        for form in FORMS.finditer(sentence):
            assert NAME.search(sentence[: form.start()]), code


def test_messages_are_hashable_and_rendered_in_any_language() -> None:
    assert {Message("schedule.weight", weight=2.0, wait=5), Message("schedule.weight", wait=5, weight=2.0)} == {
        Message("schedule.weight", weight=2.0, wait=5)
    }
    both = join_messages(Message("schedule.interval", wait=30.0), Message("schedule.visiting-hours"))
    assert str(both) == "every 30 minutes; its visiting hours begin then"
    assert render(both, ZH).startswith("每 30 分钟")
    assert str(Message("of-a-later-version", number=3)) == "of-a-later-version 3"
    assert "at eight" in render(Message("health.resting", until=datetime(2026, 3, 1, tzinfo=UTC), why="x"), ZH, lambda moment: "at eight")


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("http-404", "gone"),
        ("http-418", "http-4xx"),
        ("http-502", "http-5xx"),
        ("blocked: captcha: Baidu", "blocked"),
        ("error: KeyError", "broken"),
        ("connection-refused", "connection"),
        ("strange", "unread"),
    ],
)
def test_reason_has_cause_and_explanation(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause
    assert (explain(reason, ZH) is None) is (reason == "strange")


def test_states_causes_roles_and_rights_have_names() -> None:
    assert all(f"state.{state}" in SENTENCES for state in STATES)
    assert all(f"cause.{cause}" in SENTENCES and f"remedy.{cause}" in SENTENCES for cause in CAUSES.values())
    assert all(f"role.{role}" in SENTENCES for role in Role)
    assert all(f"right.{right}" in SENTENCES for right in Right)


def test_logged_actions_have_names() -> None:
    logged = {name for path, source in sources().items() if "portal" in path.parts for name in WRITTEN.findall(source)}
    assert len(logged) > 30, "the pattern still matches"
    assert all(label("action", name) != name for name in logged)
    assert label("action", "thing.other") == "thing.other"
