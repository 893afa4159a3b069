"""The documentation of the commands agrees with the commands."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from scrapy.utils.misc import load_object
from typer.testing import CliRunner

from newsportal import cli
from newsportal.cli.crawl import SPIDERS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "commands.md"
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SCRAPYS_OWN = ("list", "crawl", "shell", "fetch", "settings", "parse", "check", "bench", "genspider", "runspider")
SPIDER_CLASSES = {
    "metasearch": "metasearch.MetasearchSpider",
    "rss": "rss.RssSpider",
    "hub": "hub.HubSpider",
    "forum": "forum.ForumSpider",
    "gallery": "gallery.GallerySpider",
    "lists": "lists.ListsSpider",
    "newsletter": "newsletter.NewsletterSpider",
}


def commands() -> dict[str, Any]:
    """Return commands by name, as in ``crawl`` or ``source list``, including the groups."""
    root: Any = typer.main.get_command(cli.app)
    found = {}
    for name in cli.COMMANDS:
        found[name] = root.get_command(None, name)
        found |= {f"{name} {inner}": command for inner, command in getattr(found[name], "commands", {}).items()}
    return found


COMMANDS = commands()
LEAVES = {
    name: command
    for name, command in COMMANDS.items()
    if not getattr(command, "commands", None) or command.invoke_without_command  # such a group is a command, too
}


def options(command: Any) -> set[str]:
    return {text for option in command.params if option.param_type_name == "option" for text in (*option.opts, *option.secondary_opts)} | {
        "--help"
    }


def test_reference_equals_the_help() -> None:
    """Written by ``make reference``."""
    assert REFERENCE.read_text("utf-8") == runpy.run_path(str(ROOT / "scripts" / "reference"))["reference"]()


def test_help_of_every_command_lists_its_commands() -> None:
    for name in ("", *COMMANDS):
        result = CliRunner().invoke(cli.app, [*name.split(), "--help"])
        assert result.exit_code == 0, result.output
        names = cli.COMMANDS if not name else getattr(COMMANDS[name], "commands", ())
        assert [command for command in names if command not in result.output] == []


def test_every_option_has_a_help_text() -> None:
    silent = [
        (name, option.name) for name, command in LEAVES.items() for option in command.params if option.name != "help" and not option.help
    ]
    assert silent == []


def lines(document: Path) -> Iterator[str]:
    """Yield command lines in code blocks and in ``inline code``."""
    text = document.read_text("utf-8")
    blocks = [line for block in FENCED.findall(text) for line in block.splitlines()]
    for line in (*blocks, *re.findall(r"`([^`\n]+)`", FENCED.sub("", text))):
        for part in re.split(r"\s*(?:&&|;|(?<!\\)\|)\s*", line.removeprefix("$ ").partition(" #")[0]):
            if re.match(r"(newsportal|scrapy) [a-z]", part):
                yield part


WRITTEN = [(document.relative_to(ROOT).as_posix(), line) for document in DOCUMENTS for line in lines(document)]


def test_every_command_is_documented() -> None:
    assert len(WRITTEN) > 20
    mentioned = {line.split()[1] for _, line in WRITTEN if line.startswith("newsportal")}
    assert [name for name in cli.COMMANDS if name not in mentioned] == []


def test_documented_command_lines_are_valid() -> None:
    for document, line in sorted(set(WRITTEN)):
        _check(f"{document}: {line}", *shlex.split(re.sub(r"[\[\]]", " ", line.replace("\\|", "¦").replace("…", ""))))


def _check(where: str, program: str, name: str, *words: str) -> None:
    if program == "scrapy" and name in SCRAPYS_OWN:
        _check_scrapy(where, words if name == "crawl" else ())
        return
    assert name in cli.COMMANDS, f"{where}: no command {name}"
    if program == "scrapy":
        assert (ROOT / "newsportal" / "cli" / "scrapy_commands" / f"{name}.py").exists(), where
    inner = f"{name} {words[0]}" if words else name
    command = COMMANDS.get(inner, COMMANDS[name])
    used = {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}
    assert used <= options(command), f"{where}: {name} has no {used - options(command)}"


def _check_scrapy(where: str, words: tuple[str, ...]) -> None:
    """Check ``crawl SPIDER -a NAME=VALUE``: the spider exists and has the argument."""
    if not words:
        return
    assert words[0] in SPIDERS, where
    spider = load_object(f"newsportal.spiders.{SPIDER_CLASSES[words[0]]}")
    takes = set(spider.Args.model_fields)
    arguments = {words[place + 1].partition("=")[0] for place, word in enumerate(words) if word == "-a"}
    assert arguments <= takes, where


def test_every_setting_has_a_comment() -> None:
    path = ROOT / "newsportal" / "settings.py"
    with path.open("rb") as file:
        commented = {token.start[0] for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT}
    settings = {
        node.targets[0].id: range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert len(settings) > 30
    assert [name for name, where in settings.items() if not commented.intersection(where)] == []


def test_library_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    text = "今天早上六点，新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
    page = f"<title>新线今晨通车</title><h1>新线今晨通车</h1><div>2024-03-05 08:30　来源：滨海日报</div><div>{f'<p>{text}</p>' * 4}</div>"
    for html, expected in ((page, text), ("<title>404 Not Found</title><p>404 Not Found</p>", "no article: ")):
        Path("page.html").write_text(f"<meta charset=utf-8>{html}", "utf-8")
        exec(compile(example, "docs/architecture.md", "exec"), {})
        assert expected in capsys.readouterr().out
