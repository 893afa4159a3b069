"""Scrapy settings. Each line that differs from Scrapy's default says the default and why.

``sources.yaml`` decides delay, concurrency, time-outs, agent and more (``newsportal.crawl.addon``); ``-s NAME=VALUE`` wins over both.
"""

import scrapy.core.downloader.contextfactory  # noqa: F401  (each of its old names looks through the whole stack: deep in other imports 0.3 s)

from newsportal.pipelines import ORDER

BOT_NAME = "newsportal"  # "scrapybot"
SPIDER_MODULES = ["newsportal.spiders"]  # []
COMMANDS_MODULE = "newsportal.cli.scrapy_commands"  # "": our commands as scrapy commands
ADDONS = {"newsportal.crawl.addon.SourcesAddon": 100}  # {}: reads sources.yaml

# What waits

SCHEDULER = "newsportal.crawl.scheduler.Scheduler"  # Scrapy's forgets what is in flight when it is killed, and keeps to one process
SPIDER_MIDDLEWARES = {"newsportal.crawl.middlewares.ChildrenMiddleware": 10}  # {}: what a callback makes runs under its request's lease
SCHEDULER_FLUSH_ON_START = False  # scrapy-redis' too: what an earlier run left is done first; True forgets it
NEWSPORTAL_STANDING = False  # ours: True keeps a spider open when it has nothing to do (newsportal worker)

# What goes out

DOWNLOAD_HANDLERS = {
    "http": "newsportal.crawl.handlers.Handler",  # HTTP11DownloadHandler: ours refuses private addresses, replays and archives
    "https": "newsportal.crawl.handlers.Handler",
    "imaps": "newsportal.crawl.handlers.mailbox.MailboxHandler",  # ours: mails of newsletters, only read
    "imap": "newsportal.crawl.handlers.mailbox.MailboxHandler",
    "mailbox": "newsportal.crawl.handlers.mailbox.MailboxHandler",
    "file": None,  # on by default: a start URL file:///etc/passwd would be read
    "ftp": None,
    "s3": None,
    "data": None,
}
DOWNLOADER_MIDDLEWARES = {
    "newsportal.crawl.handlers.Guard": 50,  # a broken --replay or a full disk under --archive ends the crawl at once, with the reason
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # 100: crawls on when robots.txt answers 5xx
    "newsportal.crawl.middlewares.RobotsMiddleware": 100,  # RFC 9309
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,  # 550: asks again at once, whatever Retry-After says
    "newsportal.crawl.middlewares.RobotsTagsMiddleware": 540,  # noindex, nofollow: what pages themselves ask of robots
    "newsportal.crawl.middlewares.PatientRetryMiddleware": 550,
    "newsportal.crawl.middlewares.ChallengeMiddleware": 560,  # captchas and logins answered with 200 are failures, not articles
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,  # 580
    "newsportal.crawl.middlewares.MetaRefreshMiddleware": 580,  # a refresh to what is no address is passed over
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,  # 600
    "newsportal.crawl.middlewares.RedirectMiddleware": 600,  # a redirect to what is no address has its reason
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,  # 50: sources name their hosts themselves
    "newsportal.crawl.middlewares.TurnsMiddleware": 990,  # innermost: a host is asked by one process at a time, whatever asks it
}
HTTPPROXY_ENABLED = False  # True: a proxy in the environment would be a second way out
DOWNLOAD_VERIFY_CERTIFICATES = True  # False
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024  # 1 GiB: the largest article page known is below 10 MB; counts after decompression
DOWNLOAD_WARNSIZE = 0  # 32 MiB: above our maximum
DOWNLOAD_TIMEOUT = 30  # 180: a slow site must not hold a slot for minutes
DNS_TIMEOUT = 15  # 60
REACTOR_THREADPOOL_MAXSIZE = 20  # 10: names are looked up in threads, and some servers never answer
REDIRECT_MAX_TIMES = 5  # 20
METAREFRESH_MAXDELAY = 5  # 100: longer ones are for readers ("this page has moved")
URLLENGTH_LIMIT = 0  # 2083: longer ones would vanish without a trace; the guard refuses those over 8,192 characters, with a reason

# Politeness (sources.yaml: politeness)

USER_AGENT = "newsportal/0.1"  # "Scrapy/..."; sources.yaml adds the contact
ROBOTSTXT_OBEY = True  # False; read by our own middleware
CONCURRENT_REQUESTS = 64  # 16: many hosts, few requests each
CONCURRENT_REQUESTS_PER_DOMAIN = 2  # 8
DOWNLOAD_DELAY = 1.0  # 0
DOWNLOAD_DELAY_JITTER = 0.0  # 0.5: half of all gaps would be shorter than the delay that sources.yaml promises
COOKIES_ENABLED = False  # True: no reader is logged in
RETRY_TIMES = 2  # Scrapy's
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # ERROR: the run report counts it with its reason
RETRY_PRIORITY_ADJUST = -10  # -1: behind everything that was not tried yet
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.6",  # "en": Chinese first
}

# What comes in

ITEM_PIPELINES_BASE = {path: number * 100 for number, (_, path) in enumerate(ORDER, start=1)}  # {}: ITEM_PIPELINES add to it
CONCURRENT_ITEMS = 16  # 100: extraction is work for the processor; more at once only wait for each other
EXTENSIONS = {  # {}
    "newsportal.crawl.extensions.Workers": 400,
    "newsportal.crawl.extensions.RunReport": 500,
}
TELNETCONSOLE_ENABLED = False  # True: a port that runs code
REMOTE_CONTROL_ENABLED = False  # True: the same
FEED_EXPORT_ENCODING = "utf-8"  # None: JSON would escape every Chinese character
SPIDER_CONTRACTS = {"newsportal.spiders.command_line.SourceContract": 10}  # {}: scrapy check tries a source of sources.yaml
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # RFPDupeFilter: the link tracker knows what was seen, list pages are always visited
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"  # WARNING: what is dropped is counted in the run report

# What a page may cost its reader

NEWSPORTAL_EXTRACTION_PROCESSES = None  # ours: sources.yaml's, else as many as there are cores, up to 4; 0 reads in the crawl's own process
NEWSPORTAL_EXTRACTION_MEMORY = 300 * 1024 * 1024  # ours: bytes for a page, beside what a reader has; one of dom.MAX_TAGS takes 110 million
NEWSPORTAL_EXTRACTION_SECONDS = 2.0  # ours: of the processor's time for a page; the largest article takes a quarter

# What is said

LOG_LEVEL = "INFO"  # DEBUG
LOG_SHORT_NAMES = True  # False
STATS_DUMP = False  # True: the run report says it in a table
LOGSTATS_INTERVAL = 60.0  # Scrapy's
WARN_ON_GENERATOR_RETURN_VALUE = False  # True: compiles each callback's source at run time
