"""The delay until entries are found, and the number of requests: every policy of the schedule over made and real publication times.

    python benchmarks/schedule.py                        made sources of ten kinds, six weeks
    python benchmarks/schedule.py --real FOLDER          and the posts and entries of saved forums and feeds (FOLDER/forum, FOLDER/feeds)
    python benchmarks/schedule.py --round 5000           the cost of deciding for this many sources

Each policy is run over the same sources; then the learnt one is run with the budget at which it spends as many requests, so that delays
compare at the same cost. The first weeks teach and are not counted. Times are simulated; nothing is fetched.
"""

from __future__ import annotations

import argparse
import bisect
import gzip
import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from newsportal.items.visits import MAX_PUBLISHED, Visit
from newsportal.schedule import next_visit
from newsportal.schedule.learnt import price
from newsportal.schedule.policies import History, Rules

ZONE = timezone(timedelta(hours=8))
BEGIN = datetime(2026, 3, 2, tzinfo=ZONE)  # a Monday
DAY = 86_400.0
REMEMBERED = 400
"""Visits of a source that the schedule learns from."""


@dataclass(frozen=True)
class Source:
    """A source: when its entries appear (seconds from the begin, sorted), and what it says of their times."""

    name: str
    kind: str
    times: tuple[float, ...]
    says: Callable[[float, float], float] = lambda published, visited: published


@dataclass
class Outcome:
    """The result of one run of a policy."""

    delays: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=dict)
    visits: int = 0
    empty: int = 0


@dataclass(frozen=True)
class Point:
    """A policy in the chart: visits per day of each source, and mean minutes until an entry was found."""

    name: str
    visits: float
    minutes: float


# made sources


def poisson(rate: Callable[[float], float], most: float, days: int, chance: random.Random) -> list[float]:
    """Times of an inhomogeneous Poisson process by thinning; ``rate`` in entries a day of the second since the begin, at most ``most``."""
    times, at = [], 0.0
    while (at := at + chance.expovariate(most / DAY)) < days * DAY:
        if chance.random() * most < rate(at):
            times.append(at)
    return times


def daytime(daily: float, peak: float, width: float, *, weekend: float = 0.4) -> Callable[[float], float]:
    """Most entries around an hour of the day (paper B: 每日上午 9 至 12 时), a tenth of them at any hour, fewer at weekends."""

    def rate(at: float) -> float:
        day, second = divmod(at, DAY)
        away = (second / 3600 - peak + 12) % 24 - 12
        bell = math.exp(-((away / width) ** 2) / 2) * 24 / (width * math.sqrt(2 * math.pi))
        return daily * (0.9 * bell + 0.1) * (weekend if day % 7 >= 5 else 1.0)

    return rate


def batches(hours: Sequence[float], size: int, jitter: float, days: int, chance: random.Random) -> list[float]:
    """Return this many entries at the same hours of every day, some minutes early or late."""
    times = []
    for day in range(days):
        for hour in hours:
            at = day * DAY + hour * 3600 + chance.gauss(0, jitter * 60)
            times += [at + number for number in range(size) if at > 0]
    return sorted(times)


def bursts(daily: float, follow: float, minutes: float, days: int, chance: random.Random) -> list[float]:
    """News that brings news: each entry is followed by ``follow`` others on the average within ``minutes`` (a Hawkes process)."""
    waiting = poisson(lambda _: daily * (1 - follow), daily * (1 - follow), days, chance)
    times = []
    while waiting:
        at = waiting.pop()
        times.append(at)
        for _ in range(sum(chance.random() < follow / 3 for _ in range(3))):
            waiting.append(at + chance.expovariate(1 / (minutes * 60)))
    return sorted(at for at in times if at < days * DAY)


