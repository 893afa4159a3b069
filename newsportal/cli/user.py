"""``newsportal user``: manage the portal's users. Passwords are generated and shown once, or prompted for, never an option. ``newsportal
token``: manage access tokens for programs, with their own permissions."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.cli.options import AsJson, AsJsonLine, SourcesFile, command_group, load
from newsportal.cli.output import pick, print_json, print_rows
from newsportal.errors import AccountError
from newsportal.services.accounts import Accounts, Person, Right, Role, Token, open_accounts
from newsportal.services.accounts.base import random_password
from newsportal.services.accounts.people import People

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
Typed = Annotated[bool, typer.Option("--ask", help="Ask for the password, or read it from standard input.")]


@contextmanager
def accounts_of(sources: Path | None) -> Iterator[Accounts]:
    with closing(open_accounts(load(sources).accounts_uri)) as accounts:
        yield accounts


def person_named(accounts: Accounts, name: str) -> Person:
    """Raises ``AccountError`` for an unknown name."""
    person = accounts.people.by_name(name)
    if person is None:
        raise AccountError("nobody", name=name)
    return person


def log(accounts: Accounts, action: str, subject: str, details: dict[str, object] | None = None) -> None:
    accounts.audit_log.add(None, action, subject, details, now=datetime.now(UTC))


def list_(as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """List the users with role, sessions and tokens."""
    now, rows = datetime.now(UTC), []
    with accounts_of(sources) as accounts:
        for person in accounts.people.all():
            sessions, tokens = accounts.sessions.of(person.id, now=now), accounts.tokens.of(person.id)
            rows.append(pick(person, "name", "role", "disabled", "created") | {"sessions": len(sessions), "tokens": len(tokens)})
    if as_json:
        print_json(*rows)
        return
    for row in rows:
        row |= {"name": f"{row['name']} (locked out)" if row["disabled"] else row["name"], "since": f"{row['created']:%Y-%m-%d}"}
    print_rows(rows, ("name", "role", "since", "sessions", "tokens"), False, "no users yet; the portal makes an administrator at its start")


def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="reader, editor or admin.")] = Role.EDITOR,
    ask: Typed = False,
    as_json: AsJsonLine = False,
    sources: SourcesFile = None,
) -> None:
    """Add a user; a password is made and shown once."""
    secret = _read_password() if ask else random_password()
    with accounts_of(sources) as accounts:
        person = accounts.people.add(name, secret, role, now=datetime.now(UTC))
        log(accounts, "person.add", person.name, {"role": str(role)})
    _print_password(person, None if ask else secret, f"{person.name} was added as {role}", as_json)


def role(name: Name, role: Annotated[Role, typer.Argument(help="reader, editor or admin.")], sources: SourcesFile = None) -> None:
    """Change the role of a user."""
    _change(sources, name, "person.role", lambda people, id: people.set_role(id, role), f": {role}", role=str(role))


def password(name: Name, ask: Typed = False, as_json: AsJsonLine = False, sources: SourcesFile = None) -> None:
    """Make a new password, shown once; sessions and tokens end."""
    secret = _read_password() if ask else random_password()
    with accounts_of(sources) as accounts:
        person = person_named(accounts, name)
        accounts.people.set_password(person.id, secret)
        log(accounts, "person.password", person.name)
    _print_password(person, None if ask else secret, f"{person.name} has a new password; all sessions have ended", as_json)


def disable(name: Name, sources: SourcesFile = None) -> None:
    """Disable a user: sessions end, tokens stop working."""
    _change(sources, name, "person.disable", lambda people, id: people.disable(id), " can no longer sign in")


def enable(name: Name, sources: SourcesFile = None) -> None:
    """Enable a user again."""
    _change(sources, name, "person.enable", lambda people, id: people.disable(id, False), " can sign in again")


def remove(name: Name, sources: SourcesFile = None) -> None:
    """Remove a user, with sessions and tokens."""
    _change(sources, name, "person.remove", lambda people, id: people.remove(id), " was removed")


def _change(sources: Path | None, name: str, action: str, change: Callable[[People, str], None], outcome: str, **details: str) -> None:
    """Change a user, log it, and print the name with the ``outcome``. Raises ``AccountError``."""
    with accounts_of(sources) as accounts:
        person = person_named(accounts, name)
        change(accounts.people, person.id)
        log(accounts, action, person.name, {**details} or None)
    typer.echo(f"{person.name}{outcome}")


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    entered: str = typer.prompt("password", hide_input=True, confirmation_prompt=True)
    return entered


def _print_password(person: Person, password: str | None, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json({"name": person.name, "role": str(person.role), "password": password})
        return
    typer.echo(sentence)
    if password is not None:
        typer.echo(f"password (shown only once): {password}")


group = command_group("The users of the portal and their roles.", list_, add, role, password, disable, enable, remove)


def token_values(token: Token, name: str) -> dict[str, Any]:
    values = {"id": token.id, "person": name, "for": token.name, "rights": sorted(token.rights)}
    return values | pick(token, "created", "expires", "last_used")


def list_tokens(as_json: AsJson = False, sources: SourcesFile = None) -> None:
    """List all tokens."""
    with accounts_of(sources) as accounts:
        names = {person.id: person.name for person in accounts.people.all()}
        rows = [token_values(token, names.get(token.person_id, "")) for token in accounts.tokens.of()]
    if as_json:
        print_json(*rows)
        return
    for row in rows:
        row |= {"rights": ", ".join(row["rights"]), "until": str(row["expires"])[:10] if row["expires"] else "it is revoked"}
        row["last used"] = str(row["last_used"] or "never")[:10]
    print_rows(rows, ("id", "person", "for", "rights", "until", "last used"), False, "no tokens")


def add_token(
    name: Name,
    use: Annotated[str, typer.Argument(metavar="FOR", help="The program that will use it.")],
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
    typer.echo(f"token {token.id} of {person.name}, for {token.name}; shown only once:")
    typer.echo(secret)


def revoke(token_id: Annotated[str, typer.Argument(metavar="ID", help="From `token list`.")], sources: SourcesFile = None) -> None:
    """Revoke a token."""
    with accounts_of(sources) as accounts:
        token = next((token for token in accounts.tokens.of() if token.id == token_id), None)
        if token is None or not accounts.tokens.revoke(token_id):
            raise AccountError("no-token", id=token_id)
        log(accounts, "token.revoke", token.name)
    typer.echo(f"token {token_id}, for {token.name}, is revoked")


token_group = command_group("Access tokens for the API, feeds and metrics.", list=list_tokens, add=add_token, revoke=revoke)
