# ruff: noqa: E501 - alternatives of a symbol stand on one line
"""The grammar of made-up Chinese news. Every place, person, body and publisher is invented."""

WORDS = """
place: 云岭市 | 江口县 | 青石镇 | 北湾区 | 望川市 | 石桥乡 | 临溪县 | 东泽省 | 白沙新区 | 海棠市 | 南禾区 | 雁落县 | 松台镇 | 梧桐街道 | 金汀市
abroad: 艾尔维亚 | 诺斯兰 | 科林顿 | 贝莱索 | 塔卢纳 | 维斯特马克 | 奥雷利亚群岛 | 卡罗维奇
surname: 林 | 禾 | 闻 | 路 | 江 | 叶 | 南 | 白 | 柳 | 梁 | 安 | 苏 | 乔 | 季 | 黎 | 沈 | 米 | 温
given: 知夏 | 望秋 | 山禾 | 晓舟 | 一苇 | 听澜 | 子墨白 | 云起 | 远岫 | 佩石 | 慕白 | 初晴 | 松间 | 小满 | 行之 | 怀谷
person: {surname}{given} | {surname}{given} | {surname}先生 | {surname}女士 | {surname}某 | 老{surname} | {surname}师傅
writer: {surname}{given}
role: 负责人 | 相关负责人 | 新闻发言人 | 副主任 | 首席分析师 | 村支书 | 值班民警 | 项目经理 | 主教练 | 教授 | 研究员 | 主任医师 | 创始人
office: 市发改委 | 市气象局 | 县教育局 | 省交通厅 | 区卫健委 | 市统计局 | 市场监管局 | 市文旅局 | 消防救援支队 | 市公安局 | 水务局 | 农业农村局
firm: 远帆科技 | 青禾集团 | 北辰汽车 | 云杉银行 | 海桐地产 | 蓝湾航空 | 松果网 | 石榴传媒 | 启明医药 | 大河能源 | 白鹭超市 | 星野游戏
school: 东泽大学 | 望川理工大学 | 云岭师范学院 | 江口一中 | 临溪农业研究所 | 北湾医学院
team: 云岭山鹰队 | 望川蓝鲸队 | 金汀火车头 | 海棠女排 | 北湾青年队
thing: 新一轮补贴政策 | 老旧小区改造工程 | 城际铁路 | 智能手机 | 春季招聘会 | 医保报销办法 | 新能源客车 | 电影节 | 农产品冷链 | 校车安全条例
thing: 环湖绿道 | 数据中心 | 民宿集群 | 非遗展览 | 夜间公交 | 鱼苗放流 | 垃圾分类 | 油价调整 | 房贷利率 | 国产芯片 | 疫苗接种 | 露天煤矿
good: 苹果 | 大米 | 钢材 | 柑橘 | 鸡蛋 | 原油 | 大豆 | 茶叶 | 猪肉 | 螺纹钢 | 黄金 | 棉花 | 铜 | 白菜
field: 就业 | 教育 | 医疗 | 环保 | 养老 | 交通 | 消费 | 外贸 | 旅游 | 科技创新 | 粮食安全 | 文化保护
day: {1-12}月{1-28}日 | 昨日 | 今天上午 | 当天下午 | 本周{weekday} | 近日 | 日前 | {1-28}日 | 去年{1-12}月 | 上月底
weekday: 一 | 二 | 三 | 四 | 五 | 六
time: 凌晨{1-5}时许 | 上午{8-11}点 | 下午{2-5}时{10-59}分 | 晚上{7-10}点左右 | 中午
money: {2-980}万元 | {2-98}亿元 | {1-9}.{1-9}亿元 | {12-998}元 | {3-90}万美元 | 近{2-9}千元
rate: {1-98}% | {1-9}.{1-9}% | {10-40}个百分点 | {2-9}成 | 三分之一 | 近一半
many: {12-998}人 | {3-98}万人次 | {2-60}家企业 | {100-9000}户居民 | {3-28}个村 | 数百名学生 | {2-9}万吨
up: 增长 | 上涨 | 下降 | 回落 | 提高 | 减少 | 同比增长 | 环比下降
said: 表示 | 说 | 告诉记者 | 介绍 | 坦言 | 认为 | 指出 | 回忆道 | 强调 | 透露
adverb: 进一步 | 逐步 | 明显 | 持续 | 首次 | 正式 | 全面 | 陆续 | 悄然 | 已经
verb: 推进 | 启动 | 完善 | 优化 | 叫停 | 调整 | 升级 | 公布 | 引进 | 保障 | 规范 | 验收
press: 云岭日报 | 东泽晚报 | 江口网 | 北湾在线 | 望川都市报 | 海棠时报 | 青石新闻网 | 金汀广播网 | 山海通讯社
agency: 山海社 | 中闻社 | 东泽社 | 云岭社
result: 引发广泛关注 | 受到群众欢迎 | 仍需时间检验 | 还有不少问题要解决 | 超出了所有人的预期 | 在当地尚属首次 | 成了街谈巷议的话题
reason: 受冷空气影响 | 由于前期降雨偏多 | 在政策带动下 | 考虑到安全因素 | 随着天气转暖 | 得益于技术进步 | 面对竞争压力 | 按照统一部署
dish: 红烧豆腐 | 番茄牛腩 | 葱油鸡 | 酸辣土豆丝 | 香菇炖鸡 | 凉拌木耳 | 玉米排骨汤 | 清蒸鲈鱼
food: 豆腐 | 牛腩 | 番茄 | 生姜 | 大葱 | 土豆 | 香菇 | 木耳 | 玉米 | 排骨 | 料酒 | 生抽 | 冰糖 | 花椒
"""