def made(number: int, days: int, seed: int) -> list[Source]:
    """``number`` sources, ten kinds in turn."""
    chance = random.Random(seed)
    kinds: list[tuple[str, Callable[[], list[float]], Callable[[float, float], float]]] = [
        ("portal", lambda: poisson(daytime(80, chance.uniform(9, 12), 2.5), 600, days, chance), _true),
        ("wire", lambda: poisson(daytime(160, 14, 6, weekend=0.8), 700, days, chance), _true),
        ("local paper", lambda: poisson(daytime(10, chance.uniform(9, 17), 3), 60, days, chance), _true),
        ("bulletin", lambda: batches([chance.choice([7, 8, 12, 18, 22]) + chance.random()], 8, 4, days, chance), _true),
        ("hourly", lambda: batches([hour + 0.05 for hour in range(6, 24)], 2, 1, days, chance), _true),
        ("blog", lambda: poisson(daytime(0.5, 21, 2), 4, days, chance), _true),
        ("bursts", lambda: bursts(15, 0.7, 30, days, chance), _true),
        ("asleep", lambda: poisson(lambda _: 0.04, 0.04, days, chance), _true),
        ("always now", lambda: poisson(daytime(20, 10, 3), 100, days, chance), lambda published, visited: visited - 1),
        ("dates alone", lambda: poisson(daytime(20, 15, 3), 100, days, chance), lambda published, visited: published // DAY * DAY),
    ]
    return [Source(f"feed:{n}", kind, tuple(times()), says) for n in range(number) for kind, times, says in [kinds[n % len(kinds)]]]


def _true(published: float, visited: float) -> float:
    return published


# real times


def real(folder: Path) -> tuple[list[Source], int]:
    """Threads and feeds with twenty times or more, each from its first; the longest gaps (dead weeks) are cut to three days."""
    sources = []
    for name, moments in (*_threads(folder / "forum"), *_feeds(folder / "feeds")):
        times = sorted(moment.timestamp() for moment in moments)
        if len(times) >= 20 and times[-1] - times[0] > DAY:
            sources.append(Source(f"feed:{name}", "real", tuple(_joined(times))))
    return sources, max((math.ceil(source.times[-1] / DAY) for source in sources), default=0)


def _joined(times: list[float]) -> Iterator[float]:
    """Times from the hour of the day of the first on, without gaps above three days (whole days are cut)."""
    begin = BEGIN.timestamp()
    shift = (times[0] - begin) // DAY * DAY + begin
    last = times[0]
    for at in times:
        if at - last > 3 * DAY:
            shift += (at - last) // DAY * DAY
        last = at
        yield at - shift


def _threads(folder: Path) -> Iterator[tuple[str, list[datetime]]]:
    for file in sorted(folder.glob("*.json")):
        posts = json.loads(file.read_text("utf-8")).get("posts", [])
        yield file.stem, [moment for post in posts if (moment := _moment(post.get("date")))]


def _feeds(folder: Path) -> Iterator[tuple[str, list[datetime]]]:
    from newsportal.errors import NotApplicable
    from newsportal.extractors.feeds import feed

    for file in sorted(folder.glob("*")):
        body = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        try:
            entries = feed.parse_feed(body, "http://localhost/", None, datetime.now(UTC)).entries
        except NotApplicable:
            continue
        yield file.stem, [entry.published for entry in entries if entry.published]


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text and len(text) > 10 else None
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or ZONE) if moment else None


# one run


