"""Labelled events of several days: follow-ups under other titles, confusable pairs (two similar accidents in one week), periodic reports.

``DOCUMENTS`` are sorted by day; every issue of a periodic report is a separate event. ``fill`` stores the first event as five days of
crawling would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from newsportal.items import Article, Link, content_id
from newsportal.store.store import Store


@dataclass(frozen=True, slots=True)
class Document:
    """``day``: days after the first. ``kind``: what it could be confused with."""

    event: str
    kind: str
    day: float
    site: str
    title: str
    text: str

    @property
    def id(self) -> str:
        return content_id(f"{self.event} {self.day} {self.title}")


STORIES = """
bridge bridge 0 岚溪日报 岚溪渡改桥主跨垮塌 六人落水全部获救
今天凌晨四点，岚溪县渡改桥的主跨在暴雨中垮塌，六名过桥的村民落水，被巡堤的船工马长顺和民兵救起。渡改桥通车才十一个月，施工单位是恒岳路桥公司。县里封闭了两岸道路，并请省里的桥梁专家赶来。
bridge bridge 1 堃州晚报 渡船重回岚溪 船工：不收钱
渡改桥垮塌以后，岚溪两岸的孩子昨天改坐渡船上学。撑船的是救人的船工马长顺，他说桥没修好以前不收钱。恒岳路桥公司派人到现场，表示配合调查。
bridge bridge 2 海棠新闻 专家组：恒岳路桥用的钢筋短了一截
省里的专家组昨天公布初步结论：岚溪渡改桥主墩的钢筋比图纸短四十厘米，混凝土标号也不够。专家组长说，暴雨只是让问题提前暴露。恒岳路桥公司的总工程师已被带走。
bridge bridge 3 溪峰都市报 恒岳路桥在五县还有九座桥 全部停工复检
岚溪渡改桥垮塌之后，堃州市要求恒岳路桥公司承建的九座桥全部停工，由第三方复检钢筋和混凝土。其中三座已经通车的桥今天起限行。
bridge bridge 4 岚溪日报 恒岳路桥负责人被批准逮捕
检察院今天以涉嫌工程重大安全事故罪，批准逮捕恒岳路桥公司的负责人和总工程师。岚溪县政府说，渡改桥将拆除重建，费用由恒岳路桥承担，明年汛期前完工。
plant-a fire 0.2 青河早报 青河化工厂起火 三千居民疏散
青河市丰禾化工厂昨晚起火，消防员用泡沫扑救了五个小时，附近的盐场新村三千名居民疏散到体育馆。丰禾化工厂生产农药中间体，厂长说起火的是二号反应釜。
plant-b fire 1.5 海城晚报 海城一化工厂凌晨起火 火势已控制
海城市柳塘镇的明川化工厂今天凌晨起火，消防员用泡沫扑救了三个小时，附近的柳塘小学停课一天。明川化工厂生产油漆稀料，起火的是露天油罐。
plant-a fire 2.2 青河早报 丰禾化工厂二号反应釜温度计早已失灵
青河市丰禾化工厂起火的原因查明：二号反应釜的温度计三周前就已失灵，工人报修没有人管。盐场新村的居民昨天回家，体育馆的临时床位撤除。
plant-b fire 3.1 海城晚报 海城油罐火灾：一只手机引燃稀料
海城市通报明川化工厂火灾的原因：一名司机在露天油罐旁打手机，火花引燃了油漆稀料的蒸气。柳塘小学今天复课，明川化工厂被罚款八十万元。
plant-a fire 4.1 南江日报 丰禾化工厂厂长被免职 盐场新村要求搬迁
丰禾化工厂的厂长被免职，青河市成立工作组。盐场新村四百户居民联名要求化工厂搬迁，管委会答应下月给出方案。
bus-a bus 0.4 云津晚报 云津一校车侧翻 二十名学生轻伤
云津县石榴乡的一辆校车昨天下午在盘山路侧翻，车上二十名学生受轻伤，司机田大海系着安全带，没有受伤。石榴乡中心小学的家长赶到县医院。
bus-b bus 2.6 松陵日报 松陵校车与货车相撞 孩子们安全
松陵市枫桥街道的一辆校车今天早上与运沙的货车相撞，车上十五名幼儿园孩子受轻伤，货车司机孙阿毛酒后驾车。枫桥幼儿园放假一天。
bus-a bus 3.3 云津晚报 石榴乡校车刹车片半年没换
云津县调查组说，石榴乡侧翻的校车刹车片半年没有更换，车行老板伪造了检修记录。司机田大海多次要求检修。石榴乡中心小学换了一家车行。
bus-b bus 4.5 松陵日报 枫桥运沙货车司机孙阿毛获刑
松陵市法院判处运沙货车司机孙阿毛有期徒刑二年，他酒后驾车与枫桥幼儿园的校车相撞。沙场老板被罚款，枫桥街道禁止运沙车在上学时间通行。
phone-a phone 0.6 快讯社 远峰发布折叠手机 M7 售价五千九
远峰公司今天在澜州发布折叠手机 M7，屏幕可以对折三次，售价五千九百元。远峰总裁苏启明说，M7 用了自己研制的铰链，一年卖出三百万台就不亏。
phone-b phone 1.1 快讯社 星野新机 X2 主打长焦镜头
星野公司今天发布手机 X2，主打十倍长焦镜头，售价四千三百元，首批在二十个城市发售。星野的设计师林小满说，X2 比上一代轻三十克。
phone-a phone 3.7 海港晚报 铰链断裂 远峰召回首批 M7
因铰链断裂，远峰公司宣布召回首批八万台折叠手机 M7，用户可以免费更换或者退款。总裁苏启明道歉，说铰链供应商换了材料没有告诉远峰。
phone-b phone 4.2 快讯社 星野 X2 长焦镜头出货翻番
星野公司说，手机 X2 上市三天卖出四十万台，十倍长焦镜头供不应求，镜头厂晶宇光学增开两条生产线。设计师林小满在直播里演示了拍月亮。
court court 0.8 澜州法治报 养老院集资案开庭 受害老人六百名
澜州市法院昨天开庭审理颐乐园养老院集资案。检察官说，颐乐园老板贺天成以预付床位费为名，向六百名老人集资一点二亿元，钱用于炒期货。
court court 4.6 澜州法治报 贺天成一审获刑十四年
颐乐园养老院老板贺天成因集资诈骗，一审被判有期徒刑十四年，六百名老人的床位费将按比例退还。贺天成当庭表示上诉。
"""
"""Two lines per document: event, kind, day, site and title; text."""

PERIODIC = (
    (
        "weather",
        "澜州气象",
        "澜州今日{a}到{b}度 {sky}",
        "澜州气象台发布预报：今天澜州{sky}，最低气温{a}度，最高气温{b}度，东南风{c}级，空气湿度百分之{d}，适宜出行，早晚注意加衣。",
    ),
    (
        "rate",
        "快讯社",
        "人民币对美元中间价报7.1{a} 下调{b}个基点",
        "外汇交易中心公布，今天人民币对美元汇率中间价报7.1{a}，较前一日下调{b}个基点。"
        "离岸人民币收于7.1{c}，交易员说市场平稳，成交额{d}亿美元。",
    ),
    (
        "market",
        "岚溪日报",
        "南门菜市今日青菜每斤{a}元 猪肉{b}元",
        "南门菜市场今天的行情：青菜每斤{a}元，猪肉每斤{b}元，鲫鱼每斤{c}元，豆腐每块{d}元。"
        "摊主们说，天气转凉，叶菜上市量减少，价格随行就市。",
    ),
)
SKIES = ("晴", "多云", "阴", "小雨", "晴")


def documents() -> Iterator[Document]:
    lines = STORIES.strip().splitlines()
    for head, text in zip(lines[::2], lines[1::2], strict=True):
        event, kind, day, site, title = head.split(" ", 4)
        yield Document(event, kind, float(day), site, title, text)
    for name, site, title, text in PERIODIC:
        for day, sky in enumerate(SKIES):
            values = {"a": 11 + day, "b": 19 + 2 * day, "c": 31 + 3 * day, "d": 52 + day, "sky": sky}
            yield Document(f"{name} {day}", name, day + 0.05, site, title.format(**values), text.format(**values))


DOCUMENTS = tuple(sorted(documents(), key=lambda document: (document.day, document.id)))


DEMO = "bridge"
"""Label of the event shown in the demo."""


def fill(store: Store, now: datetime) -> int:
    """Store the first event, its last report two hours old; return the number of articles."""
    demo = [document for document in DOCUMENTS if document.event == DEMO]
    for doc in demo:
        published = now - timedelta(days=demo[-1].day - doc.day, hours=2)
        url = f"https://{content_id(doc.site)[:8]}.example/{doc.id}.html"
        link = Link(url, f"feed:{doc.site}", title=doc.title, site=doc.site)
        identity = url.removeprefix("https://")
        article = Article(
            url=url, link=link, fetched=now, identity=identity, title=doc.title, text=doc.text, site=doc.site, published=published,
            language="zh", category="社会",
        )  # fmt: skip
        store.add(article, now=now)
    return len(demo)
