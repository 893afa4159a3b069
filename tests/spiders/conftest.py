from trackers import crawler as crawler
from trackers import tracker as tracker