class Run:
    """A policy over the sources. Prices are found anew each day from what the policy says of the sources' rates."""

    def __init__(self, sources: Sequence[Source], rules: Sequence[Rules], days: int, warm: int, per_hour: float | None = None) -> None:
        self.sources, self.rules, self.days, self.warm, self.per_hour = sources, list(rules), days, warm, per_hour
        self.pasts: list[list[Visit]] = [[] for _ in sources]
        self.due = [number / len(sources) * 3600 for number in range(len(sources))]
        self.rates: list[float | None] = [None] * len(sources)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        for day in range(self.days):
            self._priced()
            for place in range(len(self.sources)):
                while self.due[place] < (day + 1) * DAY:
                    self._visit(place, self.due[place])
        return self.outcome

    def _priced(self) -> None:
        rates = [rate for rate in self.rates if rate is not None]
        if self.per_hour is not None and rates:
            shared = self.per_hour * len(rates) / len(self.sources)
            now = price(rates, shared, shortest=self.rules[0].shortest, longest=self.rules[0].longest)
            self.rules = [replace(rules, price=now) for rules in self.rules]

    def _visit(self, place: int, at: float) -> None:
        source, past = self.sources[place], self.pasts[place]
        before = (past[0].at - BEGIN).total_seconds() if past else -1.0
        new = source.times[bisect.bisect_right(source.times, before) : bisect.bisect_right(source.times, at)]
        moment = BEGIN + timedelta(seconds=at)
        stated = tuple(BEGIN + timedelta(seconds=source.says(published, at)) for published in new[-MAX_PUBLISHED:])
        past.insert(0, Visit(source.name, moment, list_pages=1, entries=max(20, len(new)), new=len(new), published=stated))
        del past[REMEMBERED:]
        if at >= self.warm * DAY:
            self.outcome.visits += 1
            self.outcome.empty += not new
            late = [at - published for published in new if published >= self.warm * DAY]
            self.outcome.delays += late
            self.outcome.by_kind.setdefault(source.kind, []).extend(late)
        planned = next_visit(History.from_visits(past), self.rules[place], moment)
        self.rates[place] = planned.rate
        self.due[place] = max((planned.at - BEGIN).total_seconds(), at + 60)


def run_with_budget(sources: Sequence[Source], rules: Sequence[Rules], days: int, warm: int, visits: int) -> Outcome:
    """The learnt schedule with the budget at which it spends about ``visits`` requests."""
    target = visits / ((days - warm) * 24)
    per_hour = target
    for _ in range(4):
        outcome = Run(sources, rules, days, warm, per_hour).run()
        if abs(outcome.visits / visits - 1) < 0.01:
            break
        per_hour *= visits / outcome.visits
    return outcome


def compare(title: str, sources: list[Source], days: int, warm: int) -> list[Point]:
    """Print the table; return what can be plotted."""
    plain = [Rules(source.name, zone=ZONE) for source in sources]
    rates = sorted(len(source.times) for source in sources)
    weights = [1 + 9 * bisect.bisect_left(rates, len(source.times)) / max(1, len(rates) - 1) for source in sources]
    peers = {
        "fixed, every hour": [replace(rules, interval=60.0) for rules in plain],
        "fixed, 6-24 o'clock": [replace(rules, interval=60.0, hours=frozenset(range(6, 24))) for rules in plain],
        "hours (paper B)": [replace(rules, policy="hours") for rules in plain],
        "weight (paper C)": [
            replace(rules, policy="weight", weight=weight, shortest=10.0, longest=240.0)
            for rules, weight in zip(plain, weights, strict=True)
        ],
    }
    points = []
    print(f"\n{title}: {len(sources)} sources, {sum(rates)} entries, days {warm} to {days}")
    print(f"{'policy':34} {'requests':>9} {'a day':>6} {'empty':>6} {'median':>8} {'mean':>8} {'p90':>8}   minutes until found")
    for name, rules in peers.items():
        outcome = Run(sources, rules, days, warm).run()
        show(name, outcome, len(sources) * (days - warm))
        ours = run_with_budget(sources, plain, days, warm, outcome.visits)
        show("  learnt, same cost", ours, len(sources) * (days - warm))
        for label, result in ((name, outcome), ("learnt", ours)):
            points.append(Point(label, result.visits / len(sources) / (days - warm), statistics.fmean(result.delays) / 60))
        gain = 1 - statistics.fmean(ours.delays) / statistics.fmean(outcome.delays)
        print(f"{'':34} mean delay {gain:+.0%} less; by kind: " + ", ".join(_kinds(outcome, ours)))
    return points


def _kinds(outcome: Outcome, ours: Outcome) -> Iterator[str]:
    for kind in outcome.by_kind:
        if outcome.by_kind[kind] and ours.by_kind.get(kind):
            yield f"{kind} {statistics.fmean(outcome.by_kind[kind]) / 60:.0f}→{statistics.fmean(ours.by_kind[kind]) / 60:.0f}"


