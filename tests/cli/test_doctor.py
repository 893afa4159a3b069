"""``newsportal doctor``: every failed check has a remedy, and the exit status says whether one failed."""

from __future__ import annotations

import json
import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from newsportal import cli
from newsportal.cli.doctor import Finding, findings
from newsportal.cli.options import load_environment
from newsportal.errors import NewsportalError
from newsportal.items import Article, Link
from newsportal.items.visits import Visit
from newsportal.search import open_index
from newsportal.search.sqlite_fts import set_meta
from newsportal.store import open_store

GOOD = 'feeds: [{name: 甲, url: "http://127.0.0.1:9/rss"}]\npoliteness: {allow_private: [127.0.0.1], contact: "https://portal.example/about"}\n'


def run_doctor(path: Path, *options: str) -> Result:
    return CliRunner().invoke(cli.app, ["doctor", "--sources", str(path), *options], env={"COLUMNS": "400"})


def findings_of(result: Result) -> dict[str, dict[str, Any]]:
    return {finding["check"]: finding for finding in map(json.loads, result.stdout.splitlines())}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "我的 门户" / "sources.yaml"
    path.parent.mkdir()
    path.write_text(GOOD, "utf-8")
    return path


def test_healthy_machine_passes(file: Path) -> None:
    result = run_doctor(file)
    assert result.exit_code == 0, result.output
    for check in ("Python", "Chinese words", "SQLite", "sources.yaml", "store", "search index", "disk", "network"):
        assert f"✓ {check}: " in result.output, check
    assert "✗" not in result.output
    assert "→" not in result.output


def test_findings_are_json_lines(file: Path) -> None:
    found = findings_of(run_doctor(file, "--json"))
    assert found["store"]["message"] == "0 articles, 0 stories"
    assert found["sources.yaml"]["ok"] is True
    assert found["network"] == {
        "check": "network",
        "ok": True,
        "message": "1 of 1 hosts were resolved",
        "remedy": found["network"]["remedy"],
    }
    assert "network" not in findings_of(run_doctor(file, "--json", "--no-network"))


def test_missing_contact_is_reported(file: Path) -> None:
    assert findings_of(run_doctor(file, "--json"))["user agent"]["ok"] is True
    file.write_text(GOOD.replace(', contact: "https://portal.example/about"', ""), "utf-8")
    result = run_doctor(file)
    assert result.exit_code == 0
    assert "· user agent: newsportal/" in result.output
    assert "→ set politeness.contact in sources.yaml" in result.output


def test_https_url_needs_trusted_proxies(file: Path) -> None:
    def finding_for(portal: str) -> Finding | None:
        file.write_text(f"{GOOD}portal: {{{portal}}}\n", "utf-8")
        return next((finding for finding in findings(file, network=False) if finding.check == "portal's address"), None)

    found = finding_for('url: "https://news.example/"')
    assert found is not None
    assert found.ok is None
    assert "portal.proxies" in (found.remedy or "")
    proxied = finding_for('url: "https://news.example/", proxies: [127.0.0.1]')
    assert proxied is not None
    assert proxied.ok
    assert finding_for('url: "http://news.example/"') is None


def test_health_of_the_sources_is_one_line(file: Path) -> None:
    assert findings_of(run_doctor(file, "--json"))["sources' health"]["message"] == "1 new"
    store = open_store(f"sqlite:///{file.parent}/data/newsportal.db")
    for hours in (2, 1):
        store.visits.add(Visit("feed:甲", datetime.now(UTC) - timedelta(hours=hours), list_failed={"dns": 1}))
    store.close()
    result = run_doctor(file)
    assert result.exit_code == 0  # failing sources are not a fault of this machine
    assert "· sources' health: 1 failing" in result.output
    assert "→ see: newsportal source health --bad" in result.output


