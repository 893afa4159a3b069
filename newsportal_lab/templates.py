"""``newsportal templates``: show and delete the templates learned by ``newsportal extract --algorithm url_tree --library FILE``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from newsportal.cli.options import AsJson, command_group
from newsportal.cli.output import make_table, print_json, print_table
from newsportal.extractors.papers.url_tree import Directory, Library, to_dict, write_library
from newsportal.services.trying.templates import load, save

File = Annotated[Path, typer.Argument(metavar="FILE", help="A library of `extract --algorithm url_tree`.")]
Site = Annotated[str, typer.Argument(metavar="SITE", help="A host.")]
Below = Annotated[str | None, typer.Option("--directory", "-d", help="Only below this directory, such as /news/2024.")]


def list_(file: File, as_json: AsJson = False) -> None:
    """List sites, templates, and pages that wait for a sibling."""
    rows = [
        {
            "site": site,
            "templates": sum(map(len, branch.templates.values())),
            "pages": sum(template.pages for group in branch.templates.values() for template in group),
            "waiting": len(branch.waiting),
        }
        for site, branch in sorted(load(file).sites.items())
    ]
    _print(rows, ("site", "templates", "pages", "waiting"), as_json)


def show(file: File, site: Site, directory: Below = None, as_json: AsJson = False) -> None:
    """Show a site's templates: directory, pages, contentTagSeq and structureTagSeq."""
    prefix = _directory(directory)
    library = load(file)
    found = [(path, template) for host, path, template in library if host == site and path[: len(prefix)] == prefix]
    if not found:
        waiting = _waiting(library, site, prefix)
        reason = f" yet: {waiting} of it waiting for a sibling, a page of the same form" if waiting else "; list shows those it has"
        raise typer.BadParameter(f"the library has no template of {site}{directory or ''}{reason}", param_hint="SITE")
    rows = [
        to_dict(path, it) | {"directory": f"/{'/'.join(path)}", "content_tags": " ".join(it.path), "shared": len(it.shared)}
        for path, it in found
    ]
    _print(rows, ("directory", "pages", "content_tags", "structure"), as_json)


def forget(file: File, site: Site, directory: Below = None) -> None:
    """Forget a site, or one of its directories."""
    library = load(file)
    if site not in library.sites:
        raise typer.BadParameter(f"the library does not know {site}", param_hint="SITE")
    waiting = _waiting(library, site, _directory(directory))
    count = library.forget(site, _directory(directory) or None)
    save(write_library(library), file)
    also = f", and {waiting} that waited" if waiting else ""
    typer.echo(f"{count} template{'' if count == 1 else 's'} of {site}{directory or ''} forgotten{also}")


def _waiting(library: Library, site: str, below: Directory) -> str:
    """Return ``1 page``, ``2 pages`` that wait for a sibling; an empty text for none."""
    branch = library.sites.get(site)
    count = sum(path[: len(below)] == below for path, _ in branch.waiting) if branch else 0
    return f"{count} page{'' if count == 1 else 's'}" if count else ""


def _directory(path: str | None) -> Directory:
    return tuple(segment for segment in (path or "").split("/") if segment)


def _print(rows: list[dict[str, Any]], columns: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        print_json(*rows)
        return
    print_table(make_table([column.replace("_", " ") for column in columns], ([row[column] for column in columns] for row in rows)))


group = command_group("Templates learned from the pages of sites (see extract --algorithm url_tree --library).", list_, show, forget)