CLAUSES = """
who: {person} | {office}{role}{person} | {firm}{role} | {school}{role}{person} | 家住{place}的{person} | 一位不愿具名的{role} | 业内人士 | 当地村民
plain: {reason}，{place}的{thing}{result} | {place}{adverb}{verb}{thing} | {thing}共投入{money}，惠及{many} | 全市{field}支出{up}{rate}
plain: {good}价格{up}了{rate} | {firm}与{school}签署了合作协议 | {many}参与了{thing}的前期工作 | {team}以{1-5}比{0-4}战胜了{team}
plain: {place}的{many}已经搬进了新家 | 整个过程没有人员受伤 | 事故原因还在进一步调查之中 | 这一数字比去年同期{up}了{rate} | 工程预计在{day}前完工
plain: {abroad}政府宣布将在{day}恢复与邻国的谈判 | {thing}并不像看上去那样简单 | 这样的场景在{place}已经不是第一次出现
lead: {day}，记者从{office}获悉 | 据{office}{?alsonamed}介绍 | {day}{time} | 根据{office}发布的数据 | 在{place}采访时，记者看到 | 与此同时 | 值得注意的是
lead: 据{press}报道 | 从{field}的角度看 | 截至{day} | 不过 | 事实上 | 为此 | 另据了解 | 而在{abroad} | 对于{thing}
alsonamed: {role}{person}
quote: 我们会把{thing}放在第一位，让{many}真正受益 | 这件事做起来不容易，但总要有人去做 | 价格合适我就买，{money}也不算贵 | 以前要跑三趟，现在半天就办完了
quote: 如果{good}再涨{rate}，店里就要重新定价了 | 当时水已经没过膝盖，我只想着把孩子抱出去 | 数据不会说谎，{field}的压力依然存在 | 下半场我们踢出了自己的东西
quote: 没有{firm}的支持，{thing}不可能这么快落地 | 这是我这辈子第一次见到这么多人
s: {lead}，{plain}。 | {plain}，{plain}。 | {lead}，{plain}，{plain}。 | {plain}。 | {plain}，{lead}，{plain}；{plain}。
s: {who}{said}，{plain}。 | {who}{said}：“{quote}。” | “{quote}，”{who}{said}，“{quote}。” | {who}{said}，{plain}，{plain}，{plain}。
s: {lead}，{plain}，其中{good}{up}{rate}、{good}{up}{rate}，{place}{up}{rate}。 | 《关于{verb}{thing}的意见》明确，{plain}。
s: 是什么让{thing}{result}？ | “{quote}！”{who}的话{result}。 | {who}今年{20-88}岁，在{place}生活了{2-40}年，对{thing}的变化看得最清楚。
short: {plain}。 | {lead}，{plain}。
long: {s}{s}{s}{s} | {s}{s}{s} | {s}{s}{s}{s}{s}
p: {s}{s} | {s} | {s}{s}{s} | {short}{s} | {long} | {s}{s} | {s}{s}{s} | {s}{s}{s}
dateline: {agency}{place}{1-12}月{1-28}日电{?reporters}　 | 本报讯（记者 {writer}）| 【{agency}{place}{1-28}日电】 | （{press}记者{writer}{place}报道）
dateline: 本报{place}{1-28}日电（记者{writer}）| {press}讯 {?reporters} | 东泽网{place}{1-12}月{1-28}日电 (记者 {writer} {writer}) | {agency}{place}电：
reporters: （记者{writer}、{writer}） | (记者 {writer}) | 记者{writer}
title: {place}{adverb}{verb}{thing} | {thing}{result} | {place}{field}支出{up}{rate} {office}回应 | {role}：{quote} | {good}{up}{rate}，{place}怎么办？
title: {team}{1-5}比{0-4}胜{team} | {firm}拟投{money}{verb}{thing} | “{thing}”来了！{many}受益 | {abroad}{verb}{thing} 专家：{plain} | 图解：{thing}
subhead: {thing}{result} | {adverb}{verb}{thing} | {who}：{quote} | {field}怎么办 | 一、{verb}{thing} | （二）{adverb}{verb}{field} | {result}
item: {verb}{thing}，{plain}； | {thing}：{money} | {good}{up}{rate} | {place}：{many} | {plain}。 | 第{1-9}条　{plain}。
question: 记者：{place}为什么要{verb}{thing}？ | 问：{thing}对{field}有什么影响？ | {press}：{good}会不会继续{up}？ | 记者：您怎么看{thing}？
answer: {surname}{given}：{p} | 答：{p}
live: {9-22}:{10-59} {s} | 【{9-22}:{10-59}】{short} | {1-90}分钟：{short}
flash: 【{title}】{s} | {dateline}{s} | {dateline}{s}{s}
photo: {day}，{plain}。 | 图为{place}的{thing}。 | {day}，{many}在{place}体验{thing}。
step: {1-6}、将{food}洗净切块，加{food}腌制{5-40}分钟。 | 锅中放油，下{food}、{food}炒香，倒入清水{200-900}毫升，小火炖{20-60}分钟。 | 出锅前撒上{food}即可，{dish}就做好了。
portion: {food} {20-500}克 | {food} 适量 | {food} {1-5}个
event: 时间：{1-12}月{1-28}日（周{weekday}）{8-19}:30 | 地点：{place}{thing}活动中心{1-9}楼 | 报名电话：0{100-999}-{1000-9999}{1000-9999} | 主办单位：{office}
event: 费用：{money}，{many}以内免费 | 人数：限{10-80}名
city: 云岭 | 江口 | 望川 | 海棠 | 金汀 | 临溪 | 白沙 | 雁落
sky: 多云 | 晴 | 小雨转阴 | 雷阵雨 | 雾 | 中雪
caption: {place}的{thing}。{?by} | {person}在{place}。 | 资料图：{thing} | 图为{thing}现场。（{press} {writer} 摄） | {day}，{plain}。{by} | 点击图片进入下一页
by: {press}供图 | {writer}/摄 | （{writer} 摄）
"""

