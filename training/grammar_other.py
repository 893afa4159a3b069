# ruff: noqa: E501 - alternatives of a symbol stand on one line
"""Smaller grammars of made-up Japanese and German news; missing symbols are taken from the English one."""

JAPANESE = """
place: 青川市 | 北見沢町 | 海鳴県 | 松台村 | 白樺区
person: 青木沢さん | 白鳥野さん | 海老原田さん
writer: 青木沢はる | 白鳥野みのり
role: 担当者 | 市長 | 教授 | 監督
thing: 新しい図書館 | 観光列車 | 補助金制度 | 夏祭り | 電気バス | 防災訓練 | 給食センター
good: りんご | 米 | 灯油 | 卵 | 鮭
money: {2-980}万円 | {2-90}億円
rate: {1-60}パーセント | {2-9}割
many: {12-900}人 | 約{2-90}社
day: {1-12}月{1-28}日 | {1-28}日午後 | 昨年
press: 青川日報 | 海鳴新聞デジタル | 松台テレビ
plain: {place}は{thing}の整備に{money}をかける方針だ | {good}の価格が{rate}上がった | {thing}には{many}が参加した | けが人はいなかった
plain: {thing}をめぐっては反対の声も多い | {day}から{thing}が始まる
quote: {thing}ができて本当にうれしい | これからも{place}のために頑張りたい | {good}の値段が心配です
s: {day}、{plain}。 | {place}の{person}は「{quote}」と話した。 | {plain}が、{plain}。 | {role}によると、{plain}。 | 一方、{plain}という。
short: {plain}。
p: {s}{s} | {s} | {s}{s}{s}
dateline: 【{place}】 | （{press}）
title: {thing}、{place}で{day}から | {good}{rate}値上がり | {place}の{thing}に{many}
subhead: {thing}とは | {good}の行方 | 反対の声も
item: {plain}。 | {thing}：{money}
question: ――{thing}についてどう考えますか。
answer: {person}　{p}
live: {9-22}時{10-59}分　{s}
flash: {s}{s}
photo: {day}、{place}の{thing}＝{press}撮影。 | {plain}。
caption: {place}の{thing} | {thing}を見る人たち＝{day}、{place}
opinion: {quote}。 | {s}
headline: {title}
law: 本サイトの記事、写真の無断転載を禁じます。著作権は{press}に属します。
tail: （{writer}） | （{press}編集部）
more: {press}のアプリで最新ニュースをお届けします。
related: 関連記事 | あわせて読みたい
hot: アクセスランキング | 人気記事
share: シェアする | ツイート | 印刷
byline: {date} PRESS | AUTHOR {date}
summary: {plain}。{plain}。
section: ホーム | 社会 | 政治 | 経済 | スポーツ | 文化 | 地域 | 天気
"""

GERMAN = """
place: Hallerstedt | Nordmoor | Ellsbach | Kranichtal | Wexheim
first: Mara | Jonas | Elsa | Tobias | Ruth | Nadja
last: Quellmann | Harthold | Vosskamp | Brindel | Lindquell
person: {first} {last}
writer: {first} {last}
role: Sprecherin | Trainer | Bürgermeister | Professorin
thing: Haushalt | Bahnausbau | Tarifvertrag | Neubau | Hochwasserschutz | Modellversuch
good: Weizen | Kaffee | Kupfer | Strom | Holz
money: {2-98} Millionen Euro | {100-900}.000 Euro
rate: {2-60} Prozent | {1-9},{1-9} Prozent
many: {12-900} Menschen | rund {2-90}.000 Haushalte
day: am Montag | am Freitag | im vergangenen Jahr | am {1-28}. März
press: Hallerstedter Bote | Nordmoor-Anzeiger | Ellsbacher Zeitung
plain: der {thing} kostet {money} und kommt {many} zugute | die Preise für {good} stiegen um {rate} | verletzt wurde niemand
plain: der {thing} in {place} soll {day} beginnen | {many} haben sich für den {thing} ausgesprochen
quote: Wir haben lange auf den {thing} gewartet | Das ist für {place} ein guter Tag | Die Zahlen sprechen für sich
s: Wie {person} {day} mitteilte, {plain}.{sp} | „{quote}“, sagte {person}.{sp} | Nach Angaben der Stadt {place} heißt das: {plain}, und {plain}.{sp}
s: Doch {plain}.{sp} | In {place} gilt: {plain}.{sp}
sp: SPACE
short: Doch {plain}.
p: {s} | {s}{s} | {s}{s}{s}
dateline: {place} (nmp) - | {place}.
title: {thing} in {place}: {quote} | {good} wird um {rate} teurer | {place} streitet über den {thing}
subhead: Was der {thing} bringt | Streit in {place} | „{quote}“
item: {plain} | {thing}: {money}
question: Warum braucht {place} den {thing}?
answer: {last}: {p}
live: {9-22}.{10-59} Uhr: {s}
flash: {dateline} {s}
photo: {many} kamen {day} nach {place}.
caption: Der {thing} in {place}. Foto: {writer}
opinion: {quote}. | {s}
headline: {title}
law: Alle Rechte vorbehalten. Die Inhalte dieser Seite sind urheberrechtlich geschützt und dürfen nicht weiterverbreitet werden.
tail: ({writer}/{press}) | Redaktion: {writer}
more: Mehr aus {place} lesen Sie in der App der Zeitung {press}.
related: Das könnte Sie auch interessieren | Mehr zum Thema
hot: Meistgelesen | Am häufigsten kommentiert
share: Teilen | Drucken | E-Mail
byline: Von AUTHOR {date} | {date} | Stand: {date}
summary: {s}{s}
section: Startseite | Politik | Wirtschaft | Sport | Kultur | Lokales | Wetter
"""
