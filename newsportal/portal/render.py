"""Renders templates. There is one environment per language, because gettext is installed per environment; they live as long as the process.

A notice is shown once, on the page after a change: a cookie carries it over the redirect, so no URL can put words there.

return notify(request, "/sources", _("%(name)s was saved."), name=name, undo="/sources/undo/17")
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any
from urllib.parse import quote, unquote, urlencode

import babel.numbers
from fastapi.responses import RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from newsportal.messages import Message, choose_forms, explain, from_dict, label
from newsportal.portal import safe_text
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import source_path
from newsportal.portal.language import LANGUAGES, TAGS, translations
from newsportal.portal.preferences import remember, safe_next
from newsportal.portal.reading.picture_proxy import headline_picture
from newsportal.portal.safe_text import in_script, lang
from newsportal.portal.wording import audit_details, browser, category_reason, doubtful_topics, problem_text
from newsportal.store.results import is_gallery, is_thread
from newsportal.text import clean

PERSONAL = {"vary": "Accept-Language, Cookie", "cache-control": "private, no-cache"}  # pages depend on the reader and change every minute
SIGNED_IN = {**PERSONAL, "cache-control": "private, no-store"}  # nothing is left for the next user of a shared computer


@cache
def environment(language: str, script: str = "original") -> Environment:
    """Return the environment for ``language`` with crawled texts in ``script``. Everything is escaped except what ``safe_text`` returns."""
    env = Environment(
        loader=PackageLoader("newsportal.portal", "templates"), autoescape=True, undefined=StrictUndefined, extensions=["jinja2.ext.i18n"]
    )
    words = translations(language)
    env.install_gettext_translations(words, newstyle=True)  # type: ignore[attr-defined]  # the extension's method
    env.globals |= {
        "gettext": lambda text, /, **params: Markup(choose_forms(words.gettext(text), params)) % params,  # noqa: S704 - our text
        "LANGUAGES": LANGUAGES,
        "colon": "：" if language == "zh" else ": ",
        "static": static_address,
        "topic_address": topic_address,
        "address": address,
        "source_address": source_path,
    }
    env.filters |= {
        "clean": clean,
        "headline": lambda article: in_script(safe_text.title(article), script, article.language),
        "excerpt": lambda article, *limit: in_script(safe_text.excerpt(article, *limit), script, article.language),
        "in_script": lambda text, language=None: in_script(text, script, language),
        "lang": lambda article: lang(article.language, script),
        "site_name": safe_text.site_name,
        "web_address": safe_text.web_address,
        "highlighted": lambda fragment: in_script(safe_text.safe_snippet(fragment), script),
        "number": lru_cache(2000)(lambda value: babel.numbers.format_decimal(value, locale=language)),
        "heat": lambda value: babel.numbers.format_decimal(value, "#,##0.0" if value < 10 else "#,##0", locale=language),
        "percent": lambda value: babel.numbers.format_percent(value, "#,##0.0%", locale=language),
        "browser": browser,
        "details": lambda entry: audit_details(entry, words),
        "problem": lambda problem: problem_text(problem, words),
        "explain": lambda reason: explain(reason, words.gettext),
        "label": lambda name, kind: label(kind, name, words.gettext),
        "message": render_message,
        "category_reason": lambda article: category_reason(article, words),
        "doubtful_topics": doubtful_topics,
        "is_gallery": lambda article: is_gallery(article.source),
        "is_thread": lambda article: is_thread(article.source),
    }
    return env


@pass_context
def render_message(context: Context, message: Message | Mapping[str, Any] | str) -> str:
    """Render a message, or the stored form of one, in the reader's language."""
    return str(context["clock"].says(message if isinstance(message, Message) else from_dict(message)))


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render ``template`` for this reader. ``?lang=`` is remembered in a cookie."""
    visit = Visit(request)
    visit.preload(values)
    page = environment(visit.language, visit.preferences.script).get_template(template)
    html = page.render(
        request=request, visit=visit, site=visit.portal.site, clock=visit.clock, language=visit.language, lang_tag=TAGS[visit.language],
        flash=notice_of(request), headline_picture=partial(headline_picture, visit.portal), **{"feed": None, **values},
    )  # fmt: skip
    response = HTMLResponse(html, status, headers={"content-language": visit.language, **(SIGNED_IN if visit.signed_in else PERSONAL)})
    if _cookie_name(request) in request.cookies:  # the notice was shown
        response.delete_cookie(_cookie_name(request), path="/", httponly=True, samesite="lax", secure=_is_secure(request))
    if "lang" in visit.params:
        remember(response, {"lang": visit.params["lang"]})
    return response


@cache
def static_address(name: str) -> str:
    """Return the URL of a style sheet, script or icon; it contains a digest of the content, so browsers may cache it for ever."""
    content = resources.files("newsportal.portal").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.blake2b(content, digest_size=5).hexdigest()}"


def topic_address(name: str, tail: str = "") -> str:
    """Return ``/topic/旅游`` with the name percent-encoded, slashes included."""
    return f"/topic/{quote(name, safe='')}{tail}"


def address(path: str, **parameters: object) -> str:
    """Return ``path`` with the parameters that are set, in the order given."""
    query = {key: value for key, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(query)}" if query else path


COOKIE = "notice"
SECURE_COOKIE = "__Host-notice"
MAX_AGE = 60
MAX_CHARS = 500  # of a notice; escaped in a cookie it stays below the 4 kB that browsers accept


@dataclass(frozen=True, slots=True)
class Notice:
    """``undo``: the path to which a form that reverts the change is sent."""

    text: str
    undo: str | None = None


def notify(request: Request, target: str, message: str, *, undo: str | None = None, **params: object) -> RedirectResponse:
    """Redirect to ``target`` and show ``message`` (of the catalogue, with its ``params``) there once, in the reader's language."""
    return redirect_with(request, target, Visit(request).say(message, **params), undo=undo)


def redirect_with(request: Request, target: str, text: str, *, undo: str | None = None) -> RedirectResponse:
    """Redirect to ``target``, a path of this portal, and show ``text`` (in the reader's language) there once."""
    response = RedirectResponse(safe_next(target), 303, headers={"cache-control": "no-store"})
    value = quote(json.dumps([text[:MAX_CHARS], undo], ensure_ascii=False, separators=(",", ":")), safe="")
    response.set_cookie(_cookie_name(request), value, max_age=MAX_AGE, path="/", httponly=True, samesite="lax", secure=_is_secure(request))
    return response


def notice_of(request: Request) -> Notice | None:
    cookie = request.cookies.get(_cookie_name(request))
    if not cookie:
        return None
    try:
        text, undo = json.loads(unquote(cookie))
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(text, str) or not (undo is None or (isinstance(undo, str) and safe_next(undo) == undo)):
        return None
    return Notice(text[:MAX_CHARS], undo)


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


def _cookie_name(request: Request) -> str:
    return SECURE_COOKIE if _is_secure(request) else COOKIE