AROUND = """
section: 首页 | 新闻 | 国内 | 国际 | 社会 | 财经 | 体育 | 娱乐 | 科技 | 军事 | 汽车 | 房产 | 教育 | 健康 | 旅游 | 图片 | 视频 | 评论 | 论坛 | 博客 | 邮箱 | 游戏 | 读书
headline: {title} | {title} | {plain}
opinion: 支持！{quote} | {quote} | 楼上说得对，{plain} | 我觉得{thing}没有那么好，{plain}。{quote}。 | 顶 | 路过 | 呵呵，{plain}…… | {s}{s} | 沙发
nick: {place}网友 | 手机用户{1000-9999} | {given}{10-99} | 匿名 | {abroad}的风 | 会飞的{good}
law: 本网站所刊载信息，不代表{press}观点。刊用本网站稿件，务经书面授权，未经授权禁止转载、摘编、复制及建立镜像，违者将依法追究法律责任。
law: 声明：凡注明来源为“{press}”的所有文字、图片和音视频，版权均属{press}所有，其他媒体、网站或个人不得转载，转载时必须注明“来源：{press}”。
law: 免责声明：本文仅代表作者个人观点，与{press}无关。其原创性以及文中陈述文字和内容未经本站证实，请读者仅作参考，并请自行核实相关内容。
law: 本文来源：{press}，版权归原作者所有，如有侵权请与我们联系，我们将在{12-48}小时内删除。投资有风险，入市需谨慎。
rules: 请您文明上网、理性发言，遵守相关法律法规，并对自己发表的言论负责。网友评论仅代表其个人看法，并不表明{press}同意其观点。
tail: （责任编辑：{writer}） | 责编：{writer}　审核：{writer} | [编辑：{writer}] | (编辑 {writer}) | 【责任编辑:{writer}】 | 责任编辑：{writer} SN{100-999} | 原标题：{title}
tail: 本文来源：{press} 作者：{writer} 责任编辑：{writer} | （来源：{press}） | 值班编辑 {writer}
more: 更多精彩内容请关注{press}官方微信公众号 | 扫描二维码，关注{press}，每天推送最新资讯 | 打开{press}客户端，查看更多{field}资讯 | 欢迎关注“{press}”微博，参与话题讨论
more: 想了解更多{field}新闻，请点击下载手机客户端，随时随地看{place}。 | 新闻热线：{400-800}-{100-999}-{1000-9999}，爆料有奖 | 相关专题：{title}
bio: {writer}，{press}{role}，长期关注{field}与{thing}，著有《{thing}》，曾获{place}新闻奖。 | 作者简介：{writer}，{school}教授，研究方向为{field}。
letter: 订阅我们的每日简报，每天早上把{field}要闻送到您的邮箱。您可以随时取消订阅。 | 输入邮箱，订阅{press}早报
cookie: 我们使用Cookie来改善您的浏览体验。继续使用本网站即表示您同意我们的隐私政策和服务条款。
poll: 您怎么看{thing}？ | 您会买{good}吗？
choice: 支持 | 反对 | 说不清 | 无所谓 | {money}以内可以接受
ad: 广告 | {firm}：{good}限时{2-8}折，立即抢购>> | 开户即送{money}体验金 | 每天一杯它，三十天告别烦恼
address: 地址：{place}{thing}路{1-300}号　邮编：{1000-9999}00　电话：0{100-999}-{1000-9999}{1000-9999}
foot: 关于我们 | 联系我们 | 广告服务 | 法律声明 | 网站地图 | 招聘信息 | 友情链接 | 不良信息举报 | 版权声明
icp: 东ICP备{10000000-20990000}号-{1-9} | 增值电信业务经营许可证：东B2-{20040001-20200999} | 互联网新闻信息服务许可证 {1000000-9999999} | 东公网安备{10000-99999}号
rights: Copyright © 2003-{2012-2024} {press} 版权所有 | 版权所有 {press} 未经书面授权禁止复制或建立镜像 | All Rights Reserved {press}
"""

