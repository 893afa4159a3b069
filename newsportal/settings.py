"""Scrapy settings. Each line that differs from Scrapy's default gives the default and the reason.

``sources.yaml`` sets delay, concurrency, timeouts, user agent and more (``newsportal.crawl.addon``); ``-s NAME=VALUE`` overrides both.
"""

import scrapy.core.downloader.contextfactory  # noqa: F401  (each of its old names looks through the whole stack: deep in other imports 0.3 s)

from newsportal.pipelines import ORDER

BOT_NAME = "newsportal"  # "scrapybot"
SPIDER_MODULES = ["newsportal.spiders"]  # []
COMMANDS_MODULE = "newsportal.cli.scrapy_commands"  # "": our commands as scrapy commands
ADDONS = {"newsportal.crawl.addon.SourcesAddon": 100}  # {}: reads sources.yaml

# Queue

SCHEDULER = "newsportal.crawl.scheduler.Scheduler"  # Scrapy's loses requests in flight when it is killed, and is limited to one process
SPIDER_MIDDLEWARES = {"newsportal.crawl.middlewares.LeaseMiddleware": 10}  # {}: requests of a callback share the lease of its request
SCHEDULER_FLUSH_ON_START = False  # like scrapy-redis': requests of an earlier run are done first; True deletes them
NEWSPORTAL_STANDING = False  # ours: True keeps an idle spider open (newsportal worker)

# Outgoing requests

DOWNLOAD_HANDLERS = {
    "http": "newsportal.crawl.handlers.Handler",  # HTTP11DownloadHandler: ours refuses private addresses, replays and archives
    "https": "newsportal.crawl.handlers.Handler",
    "imaps": "newsportal.crawl.handlers.mailbox.MailboxHandler",  # ours: newsletter mails, read-only
    "imap": "newsportal.crawl.handlers.mailbox.MailboxHandler",
    "mailbox": "newsportal.crawl.handlers.mailbox.MailboxHandler",
    "file": None,  # on by default: a start URL file:///etc/passwd would be read
    "ftp": None,
    "s3": None,
    "data": None,
}
DOWNLOADER_MIDDLEWARES = {
    "newsportal.crawl.handlers.Guard": 50,  # a broken --replay or a full disk under --archive ends the crawl at once, with the reason
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # 100: continues if robots.txt returns 5xx
    "newsportal.crawl.middlewares.RobotsMiddleware": 100,  # RFC 9309
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,  # 550: retries at once, whatever Retry-After says
    "newsportal.crawl.middlewares.RobotsTagsMiddleware": 540,  # noindex, nofollow: requests of pages to robots
    "newsportal.crawl.middlewares.PatientRetryMiddleware": 550,
    "newsportal.crawl.middlewares.ChallengeMiddleware": 560,  # captchas and logins returned with 200 are failures, not articles
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,  # 580
    "newsportal.crawl.middlewares.MetaRefreshMiddleware": 580,  # a refresh to an invalid URL is ignored
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,  # 600
    "newsportal.crawl.middlewares.RedirectMiddleware": 600,  # a redirect to an invalid URL is reported with its reason
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,  # 50: sources define their hosts
    "newsportal.crawl.middlewares.HostLockMiddleware": 990,  # innermost: requests to a host are made by one process at a time
}
HTTPPROXY_ENABLED = False  # True: a proxy in the environment would bypass our policy
DOWNLOAD_VERIFY_CERTIFICATES = True  # False
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024  # 1 GiB: the largest article page known is below 10 MB; counts after decompression
DOWNLOAD_WARNSIZE = 0  # 32 MiB: above our maximum
DOWNLOAD_TIMEOUT = 30  # 180: a slow site must not hold a slot for minutes
DNS_TIMEOUT = 15  # 60
REACTOR_THREADPOOL_MAXSIZE = 20  # 10: names are resolved in threads, and some servers never respond
REDIRECT_MAX_TIMES = 5  # 20
METAREFRESH_MAXDELAY = 5  # 100: longer ones are for readers ("this page has moved")
URLLENGTH_LIMIT = 0  # 2083: longer ones would be dropped silently; the guard refuses those over 8,192 characters, with a reason

# Politeness (sources.yaml: politeness)

USER_AGENT = "newsportal/0.1"  # "Scrapy/..."; sources.yaml adds the contact
ROBOTSTXT_OBEY = True  # False; applied by our own middleware
CONCURRENT_REQUESTS = 64  # 16: many hosts, few requests each
CONCURRENT_REQUESTS_PER_DOMAIN = 2  # 8
DOWNLOAD_DELAY = 1.0  # 0
DOWNLOAD_DELAY_JITTER = 0.0  # 0.5: half of all intervals would be shorter than the configured delay
COOKIES_ENABLED = False  # True: no login is used
RETRY_TIMES = 2  # Scrapy's
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # ERROR: the run report counts it with its reason
RETRY_PRIORITY_ADJUST = -10  # -1: after all requests that were not tried yet
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.6",  # "en": Chinese first
}

# Processing

ITEM_PIPELINES_BASE = {path: number * 100 for number, (_, path) in enumerate(ORDER, start=1)}  # {}: ITEM_PIPELINES are added to it
CONCURRENT_ITEMS = 16  # 100: extraction is CPU-bound; more at once only wait for each other
EXTENSIONS = {  # {}
    "newsportal.crawl.extensions.GracefulStop": 300,
    "newsportal.crawl.extensions.Workers": 400,
    "newsportal.crawl.extensions.RunReport": 500,
}
TELNETCONSOLE_ENABLED = False  # True: a port that executes code
REMOTE_CONTROL_ENABLED = False  # True: the same
FEED_EXPORT_ENCODING = "utf-8"  # None: JSON would escape every Chinese character
SPIDER_CONTRACTS = {"newsportal.spiders.command_line.SourceContract": 10}  # {}: scrapy check tests a source of sources.yaml
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # RFPDupeFilter: the link tracker filters links, and list pages are always visited
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"  # WARNING: dropped items are counted in the run report

# Limits of extraction per page

NEWSPORTAL_EXTRACTION_PROCESSES = None  # ours: from sources.yaml, else the number of cores, up to 4; 0 extracts in the crawl's process
NEWSPORTAL_EXTRACTION_MEMORY = 300 * 1024 * 1024  # ours: bytes per page, besides the process itself; a page with dom.MAX_TAGS takes 110 MB
NEWSPORTAL_EXTRACTION_SECONDS = 2.0  # ours: processor seconds per page; the largest article takes a quarter

# Logging

LOG_LEVEL = "INFO"  # DEBUG
LOG_SHORT_NAMES = True  # False
STATS_DUMP = False  # True: the run report has a table
LOGSTATS_INTERVAL = 60.0  # Scrapy's
WARN_ON_GENERATOR_RETURN_VALUE = False  # True: compiles each callback's source at run time