def test_browser_is_required_only_by_sources_that_render(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWSPORTAL_CHROMIUM", "/nowhere/chromium")
    assert findings_of(run_doctor(file, "--json"))["browser"]["ok"] is None
    file.write_text(GOOD.replace('rss"}', 'rss", render: true}'), "utf-8")
    result = run_doctor(file)
    assert result.exit_code == 1
    assert "✗ browser: feed:甲: pages cannot be rendered" in result.output
    assert "→ there is no browser '/nowhere/chromium'; fix NEWSPORTAL_CHROMIUM or rendering.browser" in result.output
    monkeypatch.setenv("NEWSPORTAL_CHROMIUM", "/bin/false")
    finding = findings_of(run_doctor(file, "--json"))["browser"]
    assert finding["ok"] is False
    assert "start it by hand" in finding["remedy"]


@pytest.mark.parametrize("content", ["topcs: []\n", "feeds: [\n", ""])
def test_broken_sources_file_is_reported_with_lines_and_remedy(file: Path, content: str) -> None:
    file.write_text(content, "utf-8")
    result = run_doctor(file)
    assert result.exit_code == 1
    assert f"✗ sources.yaml: {file}:" in result.output
    assert "→ fix it; for an example to compare with" in result.output
    assert "--force" not in result.output  # a remedy never destroys anything
    finding = findings_of(run_doctor(file, "--json"))["sources.yaml"]
    assert (finding["ok"], bool(finding["remedy"])) == (False, True)


def test_environment_file_of_the_services_can_be_loaded(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in docs/operations.md: secrets are in a file read by systemd, which an operator's commands can read too."""
    for name in ("STORE_FILE", "URL"):
        monkeypatch.setenv(name, "")  # restored after the test
        del os.environ[name]
    file.write_text(f'{GOOD}store: "sqlite:///${{STORE_FILE}}"\n', "utf-8")
    unset = run_doctor(file, "--no-network")
    assert unset.exit_code == 1
    assert "newsportal --env-file FILE" in unset.output
    variables = tmp_path / "environment"
    variables.write_text('# 密码\n; so\n\nSTORE_FILE = "data/a b.db"\nHOME=/nowhere\nURL=redis://:p#w=d@h:1/0 \n', "utf-8")
    home = os.environ["HOME"]
    command = ["--env-file", str(variables), "doctor", "--no-network", "--sources", str(file)]
    for words, environment in ((command, {}), (command[2:], {"NEWSPORTAL_ENV_FILE": str(variables)})):
        result = CliRunner().invoke(cli.app, words, env=environment)
        assert result.exit_code == 0, result.output
        assert (file.parent / "data" / "a b.db").exists()
        assert (os.environ["HOME"], os.environ.pop("URL")) == (home, "redis://:p#w=d@h:1/0")
        del os.environ["STORE_FILE"]


@pytest.mark.parametrize("line", ["geheim", "A-B=geheim", "=geheim", 'A="geheim', 'A="geheim" b'])
def test_invalid_line_of_environment_file_is_not_shown(tmp_path: Path, line: str) -> None:
    (tmp_path / "environment").write_text(f"# 密码\n{line}\n", "utf-8")
    with pytest.raises(NewsportalError, match=r"environment:2: not NAME=value$"):
        load_environment(tmp_path / "environment")
    with pytest.raises(NewsportalError, match="cannot be read"):
        load_environment(tmp_path / "none")


def test_empty_or_outdated_index_is_not_ok(file: Path) -> None:
    found = run_doctor(file, "--json", "--no-network")
    assert findings_of(found)["search index"]["ok"] is True  # nothing to index either
    link = Link("https://h.example/1", "feed:甲")
    with closing(open_store(f"sqlite:///{file.parent}/data/newsportal.db")) as store:
        store.add(Article(link.url, link, datetime.now(UTC), identity="1", title="标题", text="正文"), now=datetime.now(UTC))
        finding = findings_of(run_doctor(file, "--json", "--no-network"))["search index"]
        assert (finding["ok"], finding["remedy"]) == (None, "fill it: newsportal index rebuild")
        with closing(open_index(f"sqlite:///{file.parent}/data/index.db")) as index, index.writing() as connection:  # type: ignore[attr-defined]
            set_meta(connection, "position", store.last_seq())
        assert findings_of(run_doctor(file, "--json", "--no-network"))["search index"]["ok"] is False
        with closing(open_index(f"sqlite:///{file.parent}/data/index.db")) as index:
            index.rebuild(store)
    assert findings_of(run_doctor(file, "--json", "--no-network"))["search index"]["ok"] is True


def test_missing_sources_file_is_reported(file: Path) -> None:
    file.unlink()
    result = run_doctor(file)
    assert result.exit_code == 1
    assert str(file) in result.output


def test_invalid_store_is_reported(file: Path) -> None:
    (file.parent / "data").mkdir()
    (file.parent / "data" / "newsportal.db").write_bytes("不是数据库".encode() * 1000)
    found = findings_of(run_doctor(file, "--json"))
    assert found["store"]["ok"] is False
    assert "it is not an SQLite database" in found["store"]["message"]
    assert "store:" in found["store"]["remedy"]
    assert run_doctor(file).exit_code == 1


@pytest.mark.slow
def test_missing_network_is_reported_and_other_checks_continue(file: Path) -> None:
    file.write_text('feeds: [{name: 甲, url: "http://newsportal-nowhere.invalid/rss"}]\n', "utf-8")
    result = run_doctor(file, "--json")
    assert result.exit_code == 1
    assert findings_of(result)["network"]["ok"] is False
    assert "newsportal-nowhere.invalid" in findings_of(result)["network"]["message"]
    assert findings_of(result)["store"]["ok"] is True


def test_network_is_not_checked_without_sources(file: Path) -> None:
    file.write_text("feeds: []\n", "utf-8")
    finding = next(finding for finding in findings(file, network=True) if finding.check == "network")
    assert finding.ok is None
