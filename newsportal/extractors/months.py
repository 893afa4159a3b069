"""Names of months, weekdays and time zones as pages write them, for :mod:`newsportal.extractors.date`."""

from __future__ import annotations

from typing import Final

_NAMES: Final = (
    # en, de, fr, es, it, pt, nl, pl (genitive), ru (genitive), tr, sv/da/nb, id/ms; abbreviations beside them
    "january jan januar janvier janv enero ene gennaio gen janeiro januari stycznia января янв ocak jänner",
    "february feb februar février févr fév febrero febbraio fevereiro fev februari lutego февраля фев şubat feber",
    "march mar märz mrz mär mars marzo março maart mrt marca марта мар mart marts maret mac",
    "april apr avril avr abril abr aprile kwietnia апреля апр nisan",
    "may mai mayo maggio mag maio mei maja мая mayıs maj",
    "june jun juni juin junio giugno giu junho czerwca июня июн haziran",
    "july jul juli juillet juil julio luglio lug julho lipca июля июл temmuz julai",
    "august aug août aoû agosto ago augustus sierpnia августа авг ağustos augusti agustus ogos",
    "september sep sept septembre septiembre settembre set setembro września сентября сен eylül",
    "october oct oktober okt octobre octubre ottobre ott outubro out października октября окт ekim",
    "november nov novembre noviembre novembro listopada ноября ноя kasım",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря дек aralık desember disember",
)

MONTH_NAMES: Final[dict[str, int]] = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}

MONTH: Final = "(?:" + "|".join(sorted(MONTH_NAMES, key=lambda name: (-len(name), name))) + r")(?![^\W\d_])"
"""A regular expression for a month's name, the longest first, never a part of a word."""

WEEKDAYS: Final[dict[str, int]] = {name: day for day, name in enumerate("mon tue wed thu fri sat sun".split())}
WEEKDAY: Final = "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"

_ZONES: Final = (
    "Z=0 UTC=0 GMT=0 UT=0 WET=0 BST=1 CET=1 CEST=2 EET=2 EEST=3 MSK=3 IST=5.5 HKT=8 SGT=8 MYT=8 JST=9 KST=9 "
    "AEST=10 AEDT=11 NZST=12 NZDT=13 EST=-5 EDT=-4 ET=-5 CST=-6 CDT=-5 MST=-7 MDT=-6 PST=-8 PDT=-7 PT=-8"
)
ZONES: Final[dict[str, float]] = {name: float(hours) for name, _, hours in (pair.partition("=") for pair in _ZONES.split())}
"""Hours east of UTC. CST is America's here; in Java's dates and in Chinese texts it is China's."""
