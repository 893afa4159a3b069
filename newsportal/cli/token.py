"""``newsportal token``: ways in for programs, with rights of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.console import Console

from newsportal.cli.options import AsJson, SourcesFile, command_group
from newsportal.cli.output import make_table, pick, print_json
from newsportal.cli.user import Name, accounts_of, log, person_named
from newsportal.errors import AccountError
from newsportal.services.accounts import Right, Token


def token_values(token: Token, name: str) -> dict[str, Any]:
    return {"id": token.id, "person": name, "for": token.name, "rights": sorted(token.rights), **pick(token, "created", "expires", "used")}


def list_(as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """List all tokens."""
    with accounts_of(sources) as accounts:
        names = {person.id: person.name for person in accounts.people.all()}
        rows = [token_values(token, names.get(token.person_id, "")) for token in accounts.tokens.of()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row |= {"rights": ", ".join(row["rights"]), "until": str(row["expires"] or "revoked")[:10]}
        row["last used"] = str(row["used"] or "never")[:10]
    columns = ("id", "person", "for", "rights", "until", "last used")
    table = make_table(columns, ([row[name] for name in columns] for row in rows))
    Console(markup=False).print(table if rows else "no tokens")


def add(
    name: Name,
    use: Annotated[str, typer.Argument(metavar="FOR", help="What will use it.")],
    right: Annotated[list[Right] | None, typer.Option(help="A right; repeatable; default: read.")] = None,
    days: Annotated[int, typer.Option(min=0, max=3650, help="Days until it expires; 0: never.")] = 90,
    as_json: AsJson = False,
    sources: SourcesFile = None,
) -> None:
    """Create a token for a program that acts for NAME, shown once."""
    now = datetime.now(UTC)
    with accounts_of(sources) as accounts:
        person = person_named(accounts, name)
        expires = now + timedelta(days=days) if days else None
        token, secret = accounts.tokens.add(person, use, right or [Right.READ], now=now, expires=expires)
        log(accounts, "token.add", token.name, {"person": person.name, "rights": sorted(token.rights), "days": days})
    if as_json:
        print_json({**token_values(token, person.name), "token": secret})
        return
    typer.echo(f"token {token.id} of {person.name}, for {token.name}; it is shown this once:")
    typer.echo(secret)


def revoke(token_id: Annotated[str, typer.Argument(metavar="ID", help="As `token list` shows it.")], sources: SourcesFile = None) -> None:
    """Revoke a token."""
    with accounts_of(sources) as accounts:
        gone = next((token for token in accounts.tokens.of() if token.id == token_id), None)
        if gone is None or not accounts.tokens.revoke(token_id):
            raise AccountError("no-token", id=token_id)
        log(accounts, "token.revoke", gone.name)
    typer.echo(f"token {token_id}, for {gone.name}, does not count any more")


group = command_group("Ways in for programs: the API, feeds, metrics.", list_, add, revoke)
