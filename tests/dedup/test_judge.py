"""The judge detects reposts with each kind of edit, and separates similar reports. Add a line here for a new kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from newsportal.dedup.document import Document, Verdict
from newsportal.dedup.judge import Judge

START = datetime(2024, 3, 1, 8, tzinfo=UTC)
TITLE = "青河市图书馆新馆开放"
FIRST = "青河市图书馆新馆昨天上午向读者开放。新馆建在老城北门外的旧粮仓里，一共三层，藏书四十万册，晚上开到九点。"
SECOND = "馆长林秀文告诉记者，旧粮仓的木梁和砖墙都保留了下来，阅览室的桌子也是用拆下的旧木板做成的，坐三百位读者没有问题。"
THIRD = "住在附近的退休教师吴桂芳一早就来排队。她说，以前借书要坐一个小时的车去城南，现在走路五分钟就到了，以后天天都要来。"
FOURTH = "从下个月起，新馆每逢周六下午还会请本地的作家和学者来讲课，市民凭身份证就可以免费听讲，座位先到先得。"
TEXT = "\n".join((FIRST, SECOND, THIRD, FOURTH))
TRADITIONAL = (
    "青河市圖書館新館昨天上午向讀者開放。新館建在老城北門外的舊糧倉裏，一共三層，藏書四十萬冊，晚上開到九點。\n"
    "館長林秀文告訴記者，舊糧倉的木梁和磚牆都保留了下來，閱覽室的桌子也是用拆下的舊木板做成的，坐三百位讀者沒有問題。\n"
    "住在附近的退休教師吳桂芳一早就來排隊。她說，以前借書要坐一個小時的車去城南，現在走路五分鐘就到了，以後天天都要來。"
)
OTHER = (
    "沿海三县今年的海带丰收了。渔民们天不亮就出海，把一串串海带从绳子上割下来，运到码头边的晒场。合作社说，今年海水温度合适，"
    "海带比去年厚，价钱也好，外地客商早早就来订了货。县里还请来技术员，教大家把边角料做成饲料。\n"
)
CONTEXT = (
    "老城的旧房子这几年一座座有了新用处：戏台成了茶馆，染坊成了客栈，最后轮到北门外的这一排旧粮仓，它空了整整二十年。",
    "隔壁的旧油坊也在动工，秋天要变成放老电影的小影院，座椅从邻县一家关门的剧场搬来，每一把都编了号，修好了扶手和弹簧。",
    "城里的裁缝、木匠和修表师傅则盼着南门的旧邮局，他们想在那里合租一间铺子，让年轻人看看手艺是怎么一代一代传下来的。",
    "建筑师何守义说，修旧房子比盖新房子费工夫，可是走进去的人会闻到木头的味道，想起小时候排队买米的那些早晨和黄昏。",
)
NOTICE = (
    "免责声明：本文仅代表作者个人观点，与本网站无关。其原创性以及文中陈述文字和内容未经本站证实，对本文以及其中全部或者部分内容的"
    "真实性、完整性、及时性本站不作任何保证或承诺，请读者仅作参考，并请自行核实相关内容，未经书面授权不得转载。"
)


def document(name: str, text: str, title: str = TITLE, days: float = 0.0) -> Document:
    return Document(name, f"http://example.com/{name}", title, text, START + timedelta(days=days))


def verdict(text: str, title: str = TITLE, original: str = TEXT, days: float = 0.1) -> Verdict:
    found = Judge()
    found.judge(document("other", OTHER, "沿海三县海带丰收"))
    found.judge(document("first", original))
    return found.judge(document("again", text, title, days))


EDITS = {
    "changed title": (TEXT, "旧粮仓变身图书馆 市民走路五分钟就能借书", "same"),
    "added lead": ("本报讯（记者 周明）3月2日消息：" + TEXT, TITLE, "same"),
    "added ending": (TEXT + "\n来源：青河日报 责任编辑：李四 更多精彩内容请下载客户端", TITLE, "same"),
    "merged paragraphs": (TEXT.replace("\n", ""), TITLE, "same"),
    "split paragraphs": (TEXT.replace("。", "。\n"), TITLE, "same"),
    "dropped paragraph": ("\n".join((FIRST, SECOND, FOURTH)), TITLE, "same"),
    "half-width punctuation": (TEXT.replace("，", ",").replace("。", "."), TITLE, "same"),
    "full width": (TEXT.replace("4", "４"), TITLE, "same"),
    "traditional characters": (TRADITIONAL, TITLE, "same"),
    "typo": (TEXT.replace("馆长", "馆常"), TITLE, "same"),
    "inserted advertisement": ("\n".join((FIRST, "点击下载客户端，领取新人红包", SECOND, THIRD, FOURTH)), TITLE, "same"),
    "paraphrased first paragraph": ("读者昨天走进了青河市图书馆的新馆。\n" + "\n".join((SECOND, THIRD, FOURTH)), TITLE, "same"),
    "first paragraphs only": (FIRST + "\n" + SECOND, "旧粮仓变身图书馆", "part"),
    "within a longer text": ("\n".join((CONTEXT[0], TEXT, *CONTEXT[1:])), TITLE, "contains"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_repost_is_detected(edit: str) -> None:
    text, title, relation = EDITS[edit]
    original = TEXT.replace("，晚上", "，44排书架，晚上") if edit == "full width" else TEXT
    answer = verdict(text, title, original)
    assert (answer.duplicate_of, answer.relation) == ("first", relation)
    assert 0.6 <= answer.score <= 1


def test_longer_text_contains_the_earlier() -> None:
    answer = verdict(TEXT, TITLE, FIRST + SECOND)
    assert (answer.duplicate_of, answer.relation, answer.reason) == ("first", "contains", "contains-text")


def test_reasons_separate_same_and_edited_text() -> None:
    assert verdict(TEXT).reason == "same-text"
    assert verdict("\n".join((FIRST, SECOND, FOURTH))).reason == "edited-text"
    assert verdict(FIRST + SECOND).reason == "part-of-text"


WEATHER = (
    "{0}市气象台3月{1}日发布天气预报：今天白天多云，东风{2}级，最高气温{3}℃；夜间晴，最低气温{4}℃。相对湿度{5}%，空气质量指数{6}。"
    "气象专家提醒，近期气温变化较大，市民朋友要注意及时增减衣物，谨防感冒，早晚出行能见度较低，驾车请注意交通安全。"
)
MARKET = (
    "3月{0}日，沪深两市早盘平开，盘中震荡走高。截至收盘，沪指报{1}点，涨{2}%，成交额{3}亿元；深成指报{4}点，跌{5}%，成交额{6}亿元。"
    "板块方面，煤炭、有色金属和旅游等板块涨幅居前，半导体和软件等板块跌幅居前。"
)
SIMILAR = {
    "weather": (WEATHER.format("青河", 1, 3, 17, 6, 62, 48), WEATHER.format("青河", 2, 5, 21, 9, 45, 73), "青河天气预报"),
    "another city's weather": (WEATHER.format("青河", 1, 3, 17, 6, 62, 48), WEATHER.format("白石", 1, 4, 12, 2, 77, 81), "天气预报"),
    "markets": (
        MARKET.format(1, 3183, 1.36, 5025, 8088, 1.24, 5677),
        MARKET.format(4, 3201, 0.58, 4710, 8113, 0.47, 6021),
        "收评：沪指走高",
    ),
    "next part of a series": ("编者按：青河旧事。\n" + FIRST + SECOND, "编者按：青河旧事。\n" + THIRD + FOURTH, "青河旧事"),
    "same event": (FIRST + SECOND, "昨天，青河市图书馆在北门外开了新馆。市长说，这是今年的第一件实事。" + OTHER, TITLE),
    "quoted sentence": (TEXT, OTHER + "馆长林秀文告诉记者，旧粮仓的木梁和砖墙都保留了下来。", TITLE),
}


@pytest.mark.parametrize("kind", SIMILAR)
def test_similar_report_is_new(kind: str) -> None:
    original, text, title = SIMILAR[kind]
    found = Judge()
    found.judge(document("first", original, title))
    assert found.judge(document("again", text, title, 1)).duplicate_of is None


def test_changed_date_does_not_separate_reposts() -> None:
    original = TEXT.replace("昨天", "3月1日") + "新馆电话8830126，地址北门路18号，4月6日起开课。"
    assert verdict(original.replace("3月1日", "3月2日"), TITLE, original).duplicate_of == "first"


def test_shared_notice_does_not_join_reports() -> None:
    found = Judge()
    shorts = (FIRST, SECOND, THIRD, FOURTH, OTHER)
    titles = ("图书馆开放", "粮仓里的木梁", "退休教师排队", "周六讲课", "海带丰收")
    answers = [found.judge(document(str(at), text + NOTICE, title)) for at, (text, title) in enumerate(zip(shorts, titles, strict=True))]
    assert [answer.duplicate_of for answer in answers] == [None] * 5


def test_repost_is_found_within_the_window() -> None:
    assert verdict(TEXT, days=40).duplicate_of == "first"
    found = Judge(window=10)
    found.judge(document("first", TEXT))
    found.judge(document("between", OTHER, "海带", days=11))
    found.judge(document("between", OTHER, "海带", days=11))
    assert found.judge(document("again", TEXT, days=11)).duplicate_of is None


def random_text(number: int) -> str:
    return "".join(chr(0x4E00 + (number * 977 + place * 331) % 20_000) for place in range(200))


def test_index_forgets_with_the_window() -> None:
    found = Judge(capacity=20)
    for number in range(100):
        found.judge(document(str(number), random_text(number), str(number)))
    assert len(found._documents) == 20
    assert found._index.bytes < 60 * 200 * 8
    assert found.judge(document("again", random_text(99))).duplicate_of == "99"
    assert found.judge(document("forgotten", random_text(1))).duplicate_of is None


@pytest.mark.parametrize("text", ["", "图", "快讯", "12345", "\ud800" * 50, "a" * 5000, "。" * 5000, "\U0001f600" * 300])
def test_odd_texts_are_accepted(text: str) -> None:
    found = Judge()
    for number in range(3):
        found.judge(document(str(number), text, title=""))
    assert found.judge(document("whole", TEXT)).duplicate_of is None


def test_frequently_reposted_story_is_found() -> None:
    found = Judge()
    found.judge(document("0", TEXT))
    answers = [found.judge(document(str(number), TEXT + "来源：新闻网" * (number % 3), TITLE)) for number in range(1, 120)]
    assert all(answer.duplicate_of is not None for answer in answers)


def test_next_report_with_same_title_is_new() -> None:
    """A third of its sentences differ, and no number indicates the same report."""
    parts = (FIRST, SECOND, THIRD)
    first, following = "\n".join((*parts, *CONTEXT[:2])), "\n".join((*parts, CONTEXT[2]))
    assert verdict(following, TITLE, first).duplicate_of is None
    assert verdict(following, TITLE + " 市民排队借书", first).duplicate_of == "first"