LABELS = """
related: 相关新闻 | 相关阅读 | 延伸阅读： | 推荐阅读 | 你可能感兴趣 | 猜你喜欢 | 相关报道：
hot: 热门排行 | 24小时热点 | 点击排行榜 | 一周热评 | 今日要闻
share: 分享到： | 分享 | 微博 | 空间 | 微信 | 朋友圈 | 复制链接
tool: 【字体：大 中 小】 | 字号：T | [打印本稿] | 【关闭】 | 我要评论({0-999}) | 收藏 | 纠错 | 大字 | 小字 | 打印 | 推荐给朋友
reply: 回复 | 支持({0-99}) | 举报 | 顶[{0-99}] | 分享
comments: 网友评论 | 我来说两句 | 全部评论({1-999}) | 最新评论
submit: 发表评论 | 提交 | 登录 | 发布
login: 用户名： | 密码： | 注册 | 忘记密码？ | 匿名发表
here: 您的位置： | 当前位置： | 位置：
prev: 上一篇： | 下一篇： | 前一篇：
next: 下一页 | 上一页 | 末页 | 共{2-9}页
tags: 标签： | 关键词： | Tags：
summary: 核心提示：{plain}，{plain}。 | 摘要：{s} | 导读：{s}{s} | {s}
byline: 来源：PRESS {date}　作者：AUTHOR | {date} 来源: PRESS 【字号 大 中 小】 | {date}　PRESS　我要评论({0-99}) | 作者：AUTHOR 更新时间：{date}
byline: 发布时间：{date} 来源：PRESS 责任编辑：{given} 浏览：{10-9999}次 | PRESS {date} | AUTHOR · {date} | 日期：[{date}]　来源：[PRESS] | {date}
date: DATE
video: 播放 | 暂停 | 静音 | 当前时间 0:00 | 时长 {1-9}:{10-59} | 全屏 | 加载中... | 1x | 重播
alert: 您的浏览器版本过低，为了更好的体验，请升级浏览器。 | JavaScript 已停用，部分功能无法使用。
readmore: 详细>> | [全文] | 阅读更多 | 查看全文
more_here: 点击查看：{title} | 延伸阅读：{title}
"""
