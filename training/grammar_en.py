# ruff: noqa: E501 - alternatives of a symbol stand on one line
"""The grammar of made-up English news. Every place, person, body and publisher is invented."""

WORDS = """
place: Halverton | Northmere | Port Ellsby | Crane Valley | Dunmarrow | Lake Tolliver | Ashgrove | Wexmoor | Saltbridge | Kessing County
abroad: Elvania | Norsland | Velmark | Taluna | Colinton | the Aurel Islands
first: Mara | Jonah | Elsie | Tobin | Ruth | Callum | Priya | Desmond | Nadia | Otto | Wren | Imogen
last: Quillen | Hartsong | Abernale | Vossler | Pemmican | Okoru | Tarrant-Lee | Brindle | Sayeed | Lindqvale
person: {first} {last}
writer: {first} {last}
role: spokeswoman | director | chief economist | head coach | professor of public health | deputy mayor | retired teacher | founder
office: the city council | the transport ministry | the harbour authority | the school board | the central bank | the county sheriff's office
firm: Farsail Technologies | Greenholt | Northstar Motors | Cedar Bank | Bluebay Air | Pinecone Media | Tideway Energy
team: the Halverton Hawks | Northmere United | the Saltbridge Whalers | Wexmoor City
thing: housing plan | rail link | winter festival | vaccine trial | fuel tax | new phone | data centre | recycling scheme | trade deal | school merger
thing: flood defence | electric bus | wage agreement | film award | fishing quota | broadband project
good: wheat | coffee | copper | oil | eggs | timber | cotton | gold | cheese
field: health | education | transport | energy | farming | housing | tourism | culture
weekday: Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday
month: January | February | March | April | May | June | July | August | September | October | November | December
day: on {weekday} | last week | earlier this month | in {month} | on {month} {1-28} | late on {weekday} | last year
money: ${1-98} million | ${1-9}.{1-9} billion | £{10-900}m | €{100-900},000 | {5-95} cents
rate: {2-60} percent | {1-9}.{1-9}% | {1-9}.{1-9} percentage points | nearly a third | more than half
many: {12-990} people | about {2-90},000 households | dozens of volunteers | {3-40} companies | hundreds of students | {3-99} members
up: rose | fell | climbed | dropped | slipped | jumped
said: said | told reporters | added | wrote in a statement | argued | explained
verb: approve | delay | expand | scrap | review | finance | launch | rethink
press: Halverton Courier | Northmere Gazette | The Saltbridge Post | Ellsby Today | Valley Wire | Tolliver Tribune
agency: VALLEY WIRE | NORTH PRESS | MERE NEWS
because: as costs kept rising | after months of talks | because of heavy rain | despite warnings from experts | while the economy cools
dish: leek pie | lentil soup | roast squash | plum cake
food: leeks | lentils | butter | thyme | squash | plums | flour | brown sugar | garlic
city: Halverton | Northmere | Ellsby | Wexmoor | Ashgrove
sky: cloudy | sunny | light rain | thunderstorms | fog | snow
"""

CLAUSES = """
plain: the {thing} will cost {money} and reach {many} | {office} plans to {verb} the {thing} | {good} prices {up} by {rate} {day}
plain: {many} had signed up for the {thing} {because} | {firm} agreed to {verb} its {thing} with {abroad} | no one was hurt
plain: {team} beat {team} {1-5}-{0-4} | the figure was {rate} higher than a year ago | spending on {field} {up} {rate} {because}
plain: it is not the first time that {place} has tried to {verb} a {thing} | there are few signs that the {thing} will be ready {day}
who: {person}, {role} of {firm}, | {person}, a {role} in {place}, | {person} | a {role} who asked not to be named | {last} | {office}
quote: We had to decide whether to {verb} the {thing}, and we did | This is about {many} who have waited long enough | It changes everything for {field}
quote: I have never seen anything like it in {place} | Nobody asked us, and now {money} is gone | The numbers do not lie
open: But | Still, | In {place}, | According to {office}, | For many here, | Meanwhile, | {weekday}'s vote means that | By contrast, | Officials say
s: {open} {plain}.{sp} | “{quote},” {who} {said}.{sp} | {who} {said} {plain}.{sp} | {open} {plain}, and {plain}.{sp} | {who} {said} that {plain}, but {plain}.{sp}
s: “{quote}. {quote}.”{sp} | {who} {said} {day} that {plain}.{sp} | What happens if {plain}?{sp} | {open} {plain}; {plain}, {who} {said}.{sp}
sp: SPACE
short: {open} {plain}.
long: {s}{s}{s}{s} | {s}{s}{s}{s}{s}
p: {s} | {s}{s} | {s}{s}{s} | {s}{s} | {long}
dateline: {place}, {month} {1-28} ({agency}) — | ({agency}) - | {agency}/{place}: | {place} —
title: {office} to {verb} {thing} in {place} | {thing}: {plain} | {role} says {plain} | Why {place} wants to {verb} the {thing} | {good} {up} {rate}
title: {team} {1-5}, {team} {0-4} | ‘{quote}’: inside {place}'s {thing} | {firm} bets {money} on {field}
subhead: What is the {thing}? | {place} waits | ‘{quote}’ | A question of {field} | How {good} {up} | Next steps
item: {plain}. | {thing}: {money} | {good} {up} {rate} | {place}, {many}
question: Q: Why does {place} want to {verb} the {thing}? | What does the {thing} mean for {field}? | {press}: Would you {verb} it again?
answer: A: {p} | {last}: {p}
live: {9-22}:{10-59} {s} | {1-12}.{10-59}pm {s} | {1-90}' {short}
flash: {dateline} {s} | {s}{s}
photo: {many} gather for the {thing} in {place} {day}. | The {thing} in {place}. | {open} {plain}.
step: Chop the {food}, add the {food} and leave for {5-40} minutes. | Fry the {food} with {food} until soft, then simmer for {20-60} minutes.
portion: {20-500}g {food} | {1-5} tbsp {food} | {food}, to serve
event: When: {weekday}, {month} {1-28}, {1-9} pm | Where: {place} Hall, {1-300} Mill Road | Tickets: {money} | Call 555-{1000-9999}
caption: The {thing} in {place}. Photo: {writer} | {person} in {place} {day}. {writer}/{press} | File photo | {open} {plain}. (Image: {press})
"""

