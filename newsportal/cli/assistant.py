"""``newsportal assistant``: whether the language model of ``sources.yaml`` answers, and what it was asked today."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import monotonic

import typer

from newsportal.cli.options import AsJsonLine, SourcesFile, command_group, load
from newsportal.cli.output import print_json
from newsportal.messages import Message
from newsportal.services.assistant import AssistantClient, AssistantError
from newsportal.store import open_store


@dataclass(frozen=True, slots=True)
class Checked:
    url: str | None
    model: str | None
    answer: str
    seconds: float
    calls: int
    calls_allowed: int
    tokens: int
    tokens_allowed: int | None


def check(sources: SourcesFile = None, as_json: AsJsonLine = False) -> None:
    """Ask the model for one word, and show today's calls and tokens. Exit status 1 if it does not answer."""
    known = load(sources)
    settings = known.assistant
    with closing(open_store(known.store)) as store:
        client, now, began = AssistantClient(store, known), datetime.now(UTC), monotonic()
        answer, _ = client.converse("Answer with the word ready alone.", "Are you ready?")
        calls, tokens = store.assistant.used(client.day(now))
    if not answer.strip():
        raise AssistantError(Message("assistant.no-answer"))
    made = Checked(
        settings.url, settings.model, " ".join(answer.split())[:100], round(monotonic() - began, 1), calls, settings.calls, tokens,
        settings.tokens,
    )  # fmt: skip
    if as_json:
        print_json(asdict(made))
        return
    typer.echo(f"{made.model} at {made.url} answers in {made.seconds:g} s: {made.answer!r}")
    allowed = f" of {made.tokens_allowed}" if made.tokens_allowed is not None else ""
    typer.echo(f"today: {made.calls} of {made.calls_allowed} calls, {made.tokens}{allowed} tokens")


group = command_group("Check the language model that people may ask.", check)
