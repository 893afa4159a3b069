"""``newsportal assistant``: whether the language model of ``sources.yaml`` answers, and what it was asked today."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from time import monotonic

import typer

from newsportal.cli.options import AsJsonLine, SourcesFile, command_group, load
from newsportal.cli.output import print_json
from newsportal.messages import Message
from newsportal.services.assistant import AssistantClient, AssistantError
from newsportal.store import open_store


def check(sources: SourcesFile = None, as_json: AsJsonLine = False) -> None:
    """Ask the model for one word, and show today's calls and tokens. Exit status 1 without an answer."""
    known = load(sources)
    settings = known.assistant
    with closing(open_store(known.store)) as store:
        client = AssistantClient(store, known)
        now, began = datetime.now(UTC), monotonic()
        answer, _ = client.converse("Answer with the word ready alone.", "Are you ready?")
        calls, tokens = store.assistant.used(client.day(now))
    if not answer.strip():
        raise AssistantError(Message("assistant.no-answer"))
    said = " ".join(answer.split())[:100]
    seconds = round(monotonic() - began, 1)
    if as_json:
        used = {"calls": calls, "calls_allowed": settings.calls, "tokens": tokens, "tokens_allowed": settings.tokens}
        print_json({"url": settings.url, "model": settings.model, "answer": said, "seconds": seconds, **used})
        return
    typer.echo(f"{settings.model} at {settings.url} answers in {seconds:g} s: {said!r}")
    allowed = f" of {settings.tokens}" if settings.tokens is not None else ""
    typer.echo(f"today: {calls} of {settings.calls} calls, {tokens}{allowed} tokens")


group = command_group("Check the language model that people may ask.", check)