def draw_chart(points: Sequence[Point]) -> str:
    """Mean minutes until found against visits a day of each source, both on logarithmic axes, as SVG. The learnt schedule is a line."""
    left, top, width, height = 60, 20, 520, 300
    across = [math.log(point.visits) for point in points]
    up = [math.log(point.minutes) for point in points]

    def place(point: Point) -> tuple[float, float]:
        x = left + 20 + (math.log(point.visits) - min(across)) / (max(across) - min(across)) * (width - 160)
        return x, top + 10 + (max(up) - math.log(point.minutes)) / (max(up) - min(up)) * (height - 20)

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13"',
        f' viewBox="0 0 {left + width} {top + height + 50}">',
        f'<rect width="{left + width}" height="{top + height + 50}" fill="#fff"/>',
        f'<path d="M{left} {top}V{top + height}H{left + width - 20}" fill="none" stroke="#888"/>',
        f'<text x="{left}" y="{top + height + 40}">visits a day of each source</text>',
        f'<text x="{left + 8}" y="{top}">minutes until found (mean)</text>',
    ]
    ours = sorted(place(point) for point in points if point.name == "learnt")
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in ours)
    out.append(f'<polyline points="{line}" fill="none" stroke="#0a7d43" stroke-width="2"/>')
    for point in points:
        x, y = place(point)
        learnt = point.name == "learnt"
        out.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="{"#0a7d43" if learnt else "#b3261e"}"/>')
        label = f"{point.minutes:.0f}" if learnt else f"{point.name}: {point.minutes:.0f}"
        out.append(f'<text x="{x + 7:.0f}" y="{y + (16 if learnt else -6):.0f}" fill="#222">{label}</text>')
        out.append(f'<text x="{x - 8:.0f}" y="{top + height + 18}" fill="#555">{point.visits:.0f}</text>' if learnt else "")
    return "\n".join([*filter(None, out), "</svg>", ""])


def show(name: str, outcome: Outcome, source_days: int) -> None:
    delays = sorted(outcome.delays)
    figures = [delays[len(delays) // 2], statistics.fmean(delays), delays[int(len(delays) * 0.9)]]
    cells = " ".join(f"{figure / 60:8.1f}" for figure in figures)
    print(f"{name:34} {outcome.visits:9} {outcome.visits / source_days:6.1f} {outcome.empty / outcome.visits:6.0%} {cells}")


def time_decisions(number: int) -> None:
    """Time one decision for each of this many sources with fifty visits."""
    sources = made(min(number, 100), 4, 7)
    pasts = []
    for source in sources:
        run = Run([source], [Rules(source.name, interval=60.0, zone=ZONE)], 3, 0)
        run.run()
        pasts.append(History.from_visits(run.pasts[0][:50]))
    now = BEGIN + timedelta(days=3)
    began = time.process_time()
    rates = [next_visit(pasts[place % len(pasts)], Rules(f"feed:{place}", zone=ZONE), now).rate or 0.0 for place in range(number)]
    decided = time.process_time() - began
    price(rates, number)
    priced = time.process_time() - began - decided
    print(f"\n{number} sources decided in {decided:.2f} s of one core; the price of a budget for them in {priced:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=40)
    parser.add_argument("--days", type=int, default=35)
    parser.add_argument("--warm", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=Path, help="a folder with forum/*.json (posts with date) and feeds/")
    parser.add_argument("--round", type=int, default=5000)
    parser.add_argument("--plot", type=Path, help="draw delays against requests into this SVG file")
    options = parser.parse_args()
    points = compare("made sources", made(options.sources, options.days, options.seed), options.days, options.warm)
    if options.plot:
        options.plot.write_text(draw_chart(points), "utf-8")
    if options.real:
        sources, days = real(options.real)
        compare("real times", sources, min(days, 60), 2)
    time_decisions(options.round)


if __name__ == "__main__":
    main()