AROUND = """
section: Home | News | World | Business | Politics | Sport | Culture | Opinion | Tech | Science | Health | Travel | Video | Podcasts | Weather | More
headline: {title} | {title} | {plain}
opinion: {quote}. | I live in {place} and {plain}. {quote}! | This. | lol | {s}{s} | Who pays for the {thing}? {quote}. | Great piece, thank you.
nick: {first}{10-99} | {last}_{place} | anonymous | {good}lover | {first} {last}
law: This material may not be published, broadcast, rewritten or redistributed. © {2003-2024} {press}. All rights reserved.
law: The views expressed in this article are the author's own and do not necessarily reflect those of {press}.
law: {press} may earn a commission if you buy through links on this page. This does not influence our reporting.
rules: Comments are moderated before they appear. Please keep to our community guidelines, be civil and stay on topic.
tail: Reporting by {writer}; editing by {writer} | Contact the writer at news@{place}.example | Additional reporting by {writer}. | Edited by {writer}
more: Follow {press} for the latest on {field}. | Download our app for breaking news. | Read more: {title} | Subscribe to {press} from {money} a month
bio: {writer} covers {field} for {press}. She was a {role} in {place} and has written for many years about the {thing}. | {writer} is a {role} at {press}.
letter: Sign up for our newsletter and get the best of {field} in your inbox every morning. You can unsubscribe at any time.
cookie: We and our partners use cookies to store and access information on your device. By clicking Accept, you agree to our privacy policy.
poll: What do you think of the {thing}? | Should {place} {verb} the {thing}?
choice: Yes | No | Not sure | Ask me later
ad: Advertisement | {firm}: save {rate} on {good} today only | Story continues below advertisement | Sponsored
address: {press}, {1-300} Mill Road, {place}. Phone 555-{1000-9999}
foot: About us | Contact | Advertise | Terms of use | Privacy policy | Site map | Careers | Help
icp: Registered in {place} No. {100000-999999}
rights: © {2003-2024} {press}. All rights reserved. | Copyright {2003-2024} {press}
"""

LABELS = """
related: Related stories | Read next | You may also like | More on this | Recommended
hot: Most read | Trending now | Most popular | Editor's picks
share: Share | Tweet | Email | Copy link | Share this article | Print
tool: Text size | Print | Save | A+ | A- | Listen ({2-9} min) | Comments ({0-900})
reply: Reply | Report | Like ({0-99}) | Flag
comments: Comments | {2-900} comments | Join the conversation
submit: Post comment | Submit | Sign in | Sign up
login: Username | Password | Register | Forgot your password?
here: You are here: | Home > News >
prev: Previous: | Older post: | «
next: Next page | Previous | Page 2
tags: Topics: | Tags: | Filed under
summary: {plain}, {plain} | {s}{s} | Summary: {s}
byline: By AUTHOR {date} | {date} | By AUTHOR, PRESS | Published {date} | AUTHOR | {date} · {2-9} min read | Updated {date} by AUTHOR
date: DATE
video: Play | Pause | Mute | Current time 0:00 | Duration {1-9}:{10-59} | Fullscreen | Loading... | 1x
alert: Please enable JavaScript to view this page properly.
readmore: Read more | Full story >> | Continue reading
more_here: Read more: {title} | See also: {title} | RELATED: {title}
"""
