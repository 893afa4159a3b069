"""Choice of the scrapyd server; passwords are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.errors import RunnerRefused
from newsportal.services.jobs.scrapyd import Server, Target, TargetError, exposure_warning, find_target

CONFIGURATION = """
[settings]
default = newsportal.settings
[deploy]
url = http://127.0.0.1:6800/
project = newsportal
[deploy:hall]
url = https://crawl.example.org:6801/
username = editor
password = $HALL_PASSWORD
version = 1.2
[deploy:none]
project = x
url =
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "scrapy.cfg").write_text(CONFIGURATION, "utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    return below


def test_default_target_comes_from_nearest_configuration(folder: Path) -> None:
    assert find_target("default", folder, {}) == Target("http://127.0.0.1:6800", "newsportal")


def test_named_target_reads_password_from_environment(folder: Path) -> None:
    found = find_target("hall", folder, {"HALL_PASSWORD": "geheim"})
    assert found == Target("https://crawl.example.org:6801", "newsportal", "editor", "geheim", "1.2")
    assert "geheim" not in repr(found)


def test_credentials_from_environment(folder: Path) -> None:
    environ = {"SCRAPYD_USERNAME": "a", "SCRAPYD_PASSWORD": "b"}
    found = find_target("http://127.0.0.1:7000", folder, environ)
    assert (found.url, found.username, found.password) == ("http://127.0.0.1:7000", "a", "b")


def test_netrc_is_read_last(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine crawl.example.org login c password d\n", "utf-8")
    (tmp_path / ".netrc").chmod(0o600)
    found = find_target("https://crawl.example.org", folder, {})
    assert (found.username, found.password) == ("c", "d")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hal", "has no target 'hal'; it has: default, hall, none"),
        ("ftp://127.0.0.1/", "is not a valid URL of a scrapyd"),
        ("http://editor:geheim@127.0.0.1:6800", "a password in a URL"),
    ],
)
def test_invalid_target_error_hides_password(folder: Path, name: str, text: str) -> None:
    with pytest.raises(TargetError) as error:
        find_target(name, folder, {})
    assert text in str(error.value)
    assert "geheim" not in str(error.value)


def test_forbidden_port_is_explained(folder: Path) -> None:
    with pytest.raises(RunnerRefused, match="this port must not be used"):
        Server(find_target("http://127.0.0.1:1", folder, {})).get("listprojects.json")


def test_target_without_url_is_refused(folder: Path) -> None:
    with pytest.raises(TargetError, match="'none' has no url"):
        find_target("none", folder, {})


@pytest.mark.parametrize(
    ("url", "username", "text"),
    [
        ("http://127.0.0.1:6800", None, None),
        ("http://[::1]:6800", None, None),
        ("http://10.0.0.5:6800", None, "without a password"),
        ("http://10.0.0.5:6800", "editor", "unencrypted"),
        ("https://crawl.example.org", "editor", None),
    ],
)
def test_warning_for_exposed_server(url: str, username: str | None, text: str | None) -> None:
    word = exposure_warning(Target(url, username=username, password="geheim"))
    assert (word is None) if text is None else (text in str(word))
    assert "geheim" not in str(word)


def test_missing_configuration_error_shows_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"no scrapy\.cfg"):
        find_target("default", tmp_path, {})
