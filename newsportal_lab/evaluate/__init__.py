"""``newsportal evaluate``: measure algorithms, ours and others', against gold answers. One module per kind of data."""

from newsportal.cli.options import command_group
from newsportal_lab.evaluate import classify, dedup, events, extraction, forum, papers, recommend, summaries

group = command_group(
    "Scores for one's own gold data.",
    extraction.extraction,
    classify.classify,
    dedup.dedup,
    events.events,
    forum.forum,
    papers.papers,
    recommend.recommend,
    summaries.summaries,
)
