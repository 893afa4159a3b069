"""Tools of an editor's token: sources and topics with a preview before anything is written, folds, categories, publishing.

Every change is logged under the person's name and can be taken back at the desk.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from anyio import sleep
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from newsportal.portal.mcp.calling import call
from newsportal.portal.mcp.reading_tools import KEY, Id, cleaned, link, web

LOOK: Final = 1.0  # seconds between two questions how a look at a site goes on
LOOKS: Final = 90  # then it is given up: a site has not answered for so long
TITLES: Final = 5
STORIES: Final = 5

Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)]
Preview = Annotated[bool, Field(description="True: only show what would happen. Show it to the person before you send false.")]


async def look_at_address(address: Annotated[str, Field(min_length=1, max_length=2_000)]) -> dict[str, Any]:
    """Fetch a public address and propose sources that read it (feed, sitemap, list pages, forum, photo stories). Writes nothing."""
    look = await call("POST", "sources", "propose", body={"addresses": [address]})
    for _ in range(LOOKS):
        if look["done"]:
            break
        await sleep(LOOK)
        look = await call("GET", "looks", look["id"])
    else:
        await call("DELETE", "looks", look["id"])
        raise ToolError("too-slow: The site did not answer in time. Try another address of it.")
    if look["error"]:
        raise ToolError(f"not-fetched: {cleaned(look['error'])}")
    return {"items": [proposal(one) for found in look["found"] for one in found["sources"]],
            "problems": [cleaned(found["error"]) for found in look["found"] if found["error"]],
            "already_there": [key for found in look["found"] if (key := found["there"])]}  # fmt: skip


def proposal(one: dict[str, Any]) -> dict[str, Any]:
    """Its name may be the site's own words, so the values stand with them."""
    told = {name: one[name] for name in ("kind", "best", "entries", "newest", "per_day") if name in one}
    values = {name: cleaned(value) if isinstance(value, str) else value for name, value in one["values"].items()}
    return told | {KEY: {"values": values, "titles": [cleaned(title) for title in one.get("titles", ())[:TITLES]]}}


async def add_source(
    kind: Literal["feeds", "sitemaps", "regions", "forums", "galleries", "lists", "newsletters"],
    values: Annotated[dict[str, Any], Field(description="Its keys as in sources.yaml, as `look_at_address` proposes them.")],
    preview: Preview = True,
) -> dict[str, Any]:
    """Add a source to sources.yaml. With `preview` its address is looked at and nothing is written."""
    if preview:
        address = values.get("url") or next(iter(values.get("hubs") or values.get("urls") or ()), "")
        found = await look_at_address(str(address))
        return {"written": False, "would_write": {"kind": kind, "values": values}, "found_there": found}
    return {"written": True, **await call("POST", "sources", body={"kind": kind, "values": values})}


async def add_topic(
    name: Annotated[str, Field(min_length=1, max_length=100)],
    any: Annotated[Words, Field(description="Words of which one must occur; none: the topic's name.")] = [],  # noqa: B006 - never changed
    must: Annotated[Words, Field(description="Words that must all occur.")] = [],  # noqa: B006
    never: Annotated[Words, Field(description="Words that must not occur.")] = [],  # noqa: B006
    engines: Annotated[Words, Field(description="Search engines that are asked for it, such as baidu_news.")] = [],  # noqa: B006
    preview: Preview = True,
) -> dict[str, Any]:
    """Add a topic, or change one of this name. With `preview` only the stored stories of 30 days that its words find are shown."""
    words = {"any": any, "must": must, "never": never}
    found = await call("POST", "topics", "preview", body={"name": name, **words})
    newest = [{"story": one["story"], **link(one["story"]), **web(title=one["title"])} for one in found["newest"][:STORIES]]
    answer = {"written": False, "stories": found["stories"], "new_to_it": found["comes"], "newest": newest}
    if preview:
        return answer
    known = {one["name"]: one for one in await call("GET", "topics", "settings")}
    kept = {key: value for key, value in known.get(name, {}).items() if key != "digest"}
    topic = kept | {"name": name, **words} | ({"engines": engines} if engines or not kept else {})
    await call("PUT", "topics", "settings", name, body=topic)
    return answer | {"written": True, "next_step": "Stored articles follow at the desk (Topics), new ones by themselves."}


async def fold(article: Id, story: Annotated[Id, Field(description="A story, or an article of it.")]) -> dict[str, Any]:
    """Put an article into another story: both report the same. `unfold` takes it back."""
    return await _moved("fold", article, {"story": story})


async def unfold(article: Id) -> dict[str, Any]:
    """Take an article out of its story into one of its own: it reports something else. It is never folded there again by itself."""
    return await _moved("unfold", article, None)


async def _moved(way: str, article: str, body: Any) -> dict[str, Any]:
    await call("POST", "articles", article, way, body=body)
    now = (await call("GET", "articles", article))["story_id"]
    return {"article": article, "story": now, **link(now)}


async def categorise(
    articles: Annotated[list[Id], Field(min_length=1, max_length=50)], category: Annotated[str | None, Field(max_length=100)]
) -> dict[str, Any]:
    """Give articles a category (null: none). No model changes it afterwards, and the next training learns from it."""
    changed = await call("POST", "articles", "category", body={"articles": articles, "category": category})
    return {"changed": changed["articles"], "category": category}


async def publish(
    article: Id,
    target: Annotated[str, Field(min_length=1, max_length=300, description="A name under `publish:` in sources.yaml.")],
    wanted: Annotated[Literal["there", "gone"], Field(description="gone: withdraw it.")] = "there",
) -> dict[str, Any]:
    """Publish an article to a target anew, or withdraw it, at the next publishing. Others will see it: ask the person first."""
    entry = await call("POST", "publishing", "ask", body={"target": target, "article": article, "wanted": wanted})
    return {name: entry[name] for name in ("target", "article", "state", "wanted", "reason")}


TOOLS: Final = (look_at_address, add_source, add_topic, fold, unfold, categorise, publish)
