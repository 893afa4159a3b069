# ruff: noqa: E501  (markup and sentences are read best on one line)
"""Sentences of the made-up forums, combined so that no two posts are the same."""

ZH_SUBJECTS = (
    "{n} 号线早高峰到底要等几趟车", "阳台种的番茄第 {n} 周还没开花怎么办", "周末骑行 {n} 公里路线求推荐", "老房子换窗户花了 {n} 天，记录一下",
    "旧相机修了 {n} 次终于能用了", "有没有人一起去看第 {n} 届灯会", "小区第 {n} 栋的电梯什么时候修", "自己做了 {n} 个木凳子，晒一晒",
    "请教一下 {n} 平米的书房怎么布置", "第 {n} 次徒步总结，附装备清单", "孩子学游泳 {n} 个月的体会", "食堂 {n} 号窗口换厨师了吗",
)  # fmt: skip

ZH_SENTENCES = (
    "上个星期我也碰到了一样的情况，后来打电话问了物业才弄明白。", "按照楼上的办法试了一遍，果然比以前省了 {n} 分钟。",
    "我觉得关键还是时间要留够，不然到了那边人特别多。", "照片拍得不太好，大家将就看，细节我再慢慢补上来。",
    "价格大概在 {n} 块左右，比网上写的便宜一点。", "这个问题我问过师傅，他说换一根管子就行，不用整个拆掉。",
    "天气好的时候从东门进去，走 {n} 步左右就能看见那棵大槐树。", "谢谢分享，先收藏起来，等放假了照着走一遍。",
    "说实话一开始我也不信，直到自己量了 {n} 次才服气。", "补充一点，晚上七点以后那条路是不让停车的。",
    "我们家用的是最普通的那种，五年了也没坏过。", "如果有人要一起去，可以在这里留个言，凑够 {n} 个人就出发。",
    "其实说明书第 {n} 页写得很清楚，只是字太小了没人看。", "当时下着雨，地上全是叶子，走起来很滑，大家小心。",
    "回来以后我又查了查资料，发现以前记错了年份。", "建议先打个电话问清楚，免得白跑一趟。",
)  # fmt: skip

EN_SUBJECTS = (
    "Kettle number {n} stopped working after a week", "Which trail is best for {n} miles in autumn", "My {n} year old bicycle needs new brakes",
    "Growing beans on balcony {n}, a diary", "Has anybody restored a radio from batch {n}", "Room {n} of the town library opens again",
    "Choosing paint for {n} old doors", "Notes from {n} days on the coast path", "Bread with {n} grams of rye, what went wrong",
    "Bus {n} never comes on Sundays",
)  # fmt: skip

EN_SENTENCES = (
    "I had the same trouble last month and a new washer solved it for me.", "We measured it {n} times and it was always a little too short.",
    "Take the earlier train if you can, the later one is full every Friday.", "The manual says so on page {n}, but the print is very small.",
    "Thanks for the long answer, I will try it on the weekend and report back.", "It cost me about {n} pounds at the shop behind the station.",
    "In my garden the frost came early, so nothing was left to compare.", "Please post a picture of the back side, the screws tell the year.",
    "After {n} minutes in warm water the label came off without any trouble.", "My neighbour swears by vinegar, though I never saw the difference.",
    "You could also walk along the river, it takes {n} minutes longer.", "Nobody at the counter knew, so I wrote a letter and waited.",
)  # fmt: skip

ZH_NAMES = (
    "青石板",
    "南山北望",
    "豆腐脑",
    "晚风拂柳",
    "老周不吃鱼",
    "半日闲",
    "小渡口",
    "木头人儿",
    "风筝线",
    "河边走走",
    "糖炒栗子",
    "看云的人",
)
EN_NAMES = ("tealeaf", "OldAnchor", "marrow", "Pip Larkin", "quietmill", "BrassKey", "fennel", "hobnail", "Juniper7", "north_gate")
