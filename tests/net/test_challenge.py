"""Challenge and login pages are recognised, and articles are not mistaken for them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from newsportal.crawl.middlewares import ChallengePage, challenge_of

SCRIPT = "<script>var a = '" + "x" * 30_000 + "';</script>"


def _page(title: str, body: str = "", head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title>{head}</head><body>{body}</body></html>"


CHALLENGES = {
    "browser check": _page("Just a moment...", "<h1>news.example</h1><p>Verifying you are human.</p>" + SCRIPT),
    "browser check, translated": _page("请稍候…", "<p>正在验证您是否是真人</p>", "<script>window._cf_chl_opt={cvId:'3'}</script>"),
    "captcha frame": _page("news.example", "<iframe src='https://geo.captcha-delivery.com/captcha/?initialCid=1'></iframe>"),
    "cookie set by script": "<html><script>var arg1='1A2B';document.cookie='acw_sc__v2='+f(arg1);location.reload()</script></html>",
    "clearance": "<script>document.cookie='__jsl_clearance=1.0|-1|abc';location.href=location.pathname</script>",
    "安全验证": _page("安全验证", "<p>请完成下方验证后继续操作</p>"),
    "captcha of a search engine": _page("百度安全验证", "<p>网络不给力，请稍后重试</p>" + SCRIPT),
    "访问验证": _page("访问验证 - 某新闻网", "<form><input name=code></form>"),
    "robot check": _page("Are you a robot?", "<p>Please make sure your browser supports JavaScript.</p>"),
}

LOGINS = {
    "登录": _page("登录 - 某论坛", "<form><input name=user><input type='password' name=p></form>"),
    "用户登录": _page("用户登录_某某网", "<input TYPE=password>"),
    "Sign in": _page("Sign in | The Example Times", '<input type="password">'),
    "Login": _page("Log in", "<input type=password>"),
}

TEXT = "<p>" + "本市今天举行新闻发布会，介绍旅游业恢复情况。" * 60 + "</p>"

PAGES = {
    "an article about captchas": _page("验证码为何越来越难？专家解读", TEXT),
    "an article about logins": _page("登录火星：探测器传回首张照片", TEXT),
    "an article whose page has a login box": _page("旅游局发布公告", TEXT + "<form><input type=password></form>"),
    "an article with a marked script": _page("News", TEXT, "<script src='/x?acw_sc__v2'></script>"),
    "a short article": _page("快讯：明日降雨", "<p>气象台预计明日有中雨。</p>"),
    "a short article on checks": _page("安全检查不放松 - 某日报", "<p>节前检查。</p>"),
    "a short article on identity": _page("身份验证新规明起施行", "<p>新规。</p>"),
    "a short article on logging in": _page("登录系统升级公告", "<p>今晚维护。</p><input type=password>"),
    "a feed": "<?xml version='1.0'?><rss><channel><title>安全生产</title></channel></rss>",
    "nothing": "",
}


@pytest.mark.parametrize("name", CHALLENGES)
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_challenge_pages_are_recognised(name: str, encoding: str) -> None:
    html = CHALLENGES[name].replace("charset='utf-8'", f"charset='{encoding}'")
    assert challenge_of(html.encode(encoding)) == "challenge"


@pytest.mark.parametrize("name", LOGINS)
def test_login_pages_are_recognised(name: str) -> None:
    assert challenge_of(LOGINS[name].encode()) == "login"


@pytest.mark.parametrize("name", PAGES)
def test_other_pages_are_not_challenges(name: str) -> None:
    assert challenge_of(PAGES[name].encode()) is None


def test_challenge_headers_are_recognised() -> None:
    assert challenge_of(b"<html></html>", headers={"cf-mitigated": "challenge"}) == "challenge"
    assert challenge_of(b"", headers={"x-amzn-waf-action": "captcha"}) == "challenge"
    assert challenge_of(b"<html></html>", headers={"cf-mitigated": ""}) is None


@pytest.mark.data
def test_no_real_page_is_a_challenge(data: Path) -> None:
    """762 saved pages: articles, threads, result pages, hubs."""
    pages = sorted(data.rglob("*.html.gz"))
    assert len(pages) > 500
    assert [path.name for path in pages if challenge_of(gzip.decompress(path.read_bytes()))] == []


def test_challenge_is_a_temporary_counted_failure(crawl: Any, site: Any, response: Any) -> None:
    site.routes["/a"] = response(CHALLENGES["安全验证"].encode(), content_type="text/html")
    middlewares = {"newsportal.crawl.middlewares.ChallengeMiddleware": 560}
    settings = {"NEWSPORTAL_ALLOW_PRIVATE": site.allow, "DOWNLOADER_MIDDLEWARES": middlewares}
    url = site.url("/a")
    error = crawl({"url": url, "meta": {"source": "feed:x"}}, **settings).errors[url]
    assert isinstance(error, ChallengePage)
    assert (error.reason, error.transient) == ("challenge", True)
    for meta in ({"source": "engine:baidu_web"}, {}):  # engines check their pages themselves; robots.txt has no source
        assert crawl({"url": url, "meta": meta}, **settings).pages[url].status == 200
