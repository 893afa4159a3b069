"""Everything that commands import, load and compute once. The process from which tests fork crawls, portals and writers imports this."""

import asyncio
import gc
import warnings
from contextlib import closing
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

from httpx import ASGITransport, AsyncClient
from starlette.types import ASGIApp
from typer.testing import CliRunner

PACKAGES = (
    *(f"newsportal.{name}" for name in ("cli", "portal", "spiders", "pipelines", "crawl", "services", "search", "store", "extractors")),
    *(f"scrapy.{name}" for name in ("downloadermiddlewares", "spidermiddlewares", "extensions")),
)
MODULES = (
    "newsportal.settings",
    "psycopg",
    "psycopg.types.json",
    "pybloom_live",
    "pymysql",
    "redis.asyncio",
    "redis.cluster",
    "scrapy.cmdline",
    "scrapy.crawler",
    "scrapy.core.engine",
    "scrapy.logformatter",
    "scrapy.pipelines",
    "scrapy_redis.connection",
    "scrapy_redis.defaults",
    "sqlalchemy.dialects.mysql.pymysql",
    "sqlalchemy.dialects.postgresql.psycopg",
)
PAGE_OBJECTS = "newsportal.crawl.page_objects"  # for projects of others; needs scrapy-poet, which our crawls do not load
PAGE = f"<title>港口夜里开放</title><h1>港口夜里开放</h1><p>2026-03-01 10:00</p>{'<p>港口从今天起夜里也开放，车辆可以进出。</p>' * 9}"


def import_all() -> None:
    for name in MODULES:
        import_module(name)
    for name in PACKAGES:
        for found in walk_packages(import_module(name).__path__, f"{name}."):
            if found.name != PAGE_OBJECTS:
                import_module(found.name)


def compute() -> None:
    """Load lexicons, the statements that create a store, search engines, the models that read a page or ``sources.yaml``, and a portal."""
    from newsportal.classify.keywords import keywords
    from newsportal.classify.lexicon import lexicon
    from newsportal.cli import app
    from newsportal.dedup.fingerprints import fingerprint
    from newsportal.extractors.lists.engines import engine_names
    from newsportal.portal.app import create_app
    from newsportal.services.accounts import open_accounts
    from newsportal.sources import load
    from newsportal.store import open_store
    from newsportal.text import normalise

    lexicon()
    engine_names()
    fingerprint(normalise("港口"))
    keywords("港口", "港口")
    with TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/news.db"
        with closing(open_store(database)) as store, closing(open_accounts(database)) as accounts:
            file = Path(folder, "sources.yaml")
            file.write_text("feeds: [{name: 港口, url: 'https://a.example/'}]\n", "utf-8")
            open_page(create_app(store, None, load(file), accounts))
        page = Path(folder) / "1.html"
        page.write_text(PAGE, "utf-8")
        CliRunner().invoke(app, ["extract", str(page), "--url", "http://a.example/1.html"])


def open_page(app: ASGIApp) -> None:
    """Build the routes and compile the templates of all pages by opening one."""

    async def get() -> int:
        async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1", headers={"accept-language": "zh-CN"}) as client:
            return (await client.get("/")).status_code

    assert asyncio.run(get()) == HTTPStatus.OK


gc.disable()  # imports stay in memory
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # deprecated modules of Scrapy
    import_all()
    compute()
gc.collect()
gc.freeze()
gc.set_threshold(10_000)  # commands live for seconds
gc.enable()
